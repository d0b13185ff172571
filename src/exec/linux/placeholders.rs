//! Empty directories that stand where a protected path is missing: only what exists can be mounted over.
//!
//! A placeholder is known by its mode and by being empty. Runs that need it hold a shared lock on it, and the last one removes it with
//! rmdir(2), which cannot delete data. A journal lets a later start clean up after a run that was killed.

use super::super::Refusal;
use super::journal;
use crate::host::placeholder::{MODE, is_one};
use camino::{Utf8Path, Utf8PathBuf};
use rustix::fd::OwnedFd;
use rustix::fs::{
    AtFlags, CWD, FlockOperation, Mode, OFlags, ResolveFlags, fchmod, flock, fstat, mkdirat, openat, openat2,
    statat, unlinkat,
};
use rustix::io::{Errno, fcntl_dupfd_cloexec};
use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How often a directory may vanish between being seen and being locked.
const ATTEMPTS: usize = 100;

/// A missing path that must stay missing, and the directory that stands for it: the path itself, or its first missing ancestor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StandIn {
    pub path: Utf8PathBuf,
    pub stands_for: Utf8PathBuf,
}

/// How long the removal of a directory takes where it waits for a disk.
const SLOW: Duration = Duration::from_millis(1);
/// How many threads wait then.
const WAITING: usize = 8;

/// The placeholders of one run.
#[derive(Debug, Default)]
pub struct Placeholders {
    held: Vec<Held>,
    /// What has none because the user may not make one. The command may not create it either, unless it gives itself the right to.
    pub unheld: Vec<Utf8PathBuf>,
    journal: Option<(PathBuf, File)>,
    pub stand_ins: Vec<StandIn>,
}

/// What is at the end where a placeholder stood, other than nothing.
#[derive(Debug)]
pub enum Left {
    /// The placeholder, which somebody on the host put something into: the command cannot have done it. It has become a directory as
    /// others are.
    Filled(Utf8PathBuf),
    /// The placeholder, which cannot be removed.
    Stays(Utf8PathBuf, Errno),
    /// Something else, in this directory.
    Another(Utf8PathBuf, OwnedFd),
}

/// A placeholder that this run needs, locked.
#[derive(Debug)]
struct Held {
    path: Utf8PathBuf,
    directory: OwnedFd,
    /// Where it stands, whatever that is called by now.
    parent: Arc<OwnedFd>,
}

/// Whether a placeholder stands there.
pub fn is_placeholder(path: &Utf8Path) -> bool {
    std::fs::symlink_metadata(path).is_ok_and(|metadata| is_one(path, metadata.mode()))
}

impl Placeholders {
    /// Makes or shares a placeholder for each of these missing paths.
    ///
    /// # Errors
    /// Where one cannot be made for another reason than that the user may not.
    pub fn make(missing: &[Utf8PathBuf]) -> Result<Self, Refusal> {
        let mut made = Self::default();
        for path in missing {
            made.stand_ins.push(StandIn { path: first_missing(path), stands_for: path.clone() });
        }
        let mut paths: Vec<Utf8PathBuf> =
            made.stand_ins.iter().map(|stand_in| stand_in.path.clone()).collect();
        paths.sort_unstable();
        paths.dedup();
        if paths.is_empty() {
            return Ok(made);
        }
        // Without a place for it there is no journal; the next run of the same profile finds and removes what is left all the same.
        made.journal = journal::write(&paths);
        for path in paths {
            match made.hold(&path) {
                Ok(held) => made.held.push(held),
                Err(Errno::ACCESS | Errno::PERM | Errno::ROFS) => {
                    let (unheld, kept) =
                        std::mem::take(&mut made.stand_ins).into_iter().partition(|it| it.path == path);
                    made.stand_ins = kept;
                    let unheld: Vec<StandIn> = unheld;
                    made.unheld.extend(unheld.into_iter().map(|it| it.stands_for));
                }
                Err(error) => return Err(Refusal::Placeholder { path, error: error.into() }),
            }
        }
        Ok(made)
    }

