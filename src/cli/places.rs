//! Where files lie as others see them: relative to the root of the repository.

use crate::report::origin::Origin;
use std::path::{Path, PathBuf};

/// The repository that a run is in.
pub struct Places {
    current: PathBuf,
    root: PathBuf,
}

impl Places {
    /// The repository that holds the current directory: the nearest directory upwards with a `.git`, else the current one. Where that is gone, every
    /// path is taken as it is given.
    pub fn here() -> Self {
        let current = std::env::current_dir().unwrap_or_default();
        let current = current.canonicalize().unwrap_or(current);
        let marked = |directory: &&Path| directory.join(".git").symlink_metadata().is_ok();
        let root = current.ancestors().find(marked).unwrap_or(&current).to_path_buf();
        Self { current, root }
    }

    /// Absolute, without links where the current directory is there.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The absolute path of what is a file.
    pub fn absolute(&self, origin: &Origin) -> Option<PathBuf> {
        origin.path().map(|path| self.root.join(path))
    }

    /// Where a path lies. Links on the way to it are followed; it itself, which a repository holds as a link, is not.
    pub fn origin(&self, path: &Path) -> Origin {
        let path = self.current.join(path);
        let canonical = match (path.parent(), path.file_name()) {
            (Some(parent), Some(name)) => parent.canonicalize().map(|parent| parent.join(name)),
            _ => path.canonicalize(),
        };
        let place = canonical.unwrap_or(path);
        match place.strip_prefix(&self.root) {
            Ok(below) if below.as_os_str().is_empty() => Origin::Repository(".".into()),
            Ok(below) => Origin::Repository(below.to_path_buf()),
            Err(_) => Origin::Elsewhere(place),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_named_as_the_repository_holds_it() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().canonicalize().unwrap();
        std::fs::create_dir_all(root.join("deep/er")).unwrap();
        std::os::unix::fs::symlink("deep", root.join("link")).unwrap();
        std::os::unix::fs::symlink("/gone", root.join("deep/dangling")).unwrap();
        let places = Places { current: root.join("deep"), root: root.clone() };
        for (given, expected) in [
            ("er/a", "deep/er/a"),
            ("./er/../a", "deep/a"),
            ("../a", "a"),
            ("../link/a", "deep/a"),
            ("dangling", "deep/dangling"),
            ("..", "."),
        ] {
            assert_eq!(places.origin(Path::new(given)), Origin::Repository(expected.into()), "{given}");
        }
        let outside = root.parent().unwrap().join("x");
        assert_eq!(places.origin(&outside), Origin::Elsewhere(outside.clone()));
    }
}
