//! Watches the protected paths while a command runs: where the host replaces one, the kernel drops its mount, and the new file lies open.
//!
//! The sandbox cannot do it, a mount point is busy there; an editor on the host that saves a file by renaming can.

use super::super::Refusal;
use camino::{Utf8Path, Utf8PathBuf};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};
use rustix::io::Errno;
use std::collections::HashMap;
use std::mem::MaybeUninit;
use std::os::unix::fs::MetadataExt;

/// What a path was when the walls were planned.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Seen {
    device: u64,
    inode: u64,
    /// Names of a regular file.
    links: u64,
}

impl Seen {
    fn at(path: &Utf8Path) -> Option<Self> {
        let metadata = std::fs::symlink_metadata(path).ok()?;
        let links = if metadata.is_file() { metadata.nlink() } else { 0 };
        Some(Self { device: metadata.dev(), inode: metadata.ino(), links })
    }
}

/// The watches of one run.
#[derive(Debug)]
pub struct Watch {
    inotify: Option<OwnedFd>,
    paths: Vec<(Utf8PathBuf, Option<Seen>)>,
    /// From inotify's number to indices into `paths`.
    watched: HashMap<i32, Vec<usize>>,
}

impl Watch {
    /// Watches these paths from now on, and remembers what they are.
    ///
    /// # Errors
    /// What inotify_add_watch(2) says.
    pub fn new(paths: impl Iterator<Item = Utf8PathBuf>) -> Result<Self, Refusal> {
        let mut watch = Self { inotify: None, paths: Vec::new(), watched: HashMap::new() };
        for path in paths {
            let refused =
                |error: Errno| Refusal::Watch { path: path.clone(), error: std::io::Error::from(error) };
            let inotify = match &watch.inotify {
                Some(inotify) => inotify,
                None => {
                    let made =
                        inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK).map_err(refused)?;
                    watch.inotify.insert(made)
                }
            };
            let number = add(inotify, &path).map_err(refused)?;
            let at = watch.paths.len();
            watch.watched.entry(number).or_default().push(at);
            let seen = Seen::at(&path);
            watch.paths.push((path, seen));
        }
        Ok(watch)
    }

    pub fn fd(&self) -> Option<BorrowedFd<'_>> {
        self.inotify.as_ref().map(AsFd::as_fd)
    }

    /// Reads what has happened, and gives a path that is not any more what it was.
    pub fn replaced(&self) -> Option<&Utf8Path> {
        let mut buffer = [MaybeUninit::uninit(); 4096];
        let mut reader = Reader::new(self.inotify.as_ref()?, &mut buffer);
        let changed = |at: &usize| {
            let (path, seen) = self.paths.get(*at)?;
            (Seen::at(path) != *seen).then_some(path.as_path())
        };
        loop {
            let found = match reader.next() {
                Ok(event) if event.events().contains(ReadFlags::QUEUE_OVERFLOW) => {
                    (0..self.paths.len()).find_map(|at| changed(&at))
                }
                Ok(event) => self.watched.get(&event.wd()).into_iter().flatten().find_map(changed),
                Err(_) => return None,
            };
            if found.is_some() {
                return found;
            }
        }
    }
}

fn add(inotify: &OwnedFd, path: &Utf8Path) -> Result<i32, Errno> {
    let itself =
        WatchFlags::MOVE_SELF | WatchFlags::DELETE_SELF | WatchFlags::ATTRIB | WatchFlags::DONT_FOLLOW;
    match inotify::add_watch(inotify, path.as_str(), itself) {
        // What may not be read cannot be watched itself (inotify(7)), but its directory can.
        Err(Errno::ACCESS) => {
            let names = WatchFlags::CREATE
                | WatchFlags::DELETE
                | WatchFlags::MOVED_FROM
                | WatchFlags::MOVED_TO
                | WatchFlags::MASK_ADD
                | WatchFlags::ONLYDIR;
            let parent = path.parent().unwrap_or(path);
            inotify::add_watch(inotify, parent.as_str(), names)
        }
        added => added,
    }
}
