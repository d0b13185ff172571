//! In: nothing, these are types. Out: what a profile asks for, with every `use` and `$name` resolved, before any machine is looked at.
//!
//! A policy knows nothing of an operating system. Every part keeps the place it was written.

pub mod address;
pub mod host;
pub mod needs;
pub mod requests;

use crate::source::{FileId, Span, Spanned};
use crate::syntax::ast;
pub use ast::{Access, Ipc, LimitKind, System, Unit as LimitUnit};
use camino::Utf8PathBuf;
use requests::Requests;
use std::collections::BTreeMap;

/// A path as the profile means it: absolute, variables filled in, but not yet looked up on any machine. It may hold `..` and symlinks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicyPath {
    pub path: Utf8PathBuf,
    pub span: Span,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Root {
    pub path: PolicyPath,
    pub access: Access,
    /// The whole statement.
    pub span: Span,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Denial {
    pub kind: DenialKind,
    pub span: Span,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DenialKind {
    /// The path itself and everything below it.
    Path(PolicyPath),
    /// A pattern, absolute; its literal head is escaped.
    Glob(Spanned<String>),
    /// What git ignores below the path, but for the names in `except`.
    Gitignored { path: PolicyPath, except: Vec<Spanned<String>> },
}

/// `unix "PATH"` in `network only`: one socket of this machine that may be connected to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnixSocket {
    pub path: PolicyPath,
    /// The whole line.
    pub span: Span,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unguard {
    pub path: PolicyPath,
    pub because: String,
    pub span: Span,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Network {
    Off,
    All,
    Only(Vec<NetworkRule>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NetworkRule {
    pub allow: bool,
    /// Of `localhost PORT`, [`HostPattern::localhost`].
    pub pattern: HostPattern,
    /// Where connections to the host are opened and read: what may be asked there. Only of an `allow` of one name.
    pub requests: Option<Requests>,
    pub span: Span,
}

/// `host`, `*.host` or either with `:port`; no port means 443.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct HostPattern {
    /// Whether it was written `*.host`: any name below, not the name itself.
    pub below: bool,
    /// Lower case, no trailing dot; an IPv6 address in brackets.
    pub host: String,
    /// `None` is any port, written `:*`.
    pub port: Option<u16>,
}

impl NetworkRule {
    /// Whether it is `localhost PORT`: a port of the machine itself, which no `allow` can name.
    pub fn is_localhost(&self) -> bool {
        self.allow && !self.pattern.below && self.pattern.host == HostPattern::LOCALHOST
    }
}

impl HostPattern {
    const LOCALHOST: &'static str = "localhost";

    /// What `localhost PORT` allows.
    pub fn localhost(port: u16) -> Self {
        Self { below: false, host: Self::LOCALHOST.to_owned(), port: Some(port) }
    }
}

impl std::fmt::Display for HostPattern {
    /// With its port, as [`crate::resolve::parse_host`] reads it back.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.below, self.host.as_str()) {
            (true, "") => f.write_str("*")?,
            (true, host) => write!(f, "*.{host}")?,
            (false, host) => f.write_str(host)?,
        }
        match self.port {
            Some(port) => write!(f, ":{port}"),
            None => f.write_str(":*"),
        }
    }
}

/// A tool asked for by name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolName {
    pub name: String,
    /// Where the name was written: for a member of a group, the `@group` in the list that used it.
    pub span: Span,
    /// The whole statement.
    pub statement: Span,
    pub group: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EnvEntry {
    pub name: String,
    /// `None` passes the caller's value on.
    pub value: Option<String>,
    pub span: Span,
}

/// `mask NAME for "host" …`: the command sees something like the value, and only these hosts the value itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mask {
    pub name: String,
    /// Single names, each with its port.
    pub hosts: Vec<Spanned<HostPattern>>,
    pub span: Span,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seatbelt {
    pub rule: String,
    pub because: String,
    pub span: Span,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expectation {
    pub operation: String,
    pub subject: String,
    pub allowed: bool,
    pub span: Span,
}

/// A comment that allows findings of some rules at one statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Allowance {
    pub rules: Vec<Spanned<String>>,
    pub reason: String,
    /// The comment.
    pub span: Span,
    /// The statement it stands at.
    pub statement: Span,
    /// Where in the statement the findings that it allows begin: all of it, but of a block or list no more than its head and,
    /// where that is on the same line, its first entry. What somebody adds to the block later is not allowed in advance.
    pub reach: Span,
}

/// A `use` statement and the file it brought in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Used {
    pub span: Span,
    pub file: FileId,
}

/// A declared parameter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Param {
    pub name: String,
    pub value: Option<String>,
    pub span: Span,
    /// How often `$name` was read.
    pub uses: usize,
}

