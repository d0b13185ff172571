//! What arrives beyond, written down.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// What is written down of what arrives.
#[derive(Clone)]
pub struct Book(Arc<Mutex<File>>);

impl Book {
    pub fn open(path: &Path) -> Self {
        let file = OpenOptions::new().append(true).create(true).open(path).unwrap();
        Self(Arc::new(Mutex::new(file)))
    }

    pub fn note(&self, line: &str) {
        let mut file = self.0.lock().unwrap();
        file.write_all(format!("{line}\n").as_bytes()).unwrap();
    }
}

/// What was written down.
pub struct Seen(pub PathBuf);

impl Seen {
    pub fn lines(&self) -> Vec<String> {
        std::fs::read_to_string(&self.0).unwrap().lines().map(str::to_owned).collect()
    }

    pub fn forget(&self) {
        std::fs::write(&self.0, "").unwrap();
    }
}
