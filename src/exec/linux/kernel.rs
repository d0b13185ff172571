//! What a failed set-up means to people: which wall the kernel does not give, why, and what to do. `exec` refuses with these words, and
//! `palisade doctor` says them of each wall.

use super::super::Refusal;
use super::super::causes::{Cause, Causes};
use super::super::refusal::used_up;
use super::confine::LANDLOCK_NEEDED;
use super::report::{Failure, Stage};
use std::io;

/// What is said, and what there is to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Advice {
    pub message: String,
    pub help: String,
}

impl From<Advice> for Refusal {
    fn from(advice: Advice) -> Self {
        let Advice { message, help } = advice;
        Self::Kernel { message, help: format!("{help}; {DOCTOR}; nothing was run") }
    }
}

/// What every refusal of the kernel says besides.
pub const DOCTOR: &str = "`palisade doctor` tries every wall";

/// Whether `kernel.pid_max` belongs to the pid namespace: since Linux 6.14. Before, writing it would change the host.
pub fn has_own_pid_max(release: &str) -> bool {
    let mut numbers = release.split(|c: char| !c.is_ascii_digit()).map(str::parse::<u32>);
    match (numbers.next(), numbers.next()) {
        (Some(Ok(major)), Some(Ok(minor))) => (major, minor) >= (6, 14),
        _ => false,
    }
}

/// clone3(2) failed.
pub fn no_clone(error: &io::Error, causes: &Causes) -> Refusal {
    match error.raw_os_error() {
        Some(libc::EBUSY) => Refusal::Threads,
        _ => clone_refused(error, causes).into(),
    }
}

/// The same for whoever does not refuse but tells.
pub fn clone_refused(error: &io::Error, causes: &Causes) -> Advice {
    let code = code(error);
    match error.raw_os_error() {
        Some(libc::ENOSPC | libc::EUSERS) => advice(
            format!("cannot create a user namespace ({code})"),
            "/proc/sys/user/max_user_namespaces, or another limit beside it, is 0 or used up, or this process is already inside \
             a sandbox",
        ),
        Some(libc::ENOSYS) if causes.has(&Cause::Sandboxed) => {
            advice(format!("cannot create namespaces (clone3: {code})"), SANDBOXED)
        }
        Some(libc::ENOSYS) => advice(format!("cannot create namespaces (clone3: {code})"), CONTAINER),
        Some(libc::EPERM) => no_user_namespace(error, causes),
        Some(libc::EINVAL) => advice(
            format!("cannot create namespaces (clone3: {code})"),
            "the kernel was built without one of the namespaces; another kernel is needed",
        ),
        Some(libc::EAGAIN) => advice(
            format!("cannot start a process ({code})"),
            "a limit on processes is reached: `ulimit -u`, or that of the container or unit; raise it",
        ),
        Some(libc::EMFILE | libc::ENFILE) => advice(
            format!("cannot start a process ({code})"),
            "a limit on open files is reached: `ulimit -n`; raise it",
        ),
        _ => advice(
            format!("cannot create namespaces (clone3: {code})"),
            "the kernel has no room for another process or namespace",
        ),
    }
}

/// openat2(2) is not there, with which paths are opened without following a symlink.
pub fn no_path_resolution(code: &str, causes: &Causes) -> Advice {
    let help = if causes.has(&Cause::Sandboxed) {
        SANDBOXED
    } else if causes.has(&Cause::Filtered) || causes.is_container() {
        "a system call filter forbids it, as those of old container runtimes do; run a newer one, or allow openat2"
    } else {
        "Linux 5.19 or newer is needed"
    };
    advice(format!("cannot open paths without following symlinks (openat2: {code})"), help)
}

const SANDBOXED: &str =
    "this process is already inside a sandbox, which forbids another one in it; run palisade outside of it";

const CONTAINER: &str = "a system call filter, as in Docker's default profile, forbids it; run the container with \
    `--security-opt seccomp=PROFILE` that allows clone3, mount and pivot_root and with \
    `--security-opt systempaths=unconfined`, or run palisade on the host";

fn no_user_namespace(error: &io::Error, causes: &Causes) -> Advice {
    let message = format!("cannot create a user namespace ({})", code(error));
    let help = if causes.has(&Cause::AppArmor) {
        "AppArmor restricts it on this host (kernel.apparmor_restrict_unprivileged_userns=1); ask an administrator to \
         install the AppArmor profile that `palisade doctor --apparmor` prints, or to set the sysctl to 0"
    } else if causes.has(&Cause::UsernsOff) {
        "kernel.unprivileged_userns_clone is 0; set it to 1"
    } else if causes.has(&Cause::Chroot) {
        "this process is in a chroot, where the kernel gives none; run palisade outside of it"
    } else if causes.has(&Cause::Sandboxed) {
        SANDBOXED
    } else if causes.has(&Cause::Filtered) || causes.is_container() {
        CONTAINER
    } else {
        "a security module of this kernel, a chroot, or how this program was started forbids it; ask an administrator"
    };
    advice(message, help)
}

