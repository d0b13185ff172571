//! A run as SARIF 2.1.0 (OASIS Standard, 28 August 2023), as code scanners exchange it.
//!
//! Paths are relative to the root of the repository (`%SRCROOT%`), which is not stated: the document is the same wherever the repository lies. Columns
//! count UTF-16 code units, which is what viewers take them for where they do not look at `columnKind`.

mod message;
mod model;

use super::origin::Origin;
use super::position::{Unit, region};
use super::run::{Found, Problem, Run};
use super::{pages, pretty};
use crate::finding::{Edit, Finding, Fix, Severity};
use crate::lint;
use crate::source::{FileId, Span};
use message::message;
use model::*;
use std::collections::{BTreeMap, BTreeSet};

const ROOT: &str = "%SRCROOT%";

/// The name under which fingerprints are kept; the number changes with what they are made of.
const FINGERPRINT: &str = "palisade/v1";

/// The document, with a line end.
///
/// # Errors
/// Only where it cannot be written to memory.
pub fn run(run: &Run) -> std::io::Result<String> {
    let names: BTreeSet<&'static str> = run.findings.iter().map(|found| found.finding.rule).collect();
    let results = run.findings.iter().map(|found| {
        let index = names.iter().position(|name| *name == found.finding.rule).unwrap_or_default();
        result(run, found, index)
    });
    let pages = run.pages();
    let log = Log {
        schema: "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
        version: "2.1.0",
        runs: [SarifRun {
            tool: Tool {
                driver: Driver {
                    name: env!("CARGO_PKG_NAME"),
                    semantic_version: env!("CARGO_PKG_VERSION"),
                    information_uri: pages::project(),
                    rules: names.iter().map(|name| rule(name, pages.as_deref())).collect(),
                },
            },
            invocations: [Invocation {
                execution_successful: run.problems.is_empty(),
                tool_execution_notifications: run.problems.iter().map(|it| notification(run, it)).collect(),
            }],
            original_uri_base_ids: BTreeMap::from([(
                ROOT,
                BaseId { description: message("the root of the repository") },
            )]),
            column_kind: "utf16CodeUnits",
            artifacts: artifacts(run),
            results: results.collect(),
        }],
    };
    pretty(&log)
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    }
}

fn rule(name: &'static str, pages: Option<&str>) -> Rule {
    let mut rule = Rule {
        id: name,
        short_description: None,
        full_description: None,
        help_uri: pages.map(|pages| pages::of(pages, name)),
        help: None,
        default_configuration: None,
    };
    if let Some(described) = lint::describe(name) {
        rule.short_description = Some(message(described.summary));
        rule.full_description = Some(message(&described.full));
        rule.help = Some(Help { text: described.markdown.clone(), markdown: described.markdown });
        rule.default_configuration = Some(Configuration { level: level(described.severity) });
    }
    rule
}

/// Every profile, and with its text whatever is no file: a viewer could not show it otherwise.
fn artifacts(run: &Run) -> Vec<Artifact> {
    let mut spoken_of: BTreeSet<FileId> = run.profiles.iter().copied().collect();
    spoken_of
        .extend(run.findings.iter().flat_map(|it| it.finding.labels.iter()).map(|label| label.span.file));
    let artifact = |file: FileId| Artifact {
        location: artifact_location(run.origin(file)),
        contents: (!run.origin(file).is_file())
            .then(|| Content { text: run.sources.file(file).text.to_string() }),
    };
    spoken_of.into_iter().map(artifact).collect()
}

fn artifact_location(origin: &Origin) -> ArtifactLocation {
    ArtifactLocation {
        uri: origin.uri(),
        uri_base_id: matches!(origin, Origin::Repository(_)).then_some(ROOT),
    }
}

