//! What a question is about: `expect` and `why` name a path or a tool as a person would, the decision function wants a canonical path.

mod inside;

pub use inside::names_a_process;

use super::Binding;
use super::tools::Lookup;
use crate::host::resolve::{resolve, resolve_parent};
use crate::host::{Hop, Host, Resolution, ResolveError};
use crate::plan::question::Question;
use crate::plan::{Decider, Decision, Effect, Operation, Operations, OriginKind};
use crate::policy::{Policy, System};
use camino::{Utf8Path, Utf8PathBuf};
use inside::Inside;

/// A path as the decision function takes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subject {
    /// Canonical.
    pub path: Utf8PathBuf,
    pub exists: bool,
    /// The directories that would hold it and are missing too, outermost first.
    pub missing: Vec<Utf8PathBuf>,
    /// The symlinks that were followed.
    pub hops: Vec<Hop>,
    /// Whether a `unix` line names it by just these links: what that says is known, whether the command sees them or not.
    pub stated: bool,
}

/// Finds what `text` means to `question`: a path, relative to the workspace, or for `exec` the name of a tool. What moves or removes a
/// name speaks of the name itself, so there a symlink in the last place is not followed.
///
/// # Errors
/// A path that leads nowhere that can be named.
pub fn locate(
    host: &dyn Host,
    policy: &Policy,
    binding: &Binding,
    question: Question,
    text: &str,
) -> Result<Subject, ResolveError> {
    if question == Question::Operation(Operation::Exec) && !text.contains('/') {
        return Ok(program(host, binding, text));
    }
    let path = policy.workspace.join(text);
    let inside;
    let host = match policy.target {
        System::Linux => {
            let working_directory = binding.working_directory.as_ref().and_then(|bound| bound.canonical());
            inside = Inside { host, working_directory };
            &inside
        }
        System::Macos => host,
    };
    let found = match question {
        Question::Rename | Question::Operation(Operation::Remove | Operation::Create | Operation::Link) => {
            resolve_parent(host, &path)
        }
        _ => resolve(host, &path),
    };
    let of_line = |found: &Resolution| {
        let lines = binding.sockets.iter().filter_map(|socket| socket.found.as_ref().ok());
        question == Question::Operation(Operation::Connect)
            && lines.into_iter().any(|line| line.canonical == found.canonical && line.hops == found.hops)
    };
    match found {
        Ok(found) => Ok(Subject {
            stated: of_line(&found),
            exists: found.exists(),
            missing: missing(&found),
            path: found.canonical,
            hops: found.hops,
        }),
        Err(ResolveError::NotDirectory(_)) => below_file(host, &path),
        Err(error) => Err(error),
    }
}

fn missing(found: &Resolution) -> Vec<Utf8PathBuf> {
    let above = found.canonical.ancestors().skip(1).take_while(|ancestor| *ancestor != found.existing);
    let mut missing: Vec<Utf8PathBuf> = match found.entry {
        Some(_) => Vec::new(),
        None => above.map(Utf8Path::to_path_buf).collect(),
    };
    missing.reverse();
    missing
}

/// The answer to a question about a subject. A link on the way that may not be read leads nowhere, whatever lies behind it; what is to
/// be made where directories are missing needs those made first; and in a directory of the command's own nothing of the host's is there.
pub fn answer<'a>(decider: &Decider<'a>, question: Question, subject: &Subject) -> Decision<'a> {
    let closed = |hop: &Hop| {
        let decision = decider.decide(Operation::Read, &hop.link);
        // In the command's own directory this link is not there.
        let hidden = decision.rule.is_some_and(|rule| rule.origin.kind == OriginKind::Scratch);
        (hidden || !decision.allowed).then_some(Decision { allowed: false, ..decision })
    };
    let unmade = |directory: &Utf8PathBuf| {
        let decision = decider.decide(Operation::Create, directory);
        (!decision.allowed).then_some(decision)
    };
    let direct = question.ask(decider, &subject.path, subject.exists);
    let makes = match question {
        Question::Operation(Operation::Create) => true,
        // What is given without being made is there.
        Question::Operation(Operation::Write) => {
            !direct.allowed || decider.decide(Operation::Create, &subject.path).allowed
        }
        _ => false,
    };
    let on_the_way = subject.hops.iter().filter(|_| !subject.stated).find_map(closed);
    let on_the_way = on_the_way.or_else(|| subject.missing.iter().filter(|_| makes).find_map(unmade));
    let found = on_the_way.unwrap_or(direct);
    let needs_it = !makes && question != Question::Operation(Operation::Write);
    let unseen = needs_it && found.allowed && is_unseen(decider, found, subject);
    Decision { allowed: found.allowed && !unseen, ..found }
}

/// Whether the host has something there, which the command does not see since a directory of its own stands in the way.
fn is_unseen(decider: &Decider<'_>, decision: Decision<'_>, subject: &Subject) -> bool {
    let private = decision.rule.filter(|rule| rule.origin.kind == OriginKind::Scratch);
    let leads_on = || {
        decider.rules().iter().any(|rule| {
            rule.effect == Effect::Allow && rule.path != subject.path && rule.path.starts_with(&subject.path)
        })
    };
    subject.exists && private.is_some_and(|rule| rule.path != subject.path) && !leads_on()
}

/// The mount that a path will be on, on Linux: the innermost directory around it that stays where it is although something in it may be
/// written. What is renamed or linked from one to another fails with `EXDEV` (rename(2), link(2)).
pub fn mount_of(decider: &Decider<'_>, path: &Utf8Path) -> Option<Utf8PathBuf> {
    let stays = |directory: &&Utf8Path| !Operations::MOVING.minus(decider.allowed(directory)).is_empty();
    path.ancestors().skip(1).find(stays).map(Utf8Path::to_path_buf)
}

/// What would lie below a file is not there, and the rules speak of it all the same: `.git/hooks` in a linked worktree, whose `.git` is a file.
fn below_file(host: &dyn Host, path: &Utf8Path) -> Result<Subject, ResolveError> {
    let mut last = ResolveError::NotDirectory(path.to_path_buf());
    for ancestor in path.ancestors().skip(1) {
        match resolve(host, ancestor) {
            Ok(found) => {
                let below = path.strip_prefix(ancestor).unwrap_or(path);
                return Ok(Subject {
                    path: found.canonical.join(below),
                    exists: false,
                    missing: Vec::new(),
                    hops: found.hops,
                    stated: false,
                });
            }
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// A tool of the policy by its name, else a program of the system by that name, else the place where one would be.
fn program(host: &dyn Host, binding: &Binding, name: &str) -> Subject {
    let named = binding.tools.iter().map(|bound| &bound.lookup);
    let stated = binding.tool_paths.iter().map(|bound| &bound.lookup);
    if let Some(tool) = named.chain(stated).filter_map(Lookup::tool).find(|tool| tool.name == name) {
        return Subject {
            path: tool.real.clone(),
            exists: true,
            missing: Vec::new(),
            hops: tool.hops.clone(),
            stated: false,
        };
    }
    match super::tools::Finder::new(host).first_place(name) {
        (_, Some(found)) => Subject {
            path: found.canonical,
            exists: true,
            missing: Vec::new(),
            hops: found.hops,
            stated: false,
        },
        (path, None) => Subject { path, exists: false, missing: Vec::new(), hops: Vec::new(), stated: false },
    }
}
