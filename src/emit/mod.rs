//! In: a plan. Out: the text of a `.sb` file, Seatbelt's own profile language, meant to be read by people first, and proof that it means
//! the plan: `validate` reads it back.

mod quote;
mod rules;
mod services;
pub mod spellings;
mod standing;
mod twins;
pub mod validate;

pub use quote::Unspeakable;

use crate::bind::plan::SCRATCH_PARAMETER;
use crate::plan::seatbelt as operations;
use crate::plan::{Effect, Operations, OriginKind, Plan, PlannedSeatbelt, Rule};
use camino::{Utf8Path, Utf8PathBuf};
use quote::{Texts, comment};
use spellings::Spellings;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The parameter that is the command's private temporary directory.
pub const SCRATCH: &str = "SCRATCH";

/// The parameter that is the port of the proxy on this machine, where only some hosts may be reached. Which port is free is known only
/// to whoever runs the command.
pub const PROXY_PORT: &str = "PROXY_PORT";

/// The name of a file in the private temporary directory that the command's processes may not read, though they may read the
/// directory: so they can be told from all others.
pub const SENTINEL: &str = ".palisade-sentinel";

/// Said where names stand that look alike or strange.
const SPELLED_OUT: &str = "; what may not be there yet is named in every spelling that the disk takes for it: \u{17f} for s, \u{fb01} for \
                           fi, the Kelvin sign for k\n";

/// What may not be done to the sentinel: nothing at all. Who could replace it could be taken for a stranger.
const SENTINEL_OPERATIONS: Operations = Operations::READING.union(Operations::WRITING);

/// A profile as text, and what it takes beside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seatbelt {
    pub text: String,
    /// The parameters that are the same for every command, by name: paths that have no safe spelling in the text. [`SCRATCH`] and
    /// [`PROXY_PORT`] are not among them.
    pub parameters: BTreeMap<String, String>,
}

/// Writes the profile of a plan made for macOS.
///
/// # Errors
/// A path that has no safe spelling in a profile.
pub fn seatbelt(plan: &Plan, name: &str) -> Result<Seatbelt, Unspeakable> {
    let spellings = Spellings::of(plan);
    twins::refuse(plan, &spellings)?;
    let mut text = String::new();
    let mut texts = Texts::default();
    header(&mut text, name);
    section(&mut text, "closed here, since (deny default) does not reach it");
    for (operation, reason) in standing::CLOSED {
        let _ = writeln!(text, "(deny {operation})  ; {reason}");
    }
    section(&mut text, "left open, and why");
    for (operation, reason) in standing::OPEN {
        let _ = writeln!(text, "(allow {operation})  ; {reason}");
    }
    for services in services::of(plan) {
        section(&mut text, &services.title);
        if services.rules.is_empty() {
            text.push_str("; off: (deny default) holds\n");
        }
        for rule in services.rules {
            let filter = if rule.filter.is_empty() { String::new() } else { format!(" {}", rule.filter) };
            let reason =
                if rule.reason.is_empty() { String::new() } else { format!("  ; {}", comment(rule.reason)) };
            let _ = writeln!(text, "(allow {}{filter}){reason}", rule.operations.join(" "));
        }
    }
    let mut raw = Some(&plan.seatbelt).filter(|rules| !rules.is_empty());
    for kind in plan.rules.chunk_by(|a, b| a.origin.kind == b.origin.kind) {
        let Some(first) = kind.first() else { continue };
        if first.origin.kind >= OriginKind::Seatbelt
            && let Some(rules) = raw.take()
        {
            write_raw(&mut text, rules);
        }
        if first.origin.kind == OriginKind::Seatbelt {
            // What it denies is denied in every spelling.
            let spelled =
                |rule: &&Rule| rule.effect == Effect::Deny && spellings.denied(&rule.path).len() > 1;
            let denials: Vec<Rule> = kind.iter().filter(spelled).cloned().collect();
            rules::write(&mut text, &mut texts, &spellings, &denials)?;
            continue;
        }
        section(&mut text, title(first.origin.kind));
        if kind.iter().any(|rule| rule.effect == Effect::Deny && spellings.is_unmade(&rule.path)) {
            text.push_str(SPELLED_OUT);
        }
        rules::write(&mut text, &mut texts, &spellings, kind)?;
        if first.origin.kind == OriginKind::Scratch {
            // Where it will be is known only to whoever runs the command.
            text.push_str(
                "(allow file-read-metadata file-test-existence (path-ancestors (param \"SCRATCH\")))  ; the way to it\n",
            );
        }
    }
    if let Some(rules) = raw.take() {
        write_raw(&mut text, rules);
    }
    section(&mut text, "how the command's own processes are told from others, last of all");
    let sentinel = texts.path(&sentinel())?;
    let _ = writeln!(
        text,
        "(deny {} (literal {sentinel}))  ; they may not read this file, or replace it",
        operations::leaves(SENTINEL_OPERATIONS).join(" ")
    );
    Ok(Seatbelt { text, parameters: texts.parameters })
}

/// Before guards and denials, so that it lifts none.
fn write_raw(text: &mut String, rules: &[PlannedSeatbelt]) {
    section(text, title(OriginKind::Seatbelt));
    for rule in rules {
        let _ = writeln!(text, "{}  ; {}", rule.text, comment(&rule.origin.text));
    }
}

fn sentinel() -> Utf8PathBuf {
    Utf8Path::new(SCRATCH_PARAMETER).join(SENTINEL)
}

fn header(text: &mut String, name: &str) {
    let version = env!("CARGO_PKG_VERSION");
    let _ = writeln!(text, "; {}: a sandbox profile written by palisade {version}.", comment(name));
    text.push_str(
        "; Do not edit: change the profile and compile again. Behind each rule stands what it comes from.\n",
    );
    text.push_str("(version 1)\n(deny default)\n");
}

fn section(text: &mut String, title: &str) {
    let _ = writeln!(text, "\n;; {}", comment(title));
}

fn title(kind: OriginKind) -> &'static str {
    match kind {
        OriginKind::System => "what every program needs of the system",
        OriginKind::Scratch => "the command's own temporary directory",
        OriginKind::Ancestor => "the way to what is granted",
        OriginKind::Tool => "tools",
        OriginKind::Need => "needs",
        OriginKind::Root => "roots",
        OriginKind::Worktree => "the repository of a linked worktree",
        OriginKind::Executable => "programs in roots",
        OriginKind::Socket => "unix sockets",
        OriginKind::Seatbelt => "rules that the profile states itself",
        OriginKind::Guard => "guards",
        OriginKind::Pin => "what keeps protected paths where they are",
        OriginKind::Denial => "denials",
    }
}
