//! Watches the protected paths while a command runs: where the host replaces one, the kernel drops its mount or carries it away with the
//! old file, and the new one lies open. The sandbox cannot do it, a mount point is busy there; an editor on the host that saves can.
//!
//! What is renamed over or removed takes its mount with it, which the mount table of the sandbox tells at once; what is renamed away
//! keeps it, which its directory tells. So it does when something comes to be where nothing may stand in for a missing path.

use super::super::Refusal;
use super::super::near::parts;
use crate::sys::linux::notify_changes;
use camino::{Utf8Path, Utf8PathBuf};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{AtFlags, CWD, Mode, OFlags, Stat, fstat, open, statat};
use rustix::io::Errno;
use rustix::process::Pid;
use std::collections::BTreeMap;
use std::fs::File;
use std::io;

/// Device and inode of what stood at a path; `None` where nothing did.
type Seen = Option<(u64, u64)>;

/// The protected paths of one run, and what they were when the walls were planned.
#[derive(Debug)]
pub struct Watch {
    directories: Vec<Directory>,
    mounts: Option<File>,
}

/// A directory that holds protected paths.
#[derive(Debug)]
struct Directory {
    path: Utf8PathBuf,
    seen: (u64, u64),
    /// Tells of changes in it as long as it is open. Its paths are looked at through it, which spares the way to it.
    open: OwnedFd,
    paths: Vec<(Utf8PathBuf, Seen)>,
}

impl Watch {
    /// Remembers what these paths are, and has their directories tell of changes from now on.
    ///
    /// # Errors
    /// A directory that cannot be opened or watched.
    pub fn new(paths: impl Iterator<Item = Utf8PathBuf>) -> Result<Self, Refusal> {
        let mut by_directory: BTreeMap<Utf8PathBuf, Vec<Utf8PathBuf>> = BTreeMap::new();
        for path in paths {
            if let Some((directory, _)) = parts(&path) {
                by_directory.entry(directory.into()).or_default().push(path);
            }
        }
        let watched = by_directory.into_iter().map(|(path, paths)| {
            let first = paths.first().cloned();
            Directory::watch(&path, paths).map_err(|error| unwatched(path, first, error))
        });
        Ok(Self { directories: watched.collect::<Result<_, _>>()?, mounts: None })
    }

    /// Watches the mounts of the sandbox too, which are complete now. `replaced` must be asked after this: what happened before is not told.
    ///
    /// # Errors
    /// Where the process has gone already.
    pub fn mounts_of(&mut self, pid: Pid) -> io::Result<()> {
        if !self.directories.is_empty() {
            self.mounts = Some(File::open(format!("/proc/{}/mountinfo", pid.as_raw_pid()))?);
        }
        Ok(())
    }

    /// Tells of changes by an exceptional condition (proc_pid_mounts(5)).
    pub fn mounts(&self) -> Option<BorrowedFd<'_>> {
        self.mounts.as_ref().map(AsFd::as_fd)
    }

    /// A path that is not any more what it was.
    pub fn replaced(&self) -> Option<&Utf8Path> {
        self.directories.iter().find_map(Directory::replaced)
    }
}

impl Directory {
    fn watch(path: &Utf8Path, paths: Vec<Utf8PathBuf>) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let open = open(path.as_str(), flags, Mode::empty())?;
        notify_changes(&open)?;
        let seen = identity(&fstat(&open)?);
        let mut directory =
            Self { path: path.to_path_buf(), seen, open, paths: Vec::with_capacity(paths.len()) };
        for path in paths {
            let seen = directory.look(&path);
            directory.paths.push((path, seen));
        }
        Ok(directory)
    }

    /// What stands at a path in it.
    fn look(&self, path: &Utf8Path) -> Seen {
        let (_, name) = parts(path)?;
        look(&self.open, name)
    }

    fn replaced(&self) -> Option<&Utf8Path> {
        let is_there = standing(&self.path) == Some(self.seen);
        let changed = |(path, seen): &&(Utf8PathBuf, Seen)| {
            *seen != if is_there { self.look(path) } else { look(CWD, path.as_str()) }
        };
        self.paths.iter().find(changed).map(|(path, _)| path.as_path())
    }
}

/// Device and inode of what stands at a path, not following a symlink.
pub fn standing(path: &Utf8Path) -> Option<(u64, u64)> {
    look(CWD, path.as_str())
}

/// Why a directory cannot be watched: where it has gone, that is what has changed since the profile was compiled.
fn unwatched(directory: Utf8PathBuf, first: Option<Utf8PathBuf>, error: io::Error) -> Refusal {
    let how = match error.raw_os_error() {
        Some(libc::ENOENT) => "its directory was removed or renamed",
        Some(libc::ENOTDIR | libc::ELOOP) => "something else stands where its directory was",
        _ => return Refusal::Watch { path: directory, error },
    };
    Refusal::ProtectedChanged { path: first.unwrap_or(directory), how }
}

/// The same, seen from a directory.
fn look(directory: impl AsFd, path: &str) -> Seen {
    match statat(directory, path, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => Some(identity(&stat)),
        // What cannot be told is not what it was.
        Err(Errno::ACCESS) => Some((0, 0)),
        Err(_) => None,
    }
}

fn identity(stat: &Stat) -> (u64, u64) {
    (stat.st_dev, stat.st_ino)
}
