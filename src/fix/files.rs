//! The texts that are being fixed, and which of them may be.

use crate::report::origin::STANDARD_INPUT;
use crate::resolve::{LoadFailure, Loader};
use crate::source::SourceFile;
use camino::{Utf8Path, Utf8PathBuf};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What a file is known by: its canonical path, or [`STANDARD_INPUT_KEY`].
pub type Key = Utf8PathBuf;

/// No path is absolute and called so.
pub const STANDARD_INPUT_KEY: &str = "-";

/// A file as it was read and as it is to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// As shown to the user.
    pub name: String,
    pub before: Arc<str>,
    pub now: Arc<str>,
}

impl File {
    pub fn is_changed(&self) -> bool {
        self.before != self.now
    }
}

/// Every file that was met, by its key.
#[derive(Debug, Clone, Default)]
pub struct Files {
    by_key: BTreeMap<Key, File>,
    /// Canonical: files, and directories with everything in them.
    checked: Vec<Utf8PathBuf>,
}

impl Files {
    /// `checked` are the paths that the user gave, canonical: nothing outside them is changed.
    pub fn new(checked: Vec<Utf8PathBuf>) -> Self {
        Self { by_key: BTreeMap::new(), checked }
    }

    /// What a source is known by. What ships with the program has no key: it is nobody's to change.
    pub fn key(&self, source: &SourceFile) -> Option<Key> {
        match &source.path {
            Some(path) => path.canonicalize_utf8().ok(),
            None => (source.name == STANDARD_INPUT).then(|| STANDARD_INPUT_KEY.into()),
        }
    }

    /// Whether the user gave the file to be checked, by itself or by a directory that holds it.
    pub fn may_change(&self, key: &Utf8Path) -> bool {
        key == STANDARD_INPUT_KEY || self.checked.iter().any(|checked| key.starts_with(checked))
    }

    /// Takes note of a text as it was read. Of a file that was met before, nothing changes but a name that is shorter, as the user gave it.
    pub fn meet(&mut self, key: Key, source: &SourceFile) {
        let file = self.by_key.entry(key).or_insert_with(|| File {
            name: source.name.clone(),
            before: Arc::clone(&source.text),
            now: Arc::clone(&source.text),
        });
        if source.name.len() < file.name.len() {
            file.name.clone_from(&source.name);
        }
    }

    pub fn get(&self, key: &Utf8Path) -> Option<&File> {
        self.by_key.get(key)
    }

    pub fn set(&mut self, key: &Utf8Path, text: String) {
        if let Some(file) = self.by_key.get_mut(key) {
            file.now = text.into();
        }
    }

    /// The text of a source as it is now.
    pub fn now(&self, source: &SourceFile) -> Arc<str> {
        let known = self.key(source).and_then(|key| self.by_key.get(&key));
        known.map_or_else(|| Arc::clone(&source.text), |file| Arc::clone(&file.now))
    }

    /// The files that are no longer what was read.
    pub fn changed(&self) -> impl Iterator<Item = (&Key, &File)> {
        self.by_key.iter().filter(|(_, file)| file.is_changed())
    }

    /// A loader that gives these texts, and any other file as `base` does.
    pub fn loader<'a>(&'a self, base: &'a dyn Loader) -> impl Loader + 'a {
        Overlay { base, files: self }
    }
}

struct Overlay<'a> {
    base: &'a dyn Loader,
    files: &'a Files,
}

impl Loader for Overlay<'_> {
    fn read(&self, path: &Utf8Path) -> Result<(Utf8PathBuf, Vec<u8>), LoadFailure> {
        let (canonical, bytes) = self.base.read(path)?;
        let now = self.files.get(&canonical).filter(|file| file.is_changed());
        Ok((canonical, now.map_or(bytes, |file| file.now.as_bytes().to_vec())))
    }
}
