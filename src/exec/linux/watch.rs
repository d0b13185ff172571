//! Watches the protected paths while a command runs: where the host replaces one, the kernel drops its mount or carries it away with the
//! old file, and the new one lies open. The sandbox cannot do it, a mount point is busy there; an editor on the host that saves can.
//!
//! What is renamed over or removed takes its mount with it, which the mount table of the sandbox tells at once; what is renamed away
//! keeps it, which its directory tells. So it does when something comes to be where nothing may stand in for a missing path.

use super::super::Refusal;
use crate::sys::linux::notify_changes;
use camino::{Utf8Path, Utf8PathBuf};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{Mode, OFlags, open};
use rustix::process::Pid;
use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;

/// The protected paths of one run, and what they were when the walls were planned.
#[derive(Debug)]
pub struct Watch {
    paths: Vec<(Utf8PathBuf, Option<(u64, u64)>)>,
    /// Held open: each tells of what is removed from it.
    _directories: Vec<OwnedFd>,
    mounts: Option<File>,
}

impl Watch {
    /// Remembers what these paths are, and has their directories tell of changes from now on.
    ///
    /// # Errors
    /// A directory that cannot be opened or watched.
    pub fn new(paths: impl Iterator<Item = Utf8PathBuf>) -> Result<Self, Refusal> {
        let paths: Vec<Utf8PathBuf> = paths.collect();
        let parents: BTreeSet<&Utf8Path> = paths.iter().filter_map(|path| path.parent()).collect();
        let mut directories = Vec::with_capacity(parents.len());
        for parent in parents {
            directories.push(watch(parent).map_err(|error| unwatched(parent, &paths, error))?);
        }
        let paths = paths.into_iter().map(|path| (identity(&path), path));
        Ok(Self {
            paths: paths.map(|(identity, path)| (path, identity)).collect(),
            _directories: directories,
            mounts: None,
        })
    }

    /// Watches the mounts of the sandbox too, which are complete now. `replaced` must be asked after this: what happened before is not told.
    ///
    /// # Errors
    /// Where the process has gone already.
    pub fn mounts_of(&mut self, pid: Pid) -> io::Result<()> {
        if !self.paths.is_empty() {
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
        let changed = |(path, seen): &&(Utf8PathBuf, Option<(u64, u64)>)| identity(path) != *seen;
        self.paths.iter().find(changed).map(|(path, _)| path.as_path())
    }
}

/// Why a directory cannot be watched: where it has gone, that is what has changed since the profile was compiled.
fn unwatched(directory: &Utf8Path, paths: &[Utf8PathBuf], error: io::Error) -> Refusal {
    let how = match error.raw_os_error() {
        Some(libc::ENOENT) => "its directory was removed or renamed",
        Some(libc::ENOTDIR | libc::ELOOP) => "something else stands where its directory was",
        _ => return Refusal::Watch { path: directory.to_path_buf(), error },
    };
    let path = paths.iter().find(|path| path.parent() == Some(directory));
    Refusal::ProtectedChanged { path: path.map_or_else(|| directory.to_path_buf(), Clone::clone), how }
}

fn watch(directory: &Utf8Path) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let directory = open(directory.as_str(), flags, Mode::empty())?;
    notify_changes(&directory)?;
    Ok(directory)
}

/// Device and inode of what stands there.
pub fn identity(path: &Utf8Path) -> Option<(u64, u64)> {
    let metadata = std::fs::symlink_metadata(path).ok()?;
    Some((metadata.dev(), metadata.ino()))
}