    fn hold(&self, path: &Utf8Path) -> Result<Held, Errno> {
        // They come in order, so those of one directory do mostly.
        let known = self.held.last().filter(|last| last.path.parent() == path.parent());
        match known {
            Some(last) => hold(path, Arc::clone(&last.parent)),
            None => hold(path, Arc::new(open_parent(path)?)),
        }
    }

    /// Lets go of all of them without removing any: a copy of the process that does must not seem to need them when that one is gone.
    pub fn leave_to_others(mut self) {
        self.held.clear();
        self.journal = None;
    }

    /// Removes what no other run needs, and tells of what is there all the same, in order of the paths.
    pub fn remove(mut self) -> Vec<Left> {
        let mut held = std::mem::take(&mut self.held);
        let start = Instant::now();
        let first = held.pop();
        let mut left = released(&Mutex::new(first.into_iter().collect()));
        let rest = Mutex::new(held);
        if start.elapsed() < SLOW {
            left.extend(released(&rest));
        } else {
            // Some disks discard what is free at once, and whoever removes a directory waits for it: many can wait together.
            std::thread::scope(|scope| {
                let spawn = |_| std::thread::Builder::new().spawn_scoped(scope, || released(&rest)).ok();
                let threads: Vec<_> = (1..WAITING).filter_map(spawn).collect();
                left.extend(released(&rest));
                left.extend(threads.into_iter().filter_map(|thread| thread.join().ok()).flatten());
            });
        }
        left.sort_unstable_by(|a, b| a.path().cmp(b.path()));
        left
    }
}

/// Removes these until there are none left, and tells of those that could not be.
fn released(held: &Mutex<Vec<Held>>) -> Vec<Left> {
    let next = || held.lock().unwrap_or_else(PoisonError::into_inner).pop();
    // Each is closed before the next is taken: that is when its blocks are given back.
    std::iter::from_fn(next).filter_map(|held| held.release()).collect()
}

impl Drop for Placeholders {
    fn drop(&mut self) {
        for held in &self.held {
            held.release();
        }
        if let Some((path, _)) = &self.journal {
            let _ = std::fs::remove_file(path);
        }
    }
}

/// Removes the placeholders of runs that were killed before they could.
pub fn clean_up_after_others() {
    // Where one cannot be removed now, a later start may.
    journal::of_the_dead(|path| {
        !is_left(path) || find(path).is_ok_and(|found| was_released(found.release()))
    });
}

/// A placeholder, or one that was filled.
fn is_left(path: &Utf8Path) -> bool {
    path.symlink_metadata().is_ok_and(|found| found.is_dir() && found.mode() & 0o7777 == MODE)
}

fn was_released(left: Option<Left>) -> bool {
    matches!(left, None | Some(Left::Filled(_)))
}

/// The first part of a path where nothing stands, or a placeholder; the path itself where all of it exists.
fn first_missing(path: &Utf8Path) -> Utf8PathBuf {
    let mut parts: Vec<&Utf8Path> = path.ancestors().collect();
    parts.reverse();
    let missing = parts.into_iter().find(|part| part.symlink_metadata().is_err() || is_placeholder(part));
    missing.unwrap_or(path).to_path_buf()
}

/// The directory that a canonical path is in. Where the user may not read it, it can be passed through all the same.
///
/// # Errors
/// As openat2(2): `ELOOP` where a symlink is on the way.
pub fn open_parent(path: &Utf8Path) -> Result<OwnedFd, Errno> {
    let parent = path.parent().ok_or(Errno::INVAL)?;
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let open = |how| openat2(CWD, parent.as_str(), flags | how, Mode::empty(), ResolveFlags::NO_SYMLINKS);
    match open(OFlags::RDONLY) {
        Err(Errno::ACCESS) => open(OFlags::PATH),
        opened => opened,
    }
}

