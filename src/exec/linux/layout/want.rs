//! What a path should be in the sandbox, from the decision function alone and what stands there on the host.

use super::Kind;
use crate::plan::{Decider, Decision, Operation, Operations, OriginKind};
use camino::{Utf8Path, Utf8PathBuf};

/// How a path should look, whatever it inherits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Want {
    /// Not to be seen.
    Nothing,
    /// A directory that shows only what the rules name below it.
    Directory {
        listed: bool,
    },
    Symlink(Utf8PathBuf),
    /// What the host has. `run` is that it may be mapped or executed, `exec` that it may be executed.
    Host {
        write: bool,
        run: bool,
        exec: bool,
    },
    Device {
        write: bool,
    },
    /// A private writable directory.
    Scratch,
    Proc,
    Terminals,
}

/// Asks the decision function about a path, on which `own` is allowed, and about what lies below it.
pub fn want(decider: &Decider<'_>, path: &Utf8Path, own: Operations, kind: &Kind) -> Want {
    let below = decider.allowed_below(path);
    if !sees(own) {
        return Want::Nothing;
    }
    let reading = decider.decide(Operation::Read, path);
    let contents = decider.decide_below(Operation::Read, path);
    if is_scratch(reading) {
        return if sees(below) && is_scratch(contents) && writable(own, below) {
            Want::Scratch
        } else {
            Want::Directory { listed: true }
        };
    }
    // The host's own would show other processes and other people's terminals.
    match path.as_str() {
        "/proc" if sees(below) => return Want::Proc,
        "/dev/pts" if sees(below) => return Want::Terminals,
        // A node of the host's would make terminals in the host's instance (devpts in the kernel's documentation).
        "/dev/ptmx" => return Want::Symlink("pts/ptmx".into()),
        _ => {}
    }
    match kind {
        Kind::Missing => Want::Nothing,
        Kind::Symlink(target) => Want::Symlink(target.clone()),
        Kind::Directory if sees(below) && !is_scratch(contents) => {
            Want::Host { write: writable(own, below), run: runs(below), exec: executes(below) }
        }
        Kind::Directory => Want::Directory { listed: true },
        Kind::CharacterDevice if is_system(reading) => Want::Device { write: own.contains(Operation::Write) },
        Kind::CharacterDevice | Kind::File => {
            Want::Host { write: own.contains(Operation::Write), run: runs(own), exec: executes(own) }
        }
    }
}

/// Linux shows a path's metadata to whoever may read it.
fn sees(set: Operations) -> bool {
    Operations::READING.minus(set).is_empty()
}

fn writable(own: Operations, below: Operations) -> bool {
    own.contains(Operation::Write) && Operations::WRITING.minus(below).is_empty()
}

fn executes(set: Operations) -> bool {
    set.contains(Operation::Exec) || set.contains(Operation::Interpret)
}

fn runs(set: Operations) -> bool {
    !set.intersection(Operations::RUNNING).is_empty()
}

fn is_scratch(decision: Decision<'_>) -> bool {
    decision.rule.is_some_and(|rule| rule.origin.kind == OriginKind::Scratch)
}

fn is_system(decision: Decision<'_>) -> bool {
    decision.rule.is_some_and(|rule| matches!(rule.origin.kind, OriginKind::System | OriginKind::Need))
}
