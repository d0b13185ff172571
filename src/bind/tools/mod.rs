//! In: the name or path of a program and a host. Out: everything that program needs to start, or why it cannot be had.
//!
//! Looked up only in fixed places, never through the caller's PATH or environment, and nothing is executed to find out.

pub mod families;
mod finder;
pub mod installs;
mod libraries;
mod loader;
mod looks;
mod macos;
mod needs;
mod script;
mod trees;

pub use finder::{Finder, rank};
pub use needs::LOAD;

use crate::host::{Hop, Host};
use crate::plan::{Operations, Scope};
use camino::{Utf8Path, Utf8PathBuf};
use std::sync::Arc;

/// One thing a tool is given.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Grant {
    /// Canonical.
    pub path: Utf8PathBuf,
    pub scope: Scope,
    pub operations: Operations,
    /// For the manifest: "program", "interpreter", "loader", "library", "helper programs", "modules", "install", "files".
    pub role: &'static str,
}

/// A program that was found and what it needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tool {
    pub name: String,
    /// Where it was found, before symlinks were followed.
    pub path: Utf8PathBuf,
    /// Canonical.
    pub real: Utf8PathBuf,
    /// Symlinks between the two and on the way to interpreters and libraries.
    pub hops: Vec<Hop>,
    /// `system`, or the kind of install and where it is (`pyenv /home/u/.pyenv/versions/3.12.1`, `homebrew /opt/homebrew/Cellar/git/2.47.1`).
    pub source: String,
    /// The interpreter of a script, canonical.
    pub interpreter: Option<Utf8PathBuf>,
    /// Program, interpreter, loader, libraries, helper trees, modules. Sorted, no repetitions.
    pub grants: Vec<Grant>,
    /// Files among the grants and helper programs in granted trees whose digests the manifest records. Canonical, sorted.
    pub files: Vec<Utf8PathBuf>,
    /// Programs of others in trees that it maps: a loader could be given them (ld.so(8)), so that they are not mapped unless something
    /// else lets them run. Canonical, sorted.
    pub shut: Vec<Utf8PathBuf>,
    /// The directory to put on PATH so that it is found by its name.
    pub directory: Utf8PathBuf,
    /// Further directories for PATH: where `env` has to find the interpreters of a script. Sorted.
    pub also_on_path: Vec<Utf8PathBuf>,
    /// The developer directory of a Mac, canonical, where it or what it runs belongs to one.
    pub developer_directory: Option<Utf8PathBuf>,
}

/// What looking for a program gave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Lookup {
    Found(Arc<Tool>),
    /// Not in any of these places.
    Missing {
        searched: Vec<Utf8PathBuf>,
    },
    /// Something of that name is there but cannot be granted; says why.
    Broken {
        path: Utf8PathBuf,
        reason: String,
    },
}

impl Lookup {
    pub fn tool(&self) -> Option<&Tool> {
        match self {
            Self::Found(tool) => Some(tool),
            _ => None,
        }
    }
}

/// [`Finder::find`] for a single tool; several share their looks through one [`Finder`].
pub fn find(host: &dyn Host, name: &str) -> Lookup {
    Finder::new(host).find(name)
}

/// [`Finder::find_path`] for a single tool.
pub fn find_path(host: &dyn Host, path: &Utf8Path) -> Lookup {
    Finder::new(host).find_path(path)
}

/// [`Finder::shell`] by itself.
pub fn shell(host: &dyn Host) -> Lookup {
    Finder::new(host).shell()
}
