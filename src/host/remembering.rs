//! A host that is asked each question about a path once: what several parts of one compile look at is read once and is the same for all.

use super::{Binary, Entry, Host, HostError, Listing, Mount};
use crate::policy::System;
use camino::{Utf8Path, Utf8PathBuf};
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

type Answers<T> = Mutex<HashMap<Utf8PathBuf, Result<T, HostError>>>;

/// Remembers what a path is and what a directory holds. Contents are asked anew.
pub struct Remembering<'h> {
    host: &'h dyn Host,
    entries: Answers<Option<Entry>>,
    names: Answers<Vec<String>>,
    listings: Answers<Listing>,
}

impl<'h> Remembering<'h> {
    pub fn new(host: &'h dyn Host) -> Self {
        Self { host, entries: Mutex::default(), names: Mutex::default(), listings: Mutex::default() }
    }
}

fn remembered<T: Clone>(
    answers: &Answers<T>,
    path: &Utf8Path,
    ask: impl FnOnce() -> Result<T, HostError>,
) -> Result<T, HostError> {
    // Not held while asking: two that ask at once get the same answer twice, and nothing waits.
    if let Some(answer) = answers.lock().unwrap_or_else(PoisonError::into_inner).get(path) {
        return answer.clone();
    }
    let answer = ask();
    answers.lock().unwrap_or_else(PoisonError::into_inner).insert(path.to_path_buf(), answer.clone());
    answer
}

impl Host for Remembering<'_> {
    fn system(&self) -> System {
        self.host.system()
    }

    fn architecture(&self) -> &str {
        self.host.architecture()
    }

    fn home(&self) -> &Utf8Path {
        self.host.home()
    }

    fn case_insensitive(&self) -> bool {
        self.host.case_insensitive()
    }

    fn lstat(&self, path: &Utf8Path) -> Result<Option<Entry>, HostError> {
        remembered(&self.entries, path, || self.host.lstat(path))
    }

    fn read_dir(&self, path: &Utf8Path) -> Result<Vec<String>, HostError> {
        remembered(&self.names, path, || self.host.read_dir(path))
    }

    fn list(&self, directory: &Utf8Path) -> Result<Listing, HostError> {
        remembered(&self.listings, directory, || self.host.list(directory))
    }

    fn spelling(&self, directory: &Utf8Path, name: &str) -> Result<String, HostError> {
        self.host.spelling(directory, name)
    }

    fn head(&self, path: &Utf8Path, limit: usize) -> Result<Vec<u8>, HostError> {
        self.host.head(path, limit)
    }

    fn digest(&self, path: &Utf8Path) -> Result<String, HostError> {
        self.host.digest(path)
    }

    fn binary(&self, path: &Utf8Path) -> Result<Option<Binary>, HostError> {
        self.host.binary(path)
    }

    fn mounts(&self) -> Result<Vec<Mount>, HostError> {
        self.host.mounts()
    }

    fn developer_directory(&self) -> Option<&Utf8Path> {
        self.host.developer_directory()
    }
}
