//! One grant or denial of a plan, and where it comes from.

use super::operation::Operations;
use crate::source::Span;
use camino::Utf8PathBuf;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Effect {
    Allow,
    Deny,
}

/// What a rule's path stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// The path itself.
    Literal,
    /// The path and everything below it.
    Subtree,
}

/// What made a rule. The order is that in which groups of rules stand in a plan: later ones win.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OriginKind {
    /// What every program needs of the system.
    System,
    /// The private directories that exist for one command.
    Scratch,
    /// A directory on the way to something granted.
    Ancestor,
    /// A tool, its libraries and its helpers.
    Tool,
    /// A `needs` capability.
    Need,
    /// A root.
    Root,
    /// What git needs of a linked worktree.
    Worktree,
    /// `executable`.
    Executable,
    /// A `unix` line of `network only`.
    Socket,
    /// A `seatbelt` rule.
    Seatbelt,
    /// A guard that is on by default.
    Guard,
    /// What keeps a protected path from being moved with its parent.
    Pin,
    /// `deny`.
    Denial,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Origin {
    pub kind: OriginKind,
    /// For people: `pr-review.palisade:7 root "$workspace"`, or what the system needs it for.
    pub text: String,
    /// The statement, where there is one and its source is at hand.
    pub span: Option<Span>,
}

/// One entry of a plan's ordered list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    pub effect: Effect,
    pub operations: Operations,
    pub scope: Scope,
    /// Canonical.
    pub path: Utf8PathBuf,
    pub origin: Origin,
}
