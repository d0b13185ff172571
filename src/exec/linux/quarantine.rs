//! What came to be where nothing may be, moved out of the way of every program that takes it for what its name says.
//!
//! It stays below its own path, `NAME/quarantined-0`: whatever is denied or guarded there holds for it too, so that no later command
//! reads what the host itself may have put there, and no other file system is needed.

use super::super::{Note, Violation};
use super::placeholders::{StandIn, open_parent};
use camino::{Utf8Path, Utf8PathBuf};
use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, Mode, RenameFlags, mkdirat, renameat, renameat_with, unlinkat};
use rustix::io::Errno;

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

/// What stands where nothing may, of the paths that one placeholder stood for: such a path itself, or what is no directory on the way to
/// it. What else is there now may be there.
pub fn planted(stand_ins: &[StandIn], place: &Utf8Path) -> Vec<Utf8PathBuf> {
    let mut planted: Vec<Utf8PathBuf> = stand_ins
        .iter()
        .filter(|stand_in| stand_in.path == place)
        .filter_map(|stand_in| standing(&stand_in.path, &stand_in.stands_for))
        .collect();
    planted.sort_unstable();
    planted.dedup();
    planted
}

fn standing(from: &Utf8Path, path: &Utf8Path) -> Option<Utf8PathBuf> {
    let mut way: Vec<&Utf8Path> = path.ancestors().take_while(|part| part.starts_with(from)).collect();
    way.reverse();
    for part in way {
        let found = part.symlink_metadata().ok()?;
        if part == path || !found.is_dir() {
            return Some(part.to_path_buf());
        }
    }
    None
}

/// Moves away what stands at a path, and says so.
pub fn quarantine(path: &Utf8Path, place: Place, help: &str) -> (Violation, Note) {
    let moved = match place {
        Place::Below => below(path),
        Place::Beside => beside(path),
    };
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

/// Its parent is opened following no link: the path is canonical, and whoever lives on could have put one on the way.
fn parent(path: &Utf8Path) -> Result<(OwnedFd, &str), Errno> {
    Ok((open_parent(path)?, path.file_name().ok_or(Errno::INVAL)?))
}

fn below(path: &Utf8Path) -> Result<Utf8PathBuf, Errno> {
    let (parent, name) = parent(path)?;
    let fresh = fresh_directory(&parent, name)?;
    for attempt in 0..ATTEMPTS {
        let moved = format!("quarantined-{attempt}");
        if let Err(error) = renameat(&parent, name, &parent, format!("{fresh}/{moved}")) {
            let _ = unlinkat(&parent, &fresh, AtFlags::REMOVEDIR);
            return Err(error);
        }
        // What came to be there meanwhile is moved as well; an empty directory is replaced by this.
        match renameat(&parent, &fresh, &parent, name) {
            Err(Errno::NOTDIR | Errno::NOTEMPTY | Errno::EXIST) => {}
            renamed => return renamed.map(|()| path.join(moved)),
        }
    }
    Err(Errno::AGAIN)
}

fn fresh_directory(parent: &OwnedFd, name: &str) -> Result<String, Errno> {
    for attempt in 0..ATTEMPTS {
        // Not longer than a name may be.
        let fresh = format!(".palisade-{}-{attempt}", std::process::id());
        debug_assert!(fresh != name);
        match mkdirat(parent, &fresh, Mode::RWXU) {
            Err(Errno::EXIST) => {}
            made => return made.map(|()| fresh),
        }
    }
    Err(Errno::EXIST)
}

fn beside(path: &Utf8Path) -> Result<Utf8PathBuf, Errno> {
    let (parent, name) = parent(path)?;
    for attempt in 0..ATTEMPTS {
        let moved = format!("{name}.quarantined-{attempt}");
        match renameat_with(&parent, name, &parent, &moved, RenameFlags::NOREPLACE) {
            Err(Errno::EXIST) => {}
            renamed => return renamed.map(|()| path.with_file_name(moved)),
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

    #[test]
    fn what_is_moved_stays_below_its_own_path_and_is_all_there() {
        let (_keep, top) = directory();
        let path = top.join(".env");
        fs::write(&path, "key").unwrap();
        assert_eq!(below(&path).unwrap(), path.join("quarantined-0"));
        assert_eq!(fs::read_to_string(path.join("quarantined-0")).unwrap(), "key");
        // A directory with what was moved there before, and a link that leads nowhere.
        assert_eq!(below(&path).unwrap(), path.join("quarantined-0"));
        assert_eq!(fs::read_to_string(path.join("quarantined-0/quarantined-0")).unwrap(), "key");
        let link = top.join("link");
        std::os::unix::fs::symlink("/nowhere", &link).unwrap();
        below(&link).unwrap();
        assert!(link.join("quarantined-0").is_symlink());
        assert_eq!(fs::read_dir(&top).unwrap().count(), 2, "nothing else is left");
    }

    #[test]
    fn no_name_is_too_long_and_no_link_on_the_way_is_followed() {
        let (_keep, top) = directory();
        let long = top.join("n".repeat(255));
        fs::write(&long, "").unwrap();
        below(&long).unwrap();
        fs::create_dir_all(top.join("real/a")).unwrap();
        fs::write(top.join("real/a/file"), "").unwrap();
        std::os::unix::fs::symlink("real", top.join("link")).unwrap();
        assert_eq!(below(&top.join("link/a/file")), Err(Errno::LOOP));
        assert_eq!(beside(&top.join("link/a/file")), Err(Errno::LOOP));
        assert!(top.join("real/a/file").is_file());
    }

    #[test]
    fn only_what_may_not_be_there_was_planted() {
        let (_keep, top) = directory();
        let place = top.join("a");
        let stand_ins = [top.join("a/b/c"), top.join("a/d")]
            .map(|stands_for| StandIn { path: place.clone(), stands_for });
        fs::create_dir_all(top.join("a/b/other")).unwrap();
        assert_eq!(planted(&stand_ins, &place), Vec::<Utf8PathBuf>::new());
        fs::write(top.join("a/d"), "").unwrap();
        assert_eq!(planted(&stand_ins, &place), [top.join("a/d")]);
        fs::remove_dir_all(top.join("a/b")).unwrap();
        std::os::unix::fs::symlink("/", top.join("a/b")).unwrap();
        assert_eq!(planted(&stand_ins, &place), [top.join("a/b"), top.join("a/d")]);
    }
}
