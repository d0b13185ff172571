//! Questions as people ask them (`why`, `expect`), and their answers from the one decision function.

use super::{Decider, Decision, Operation, OriginKind, Rule};
use camino::Utf8Path;

/// The words of `why OP PATH` and `expect OP PATH`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Question {
    /// One operation of the plan.
    Operation(Operation),
    /// Reading a directory's names: [`Operation::Read`] on it.
    List,
    /// Moving it elsewhere: removing it here; the new place is a question of its own (`create`).
    Rename,
    /// Reaching a host over the network.
    ConnectHost,
    /// Asking something of a host by HTTP: `GET https://HOST/PATH`.
    Request,
}

impl Question {
    /// Every word that may be asked, for messages and completion.
    pub const WORDS: [&'static str; 12] = [
        "read", "list", "metadata", "write", "create", "remove", "rename", "link", "exec", "map", "connect",
        "request",
    ];

    /// What may stand before the path of a unix socket.
    pub const UNIX: &'static str = "unix:";

    /// The question of that name. `connect` asks about a unix socket where the subject is a path, with [`Self::UNIX`] before it or without.
    pub fn named(word: &str, subject: &str) -> Option<Self> {
        Some(match word {
            "list" => Self::List,
            "rename" => Self::Rename,
            "connect" if !subject.starts_with(['/', '~', '$', '.']) && !subject.starts_with(Self::UNIX) => {
                Self::ConnectHost
            }
            "request" => Self::Request,
            "interpret" => return None,
            _ => Self::Operation(Operation::named(word)?),
        })
    }

    /// The answer for a canonical path. `write` on what is missing asks `create` too: that is what a program would do. But what
    /// the system gives, as devices, is there when a command runs, whether or not it was seen.
    /// A question about a host or a request is none about a path, and is answered no; see [`super::hosts`] and [`super::request`].
    pub fn ask<'a>(self, decider: &Decider<'a>, path: &Utf8Path, exists: bool) -> Decision<'a> {
        match self {
            Self::Operation(Operation::Write) if !exists => {
                let create = decider.decide(Operation::Create, path);
                let write = decider.decide(Operation::Write, path);
                let given = |rule: &Rule| matches!(rule.origin.kind, OriginKind::System | OriginKind::Need);
                let there = write.allowed && write.rule.is_some_and(given);
                if create.allowed || there { write } else { create }
            }
            Self::Operation(operation) => decider.decide(operation, path),
            Self::List => decider.decide(Operation::Read, path),
            Self::Rename => decider.decide(Operation::Remove, path),
            Self::ConnectHost | Self::Request => Decision { allowed: false, rule: None },
        }
    }
}