fn result(run: &Run, found: &Found, rule_index: usize) -> SarifResult {
    let finding = &found.finding;
    let mut related: Vec<Location> =
        finding.labels.iter().skip(1).map(|it| location(run, it.span, &it.text)).collect();
    let main = finding.labels.first();
    let profile = run.profiles_of(found).first().copied();
    let first = match (main, profile) {
        (Some(label), _) if run.origin(label.span.file).is_file() => {
            Some(location(run, label.span, &label.text))
        }
        // A fragment that ships with the program is in no repository: what can be changed is the profile that uses it.
        (Some(label), Some(profile)) if run.origin(profile).is_file() => {
            related.insert(0, location(run, label.span, &label.text));
            Some(whole_file(run, profile))
        }
        (Some(label), _) => Some(location(run, label.span, &label.text)),
        (None, profile) => profile.map(|profile| whole_file(run, profile)),
    };
    for (id, location) in related.iter_mut().enumerate() {
        location.id = Some(id);
    }
    SarifResult {
        rule_id: finding.rule,
        rule_index,
        level: level(finding.severity),
        message: message(&said(run, found)),
        locations: first.into_iter().collect(),
        related_locations: related,
        partial_fingerprints: BTreeMap::from([(FINGERPRINT, found.fingerprint.clone())]),
        fixes: finding.fix.as_ref().and_then(|it| fix(run, it)).into_iter().collect(),
    }
}

/// The message, and what to do about it: not every viewer shows more.
fn said(run: &Run, found: &Found) -> String {
    let Finding { message, help, .. } = &found.finding;
    let mut text = message.clone();
    if let Some(help) = help {
        text.push_str(&format!("\nhelp: {help}"));
    }
    let hosts = run.only_on(found);
    if !hosts.is_empty() {
        text.push_str(&format!("\nonly on {}", hosts.join(", ")));
    }
    text
}

fn location(run: &Run, span: Span, text: &str) -> Location {
    Location {
        id: None,
        physical_location: PhysicalLocation {
            artifact_location: artifact_location(run.origin(span.file)),
            region: Some(sarif_region(run, span)),
        },
        message: (!text.is_empty()).then(|| message(text)),
    }
}

/// A finding without a place. Code scanning at GitHub wants a line all the same.
fn whole_file(run: &Run, file: FileId) -> Location {
    let region = Region { start_line: 1, start_column: 1, end_line: 1, end_column: 1 };
    Location {
        id: None,
        physical_location: PhysicalLocation {
            artifact_location: artifact_location(run.origin(file)),
            region: Some(region),
        },
        message: None,
    }
}

fn sarif_region(run: &Run, span: Span) -> Region {
    let region = region(&run.sources, span, Unit::Utf16);
    Region {
        start_line: region.start.line,
        start_column: region.start.column,
        end_line: region.end.line,
        end_column: region.end.column,
    }
}

/// A fix with its changes by file; `None` where it changes what is no file.
fn fix(run: &Run, fix: &Fix) -> Option<SarifFix> {
    let mut by_file: BTreeMap<FileId, Vec<&Edit>> = BTreeMap::new();
    for edit in &fix.edits {
        by_file.entry(edit.span.file).or_default().push(edit);
    }
    if by_file.is_empty() || by_file.keys().any(|file| !run.origin(*file).is_file()) {
        return None;
    }
    let care = if fix.safe { "" } else { " (changes what the profile means)" };
    let replacement = |edit: &&Edit| Replacement {
        deleted_region: sarif_region(run, edit.span),
        inserted_content: Content { text: edit.replacement.clone() },
    };
    let change = |(file, edits): (FileId, Vec<&Edit>)| ArtifactChange {
        artifact_location: artifact_location(run.origin(file)),
        replacements: edits.iter().map(replacement).collect(),
    };
    Some(SarifFix {
        description: message(&format!("{}{care}", fix.title)),
        artifact_changes: by_file.into_iter().map(change).collect(),
    })
}

fn notification(run: &Run, problem: &Problem) -> Notification {
    let help = problem.help.as_deref().map(|help| format!("\nhelp: {help}")).unwrap_or_default();
    let location = problem.origin.as_ref().map(|origin| Location {
        id: None,
        physical_location: PhysicalLocation {
            artifact_location: artifact_location(origin),
            region: problem.span().map(|span| sarif_region(run, span)),
        },
        message: None,
    });
    Notification {
        level: "error",
        message: message(&format!("{}{help}", problem.message)),
        locations: location.into_iter().collect(),
    }
}
