//! In: a policy bound to a machine. Out: the resolved grant, as one ordered list of rules and what goes with it.
//!
//! Everything that decides anything reads the plan, through [`Decider`].

pub mod aliases;
pub mod decide;
pub mod hosts;
pub mod operation;
pub mod question;
pub mod request;
pub mod rule;
pub mod seatbelt;

pub use aliases::{Alias, aliases, names};
pub use decide::{Decider, Decision, Spelling};
pub use operation::{Operation, Operations};
pub use rule::{Effect, Origin, OriginKind, Rule, Scope};

use crate::host::{Hop, HostError, Identity};
use crate::policy::{Access, HostPattern, Ipc, LimitKind, Network, System};
use crate::source::Span;
use camino::Utf8PathBuf;
use std::collections::BTreeMap;

/// A root as it will be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedRoot {
    /// Canonical.
    pub path: Utf8PathBuf,
    pub access: Access,
    pub identity: Identity,
    pub origin: Origin,
}

/// Why a path inside a root is more closed than its root.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Protection {
    Denied,
    ReadOnly,
    Guarded,
}

/// What stands at a protected path when it is compiled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Presence {
    File,
    Directory,
    /// A symlink, socket, fifo or device.
    Special,
    Missing,
    /// Missing, and nothing may stand in for it.
    Absent,
}

/// A path inside a root that is denied, guarded, or read-only within a writable one. Checked for other hard links.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Protected {
    /// Canonical.
    pub path: Utf8PathBuf,
    pub protection: Protection,
    pub presence: Presence,
    pub origin: Origin,
}

/// A file whose contents the plan rests on: something that may be run, mapped or read as code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedFile {
    /// Canonical.
    pub path: Utf8PathBuf,
    /// SHA-256, lower-case hexadecimal.
    pub digest: String,
    pub identity: Identity,
    pub size: u64,
    /// Nanoseconds since 1970; 0 where not known.
    pub modified: i128,
}

/// A tool that was found and what it was given, for the manifest's reader.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedTool {
    pub name: String,
    /// Where it was found.
    pub path: Utf8PathBuf,
    /// Where that leads.
    pub real: Utf8PathBuf,
    /// `system`, or what kind of install it belongs to and where that is.
    pub source: String,
    pub interpreter: Option<Utf8PathBuf>,
    /// Directories of helper programs and modules.
    pub trees: Vec<Utf8PathBuf>,
    pub optional: bool,
    pub origin: Origin,
}

/// An optional tool or group member that this machine lacks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkippedTool {
    pub name: String,
    pub reason: String,
    pub span: Span,
}

/// The environment a command gets, all of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Environment {
    /// Name and value, sorted by name.
    pub set: BTreeMap<String, String>,
    /// Names whose value is the caller's, where the caller has one.
    pub pass: Vec<String>,
    /// Sorted by name.
    pub mask: Vec<MaskedVariable>,
}

/// A variable of which the command has something like the caller's value, and some hosts the value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MaskedVariable {
    pub name: String,
    /// Single names, each with its port.
    pub hosts: Vec<HostPattern>,
    /// The whole line.
    pub span: Span,
}

/// A unix socket of the machine that may be connected to. A rule of the plan says so too.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedSocket {
    /// Canonical.
    pub path: Utf8PathBuf,
    pub origin: Origin,
}

/// A rule that the profile states in Seatbelt's own language. What of it is about paths is among the rules too.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedSeatbelt {
    pub effect: Effect,
    /// On one line, wildcards written out.
    pub text: String,
    /// The names of the operations that it speaks of.
    pub operations: Vec<&'static str>,
    pub origin: Origin,
}

/// Something the profile says that the target's walls cannot hold in full.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loss {
    /// What is said and what is held, in one sentence.
    pub text: String,
    pub span: Option<Span>,
}

/// The resolved grant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    pub target: System,
    pub spelling: Spelling,
    /// Later rules win. See [`Decider`].
    pub rules: Vec<Rule>,
    pub roots: Vec<PlannedRoot>,
    pub protected: Vec<Protected>,
    /// Every symlink that a granted or protected path rests on.
    pub links: Vec<Hop>,
    pub working_directory: Utf8PathBuf,
    pub tools: Vec<PlannedTool>,
    pub skipped_tools: Vec<SkippedTool>,
    pub files: Vec<PlannedFile>,
    /// What should be among `files` and could not be read. A plan with any of these must not be obeyed.
    pub undigested: Vec<HostError>,
    /// The shell that `-c` runs.
    pub shell: Utf8PathBuf,
    pub environment: Environment,
    pub limits: BTreeMap<LimitKind, u64>,
    pub network: Network,
    /// Sorted by path, each once.
    pub unix: Vec<PlannedSocket>,
    pub ipc: Ipc,
    pub needs: Vec<String>,
    /// Only on macOS.
    pub seatbelt: Vec<PlannedSeatbelt>,
    /// The command's private temporary directory.
    pub scratch: Utf8PathBuf,
    pub losses: Vec<Loss>,
}

impl Plan {
    pub fn decider(&self) -> Decider<'_> {
        Decider::new(&self.rules, self.spelling)
    }
}
