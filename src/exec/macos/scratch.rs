//! The private directory of one run: the text of the profile, and beside it the temporary directory that the command gets.

use super::super::Refusal;
use crate::manifest::Root;
use camino::{Utf8Path, Utf8PathBuf};
use rustix::fs::{AtFlags, FileType, Mode, OFlags, openat, renameat, statat};
use rustix::io::Errno;
use std::fs::{DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// The file in the scratch that the profile keeps from being read, last of all. A process that may read the scratch and not this file
/// runs under the profile of this very run: other runs have another scratch, and what has no sandbox may read both.
pub const SENTINEL: &str = "/.palisade-sentinel";

/// The first of these directories that is outside every root, under its real name: Seatbelt compares that one.
///
/// # Errors
/// None of them is.
pub fn place(candidates: impl IntoIterator<Item = PathBuf>, roots: &[Root]) -> Result<Utf8PathBuf, Refusal> {
    let real = candidates
        .into_iter()
        .filter_map(|place| Utf8PathBuf::from_path_buf(place.canonicalize().ok()?).ok());
    let mut free =
        real.filter(|place| place.is_dir() && !roots.iter().any(|root| place.starts_with(&root.path)));
    free.next().ok_or_else(|| Refusal::Kernel {
        message: "there is no place for a private temporary directory: the system's are inside a root".into(),
        help: "state the directories below that root that are needed".into(),
    })
}

#[derive(Debug)]
pub struct Scratch {
    directory: TempDir,
    path: Utf8PathBuf,
    profile: Utf8PathBuf,
}

impl Scratch {
    /// Makes it below `place`, open to this user only, with the profile and the sentinel in it.
    ///
    /// # Errors
    /// Where it cannot be made.
    pub fn make(place: &Utf8Path, profile: &str) -> io::Result<Self> {
        let own = Permissions::from_mode(0o700);
        let directory = tempfile::Builder::new().prefix("palisade-").permissions(own).tempdir_in(place)?;
        let base = Utf8Path::from_path(directory.path()).ok_or(io::ErrorKind::InvalidData)?;
        let (path, file) = (base.join("tmp"), base.join("profile.sb"));
        private_file(&file)?.write_all(profile.as_bytes())?;
        let scratch = Self { directory, path, profile: file };
        scratch.restore()?;
        Ok(scratch)
    }

    /// Puts files into a directory in the command's temporary directory, whose path they are made for and which is given.
    ///
    /// # Errors
    /// Where they cannot be written.
    pub fn put<const N: usize>(
        &self,
        files: impl FnOnce(&str) -> [(&'static str, Vec<u8>); N],
    ) -> io::Result<Utf8PathBuf> {
        let directory = self.path.join(".palisade");
        DirBuilder::new().mode(0o700).create(&directory)?;
        for (name, contents) in files(directory.as_str()) {
            private_file(&directory.join(name))?.write_all(&contents)?;
        }
        Ok(directory)
    }

    /// The command's temporary directory.
    pub fn path(&self) -> &Utf8Path {
        &self.path
    }

    /// The file with the profile, which lies outside the command's reach.
    pub fn profile(&self) -> &Utf8Path {
        &self.profile
    }

    pub fn sentinel(&self) -> String {
        format!("{}{SENTINEL}", self.path)
    }

    /// Puts the directory and the sentinel where they belong, should the command have removed or replaced them: without them nothing
    /// tells its processes from others. Follows no symlink: where it leads is not the command's.
    ///
    /// # Errors
    /// Where they are not there and cannot be made.
    pub fn restore(&self) -> io::Result<()> {
        let open = || {
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            rustix::fs::open(self.path.as_str(), flags, Mode::empty())
        };
        let directory = match open() {
            Err(Errno::NOENT) => None,
            Err(Errno::LOOP | Errno::NOTDIR) => {
                std::fs::remove_file(&self.path)?;
                None
            }
            Err(Errno::ACCESS) => {
                std::fs::set_permissions(&self.path, Permissions::from_mode(0o700))?;
                Some(open()?)
            }
            opened => Some(opened?),
        };
        let directory = match directory {
            Some(directory) => directory,
            None => {
                DirBuilder::new().mode(0o700).create(&self.path)?;
                open()?
            }
        };
        let name = SENTINEL.trim_start_matches('/');
        match statat(&directory, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(found) if FileType::from_raw_mode(found.st_mode) == FileType::RegularFile => return Ok(()),
            Ok(_) => {
                let aside = format!("{name}.{}", std::process::id());
                renameat(&directory, name, &directory, aside)?;
            }
            Err(Errno::NOENT) => {}
            Err(error) => return Err(error.into()),
        }
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        openat(&directory, name, flags, Mode::RUSR | Mode::WUSR)?;
        Ok(())
    }

    /// Removes all of it, also what the command has closed to its own user.
    ///
    /// # Errors
    /// What is left behind, and why.
    pub fn remove(self) -> Result<(), (Utf8PathBuf, io::Error)> {
        let top = self.directory.path().to_path_buf();
        if self.directory.close().is_ok() {
            return Ok(());
        }
        open_up(&top);
        let left = Utf8PathBuf::from(top.to_string_lossy().into_owned());
        std::fs::remove_dir_all(&top).map_err(|error| (left, error))
    }
}

/// Gives this user back every directory at and below a place. Nothing of the command runs any more that could put a link there.
fn open_up(directory: &Path) {
    // What cannot be opened up cannot be removed either, which is told then.
    let _ = std::fs::set_permissions(directory, Permissions::from_mode(0o700));
    let mut waiting = vec![directory.to_path_buf()];
    while let Some(directory) = waiting.pop() {
        for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                let _ = std::fs::set_permissions(entry.path(), Permissions::from_mode(0o700));
                waiting.push(entry.path());
            }
        }
    }
}

fn private_file(path: &Utf8Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::Access;
    use std::fs;

    fn base() -> (TempDir, Utf8PathBuf) {
        let base = tempfile::tempdir().unwrap();
        let path = Utf8PathBuf::from_path_buf(base.path().canonicalize().unwrap()).unwrap();
        (base, path)
    }

    fn root(path: &Utf8Path) -> Root {
        Root { path: path.into(), access: Access::ReadWrite, from: "test".into() }
    }

    #[test]
    fn files_that_it_is_given_know_where_they_are() {
        let base = tempfile::tempdir().unwrap();
        let place = Utf8Path::from_path(base.path()).unwrap();
        let scratch = Scratch::make(place, "(version 1)").unwrap();
        let directory = scratch.put(|directory| [("where", directory.as_bytes().to_vec())]).unwrap();
        assert_eq!(directory.parent(), Some(scratch.path()));
        assert_eq!(std::fs::read_to_string(directory.join("where")).unwrap(), directory.as_str());
    }

    #[test]
    fn the_place_is_real_and_outside_every_root() {
        let (_base, base) = base();
        let (one, two, link) = (base.join("one"), base.join("two"), base.join("link"));
        fs::create_dir(&one).unwrap();
        fs::create_dir(&two).unwrap();
        std::os::unix::fs::symlink("two", &link).unwrap();
        let place = |roots: &[Root]| {
            let candidates = [base.join("missing"), one.clone(), link.clone()];
            super::place(candidates.map(Utf8PathBuf::into_std_path_buf), roots)
        };
        assert_eq!(place(&[]).unwrap(), one);
        assert_eq!(place(&[root(&one)]).unwrap(), two, "under the name that the link leads to");
        assert_eq!(place(&[root(&base.join("on"))]).unwrap(), one, "no more than a part of the name");
        assert_eq!(place(&[root(&one.join("below"))]).unwrap(), one, "a fresh directory holds no root");
        assert!(place(&[root(&one), root(&two)]).is_err());
        assert!(place(&[root(&base)]).is_err());
    }

    #[test]
    fn it_is_the_users_own() {
        let (_base, base) = base();
        let scratch = Scratch::make(&base, "(version 1)").unwrap();
        assert_eq!(fs::read_to_string(scratch.profile()).unwrap(), "(version 1)");
        assert!(!scratch.profile().starts_with(scratch.path()));
        let mode = |path: &Utf8Path| fs::symlink_metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(scratch.path().parent().unwrap()), 0o700);
        assert_eq!(mode(scratch.path()), 0o700);
        assert_eq!(mode(scratch.profile()), 0o600);
        assert_eq!(mode(Utf8Path::new(&scratch.sentinel())), 0o600);
        let other = Scratch::make(&base, "").unwrap();
        assert_ne!(scratch.path(), other.path());
    }

    #[test]
    fn what_the_command_removes_is_put_back() {
        let (_base, base) = base();
        let scratch = Scratch::make(&base, "").unwrap();
        fs::remove_file(scratch.sentinel()).unwrap();
        scratch.restore().unwrap();
        fs::remove_dir_all(scratch.path()).unwrap();
        scratch.restore().unwrap();
        assert!(fs::exists(scratch.sentinel()).unwrap());
        fs::write(scratch.path().join("kept"), "").unwrap();
        scratch.restore().unwrap();
        assert!(scratch.path().join("kept").exists());

        let is_file = || fs::symlink_metadata(scratch.sentinel()).unwrap().is_file();
        fs::remove_file(scratch.sentinel()).unwrap();
        std::os::unix::fs::symlink("kept", scratch.sentinel()).unwrap();
        scratch.restore().unwrap();
        assert!(is_file(), "a link would be answered for as what it leads to");

        let outside = base.join("outside");
        fs::create_dir(&outside).unwrap();
        fs::remove_dir_all(scratch.path()).unwrap();
        std::os::unix::fs::symlink(&outside, scratch.path()).unwrap();
        scratch.restore().unwrap();
        assert!(is_file());
        assert_eq!(fs::read_dir(&outside).unwrap().count(), 0, "nothing is made where the command may not");

        fs::set_permissions(scratch.path(), Permissions::from_mode(0o000)).unwrap();
        scratch.restore().unwrap();
        assert!(is_file());
    }

    #[test]
    fn nothing_stays_behind() {
        let (_base, base) = base();
        let scratch = Scratch::make(&base, "").unwrap();
        let outside = base.join("outside");
        fs::create_dir(&outside).unwrap();
        fs::write(outside.join("file"), "").unwrap();
        std::os::unix::fs::symlink(&outside, scratch.path().join("link")).unwrap();
        let shut = scratch.path().join("a/b");
        fs::create_dir_all(&shut).unwrap();
        fs::write(shut.join("file"), "").unwrap();
        for path in [shut.as_path(), shut.parent().unwrap(), scratch.path()] {
            fs::set_permissions(path, Permissions::from_mode(0o000)).unwrap();
        }
        scratch.remove().unwrap();
        let left: Vec<_> = fs::read_dir(&base).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(left, ["outside"]);
        assert!(outside.join("file").exists());
    }
}
