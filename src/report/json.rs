//! A run as JSON, for programs. `docs/schemas/findings-1.json` says what stands where; a field is never given another meaning under the same number.

use super::origin::Origin;
use super::position::{At, Unit, region};
use super::run::{Found, Problem, ProblemKind, Run};
use crate::finding::{Finding, Fix, Severity};
use crate::source::{FileId, Span};
use serde::Serialize;

/// The version of the schema.
pub const SCHEMA: u32 = 1;

/// What the schema calls itself.
pub const SCHEMA_ID: &str = "urn:palisade:schema:findings-1";

#[derive(Serialize)]
struct Document<'a> {
    #[serde(rename = "$schema")]
    id: &'static str,
    schema: u32,
    program: Program,
    command: &'static str,
    summary: Summary,
    settings: Option<&'a str>,
    baseline: Option<&'a str>,
    profiles: Vec<File<'a>>,
    hosts: &'a [String],
    findings: Vec<OneFinding<'a>>,
    problems: Vec<OneProblem<'a>>,
}

#[derive(Serialize)]
struct Program {
    name: &'static str,
    version: &'static str,
}

#[derive(Serialize)]
struct Summary {
    fail_on: Severity,
    failing: usize,
    errors: usize,
    warnings: usize,
    notes: usize,
    problems: usize,
    left_out: usize,
    excluded: usize,
}

#[derive(Serialize)]
struct File<'a> {
    name: &'a str,
    uri: String,
}

#[derive(Serialize)]
struct OneFinding<'a> {
    rule: &'static str,
    severity: Severity,
    message: &'a str,
    help: Option<&'a str>,
    fingerprint: &'a str,
    profiles: Vec<&'a str>,
    hosts: Vec<&'a str>,
    labels: Vec<Label<'a>>,
    fix: Option<OneFix<'a>>,
}

#[derive(Serialize)]
struct Label<'a> {
    #[serde(flatten)]
    place: Place<'a>,
    text: &'a str,
}

#[derive(Serialize)]
struct Place<'a> {
    file: &'a str,
    uri: String,
    start: Position,
    end: Position,
}

#[derive(Serialize)]
struct Position {
    offset: u32,
    line: usize,
    column: usize,
}

#[derive(Serialize)]
struct OneFix<'a> {
    title: &'a str,
    safe: bool,
    edits: Vec<OneEdit<'a>>,
}

#[derive(Serialize)]
struct OneEdit<'a> {
    #[serde(flatten)]
    place: Place<'a>,
    replacement: &'a str,
}

#[derive(Serialize)]
struct OneProblem<'a> {
    kind: ProblemKind,
    path: Option<String>,
    uri: Option<String>,
    message: &'a str,
    help: Option<&'a str>,
    place: Option<Place<'a>>,
}

/// The document, with a line end.
///
/// # Errors
/// Only where it cannot be written to memory.
pub fn run(run: &Run) -> std::io::Result<String> {
    let document = Document {
        id: SCHEMA_ID,
        schema: SCHEMA,
        program: Program { name: env!("CARGO_PKG_NAME"), version: env!("CARGO_PKG_VERSION") },
        command: run.command,
        summary: Summary {
            fail_on: run.fail_on,
            failing: run.findings.iter().filter(|found| run.fails(found)).count(),
            errors: run.count(Severity::Error),
            warnings: run.count(Severity::Warning),
            notes: run.count(Severity::Note),
            problems: run.problems.len(),
            left_out: run.told.left_out,
            excluded: run.told.excluded,
        },
        settings: run.told.settings.as_deref(),
        baseline: run.told.baseline.as_deref(),
        profiles: run.profiles.iter().map(|file| file_of(run, *file)).collect(),
        hosts: &run.hosts,
        findings: run.findings.iter().map(|found| finding(run, found)).collect(),
        problems: run.problems.iter().map(|it| problem(run, it)).collect(),
    };
    super::pretty(&document)
}

fn file_of(run: &Run, file: FileId) -> File<'_> {
    File { name: run.name(file), uri: run.origin(file).uri() }
}

fn finding<'a>(run: &'a Run, found: &'a Found) -> OneFinding<'a> {
    // The subjects stand in the message, or were too many to be told.
    let Finding { rule, severity, message, labels, help, fix, subjects: _ } = &found.finding;
    let mut hosts: Vec<usize> = found.seen.iter().map(|(_, host)| *host).collect();
    hosts.sort_unstable();
    hosts.dedup();
    OneFinding {
        rule,
        severity: *severity,
        message,
        help: help.as_deref(),
        fingerprint: &found.fingerprint,
        profiles: run.profiles_of(found).into_iter().map(|file| run.name(file)).collect(),
        hosts: hosts.into_iter().filter_map(|host| run.hosts.get(host)).map(String::as_str).collect(),
        labels: labels.iter().map(|it| Label { place: place(run, it.span), text: &it.text }).collect(),
        fix: fix.as_ref().map(|fix| one_fix(run, fix)),
    }
}

fn one_fix<'a>(run: &'a Run, fix: &'a Fix) -> OneFix<'a> {
    let edit = |edit: &'a crate::finding::Edit| OneEdit {
        place: place(run, edit.span),
        replacement: &edit.replacement,
    };
    OneFix { title: &fix.title, safe: fix.safe, edits: fix.edits.iter().map(edit).collect() }
}

fn place(run: &Run, span: Span) -> Place<'_> {
    let region = region(&run.sources, span, Unit::Characters);
    let position = |offset, at: At| Position { offset, line: at.line, column: at.column };
    let File { name, uri } = file_of(run, span.file);
    Place { file: name, uri, start: position(span.start, region.start), end: position(span.end, region.end) }
}

fn problem<'a>(run: &'a Run, problem: &'a Problem) -> OneProblem<'a> {
    OneProblem {
        kind: problem.kind,
        path: problem.path.as_ref().map(|path| path.to_string_lossy().into_owned()),
        uri: problem.origin.as_ref().map(Origin::uri),
        message: &problem.message,
        help: problem.help.as_deref(),
        place: problem.span().map(|span| place(run, span)),
    }
}
