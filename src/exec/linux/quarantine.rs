//! What came to be where nothing may be, moved out of the way of every program that takes it for what its name says.
//!
//! It stays below its own path, `NAME/quarantined-0`: whatever is denied or guarded there holds for it too, so that no later command
//! reads what the host itself may have put there, and no other file system is needed.

use super::super::{Note, Violation};
use super::placeholders::{StandIn, open_parent};
use camino::{Utf8Path, Utf8PathBuf};
use rustix::fd::{AsRawFd, OwnedFd};
use rustix::fs::{
    AtFlags, FileType, Mode, OFlags, RenameFlags, chmod, chmodat, fstat, mkdirat, openat, renameat,
    renameat_with, statat, unlinkat,
};
use rustix::io::Errno;
use std::rc::Rc;

/// How many names are tried.
const ATTEMPTS: usize = 100;

/// Where what is moved may be put.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// In a directory that takes its name.
    Below,
    /// Beside it, where nothing at all may have its name.
    Beside,
}

/// What stands where nothing may.
#[derive(Debug)]
pub struct Planted {
    pub path: Utf8PathBuf,
    /// The directory it is in, held: whatever has been closed on the way to it.
    directory: Rc<OwnedFd>,
}

/// A missing path, and the directory that it would be made in, held from before the command ran.
#[derive(Debug)]
pub struct Missing {
    path: Utf8PathBuf,
    /// The part of it that lies in the directory.
    first: Utf8PathBuf,
    directory: Rc<OwnedFd>,
}

impl Missing {
    /// Holds the last directory on the way to a path. `None` where none can be opened: then the command cannot make anything there either,
    /// but for one that it owns, and such a one can be opened.
    pub fn new(path: &Utf8Path) -> Option<Self> {
        let there = |part: &&Utf8Path| part.symlink_metadata().is_err();
        let first = path.ancestors().take_while(there).last().unwrap_or(path);
        let directory = Rc::new(open_parent(first).ok()?);
        Some(Self { path: path.to_path_buf(), first: first.to_path_buf(), directory })
    }

    /// What came to stand there: the path itself, or what is no directory on the way to it.
    pub fn planted(&self) -> Option<Planted> {
        walk(&self.directory, &self.first, &self.path)
    }
}

/// What stands where nothing may, of the paths that one placeholder stood for: such a path itself, or what is no directory on the way to
/// it. What else is there now may be there. `directory` is where the placeholder stood.
pub fn planted(stand_ins: &[StandIn], place: &Utf8Path, directory: OwnedFd) -> Vec<Planted> {
    let directory = Rc::new(directory);
    let mut planted: Vec<Planted> = stand_ins
        .iter()
        .filter(|stand_in| stand_in.path == place)
        .filter_map(|stand_in| walk(&directory, &stand_in.path, &stand_in.stands_for))
        .collect();
    planted.sort_by(|a, b| a.path.cmp(&b.path));
    planted.dedup_by(|a, b| a.path == b.path);
    planted
}

/// From the name `from` in a directory down to `path`.
fn walk(directory: &Rc<OwnedFd>, from: &Utf8Path, path: &Utf8Path) -> Option<Planted> {
    let mut way: Vec<&Utf8Path> = path.ancestors().take_while(|part| part.starts_with(from)).collect();
    way.reverse();
    let mut directory = Rc::clone(directory);
    for part in way {
        let name = part.file_name()?;
        let found = with_right(&directory, || statat(&directory, name, AtFlags::SYMLINK_NOFOLLOW)).ok()?;
        if part == path || FileType::from_raw_mode(found.st_mode) != FileType::Directory {
            return Some(Planted { path: part.to_path_buf(), directory });
        }
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let next = with_right(&directory, || openat(&directory, name, flags, Mode::empty())).ok()?;
        directory = Rc::new(next);
    }
    None
}