/// Makes the directory, or finds the one that another run made, and holds a shared lock on it.
fn hold(path: &Utf8Path, parent: Arc<OwnedFd>) -> Result<Held, Errno> {
    let name = path.file_name().ok_or(Errno::INVAL)?;
    for _ in 0..ATTEMPTS {
        // What is made but cannot be opened for want of a descriptor could not be removed again: another run may share it by then.
        let descriptor = fcntl_dupfd_cloexec(&parent, 0)?;
        let umask = rustix::process::umask(Mode::empty());
        let made = mkdirat(&parent, name, Mode::from_raw_mode(MODE));
        rustix::process::umask(umask);
        match made {
            Ok(()) => {}
            Err(Errno::EXIST) if is_placeholder(path) => {}
            // It went between the two looks.
            Err(Errno::EXIST) if path.symlink_metadata().is_err() => continue,
            Err(error) => return Err(error),
        }
        drop(descriptor);
        let held = match open_directory(&parent, name) {
            Err(Errno::NOENT) => continue,
            directory => {
                Held { path: path.to_path_buf(), directory: directory?, parent: Arc::clone(&parent) }
            }
        };
        if let Err(error) = flock(&held.directory, FlockOperation::LockShared) {
            // Where nothing can be locked, nothing is shared either.
            let _ = unlinkat(&parent, name, AtFlags::REMOVEDIR);
            return Err(error);
        }
        // Another run may have removed it before the lock was ours.
        if held.stands() {
            return Ok(held);
        }
    }
    Err(Errno::AGAIN)
}

/// The placeholder of another run, not locked.
fn find(path: &Utf8Path) -> Result<Held, Errno> {
    let parent = Arc::new(open_parent(path)?);
    let directory = open_directory(&parent, path.file_name().ok_or(Errno::INVAL)?)?;
    Ok(Held { path: path.to_path_buf(), directory, parent })
}

impl Left {
    fn path(&self) -> &Utf8Path {
        match self {
            Self::Filled(path) | Self::Stays(path, _) | Self::Another(path, _) => path,
        }
    }
}

impl Held {
    /// Removes the directory unless another run holds it.
    fn release(&self) -> Option<Left> {
        if flock(&self.directory, FlockOperation::NonBlockingLockExclusive).is_err() {
            return None;
        }
        let name = self.path.file_name().unwrap_or("");
        if !self.stands() {
            let present = !matches!(statat(&self.parent, name, AtFlags::SYMLINK_NOFOLLOW), Err(Errno::NOENT));
            let parent = present.then(|| fcntl_dupfd_cloexec(&self.parent, 0).ok()).flatten();
            return parent.map(|parent| Left::Another(self.path.clone(), parent));
        }
        let removed = match unlinkat(&self.parent, name, AtFlags::REMOVEDIR) {
            // A command that owns the directory around it can have taken the right away.
            Err(Errno::ACCESS) => self.remove_with_right(name),
            removed => removed,
        };
        match removed {
            Ok(()) => None,
            // Where somebody gave it another mode, that is how it is meant to be.
            Err(Errno::NOTEMPTY | Errno::EXIST) => {
                if fstat(&self.directory).is_ok_and(|stat| stat.st_mode & 0o7777 == MODE) {
                    let umask = rustix::process::umask(Mode::empty());
                    rustix::process::umask(umask);
                    let _ = fchmod(&self.directory, Mode::from_raw_mode(0o777) - umask);
                }
                Some(Left::Filled(self.path.clone()))
            }
            Err(error) => Some(Left::Stays(self.path.clone(), error)),
        }
    }

    fn remove_with_right(&self, name: &str) -> Result<(), Errno> {
        let mode = Mode::from_raw_mode(fstat(&self.parent)?.st_mode & 0o7777);
        fchmod(&self.parent, mode | Mode::WUSR | Mode::XUSR)?;
        let removed = unlinkat(&self.parent, name, AtFlags::REMOVEDIR);
        fchmod(&self.parent, mode)?;
        removed
    }

