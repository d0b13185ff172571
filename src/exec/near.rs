//! Canonical paths as text, and a look at many of them: where they lie in the same directory it is opened, so that the way to it is not
//! walked for each.

use camino::Utf8Path;
use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, CWD, Mode, OFlags, Stat, open, statat};
use rustix::io::Errno;

/// Remembers the directory that was looked into last. Worth it where paths come in order.
#[derive(Debug, Default)]
pub struct Near {
    directory: String,
    /// Open from the second path in it on.
    open: Option<OwnedFd>,
}

impl Near {
    /// What stands at a path, not following a symlink there, as lstat(2) has it.
    ///
    /// # Errors
    /// As lstat(2).
    pub fn look(&mut self, path: &Utf8Path) -> Result<Stat, Errno> {
        let Some((directory, name)) = parts(path) else {
            return statat(CWD, path.as_str(), AtFlags::SYMLINK_NOFOLLOW);
        };
        if self.directory.as_str() != directory {
            self.directory = directory.into();
            self.open = None;
            return statat(CWD, path.as_str(), AtFlags::SYMLINK_NOFOLLOW);
        }
        if self.open.is_none() {
            self.open = open(directory, FLAGS, Mode::empty()).ok();
        }
        match &self.open {
            Some(open) => statat(open, name, AtFlags::SYMLINK_NOFOLLOW),
            None => statat(CWD, path.as_str(), AtFlags::SYMLINK_NOFOLLOW),
        }
    }
}

/// A directory to look through, not to read.
#[cfg(target_os = "linux")]
const FLAGS: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
#[cfg(not(target_os = "linux"))]
const FLAGS: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// The directory that holds a canonical path, and its name there; `None` for `/`.
pub fn parts(path: &Utf8Path) -> Option<(&str, &str)> {
    let (directory, name) = path.as_str().rsplit_once('/')?;
    let directory = if directory.is_empty() { "/" } else { directory };
    (!name.is_empty()).then_some((directory, name))
}

/// Whether a path is another one or lies below it, both canonical. Much faster as text than component by component.
pub fn holds(top: &Utf8Path, path: &Utf8Path) -> bool {
    let (top, path) = (top.as_str(), path.as_str());
    top == "/" || path.strip_prefix(top).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;
    #[cfg(target_os = "linux")]
    use camino::Utf8PathBuf;
    #[cfg(target_os = "linux")]
    use std::os::unix::fs::MetadataExt as _;

    #[test]
    fn holds_what_is_below_and_not_what_is_beside() {
        for top in ["/", "/a", "/a/b", "/ab"] {
            for path in ["/", "/a", "/a/b", "/a/b/c", "/a/bc", "/ab", "/b"] {
                assert_eq!(
                    holds(top.into(), path.into()),
                    Utf8Path::new(path).starts_with(top),
                    "{top} {path}"
                );
            }
        }
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn looks_as_lstat_does() {
        let directory = tempfile::tempdir().unwrap();
        let top = Utf8PathBuf::from_path_buf(directory.path().canonicalize().unwrap()).unwrap();
        std::fs::create_dir(top.join("a")).unwrap();
        std::fs::write(top.join("a/file"), "x").unwrap();
        std::os::unix::fs::symlink("file", top.join("a/link")).unwrap();
        let mut near = Near::default();
        let inside =
            ["a/file", "a/link", "a/none", "a/file", "a", "b/c", "b/c", "a/file/x", "a/file/x", "a/link"];
        let paths = inside.into_iter().map(|path| top.join(path));
        for path in paths.chain(["/", "/", "/proc", "/etc"].map(Utf8PathBuf::from)) {
            let expected = path.symlink_metadata().map(|found| (found.dev(), found.ino(), found.mode()));
            let found = near.look(&path).map(|stat| (stat.st_dev, stat.st_ino, stat.st_mode));
            let code = |error: std::io::Error| error.raw_os_error();
            assert_eq!(found.map_err(|error| code(error.into())), expected.map_err(code), "{path}");
        }
    }
}
