//! What makes a finding the one that a baseline knows.

use super::entry::{Entry, profiles_of};
use super::{Ground, Machine, Workspace};
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
    texts: HashMap<FileId, Text>,
}

/// What a file states.
#[derive(Default)]
struct Text {
    /// Its statements and entries, the outer ones first, each behind the words that it is read with.
    statements: Vec<(Span, &'static str)>,
    /// The parameters that it declares.
    params: Vec<Param>,
}

struct Param {
    name: String,
    /// The words of the declaration.
    text: String,
    /// The default, where it is written without variables.
    default: Option<String>,
}

/// What a baseline calls its own directory as a workspace, and the workspace that a recorded machine has anyway.
pub const OWN_WORKSPACE: &str = ".";

impl<'a> Keys<'a> {
    pub fn new(run: &'a Run, ground: &'a Ground<'a>) -> Self {
        Self { run, ground, texts: HashMap::new() }
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
        let workspaces = self.workspaces(found);
        let others = workspaces.iter().filter(|name| *name != OWN_WORKSPACE);
        parts.extend(others.map(|name| format!("--workspace {name}")));
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
            workspaces,
            fingerprint: digest(&parts),
            profiles,
            message,
            count: 1,
            span: None,
        }
    }

    /// The workspaces that it was found in.
    fn workspaces(&self, found: &Found) -> BTreeSet<String> {
        found.seen.iter().map(|(_, host)| workspace_name(self.ground, *host)).collect()
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
        let asked: Vec<(&String, &String)> =
            self.ground.asked.set.iter().filter(|(name, _)| speaks_of(statement, name)).collect();
        let mut declared = BTreeSet::new();
        for (name, value) in asked {
            if !self.is_default(found, file, name, value) {
                declared.insert(format!("--set {name}={value}"));
            }
        }
        for file in found.seen.iter().map(|(profile, _)| *profile).chain([file]) {
            let spoken = self.text(file).params.iter().filter(|param| speaks_of(statement, &param.name));
            declared.extend(spoken.map(|param| param.text.clone()));
        }
        declared
    }

    /// Whether a parameter is set to what it is anyway: what each profile declares, or else the file of the statement, in plain letters.
    fn is_default(&mut self, found: &Found, file: FileId, name: &str, value: &str) -> bool {
        let profiles: BTreeSet<FileId> = found.seen.iter().map(|(profile, _)| *profile).collect();
        profiles.into_iter().all(|profile| {
            let declared = [profile, file].into_iter().find_map(|file| {
                self.text(file)
                    .params
                    .iter()
                    .find(|param| param.name == name)
                    .map(|param| param.default.clone())
            });
            declared.flatten().as_deref() == Some(value)
        })
    }

    fn text(&mut self, file: FileId) -> &Text {
        let run = self.run;
        self.texts.entry(file).or_insert_with(|| Text::of(&run.sources, file))
    }

    /// The words of the innermost statement or entry around a place, else of the place itself.
    fn statement(&mut self, span: Span) -> String {
        let sources = &self.run.sources;
        let around = self
            .text(span.file)
            .statements
            .iter()
            .filter(|(it, _)| it.start <= span.start && span.end <= it.end);
        match around.min_by_key(|(it, _)| it.end - it.start) {
            Some((statement, before)) => words(&format!("{before} {}", sources.text(*statement))),
            None => words(sources.text(span)),
        }
    }
}

impl Text {
    fn of(sources: &Sources, file: FileId) -> Self {
        let Some(tree) = syntax::parse(sources, file).file else { return Self::default() };
        let mut statements = Vec::new();
        add(&tree.statements, &mut statements);
        Self { statements, params: params(sources, &tree.statements) }
    }
}

fn params(sources: &Sources, statements: &[ast::Statement]) -> Vec<Param> {
    let declared = statements.iter().filter_map(|statement| match &statement.kind {
        ast::StatementKind::Param { name, default } => Some(Param {
            name: name.value.clone(),
            text: words(sources.text(statement.span)),
            default: default.as_ref().and_then(|text| match text.parts.as_slice() {
                [] => Some(String::new()),
                [ast::TextPart::Literal(value)] => Some(value.clone()),
                _ => None,
            }),
        }),
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

/// What a baseline calls the workspace on one machine of the run.
pub fn workspace_name(ground: &Ground<'_>, host: usize) -> String {
    let inside = |path: &Path| path.starts_with(ground.directory) || path.starts_with(ground.root);
    let name = match ground.asked.workspaces.get(host) {
        Some(Workspace::Here(path)) => relative(path, ground),
        // The path of a directory here, which is another one where the repository lies elsewhere.
        Some(Workspace::Stated(path)) if inside(path) => format!("./{}", relative(path, ground)),
        Some(Workspace::Stated(path)) => path.to_string_lossy().into_owned(),
        Some(Workspace::Recorded) | None => String::new(),
    };
    if name.is_empty() { OWN_WORKSPACE.to_owned() } else { name }
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
