//! In: a policy and a host. Out: what each statement of the policy is on that machine, and the plan built from it.
//!
//! Binding records what it found, good or bad, as facts; lint turns the bad ones into findings. A fact that cannot be
//! established grants nothing.

pub mod tools;

use crate::host::{Entry, HostError, Resolution, ResolveError};
use crate::policy::{PolicyPath, ToolName};
use camino::Utf8PathBuf;
use tools::Lookup;

/// A path of the policy and where it leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BoundPath {
    pub asked: PolicyPath,
    pub found: Result<Resolution, ResolveError>,
}

impl BoundPath {
    /// The canonical path, where there is one.
    pub fn canonical(&self) -> Option<&camino::Utf8Path> {
        self.found.as_ref().ok().map(|found| found.canonical.as_path())
    }
}

/// One path that a denial covers on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeniedPath {
    /// The path as denied: its parent resolved, its last component not followed.
    pub path: Utf8PathBuf,
    pub entry: Option<Entry>,
}

/// A denial: the paths it covers and what could not be examined on the way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BoundDenial {
    /// Index into `policy.denials`.
    pub statement: usize,
    pub paths: Vec<DeniedPath>,
    /// For a literal denial: the path with every symlink followed, and the hops.
    pub found: Option<Result<Resolution, ResolveError>>,
    /// Directories that could not be listed and paths that could not be examined.
    pub unexamined: Vec<HostError>,
}

/// A path that is guarded in a writable root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Guard {
    pub path: Utf8PathBuf,
    pub entry: Option<Entry>,
    /// Why: "commands that git runs", "start-up file of a shell".
    pub reason: &'static str,
    /// Index into `policy.unguards` of the statement that lifts it.
    pub lifted_by: Option<usize>,
}

/// A protected file that has other names, or a path that kept this from being checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LinkFact {
    /// `path`, protected by what `protected` names, has `links` hard links of which `known` lie under the same protection.
    Linked {
        path: Utf8PathBuf,
        protected: Utf8PathBuf,
        links: u64,
        known: u64,
    },
    Unexamined {
        protected: Utf8PathBuf,
        error: HostError,
    },
}

/// A tool by name, and what was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BoundTool {
    pub asked: ToolName,
    pub optional: bool,
    pub lookup: Lookup,
}

/// A tool stated by path, and what was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BoundToolPath {
    pub asked: PolicyPath,
    pub lookup: Lookup,
}

/// What `git-worktree` found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Worktree {
    /// `.git` is a directory inside the root: nothing more is needed.
    Own,
    /// A linked worktree whose repository points back.
    Linked {
        /// `…/.git/worktrees/NAME`: this worktree's own part.
        git_dir: Utf8PathBuf,
        /// `…/.git`: shared by all worktrees.
        common_dir: Utf8PathBuf,
    },
    /// No `.git`, a repository that does not point back, or what could not be read; says which.
    Refused(String),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BoundWorktree {
    pub asked: PolicyPath,
    pub worktree: Worktree,
}

/// What every statement of a policy is on a machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Binding {
    /// In the policy's order.
    pub roots: Vec<BoundPath>,
    pub denials: Vec<BoundDenial>,
    pub guards: Vec<Guard>,
    pub executables: Vec<BoundPath>,
    pub worktrees: Vec<BoundWorktree>,
    pub working_directory: Option<BoundPath>,
    pub tools: Vec<BoundTool>,
    pub tool_paths: Vec<BoundToolPath>,
    /// The shell, which can always run.
    pub shell: Lookup,
    pub links: Vec<LinkFact>,
}