/// The new process reported that it could not go on before the command ran.
pub fn explain(failure: &Failure, causes: &Causes) -> Refusal {
    match failure.stage {
        Stage::Changed => Refusal::Changed(failure.subject.clone()),
        _ => setup_failed(failure, causes).into(),
    }
}

/// The same for whoever does not refuse but tells.
pub fn setup_failed(failure: &Failure, causes: &Causes) -> Advice {
    let error = io::Error::from_raw_os_error(failure.errno);
    let code = code(&error);
    let subject = &failure.subject;
    match failure.stage {
        Stage::User | Stage::FirstMount if matches!(failure.errno, libc::EPERM | libc::EACCES) => {
            no_user_namespace(&error, causes)
        }
        Stage::FirstMount if failure.errno == libc::ENOSYS => advice(
            format!("cannot mount ({code})"),
            "Linux 5.12 or newer is needed, and no system call filter that forbids its way to mount",
        ),
        Stage::Resolution => no_path_resolution(&code, causes),
        Stage::Proc if failure.errno == libc::EPERM => advice(
            "cannot mount a fresh /proc (EPERM)".into(),
            "the outer /proc is partly masked, as in a container; use `--security-opt systempaths=unconfined` (docker) \
             or `--security-opt unmask=ALL` (podman)",
        ),
        Stage::Landlock => advice(
            match (subject.parse::<u32>(), failure.errno) {
                // What is about the version bears it as its subject.
                (Ok(0), 1..) => format!("Landlock is missing ({code})"),
                (Ok(version), _) => format!("Landlock is too old (ABI {version}, need {LANDLOCK_NEEDED})"),
                (Err(_), 0) => format!("Landlock is missing or too old ({subject})"),
                (Err(_), _) => format!("Landlock cannot be used: `{subject}`: {code}"),
            },
            "Linux 5.19 or newer is needed, with `landlock` in the `lsm=` list that it is booted with",
        ),
        Stage::Source | Stage::Target | Stage::Mount | Stage::Streams | Stage::Terminal
            if used_up(&error).is_some() =>
        {
            let help = used_up(&error).unwrap_or_default();
            advice(format!("cannot build the sandbox: {} `{subject}`: {error}", doing(failure.stage)), help)
        }
        Stage::Filter => advice(
            format!("cannot load the system call filter: {subject}"),
            "a kernel with seccomp filters is needed, on x86_64 or aarch64",
        ),
        Stage::WorkingDirectory => advice(
            format!("cannot enter the working directory `{subject}`: {error}"),
            "state one that a root holds with `working-directory`",
        ),
        Stage::Setting => advice(
            format!("cannot set `{subject}` in the sandbox: {error}"),
            "the kernel does not let a sandbox have this limit of its own",
        ),
        Stage::Held => advice(
            format!("a wall does not hold: {subject}"),
            "the kernel took it and does not keep it; report this with the kernel's version",
        ),
        stage => advice(
            format!("cannot build the sandbox: {} `{subject}`: {error}", doing(stage)),
            "the error is the kernel's own",
        ),
    }
}

/// The system call and its error, for a table.
pub fn what_failed(failure: &Failure) -> String {
    let Failure { stage, errno, subject } = failure;
    let code = code(&io::Error::from_raw_os_error(*errno));
    match stage {
        Stage::Landlock if subject.parse::<u32>().is_ok() && *errno == 0 => format!("ABI {subject}"),
        Stage::Landlock if subject == "0" => format!("landlock: {code}"),
        _ if *errno == 0 => subject.clone(),
        Stage::Filter => format!("seccomp: {code}"),
        stage => format!("{} {subject}: {code}", doing(*stage)),
    }
}

/// What was being done, in words.
fn doing(stage: Stage) -> &'static str {
    match stage {
        Stage::User => "entering a user namespace,",
        Stage::FirstMount | Stage::Mount | Stage::Proc => "mounting",
        Stage::Source | Stage::Changed => "opening",
        Stage::Target => "making a mount point at",
        Stage::Setting => "setting",
        Stage::Network => "making a network:",
        Stage::Pivot => "entering the new root,",
        Stage::Privileges => "giving up",
        Stage::Landlock | Stage::Filter => "restricting",
        Stage::Limits => "limiting",
        Stage::Fork => "starting a process,",
        Stage::Streams => "passing on",
        Stage::WorkingDirectory => "entering",
        Stage::Terminal => "making a terminal,",
        Stage::Exec => "running",
        Stage::Watch => "watching",
        Stage::Resolution => "openat2",
        Stage::Held => "looking at",
    }
}