/// A group of tools that a file at hand defines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    pub name: String,
    /// The whole statement.
    pub span: Span,
    /// How often `@name` was written, for whatever system.
    pub uses: usize,
}

/// A word of a list, said a second time in the same file for the same system. The lists hold it once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repeated {
    /// The statement it stands in: `tools`, `needs`.
    pub list: &'static str,
    pub word: String,
    pub span: Span,
    /// Where it was said first.
    pub first: Span,
}

/// A resolved profile: statements of the profile and of every fragment it uses, and of `on` blocks for the target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Policy {
    pub name: Spanned<String>,
    pub description: Option<String>,
    /// The profile itself first, then fragments in the order they were met.
    pub files: Vec<FileId>,
    pub uses: Vec<Used>,
    pub params: Vec<Param>,
    pub workspace: Utf8PathBuf,
    pub home: Utf8PathBuf,
    pub target: System,
    pub roots: Vec<Root>,
    pub denials: Vec<Denial>,
    pub git_worktrees: Vec<PolicyPath>,
    pub executables: Vec<PolicyPath>,
    pub unguards: Vec<Unguard>,
    pub network: Option<Spanned<Network>>,
    /// Of the blocks that `network` is made of.
    pub unix: Vec<UnixSocket>,
    pub ipc: Option<Spanned<Ipc>>,
    pub needs: Vec<Spanned<String>>,
    pub tools: Vec<ToolName>,
    pub optional_tools: Vec<ToolName>,
    pub tool_paths: Vec<PolicyPath>,
    /// Sorted by name.
    pub groups: Vec<Group>,
    pub repeated: Vec<Repeated>,
    pub env: Vec<EnvEntry>,
    pub masks: Vec<Mask>,
    pub limits: BTreeMap<LimitKind, Spanned<u64>>,
    pub working_directory: Option<PolicyPath>,
    pub seatbelt: Vec<Seatbelt>,
    pub expectations: Vec<Expectation>,
    pub allowances: Vec<Allowance>,
}

impl Policy {
    /// The network asked for. Nothing stated means off, and so does a list that allows nothing.
    pub fn network(&self) -> &Network {
        match self.network.as_ref().map(|network| &network.value) {
            None => &Network::Off,
            Some(Network::Only(rules)) if !rules.iter().any(|rule| rule.allow) => &Network::Off,
            Some(network) => network,
        }
    }

    /// Where the profile itself says what stands at a place: there, or at the `use` that brings it in. What only some profiles do wrong with a
    /// fragment is to be read, and can be allowed, in theirs.
    pub fn in_profile(&self, span: Span) -> Span {
        let mut at = span;
        // Each step leads to a file that was met before, so that there are no more than files.
        for _ in &self.files {
            if at.file == self.name.span.file {
                return at;
            }
            let Some(used) = self.uses.iter().find(|used| used.file == at.file) else { break };
            at = used.span;
        }
        at
    }

    pub fn ipc(&self) -> Ipc {
        self.ipc.map_or(Ipc::Off, |ipc| ipc.value)
    }

    /// A stated limit, in its base unit (`LimitKind::unit`).
    pub fn limit(&self, kind: LimitKind) -> Option<u64> {
        self.limits.get(&kind).map(|limit| limit.value)
    }
}