/// Does something in a directory; where that is refused, once more with the right to it, which a command that owns the directory can have
/// taken away.
fn with_right<T>(directory: &OwnedFd, act: impl Fn() -> Result<T, Errno>) -> Result<T, Errno> {
    match act() {
        Err(Errno::ACCESS) => {
            let mode = Mode::from_raw_mode(fstat(directory)?.st_mode & 0o7777);
            // One that is held without a right to it can be changed only so (open(2), O_PATH).
            let own = format!("/proc/self/fd/{}", directory.as_raw_fd());
            chmod(own.as_str(), mode | Mode::RWXU)?;
            let done = act();
            chmod(own.as_str(), mode)?;
            done
        }
        done => done,
    }
}

impl Planted {
    /// Moves it away, and says so.
    pub fn quarantine(&self, place: Place, help: &str) -> (Violation, Note) {
        let moved = with_right(&self.directory, || match place {
            Place::Below => self.below(),
            Place::Beside => self.beside(),
        });
        let path = &self.path;
        let (message, help) = match &moved {
            Ok(to) => (
                format!(
                    "violation: protected path `{path}` came to be there while the command ran; it was moved to `{to}`"
                ),
                help.to_owned(),
            ),
            Err(error) => (
                format!(
                    "violation: protected path `{path}` came to be there while the command ran, and could not be moved away: {error}"
                ),
                format!("{help}, before any other program reads it"),
            ),
        };
        let violation = Violation::Made { path: path.to_path_buf(), moved_to: moved.ok() };
        (violation, Note { message, help: Some(help) })
    }

    fn below(&self) -> Result<Utf8PathBuf, Errno> {
        let (directory, name) = (&self.directory, self.name()?);
        let fresh = fresh_directory(directory)?;
        for attempt in 0..ATTEMPTS {
            let moved = format!("quarantined-{attempt}");
            if let Err(error) =
                self.moving(|| renameat(directory, name, directory, format!("{fresh}/{moved}")))
            {
                let _ = unlinkat(directory, &fresh, AtFlags::REMOVEDIR);
                return Err(error);
            }
            // What came to be there meanwhile is moved as well; an empty directory is replaced by this.
            match renameat(directory, &fresh, directory, name) {
                Err(Errno::NOTDIR | Errno::NOTEMPTY | Errno::EXIST) => {}
                renamed => return renamed.map(|()| self.path.join(moved)),
            }
        }
        Err(Errno::AGAIN)
    }

    fn beside(&self) -> Result<Utf8PathBuf, Errno> {
        let (directory, name) = (&self.directory, self.name()?);
        for attempt in 0..ATTEMPTS {
            let moved = format!("{name}.quarantined-{attempt}");
            let rename = || renameat_with(directory, name, directory, &moved, RenameFlags::NOREPLACE);
            match self.moving(rename) {
                Err(Errno::EXIST) => {}
                renamed => return renamed.map(|()| self.path.with_file_name(moved)),
            }
        }
        Err(Errno::EXIST)
    }

    fn name(&self) -> Result<&str, Errno> {
        self.path.file_name().ok_or(Errno::INVAL)
    }

    /// A directory has an entry for the one above it, so that moving it takes the right to write it.
    fn moving(&self, rename: impl Fn() -> Result<(), Errno>) -> Result<(), Errno> {
        let name = self.name()?;
        match rename() {
            Err(Errno::ACCESS) => {
                let found = statat(&self.directory, name, AtFlags::SYMLINK_NOFOLLOW)?;
                if FileType::from_raw_mode(found.st_mode) != FileType::Directory {
                    return Err(Errno::ACCESS);
                }
                let mode = Mode::from_raw_mode(found.st_mode & 0o7777);
                chmodat(&self.directory, name, mode | Mode::RWXU, AtFlags::empty())?;
                rename()
            }
            renamed => renamed,
        }
    }
}

