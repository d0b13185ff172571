//! The limits of one run as resource limits of its first process (setrlimit(2)).

use super::super::Refusal;
use crate::manifest::Limits;
use rustix::process::Resource;

/// More open files than this are not accepted (`OPEN_MAX`, sys/syslimits.h; setrlimit(2) of macOS).
const MOST_OPEN_FILES: u64 = 10_240;

/// Whose processes the kernel counts (`RLIMIT_NPROC`).
#[derive(Debug, Clone, Copy)]
pub struct User {
    pub root: bool,
    /// How many processes run already.
    pub processes: u64,
}

/// What is to be set, softly and hardly, never above what this process was given: `hard` tells that.
///
/// # Errors
/// A limit of processes for root, whose processes are not counted; a limit of temporary space, which the kernel does not offer.
pub fn resources(
    limits: &Limits,
    user: User,
    hard: impl Fn(Resource) -> Option<u64>,
) -> Result<Vec<(Resource, u64)>, Refusal> {
    if user.root && limits.processes.is_some() {
        return Err(Refusal::Kernel {
            message: "the number of processes cannot be limited for root".into(),
            help: "run as another user, or take `processes` out of `limits`".into(),
        });
    }
    if limits.temporary_space_bytes.is_some() {
        return Err(Refusal::Kernel {
            message: "the space of the temporary directory cannot be limited on macOS".into(),
            help: "state `temporary-space` within `on linux { … }`; `file-size` limits each file on both systems".into(),
        });
    }
    let wanted = [
        (Resource::Nofile, limits.open_files.map(|files| files.min(MOST_OPEN_FILES))),
        (Resource::Nproc, limits.processes.map(|processes| processes.saturating_add(user.processes))),
        (Resource::Fsize, limits.file_size_bytes),
        (Resource::Cpu, limits.cpu_ms.map(|milliseconds| milliseconds.div_ceil(1000))),
        // A core file holds what the command has read, and is written where others look.
        (Resource::Core, Some(0)),
    ];
    let set = wanted.into_iter().filter_map(|(resource, limit)| Some((resource, limit?)));
    Ok(set
        .map(|(resource, limit)| (resource, hard(resource).map_or(limit, |hard| hard.min(limit))))
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    const USER: User = User { root: false, processes: 40 };

    #[test]
    fn processes_are_those_beyond_the_users() {
        let limits = Limits {
            processes: Some(16),
            cpu_ms: Some(1_001),
            open_files: Some(64),
            file_size_bytes: Some(9),
            ..Limits::default()
        };
        let set = resources(&limits, USER, |_| None).unwrap();
        let expected = [
            (Resource::Nofile, 64),
            (Resource::Nproc, 56),
            (Resource::Fsize, 9),
            (Resource::Cpu, 2),
            (Resource::Core, 0),
        ];
        assert_eq!(set, expected);
    }

    #[test]
    fn nothing_is_raised() {
        let limits = Limits { processes: Some(u64::MAX), open_files: Some(u64::MAX), ..Limits::default() };
        let set = resources(&limits, USER, |_| None).unwrap();
        assert_eq!(set, [(Resource::Nofile, 10_240), (Resource::Nproc, u64::MAX), (Resource::Core, 0)]);
        let hard = |resource| (resource != Resource::Core).then_some(7);
        let set = resources(&limits, USER, hard).unwrap();
        assert_eq!(set, [(Resource::Nofile, 7), (Resource::Nproc, 7), (Resource::Core, 0)]);
    }

    #[test]
    fn root_is_not_counted() {
        let root = User { root: true, processes: 40 };
        let limits = Limits { processes: Some(16), ..Limits::default() };
        assert!(resources(&limits, root, |_| None).is_err());
        assert!(resources(&Limits::default(), root, |_| None).is_ok());
    }

    #[test]
    fn a_limit_that_cannot_be_kept_is_no_limit() {
        let limits = Limits { temporary_space_bytes: Some(1), ..Limits::default() };
        assert!(resources(&limits, USER, |_| None).unwrap_err().to_string().contains("temporary directory"));
    }
}
