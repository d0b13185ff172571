//! What a failed set-up means to people: which wall the kernel does not give, why, and what to do.

use super::super::Refusal;
use super::report::{Failure, Stage};
use std::io;

const NOTHING: &str = "nothing was run";

/// Where a refusal of the kernel usually comes from. Read only after something failed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Causes {
    /// `kernel.apparmor_restrict_unprivileged_userns` is 1 (Ubuntu 23.10 and later).
    pub apparmor: bool,
    /// `kernel.unprivileged_userns_clone` is 0 (Debian's own setting).
    pub userns_off: bool,
}

impl Causes {
    pub fn read() -> Self {
        let is = |name: &str, value: &str| {
            std::fs::read_to_string(format!("/proc/sys/kernel/{name}")).is_ok_and(|text| text.trim() == value)
        };
        Self {
            apparmor: is("apparmor_restrict_unprivileged_userns", "1"),
            userns_off: is("unprivileged_userns_clone", "0"),
        }
    }
}

/// Whether `kernel.pid_max` belongs to the pid namespace: since Linux 6.14. Before, writing it would change the host.
pub fn has_own_pid_max(release: &str) -> bool {
    let mut numbers = release.split(|c: char| !c.is_ascii_digit()).map(str::parse::<u32>);
    match (numbers.next(), numbers.next()) {
        (Some(Ok(major)), Some(Ok(minor))) => (major, minor) >= (6, 14),
        _ => false,
    }
}

/// clone3(2) failed.
pub fn no_clone(error: &io::Error, causes: Causes) -> Refusal {
    match error.raw_os_error() {
        Some(libc::EBUSY) => Refusal::Threads,
        Some(libc::ENOSPC | libc::EUSERS) => refusal(
            "cannot create a user namespace (ENOSPC)",
            "/proc/sys/user/max_user_namespaces is 0 or used up, or this process is already inside a sandbox",
        ),
        Some(libc::ENOSYS) => refusal("cannot create namespaces (clone3: ENOSYS)", CONTAINER),
        Some(libc::EPERM) => no_user_namespace(error, causes),
        _ => refusal(&format!("cannot create namespaces: {error}"), "run `palisade doctor`"),
    }
}

const CONTAINER: &str = "a system call filter, as in Docker's default profile, forbids it; run the container with \
    `--security-opt seccomp=PROFILE` that allows clone3, mount and pivot_root and with \
    `--security-opt systempaths=unconfined`, or run palisade on the host";

fn no_user_namespace(error: &io::Error, causes: Causes) -> Refusal {
    let code = code(error);
    let message = format!("cannot create a user namespace ({code})");
    if causes.apparmor {
        return refusal(
            &message,
            "AppArmor restricts it on this host (kernel.apparmor_restrict_unprivileged_userns=1); ask an administrator to \
             install the AppArmor profile that `palisade doctor --apparmor` prints, or to set the sysctl to 0",
        );
    }
    if causes.userns_off {
        return refusal(&message, "kernel.unprivileged_userns_clone is 0; set it to 1");
    }
    refusal(&message, CONTAINER)
}

/// The new process reported that it could not go on before the command ran.
pub fn explain(failure: &Failure, causes: Causes) -> Refusal {
    let error = io::Error::from_raw_os_error(failure.errno);
    let code = code(&error);
    let subject = &failure.subject;
    match failure.stage {
        Stage::User | Stage::FirstMount if matches!(failure.errno, libc::EPERM | libc::EACCES) => {
            no_user_namespace(&error, causes)
        }
        Stage::Proc if failure.errno == libc::EPERM => refusal(
            "cannot mount a fresh /proc (EPERM)",
            "the outer /proc is partly masked, as in a container; use `--security-opt systempaths=unconfined` (docker) \
             or `--security-opt unmask=ALL` (podman)",
        ),
        Stage::Landlock => refusal(
            &format!("Landlock is missing or too old ({})", if failure.errno == 0 { subject } else { &code }),
            "Linux 5.19 or newer is needed, with `landlock` in the `lsm=` list that it is booted with",
        ),
        Stage::Changed => Refusal::Changed(subject.clone()),
        Stage::Filter => refusal(
            &format!("cannot load the system call filter: {subject}"),
            "a kernel with seccomp filters is needed, on x86_64 or aarch64",
        ),
        Stage::WorkingDirectory => refusal(
            &format!("cannot enter the working directory `{subject}`: {error}"),
            "state one that a root holds with `working-directory`",
        ),
        Stage::Setting => refusal(
            &format!("cannot set `{subject}` in the sandbox: {error}"),
            "the kernel does not let a sandbox have this limit of its own",
        ),
        stage => refusal(
            &format!("cannot build the sandbox: {} `{subject}`: {error}", doing(stage)),
            "run `palisade doctor`",
        ),
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
        Stage::Pivot => "entering the new root,",
        Stage::Privileges => "giving up",
        Stage::Landlock | Stage::Filter => "restricting",
        Stage::Limits => "limiting",
        Stage::Fork => "starting a process,",
        Stage::Streams => "passing on",
        Stage::WorkingDirectory => "entering",
        Stage::Terminal => "making a terminal,",
        Stage::Exec => "running",
    }
}

/// A process limit cannot be held for root before Linux 6.14: the kernel does not count root's processes.
pub fn no_process_limit() -> Refusal {
    refusal(
        "cannot limit root's processes",
        "Linux 6.14 or newer is needed for it; run palisade as another user, or state no limit on processes",
    )
}

fn refusal(message: &str, help: &str) -> Refusal {
    Refusal::Kernel { message: message.to_owned(), help: format!("{help}; {NOTHING}") }
}

fn code(error: &io::Error) -> String {
    match error.raw_os_error() {
        Some(libc::EPERM) => "EPERM".into(),
        Some(libc::EACCES) => "EACCES".into(),
        Some(libc::ENOSYS) => "ENOSYS".into(),
        Some(libc::EOPNOTSUPP) => "EOPNOTSUPP".into(),
        _ => error.to_string(),
    }
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

    #[test]
    fn a_user_namespace_that_apparmor_takes_away_is_named() {
        let causes = Causes { apparmor: true, userns_off: false };
        let mapping =
            Failure { stage: Stage::User, errno: libc::EPERM, subject: "/proc/self/uid_map".into() };
        let mounting = Failure { stage: Stage::FirstMount, errno: libc::EACCES, subject: "tmpfs".into() };
        for failure in [mapping, mounting] {
            assert!(
                explain(&failure, causes).help().unwrap().contains("apparmor_restrict_unprivileged_userns")
            );
        }
        let clone = io::Error::from_raw_os_error(libc::EPERM);
        assert!(no_clone(&clone, causes).help().unwrap().contains("AppArmor"));
        assert!(no_clone(&clone, Causes::default()).help().unwrap().contains("seccomp"));
    }
}