fn fresh_directory(parent: &OwnedFd) -> Result<String, Errno> {
    for attempt in 0..ATTEMPTS {
        // Not longer than a name may be.
        let fresh = format!(".palisade-{}-{attempt}", std::process::id());
        match mkdirat(parent, &fresh, Mode::RWXU) {
            Err(Errno::EXIST) => {}
            made => return made.map(|()| fresh),
        }
    }
    Err(Errno::EXIST)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn directory() -> (tempfile::TempDir, Utf8PathBuf) {
        let directory = tempfile::tempdir().unwrap();
        let path = Utf8PathBuf::from_path_buf(directory.path().canonicalize().unwrap()).unwrap();
        (directory, path)
    }

    fn planted_at(path: &Utf8Path) -> Planted {
        Planted { path: path.to_path_buf(), directory: Rc::new(open_parent(path).unwrap()) }
    }

    fn set(path: &Utf8Path, mode: u32) {
        fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(mode)).unwrap();
    }

    #[test]
    fn what_is_moved_stays_below_its_own_path_and_is_all_there() {
        let (_keep, top) = directory();
        let path = top.join(".env");
        fs::write(&path, "key").unwrap();
        assert_eq!(planted_at(&path).below().unwrap(), path.join("quarantined-0"));
        assert_eq!(fs::read_to_string(path.join("quarantined-0")).unwrap(), "key");
        // A directory with what was moved there before, and a link that leads nowhere.
        assert_eq!(planted_at(&path).below().unwrap(), path.join("quarantined-0"));
        assert_eq!(fs::read_to_string(path.join("quarantined-0/quarantined-0")).unwrap(), "key");
        let link = top.join("link");
        std::os::unix::fs::symlink("/nowhere", &link).unwrap();
        planted_at(&link).below().unwrap();
        assert!(link.join("quarantined-0").is_symlink());
        assert_eq!(fs::read_dir(&top).unwrap().count(), 2, "nothing else is left");
    }

    #[test]
    fn no_name_is_too_long_and_no_link_on_the_way_is_followed() {
        let (_keep, top) = directory();
        let long = top.join("n".repeat(255));
        fs::write(&long, "").unwrap();
        planted_at(&long).below().unwrap();
        fs::create_dir_all(top.join("real/a")).unwrap();
        std::os::unix::fs::symlink("real", top.join("link")).unwrap();
        assert!(Missing::new(&top.join("link/a/file")).is_none());
    }

    #[test]
    fn what_closes_the_way_to_it_does_not_hide_it() {
        let (_keep, top) = directory();
        fs::create_dir(top.join("shut")).unwrap();
        for mode in [0o000, 0o444, 0o555, 0o600] {
            let path = top.join("shut/hooks");
            let missing = Missing::new(&path).unwrap();
            assert!(missing.planted().is_none());
            // Root is not held up by it.
            fs::create_dir(&path).unwrap();
            fs::write(path.join("pre-commit"), "").unwrap();
            set(&path, mode);
            set(&top.join("shut"), mode);
            let planted = missing.planted().unwrap();
            assert_eq!(planted.path, path);
            let (violation, _) = planted.quarantine(Place::Below, "look");
            let moved = path.join("quarantined-0");
            assert_eq!(violation, Violation::Made { path: path.clone(), moved_to: Some(moved.clone()) });
            assert_eq!(fs::metadata(top.join("shut")).unwrap().permissions(), {
                let permissions: fs::Permissions =
                    std::os::unix::fs::PermissionsExt::from_mode(mode | 0o40000);
                permissions
            });
            set(&top.join("shut"), 0o755);
            set(&moved, 0o755);
            fs::remove_dir_all(&path).unwrap();
        }
    }

    #[test]
    fn only_what_may_not_be_there_was_planted() {
        let (_keep, top) = directory();
        let place = top.join("a");
        let stand_ins = [top.join("a/b/c"), top.join("a/d")]
            .map(|stands_for| StandIn { path: place.clone(), stands_for });
        let found = || -> Vec<Utf8PathBuf> {
            let planted = planted(&stand_ins, &place, open_parent(&place).unwrap());
            planted.into_iter().map(|planted| planted.path).collect()
        };
        fs::create_dir_all(top.join("a/b/other")).unwrap();
        assert_eq!(found(), Vec::<Utf8PathBuf>::new());
        fs::write(top.join("a/d"), "").unwrap();
        assert_eq!(found(), [top.join("a/d")]);
        fs::remove_dir_all(top.join("a/b")).unwrap();
        std::os::unix::fs::symlink("/", top.join("a/b")).unwrap();
        assert_eq!(found(), [top.join("a/b"), top.join("a/d")]);
    }
}