/// A process limit cannot be held for root before Linux 6.14: the kernel does not count root's processes.
pub fn no_process_limit() -> Advice {
    advice(
        "cannot limit root's processes".into(),
        "Linux 6.14 or newer is needed for it; run palisade as another user, or state no limit on processes",
    )
}

fn advice(message: String, help: &str) -> Advice {
    Advice { message, help: help.to_owned() }
}

/// The name of an error number, as manual pages write it.
pub fn code(error: &io::Error) -> String {
    let name = match error.raw_os_error() {
        Some(libc::EPERM) => "EPERM",
        Some(libc::ENOENT) => "ENOENT",
        Some(libc::EIO) => "EIO",
        Some(libc::EAGAIN) => "EAGAIN",
        Some(libc::ENOMEM) => "ENOMEM",
        Some(libc::EACCES) => "EACCES",
        Some(libc::EBUSY) => "EBUSY",
        Some(libc::EEXIST) => "EEXIST",
        Some(libc::ENODEV) => "ENODEV",
        Some(libc::ENOTDIR) => "ENOTDIR",
        Some(libc::EINVAL) => "EINVAL",
        Some(libc::EMFILE) => "EMFILE",
        Some(libc::ENFILE) => "ENFILE",
        Some(libc::ENOSPC) => "ENOSPC",
        Some(libc::EROFS) => "EROFS",
        Some(libc::ENOSYS) => "ENOSYS",
        Some(libc::EUSERS) => "EUSERS",
        Some(libc::EOPNOTSUPP) => "EOPNOTSUPP",
        _ => return error.to_string(),
    };
    name.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_version_decides_about_pid_max() {
        assert!(has_own_pid_max("6.14.0-29-generic"));
        assert!(has_own_pid_max("7.0.1"));
        assert!(!has_own_pid_max("6.13.9"));
        assert!(!has_own_pid_max("5.19"));
        assert!(!has_own_pid_max("strange"));
    }

    fn failure(stage: Stage, errno: i32, subject: &str) -> Failure {
        Failure { stage, errno, subject: subject.into() }
    }

    #[test]
    fn a_user_namespace_that_apparmor_takes_away_is_named() {
        let causes = Causes::from([Cause::AppArmor]);
        let mapping = failure(Stage::User, libc::EPERM, "/proc/self/uid_map");
        let mounting = failure(Stage::FirstMount, libc::EACCES, "tmpfs");
        for failure in [mapping, mounting] {
            let help = explain(&failure, &causes).help().unwrap();
            assert!(help.contains("apparmor_restrict_unprivileged_userns"), "{help}");
        }
    }

    #[test]
    fn what_there_is_to_do_depends_on_where_it_is() {
        let said = |errno, causes: Causes| {
            let refusal = no_clone(&io::Error::from_raw_os_error(errno), &causes);
            let help = refusal.help().unwrap();
            assert!(help.contains("`palisade doctor`") && help.ends_with("nothing was run"), "{help}");
            format!("{refusal}: {help}")
        };
        for (errno, causes, expected) in [
            (libc::EPERM, Causes::from([Cause::AppArmor]), "(EPERM): AppArmor restricts it"),
            (
                libc::EPERM,
                Causes::from([Cause::UsernsOff]),
                "kernel.unprivileged_userns_clone is 0; set it to 1",
            ),
            (libc::EPERM, Causes::from([Cause::Chroot]), "is in a chroot"),
            (libc::EPERM, Causes::from([Cause::Filtered]), "Docker's default profile"),
            (libc::EPERM, Causes::from([Cause::Container("x".into())]), "Docker's default profile"),
            (libc::EPERM, Causes::default(), "a security module"),
            (libc::ENOSYS, Causes::default(), "(clone3: ENOSYS): a system call filter"),
            (libc::ENOSYS, Causes::from([Cause::Sandboxed]), "is already inside a sandbox"),
            (libc::ENOSPC, Causes::default(), "(ENOSPC): /proc/sys/user/max_user_namespaces"),
            (libc::EAGAIN, Causes::default(), "(EAGAIN): a limit on processes"),
        ] {
            let said = said(errno, causes);
            assert!(said.contains(expected), "{said}");
        }
    }

    #[test]
    fn landlock_says_what_it_lacks() {
        for (errno, subject, expected) in [
            (libc::ENOSYS, "0", "Landlock is missing (ENOSYS)"),
            (libc::EOPNOTSUPP, "0", "Landlock is missing (EOPNOTSUPP)"),
            (0, "1", "Landlock is too old (ABI 1, need 2)"),
            (0, "0", "Landlock is too old (ABI 0, need 2)"),
            (0, "it was not enforced", "Landlock is missing or too old (it was not enforced)"),
            (libc::ENOSYS, "/", "Landlock cannot be used: `/`: ENOSYS"),
        ] {
            let refusal = explain(&failure(Stage::Landlock, errno, subject), &Causes::default());
            assert_eq!(refusal.to_string(), expected);
        }
    }
}
