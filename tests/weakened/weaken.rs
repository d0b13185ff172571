//! What is taken away, by name.

use crate::raw;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::mount::{MoveMountFlags, OpenTreeFlags, mount_bind, move_mount, open_tree};
use rustix::process::{Resource, Rlimit, getegid, geteuid, setrlimit};
use seccompiler::{
    SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
};
use std::collections::BTreeMap;
use std::fs;
use std::os::fd::AsRawFd;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

/// What is taken away. Unknown names panic: a test without weakness would show nothing.
pub fn run(name: &str, program: &str, arguments: &[String]) -> ExitCode {
    let mut command = Command::new(program);
    command.args(arguments);
    if let Some(version) = name.strip_prefix("landlock-abi-") {
        // Flag 1 asks for the version (landlock_create_ruleset(2)).
        let asks = (libc::SYS_landlock_create_ruleset, 2, 1);
        return pretend(asks, version.parse().unwrap(), &mut command);
    }
    match name {
        "landlock-pretended" => return pretend((libc::SYS_landlock_restrict_self, 1, 0), 0, &mut command),
        "seccomp-pretended" => {
            let sets = (libc::SYS_seccomp, 0, libc::SECCOMP_SET_MODE_FILTER);
            return pretend(sets, 0, &mut command);
        }
        _ => {}
    }
    match name {
        "nothing" => {}
        "docker" => {
            fail(libc::ENOSYS, &[libc::SYS_clone3]);
            fail(libc::EPERM, &[libc::SYS_unshare, libc::SYS_mount, libc::SYS_pivot_root, libc::SYS_fsopen]);
        }
        "clone3-eperm" => fail(libc::EPERM, &[libc::SYS_clone3]),
        "fsopen-eperm" => fail(libc::EPERM, &[libc::SYS_fsopen]),
        "fsopen-enosys" => fail(libc::ENOSYS, &[libc::SYS_fsopen]),
        "openat2-enosys" => fail(libc::ENOSYS, &[libc::SYS_openat2]),
        "open_tree-eperm" => fail(libc::EPERM, &[libc::SYS_open_tree]),
        "mount_setattr-enosys" => fail(libc::ENOSYS, &[libc::SYS_mount_setattr]),
        "pivot_root-eperm" => fail(libc::EPERM, &[libc::SYS_pivot_root]),
        "landlock-enosys" => fail(libc::ENOSYS, &[libc::SYS_landlock_create_ruleset]),
        "landlock-eopnotsupp" => fail(libc::EOPNOTSUPP, &[libc::SYS_landlock_create_ruleset]),
        "landlock-restrict-eperm" => fail(libc::EPERM, &[libc::SYS_landlock_restrict_self]),
        "seccomp-einval" => {
            let set = |value| condition(0, value);
            fail_if(libc::EINVAL, libc::SYS_prctl, set(libc::PR_SET_SECCOMP as u64));
            fail(libc::EINVAL, &[libc::SYS_seccomp]);
        }
        "no-dnotify" => fail_if(libc::EINVAL, libc::SYS_fcntl, condition(1, F_NOTIFY)),
        "no-user-namespaces" => limit_namespaces("user"),
        "no-net-namespaces" => limit_namespaces("net"),
        "no-uts-namespaces" => limit_namespaces("uts"),
        "masked-proc" => {
            outer();
            mount_bind("/dev/null", "/proc/version").unwrap();
        }
        "no-processes" => limit(Resource::Nproc, 1),
        "few-files" => limit(Resource::Nofile, 5),
        "no-temporary-directory" => {
            outer();
            for place in ["/tmp", "/var/tmp"] {
                let flags = OpenTreeFlags::OPEN_TREE_CLONE
                    | OpenTreeFlags::OPEN_TREE_CLOEXEC
                    | OpenTreeFlags::AT_RECURSIVE;
                let tree = open_tree(rustix::fs::CWD, place, flags).unwrap();
                raw::read_only(tree.as_raw_fd()).unwrap();
                let onto = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH;
                move_mount(&tree, "", rustix::fs::CWD, place, onto).unwrap();
            }
            for name in ["HOME", "TMPDIR", "XDG_RUNTIME_DIR", "XDG_STATE_HOME"] {
                command.env_remove(name);
            }
        }
        other => panic!("nothing is called `{other}`"),
    }
    panic!("{}", command.exec());
}

/// linux/fcntl.h; not in the libc crate.
const F_NOTIFY: u64 = 1026;

fn condition(argument: u8, value: u64) -> Vec<SeccompRule> {
    let is = SeccompCondition::new(argument, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, value).unwrap();
    vec![SeccompRule::new(vec![is]).unwrap()]
}

fn fail(errno: i32, calls: &[i64]) {
    load(errno, calls.iter().map(|call| (*call, Vec::new())).collect());
}

fn fail_if(errno: i32, call: i64, rules: Vec<SeccompRule>) {
    load(errno, BTreeMap::from([(call, rules)]));
}

fn load(errno: i32, rules: BTreeMap<i64, Vec<SeccompRule>>) {
    let architecture = std::env::consts::ARCH.try_into().unwrap();
    let filter =
        SeccompFilter::new(rules, SeccompAction::Allow, SeccompAction::Errno(errno as u32), architecture);
    let program: seccompiler::BpfProgram = filter.unwrap().try_into().unwrap();
    seccompiler::apply_filter(&program).unwrap();
}

/// Into a user and a mount namespace, where this user may do what root may.
fn outer() {
    let (uid, gid) = (geteuid().as_raw(), getegid().as_raw());
    raw::unshare(libc::CLONE_NEWUSER | libc::CLONE_NEWNS).unwrap();
    fs::write("/proc/self/uid_map", format!("{uid} {uid} 1")).unwrap();
    fs::write("/proc/self/setgroups", "deny").unwrap();
    fs::write("/proc/self/gid_map", format!("{gid} {gid} 1")).unwrap();
}

/// No more namespaces of one kind (namespaces(7)).
fn limit_namespaces(kind: &str) {
    outer();
    fs::write(format!("/proc/sys/user/max_{kind}_namespaces"), "0").unwrap();
}

fn limit(resource: Resource, limit: u64) {
    setrlimit(resource, Rlimit { current: Some(limit), maximum: Some(limit) }).unwrap();
}

/// Runs a program on a kernel that answers a system call, where one argument has one value, without doing anything: whoever makes the
/// call is answered here.
fn pretend(call: (i64, u32, u32), result: i64, command: &mut Command) -> ExitCode {
    rustix::thread::set_no_new_privs(true).unwrap();
    let (number, argument, value) = call;
    let listener = raw::ask_about(number, argument, value).unwrap();
    let mut child = command.spawn().unwrap();
    loop {
        let patience = Timespec { tv_sec: 0, tv_nsec: 5_000_000 };
        let asked = poll(&mut [PollFd::new(&listener, PollFlags::IN)], Some(&patience)).unwrap();
        if asked > 0 {
            // Whoever asked may have gone in the meantime.
            let _ = raw::answer(&listener, result);
        }
        if let Some(status) = child.try_wait().unwrap() {
            return ExitCode::from(status.code().unwrap() as u8);
        }
    }
}
