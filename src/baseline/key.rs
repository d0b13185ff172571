//! What makes a finding the one that a baseline knows.

use super::entry::{Entry, profiles_of};
use super::{Ground, Machine};
use crate::report::fingerprint::{digest, words};
use crate::report::origin::Origin;
use crate::report::{Found, Run};
use crate::source::{FileId, Sources, Span};
use crate::syntax::{self, ast};
use std::collections::{BTreeSet, HashMap};
use std::path::{Component, Path, PathBuf};

/// Makes the keys of one run. Each file is parsed once.
pub struct Keys<'a> {
    run: &'a Run,
    ground: &'a Ground<'a>,
    /// The statements and entries of each file, the outer ones first, each behind the words that it is read with.
    statements: HashMap<FileId, Vec<(Span, &'static str)>>,
    /// The parameters that each file declares, with the words of the declaration.
    params: HashMap<FileId, Vec<(String, String)>>,
}

impl<'a> Keys<'a> {
    pub fn new(run: &'a Run, ground: &'a Ground<'a>) -> Self {
        Self { run, ground, statements: HashMap::new(), params: HashMap::new() }
    }

    /// The finding as an entry that counts one.
    pub fn entry(&mut self, found: &Found) -> Entry {
        let (run, ground) = (self.run, self.ground);
        let profiles = profiles_of(run, found, ground);
        let file = found.finding.span().map(|span| path_of(run.origin(span.file), ground));
        let machines = found.seen.iter().filter_map(|(_, host)| ground.machines.get(*host));
        let message = self.message(found);
        let mut parts =
            vec![found.finding.rule.to_owned(), file.clone().unwrap_or_default(), message.clone()];
        // The message names only the first few.
        parts.extend(self.subjects(found));
        if file.is_none() {
            // What has no place is told apart by the profile.
            parts.extend(profiles.iter().cloned());
        }
        parts.extend(self.elsewhere(found));
        // Whatever the finding points at is in it: a statement that has become worse is another.
        for label in &found.finding.labels {
            parts.push(path_of(run.origin(label.span.file), ground));
            let statement = self.statement(label.span);
            parts.extend(self.parameters(found, label.span.file, &statement));
            parts.push(statement);
        }
        let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
        Entry {
            rule: found.finding.rule.to_owned(),
            file: file.filter(|file| !profiles.contains(file)),
            machines: machines.map(|machine| machine_name(machine, ground)).collect(),
            fingerprint: digest(&parts),
            profiles,
            message,
            count: 1,
            span: None,
        }
    }

    /// The workspaces that were stated: what is relative in a profile means other paths in another.
    fn elsewhere(&self, found: &Found) -> BTreeSet<String> {
        let elsewhere = &self.ground.asked.elsewhere;
        let seen = found.seen.iter().filter_map(|(_, host)| elsewhere.get(*host)?.as_deref());
        let inside =
            |path: &Path| path.starts_with(self.ground.directory) || path.starts_with(self.ground.root);
        let named = |path: &Path| match inside(path) {
            true => relative(path, self.ground),
            false => path.to_string_lossy().into_owned(),
        };
        seen.map(|path| format!("--workspace {}", named(path))).collect()
    }

    /// Without what differs from one machine to the next.
    fn message(&self, found: &Found) -> String {
        self.without_machine(found, &found.finding.message)
    }

    /// All that it is about, in an order of their own.
    fn subjects(&self, found: &Found) -> Vec<String> {
        let subjects = found.finding.subjects.iter();
        let mut subjects: Vec<String> =
            subjects.map(|subject| self.without_machine(found, subject)).collect();
        subjects.sort_unstable();
        subjects
    }

    fn without_machine(&self, found: &Found, text: &str) -> String {
        let on = found.seen.first().and_then(|(_, host)| self.run.whereabouts.get(*host));
        on.map_or_else(|| text.to_owned(), |on| on.leave_out(text))
    }

    /// The parameters that a statement speaks of, as they were set and as they are declared in its own file and in the profiles: with another value
    /// it means another thing.
    fn parameters(&mut self, found: &Found, file: FileId, statement: &str) -> BTreeSet<String> {
        if !statement.contains('$') {
            return BTreeSet::new();
        }
        let sources = &self.run.sources;
        let set = self.ground.asked.set.iter().filter(|(name, _)| speaks_of(statement, name));
        let mut declared: BTreeSet<String> =
            set.map(|(name, value)| format!("--set {name}={value}")).collect();
        for file in found.seen.iter().map(|(profile, _)| *profile).chain([file]) {
            let params = self.params.entry(file).or_insert_with(|| params(sources, file));
            let spoken = params.iter().filter(|(name, _)| speaks_of(statement, name));
            declared.extend(spoken.map(|(_, text)| text.clone()));
        }
        declared
    }

    /// The words of the innermost statement or entry around a place, else of the place itself.
    fn statement(&mut self, span: Span) -> String {
        let sources = &self.run.sources;
        let statements = self.statements.entry(span.file).or_insert_with(|| statements(sources, span.file));
        let around = statements.iter().filter(|(it, _)| it.start <= span.start && span.end <= it.end);
        match around.min_by_key(|(it, _)| it.end - it.start) {
            Some((statement, before)) => words(&format!("{before} {}", sources.text(*statement))),
            None => words(sources.text(span)),
        }
    }
}

fn statements(sources: &Sources, file: FileId) -> Vec<(Span, &'static str)> {
    let mut all = Vec::new();
    if let Some(tree) = syntax::parse(sources, file).file {
        add(&tree.statements, &mut all);
    }
    all
}

fn params(sources: &Sources, file: FileId) -> Vec<(String, String)> {
    let Some(tree) = syntax::parse(sources, file).file else { return Vec::new() };
    let declared = tree.statements.iter().filter_map(|statement| match &statement.kind {
        ast::StatementKind::Param { name, .. } => {
            Some((name.value.clone(), words(sources.text(statement.span))))
        }
        _ => None,
    });
    declared.collect()
}

/// Whether `$name` or `${name}` stands in a statement.
fn speaks_of(statement: &str, name: &str) -> bool {
    statement.split('$').skip(1).any(|rest| {
        let rest = rest.strip_prefix('{').unwrap_or(rest);
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
        rest.get(..end) == Some(name)
    })
}

fn add(statements: &[ast::Statement], all: &mut Vec<(Span, &'static str)>) {
    for statement in statements {
        all.push((statement.span, ""));
        all.extend(statement.entries().into_iter().map(|entry| (entry, statement.kind.keyword())));
        if let ast::StatementKind::On { statements, .. } = &statement.kind {
            add(statements, all);
        }
    }
}

/// What a baseline calls a file: its path from the baseline's directory, or the URI of what is none.
pub fn path_of(origin: &Origin, ground: &Ground<'_>) -> String {
    match origin.path() {
        Some(path) => relative(path, ground),
        None => origin.uri(),
    }
}

/// What a baseline calls a machine.
pub fn machine_name(machine: &Machine, ground: &Ground<'_>) -> String {
    match machine {
        Machine::This(system) => system.name().to_owned(),
        Machine::Recorded(path) => relative(path, ground),
    }
}

/// A path from the directory of the baseline.
fn relative(path: &Path, ground: &Ground<'_>) -> String {
    let path = ground.root.join(path);
    let from = ground.directory;
    let shared = path.components().zip(from.components()).take_while(|(a, b)| a == b).count();
    let up = from.components().skip(shared).map(|_| Component::ParentDir);
    let relative: PathBuf = up.chain(path.components().skip(shared)).collect();
    relative.to_string_lossy().into_owned()
}
