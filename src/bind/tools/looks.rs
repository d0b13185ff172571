//! Looks at the host that are worth remembering for the length of one compile.

use crate::host::{Binary, Entry, Host, HostError, Resolution, ResolveError, resolve};
use camino::{Utf8Path, Utf8PathBuf};
use std::collections::HashMap;

pub struct Looks<'h> {
    pub host: &'h dyn Host,
    resolved: HashMap<Utf8PathBuf, Result<Resolution, ResolveError>>,
    binaries: HashMap<Utf8PathBuf, Result<Option<Binary>, HostError>>,
}

impl<'h> Looks<'h> {
    pub fn new(host: &'h dyn Host) -> Self {
        Self { host, resolved: HashMap::new(), binaries: HashMap::new() }
    }

    pub fn resolve(&mut self, path: &Utf8Path) -> Result<Resolution, ResolveError> {
        if let Some(known) = self.resolved.get(path) {
            return known.clone();
        }
        let found = resolve(self.host, path);
        self.resolved.insert(path.to_path_buf(), found.clone());
        found
    }

    /// What a file, canonical, says that it loads.
    pub fn binary(&mut self, path: &Utf8Path) -> Result<Option<Binary>, HostError> {
        if let Some(known) = self.binaries.get(path) {
            return known.clone();
        }
        let found = self.host.binary(path);
        self.binaries.insert(path.to_path_buf(), found.clone());
        found
    }

    /// The directory a path leads to; `None` where that is not one.
    pub fn directory(&mut self, path: &Utf8Path) -> Option<Resolution> {
        self.resolve(path).ok().filter(|found| found.entry.as_ref().is_some_and(Entry::is_directory))
    }

    /// Whether a path leads to a regular file.
    pub fn is_file(&mut self, path: &Utf8Path) -> bool {
        self.resolve(path).is_ok_and(|found| found.entry.as_ref().is_some_and(Entry::is_file))
    }

    /// The names in the directory a path leads to; `None` where that is not one or cannot be listed.
    pub fn names(&mut self, path: &Utf8Path) -> Option<Vec<String>> {
        let found = self.directory(path)?;
        self.host.read_dir(&found.canonical).ok()
    }
}
