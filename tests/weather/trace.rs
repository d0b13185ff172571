//! Kills a sandbox at one step of its way: the program is traced, its system calls are counted, and before a certain one its supervisor
//! or its pid 1 is killed.

use crate::raw;
use crate::world::Ran;
use std::collections::BTreeMap;
use std::io::{Read as _, Seek as _};
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitStatus, Stdio};

/// The processes that matter. Whatever else there is belongs to the command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    Supervisor,
    Init,
    Command,
}

/// Which calls are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Calls {
    All,
    /// Those that may change anything outside of the process.
    Effects,
}

impl Calls {
    fn of(self, (all, effects): (usize, usize)) -> usize {
        if self == Self::All { all } else { effects }
    }
}

/// Before call number `at` of those of `whose`, counted from 0, `victim` is killed.
#[derive(Debug, Clone, Copy)]
pub struct Step {
    pub whose: Role,
    pub calls: Calls,
    pub at: usize,
    pub victim: Role,
}

/// What there was until everything had ended: this returns when no process is left.
#[derive(Debug)]
pub struct Seen {
    /// All calls, and those with effects.
    counts: BTreeMap<Role, (usize, usize)>,
    /// What pid 1 had made of these when there was a command.
    set_up: (usize, usize),
    /// The last call that was seen before the kill.
    pub killed_before: Option<i64>,
    /// How the supervisor ended, with what was said on standard error.
    pub ran: Ran,
}

impl Seen {
    pub fn count(&self, whose: Role, calls: Calls) -> usize {
        calls.of(self.counts.get(&whose).copied().unwrap_or_default())
    }

    /// How many of its calls pid 1 had made when there was a command.
    pub fn set_up(&self, calls: Calls) -> usize {
        calls.of(self.set_up)
    }
}

const OPTIONS: i32 = libc::PTRACE_O_TRACESYSGOOD
    | libc::PTRACE_O_TRACEFORK
    | libc::PTRACE_O_TRACEVFORK
    | libc::PTRACE_O_TRACECLONE
    | libc::PTRACE_O_TRACEEXEC;

/// Runs a command to its end, which is at this step if there is one. Only for a process with one thread.
#[expect(clippy::zombie_processes, reason = "it is waited for together with all the others")]
pub fn run(mut command: Command, step: Option<Step>) -> Seen {
    let mut errors = tempfile::tempfile().unwrap();
    command.stdout(Stdio::null()).stderr(errors.try_clone().unwrap());
    raw::be_traced(&mut command);
    let child = command.spawn().unwrap();
    let supervisor = child.id() as i32;
    let mut roles = BTreeMap::from([(supervisor, Role::Supervisor)]);
    let mut seen = Seen {
        counts: BTreeMap::new(),
        set_up: (0, 0),
        killed_before: None,
        ran: Ran { code: None, out: String::new(), err: String::new() },
    };
    let mut started = false;
    // Who outlives its sandbox would be waited for for ever.
    raw::end_in(20);
    while let Some((pid, status)) = raw::wait_for_any() {
        if !libc::WIFSTOPPED(status) {
            if pid == supervisor {
                seen.ran.code = ExitStatus::from_raw(status).code();
            }
            continue;
        }
        if !started {
            started = true;
            raw::trace(libc::PTRACE_SETOPTIONS, pid, OPTIONS).unwrap();
        }
        let known = roles.contains_key(&pid);
        // The supervisor has one child, and that comes first.
        let next = if roles.len() == 1 { Role::Init } else { Role::Command };
        let role = *roles.entry(pid).or_insert(next);
        if !known && roles.len() == 3 {
            seen.set_up = seen.counts.get(&Role::Init).copied().unwrap_or_default();
        }
        let pass_on = match libc::WSTOPSIG(status) {
            signal if signal == libc::SIGTRAP | 0x80 => {
                count(&mut seen, role, pid, step, &roles);
                0
            }
            // An event, or the stop that a process begins with.
            _ if status >> 16 != 0 => 0,
            libc::SIGTRAP => 0,
            libc::SIGSTOP if !known => 0,
            signal => signal,
        };
        // It may have been killed in this moment.
        let _ = raw::trace(libc::PTRACE_SYSCALL, pid, pass_on);
    }
    raw::end_in(0);
    errors.rewind().unwrap();
    errors.read_to_string(&mut seen.ran.err).unwrap();
    seen
}

fn count(seen: &mut Seen, role: Role, pid: i32, step: Option<Step>, roles: &BTreeMap<i32, Role>) {
    let Ok(Some((number, arguments))) = raw::call_of(pid) else { return };
    let effect = has_effect(number, arguments);
    let counts = seen.counts.entry(role).or_default();
    let before = *counts;
    counts.0 += 1;
    counts.1 += usize::from(effect);
    let Some(step) = step.filter(|step| step.whose == role && seen.killed_before.is_none()) else { return };
    let reached = match step.calls {
        Calls::All => before.0 == step.at,
        Calls::Effects => effect && before.1 == step.at,
    };
    if let (true, Some((victim, _))) = (reached, roles.iter().find(|(_, role)| **role == step.victim)) {
        seen.killed_before = Some(number);
        raw::kill(*victim);
    }
}

/// Calls that only ask, or that touch nothing but the process's own memory and descriptors.
const ASKING: &[i64] = &[
    libc::SYS_brk,
    libc::SYS_clock_gettime,
    libc::SYS_close,
    libc::SYS_exit_group,
    libc::SYS_fstat,
    libc::SYS_fstatfs,
    libc::SYS_futex,
    libc::SYS_getcwd,
    libc::SYS_getdents64,
    libc::SYS_geteuid,
    libc::SYS_getegid,
    libc::SYS_getgid,
    libc::SYS_getpgid,
    libc::SYS_getpid,
    libc::SYS_getppid,
    libc::SYS_getrandom,
    libc::SYS_getuid,
    libc::SYS_ioctl,
    libc::SYS_lseek,
    libc::SYS_mmap,
    libc::SYS_mprotect,
    libc::SYS_mremap,
    libc::SYS_munmap,
    libc::SYS_newfstatat,
    libc::SYS_openat2,
    libc::SYS_ppoll,
    libc::SYS_pread64,
    libc::SYS_prlimit64,
    libc::SYS_read,
    libc::SYS_readlinkat,
    libc::SYS_rseq,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_set_robust_list,
    libc::SYS_set_tid_address,
    libc::SYS_sigaltstack,
    libc::SYS_statx,
    libc::SYS_umask,
    libc::SYS_uname,
];

/// Those that only x86-64 has.
#[cfg(target_arch = "x86_64")]
const ASKING_HERE: &[i64] = &[
    libc::SYS_access,
    libc::SYS_arch_prctl,
    libc::SYS_getpgrp,
    libc::SYS_lstat,
    libc::SYS_poll,
    libc::SYS_readlink,
    libc::SYS_stat,
];
#[cfg(not(target_arch = "x86_64"))]
const ASKING_HERE: &[i64] = &[];

fn has_effect(number: i64, arguments: [u64; 6]) -> bool {
    let makes = |flags: u64| {
        flags & (libc::O_CREAT | libc::O_TRUNC | libc::O_TMPFILE & !libc::O_DIRECTORY) as u64 != 0
    };
    #[cfg(target_arch = "x86_64")]
    if number == libc::SYS_open {
        return makes(arguments[1]);
    }
    match number {
        libc::SYS_openat => makes(arguments[2]),
        // F_NOTIFY; the others are about descriptors.
        libc::SYS_fcntl => arguments[1] == 1026,
        _ => !ASKING.contains(&number) && !ASKING_HERE.contains(&number),
    }
}
