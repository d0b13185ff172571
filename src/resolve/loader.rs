//! Reading the files that a profile uses.

use crate::source::MAX_BYTES;
use camino::{Utf8Path, Utf8PathBuf};
use std::collections::BTreeMap;
use std::io::Read;

/// Why a used file cannot be read, in words for a finding.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LoadFailure {
    #[error("there is no file `{0}`")]
    Missing(Utf8PathBuf),
    #[error("`{0}` is not a regular file")]
    NotAFile(Utf8PathBuf),
    #[error("`{path}` cannot be read: {reason}")]
    Other { path: Utf8PathBuf, reason: String },
}

/// The way to the files that a profile uses.
pub trait Loader {
    /// The bytes of a file, at most one more than [`MAX_BYTES`], and its canonical path: two names of one file are one file.
    fn read(&self, path: &Utf8Path) -> Result<(Utf8PathBuf, Vec<u8>), LoadFailure>;
}

/// Reads from the file system.
#[derive(Debug, Clone, Copy, Default)]
pub struct LiveLoader;

impl Loader for LiveLoader {
    fn read(&self, path: &Utf8Path) -> Result<(Utf8PathBuf, Vec<u8>), LoadFailure> {
        let failure = |error: std::io::Error| match error.kind() {
            std::io::ErrorKind::NotFound => LoadFailure::Missing(path.to_owned()),
            _ => LoadFailure::Other { path: path.to_owned(), reason: error.to_string() },
        };
        let canonical = path.canonicalize_utf8().map_err(failure)?;
        // Opening a fifo would wait for a writer.
        if !std::fs::metadata(&canonical).map_err(failure)?.is_file() {
            return Err(LoadFailure::NotAFile(path.to_owned()));
        }
        let mut bytes = Vec::new();
        let file = std::fs::File::open(&canonical).map_err(failure)?;
        file.take(MAX_BYTES as u64 + 1).read_to_end(&mut bytes).map_err(failure)?;
        Ok((canonical, bytes))
    }
}

/// Files held in memory, by absolute path.
#[derive(Debug, Clone, Default)]
pub struct MemoryLoader {
    pub files: BTreeMap<Utf8PathBuf, Vec<u8>>,
}

impl MemoryLoader {
    /// The loader with one file more.
    pub fn with(mut self, path: &str, text: &str) -> Self {
        self.files.insert(path.into(), text.as_bytes().to_vec());
        self
    }
}

impl Loader for MemoryLoader {
    fn read(&self, path: &Utf8Path) -> Result<(Utf8PathBuf, Vec<u8>), LoadFailure> {
        let mut clean = Utf8PathBuf::new();
        for component in path.components() {
            match component {
                camino::Utf8Component::ParentDir => {
                    clean.pop();
                }
                camino::Utf8Component::CurDir => {}
                other => clean.push(other),
            }
        }
        let bytes = self.files.get(&clean).ok_or_else(|| LoadFailure::Missing(path.to_owned()))?;
        Ok((clean, bytes.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_regular_files_by_their_canonical_names() {
        let directory = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(directory.path()).unwrap().canonicalize_utf8().unwrap();
        std::fs::write(root.join("a"), "text").unwrap();
        std::fs::create_dir(root.join("d")).unwrap();
        let read = |path: &str| LiveLoader.read(&root.join(path));
        assert_eq!(read("d/../a"), Ok((root.join("a"), b"text".to_vec())));
        assert_eq!(read("b"), Err(LoadFailure::Missing(root.join("b"))));
        assert_eq!(read("d"), Err(LoadFailure::NotAFile(root.join("d"))));
        assert!(matches!(read("a/x"), Err(LoadFailure::Other { .. })));
    }
}