    /// Whether it is still what has its name.
    fn stands(&self) -> bool {
        let name = self.path.file_name().unwrap_or("");
        match (fstat(&self.directory), statat(&self.parent, name, AtFlags::SYMLINK_NOFOLLOW)) {
            (Ok(open), Ok(there)) => (open.st_dev, open.st_ino) == (there.st_dev, there.st_ino),
            // The command can have taken away the right to look, but only its owner can have put something else there.
            (Ok(_), Err(Errno::ACCESS)) => true,
            _ => false,
        }
    }
}

fn open_directory(parent: &OwnedFd, name: &str) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    openat(parent, name, flags, Mode::empty())
}

/// Makes a placeholder at a free path, looks at it and removes it again.
///
/// # Errors
/// Where one cannot be made or held; `EEXIST` where it is not taken for one, or stays.
pub fn try_at(path: &Utf8Path) -> io::Result<()> {
    let held = hold(path, Arc::new(open_parent(path)?))?;
    let known = is_placeholder(path);
    if held.release().is_none() && known && path.symlink_metadata().is_err() {
        Ok(())
    } else {
        Err(io::Error::from_raw_os_error(libc::EEXIST))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn directory() -> (tempfile::TempDir, Utf8PathBuf) {
        let directory = tempfile::tempdir().unwrap();
        let path = Utf8PathBuf::from_path_buf(directory.path().canonicalize().unwrap()).unwrap();
        (directory, path)
    }

    #[test]
    fn stands_for_the_first_missing_part_and_goes_again() {
        let (_keep, top) = directory();
        let missing = [top.join("a/b/c"), top.join(".env")];
        let made = Placeholders::make(&missing).unwrap();
        assert!(is_placeholder(&top.join("a")) && is_placeholder(&top.join(".env")));
        assert_eq!(made.stand_ins[0], StandIn { path: top.join("a"), stands_for: missing[0].clone() });
        assert!(made.remove().is_empty());
        assert_eq!(std::fs::read_dir(&top).unwrap().count(), 0);
    }

    #[test]
    fn is_kept_as_long_as_another_run_needs_it() {
        let (_keep, top) = directory();
        let missing = [top.join(".env")];
        let first = Placeholders::make(&missing).unwrap();
        let second = Placeholders::make(&missing).unwrap();
        assert!(first.remove().is_empty());
        assert!(is_placeholder(&missing[0]));
        assert!(second.remove().is_empty());
        assert!(missing[0].symlink_metadata().is_err());
    }

    #[test]
    fn what_came_to_stand_there_is_told_and_left_alone() {
        let (_keep, top) = directory();
        let missing = [top.join(".env")];
        let made = Placeholders::make(&missing).unwrap();
        std::fs::remove_dir(&missing[0]).unwrap();
        std::fs::write(&missing[0], "key").unwrap();
        assert!(matches!(made.remove().as_slice(), [Left::Another(path, _)] if *path == missing[0]));
        assert_eq!(std::fs::read_to_string(&missing[0]).unwrap(), "key");
    }

    #[test]
    fn what_is_put_into_it_is_kept_and_no_longer_shut() {
        let (_keep, top) = directory();
        let missing = [top.join(".env"), top.join(".vscode")];
        let made = Placeholders::make(&missing).unwrap();
        let set = |mode| {
            std::fs::set_permissions(&missing[1], std::os::unix::fs::PermissionsExt::from_mode(mode))
                .unwrap();
        };
        set(0o755);
        std::fs::write(missing[1].join("file"), "the host's own").unwrap();
        set(MODE);
        assert!(matches!(made.remove().as_slice(), [Left::Filled(path)] if *path == missing[1]));
        assert!(!is_left(&missing[1]) && missing[1].join("file").is_file());
    }

    #[test]
    fn a_users_own_directory_is_no_placeholder() {
        let (_keep, top) = directory();
        std::fs::create_dir(top.join("a")).unwrap();
        assert!(!is_placeholder(&top.join("a")));
        assert!(Placeholders::make(&[top.join("a")]).is_err());
        assert!(top.join("a").is_dir());
    }
}
