//! What the new process tells the supervisor where it cannot go on: one message through a pipe, before the command runs.

use rustix::fd::{AsFd, OwnedFd};
use rustix::io::Errno;

/// Where the set-up of the sandbox failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Entering new namespaces and mapping the user.
    User,
    /// The first mount, which tells whether mounting is possible at all.
    FirstMount,
    /// Opening what a mount is made of.
    Source,
    /// What stands there is not what it was a moment ago, or a symlink is on the way.
    Changed,
    /// Finding or making a mount point.
    Target,
    Mount,
    Proc,
    /// A setting below /proc/sys.
    Setting,
    /// Making the network of its own.
    Network,
    Pivot,
    Privileges,
    Landlock,
    Limits,
    Filter,
    Fork,
    Streams,
    WorkingDirectory,
    /// Giving the command a terminal of its own.
    Terminal,
    /// execve(2) of the command itself.
    Exec,
    /// Being told of changes; only where a wall is tried.
    Watch,
    /// Opening a path without following symlinks; only where a wall is tried.
    Resolution,
    /// A wall that was built and does not hold; only where one is tried.
    Held,
}

const STAGES: [Stage; 22] = [
    Stage::User,
    Stage::FirstMount,
    Stage::Source,
    Stage::Changed,
    Stage::Target,
    Stage::Mount,
    Stage::Proc,
    Stage::Setting,
    Stage::Network,
    Stage::Pivot,
    Stage::Privileges,
    Stage::Landlock,
    Stage::Limits,
    Stage::Filter,
    Stage::Fork,
    Stage::Streams,
    Stage::WorkingDirectory,
    Stage::Terminal,
    Stage::Exec,
    Stage::Watch,
    Stage::Resolution,
    Stage::Held,
];

/// A failed set-up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    pub stage: Stage,
    /// The error number of the system call.
    pub errno: i32,
    /// The path or thing it was about.
    pub subject: String,
}

impl Failure {
    pub fn new(stage: Stage, error: impl Into<std::io::Error>, subject: impl AsRef<str>) -> Self {
        let errno = error.into().raw_os_error().unwrap_or(Errno::IO.raw_os_error());
        Self { stage, errno, subject: subject.as_ref().to_owned() }
    }

    /// Writes it in one piece; a pipe takes up to `PIPE_BUF` bytes at once (pipe(7)).
    pub fn send(&self, pipe: impl AsFd) {
        let mut bytes = vec![self.stage as u8];
        bytes.extend(self.errno.to_ne_bytes());
        bytes.extend(self.subject.bytes().take(4000));
        // Where nobody reads any more there is nobody to tell.
        let _ = rustix::io::write(pipe, &bytes);
    }

    /// What was sent, or `None` where the pipe was closed without a word: the command runs.
    pub fn receive(bytes: &[u8]) -> Option<Self> {
        let (&stage, rest) = bytes.split_first()?;
        let (errno, subject) = rest.split_first_chunk::<4>()?;
        Some(Self {
            stage: *STAGES.get(usize::from(stage))?,
            errno: i32::from_ne_bytes(*errno),
            subject: String::from_utf8_lossy(subject).into_owned(),
        })
    }
}

/// Names the stage and the subject of an error.
pub trait Staged<T> {
    fn at(self, stage: Stage, subject: impl AsRef<str>) -> Result<T, Failure>;
}

impl<T, E: Into<std::io::Error>> Staged<T> for Result<T, E> {
    fn at(self, stage: Stage, subject: impl AsRef<str>) -> Result<T, Failure> {
        self.map_err(|error| Failure::new(stage, error, subject))
    }
}

/// A pipe whose ends close on exec.
///
/// # Errors
/// As pipe2(2).
pub fn pipe() -> std::io::Result<(OwnedFd, OwnedFd)> {
    Ok(rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_stage_survives_the_pipe() {
        for (number, stage) in STAGES.into_iter().enumerate() {
            assert_eq!(stage as usize, number);
            let failure = Failure { stage, errno: 13, subject: "/a".into() };
            let (read, write) = pipe().unwrap();
            failure.send(&write);
            let mut bytes = [0; 100];
            let length = rustix::io::read(&read, &mut bytes).unwrap();
            assert_eq!(Failure::receive(&bytes[..length]), Some(failure));
        }
        assert_eq!(Failure::receive(&[]), None);
        assert_eq!(Failure::receive(&[200, 0, 0, 0, 0]), None);
    }
}
