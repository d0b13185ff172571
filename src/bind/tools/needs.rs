//! Collecting what one tool needs.

use super::Grant;
use super::libraries::Closure;
use crate::host::Hop;
use crate::plan::{Operation, Operations, Scope};
use camino::{Utf8Path, Utf8PathBuf};
use std::collections::{BTreeMap, BTreeSet};

/// A library, or a module tree: read and mapped.
pub const LOAD: Operations = Operations::READING.union(Operations::of(&[Operation::Map]));
/// A program, or a loader, which Linux opens for execution too (execve(2)).
pub const RUN: Operations = LOAD.union(Operations::of(&[Operation::Exec]));
/// An interpreter on Linux: the kernel asks for execute permission as for any program (Landlock's `EXECUTE` too), so that one that
/// may interpret may also be run.
pub const INTERPRET: Operations = RUN.union(Operations::of(&[Operation::Interpret]));

#[derive(Debug, Default)]
pub struct Needs {
    grants: BTreeMap<(Utf8PathBuf, Scope), (Operations, &'static str)>,
    pub hops: Vec<Hop>,
    pub files: BTreeSet<Utf8PathBuf>,
    /// Programs in trees that are mapped: nobody is to run them.
    pub shut: BTreeSet<Utf8PathBuf>,
    /// Where `env` has to find interpreters.
    pub also_on_path: BTreeSet<Utf8PathBuf>,
    /// Where the developer tools are that it runs, canonical.
    pub developer_directory: Option<Utf8PathBuf>,
}

impl Needs {
    pub fn grant(&mut self, path: &Utf8Path, scope: Scope, operations: Operations, role: &'static str) {
        let entry = self.grants.entry((path.to_path_buf(), scope)).or_insert((operations, role));
        entry.0 = entry.0.union(operations);
    }

    /// A single file whose contents matter.
    pub fn file(&mut self, path: &Utf8Path, operations: Operations, role: &'static str) {
        self.grant(path, Scope::Literal, operations, role);
        self.files.insert(path.to_path_buf());
    }

    pub fn hops(&mut self, hops: &[Hop]) {
        for hop in hops {
            if !self.hops.contains(hop) {
                self.hops.push(hop.clone());
            }
        }
    }

    pub fn libraries(&mut self, closure: &Closure) {
        for library in &closure.libraries {
            self.file(library, LOAD, "library");
        }
        self.hops(&closure.hops);
    }

    /// Adds all that something else needs.
    pub fn merge(&mut self, other: Self) {
        for ((path, scope), (operations, role)) in other.grants {
            self.grant(&path, scope, operations, role);
        }
        self.hops(&other.hops);
        self.files.extend(other.files);
        self.shut.extend(other.shut);
        self.also_on_path.extend(other.also_on_path);
        if other.developer_directory.is_some() {
            self.developer_directory = other.developer_directory;
        }
    }

    pub fn grants(self) -> Vec<Grant> {
        let grant = |((path, scope), (operations, role))| Grant { path, scope, operations, role };
        self.grants.into_iter().map(grant).collect()
    }
}
