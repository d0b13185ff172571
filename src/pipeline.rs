//! The road from a profile's text to an artifact, and the only place where stages meet.

mod own;

use crate::bind::{self, Binding};
use crate::emit;
use crate::finding::{self, Finding, Severity};
use crate::host::resolve::resolve as resolve_path;
use crate::host::{Host, Remembering};
use crate::lint;
use crate::manifest;
use crate::plan::Plan;
use crate::policy::{Policy, System};
use crate::resolve::{self, Loader};
use crate::source::{FileId, Sources};
use crate::syntax;
use camino::Utf8PathBuf;
use std::collections::BTreeMap;

/// What a run was asked to do with a profile.
#[derive(Debug, Clone)]
pub struct Request {
    /// Absolute. Where it goes through symlinks, what they lead to is meant.
    pub workspace: Utf8PathBuf,
    /// `--set NAME=VALUE`.
    pub set: BTreeMap<String, String>,
    pub target: System,
    /// The files that compiling will write, and those that say how the profile is checked; guarded like the profile itself.
    pub artifacts: Vec<Utf8PathBuf>,
}

/// Everything that is known of a profile, as far as the road could be walked.
pub struct Checked {
    pub findings: Vec<Finding>,
    /// `None` for a fragment, and where the text could not be understood.
    pub bound: Option<Bound>,
}

/// A profile that was understood, on a machine.
pub struct Bound {
    pub policy: Policy,
    pub binding: Binding,
    pub plan: Plan,
}

/// What `compile` writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Artifact {
    /// Only for macOS.
    pub seatbelt: Option<String>,
    pub manifest: String,
}

/// A failure of the program, not of the profile.
#[derive(Debug, thiserror::Error)]
pub enum CompileError {
    #[error(transparent)]
    Manifest(#[from] manifest::ManifestError),
    #[error(
        "internal error: the profile that was written does not mean what was planned, so nothing is: {0}"
    )]
    Seatbelt(#[from] emit::validate::Difference),
}

/// Walks the road up to the plan, and lints it if every statement was understood.
pub fn check(
    sources: &mut Sources,
    file: FileId,
    loader: &dyn Loader,
    host: &dyn Host,
    request: &Request,
) -> Checked {
    walk(sources, file, loader, host, request, own::Wanted::All)
}

/// The findings that [`check`] gives, for a verb that compiles nothing: of a directory with many profiles only those are looked at that can
/// matter to this one, so that ten thousand side by side take ten times as long as a thousand.
pub fn findings(
    sources: &mut Sources,
    file: FileId,
    loader: &dyn Loader,
    host: &Remembering<'_>,
    request: &Request,
) -> Vec<Finding> {
    walk(sources, file, loader, host, request, own::Wanted::Telling).findings
}

fn walk(
    sources: &mut Sources,
    file: FileId,
    loader: &dyn Loader,
    host: &dyn Host,
    request: &Request,
    wanted: own::Wanted,
) -> Checked {
    let parsed = syntax::parse(sources, file);
    let mut findings = parsed.findings;
    let Some(tree) = parsed.file else { return done(findings, None) };
    let options = resolve::Options {
        workspace: resolve_path(host, &request.workspace)
            .map_or_else(|_| request.workspace.clone(), |found| found.canonical),
        home: host.home().to_path_buf(),
        set: request.set.clone(),
        target: request.target,
    };
    let resolved = resolve::resolve(sources, loader, tree, &options);
    findings.extend(resolved.findings);
    let Some(policy) = resolved.policy else { return done(findings, None) };
    if host.system() != request.target {
        findings.push(
            Finding::new(
                "target",
                Severity::Error,
                format!(
                    "a profile for {} needs a {} machine to look at",
                    request.target.name(),
                    request.target.name()
                ),
            )
            .help("give `--host FILE` with a recording of one, made there by `palisade host record`"),
        );
        return done(findings, None);
    }
    let (own, unlisted) = own::files(sources, &policy, host, &request.artifacts, wanted);
    let binding = bind::bind(host, &policy, &own);
    for (place, error) in unlisted.iter().filter(|(place, _)| binding.is_writable(&policy, place)) {
        let message = format!("which profiles lie in `{place}` cannot be told: {error}");
        findings.push(
            Finding::new("unexamined", Severity::Error, message)
                .at(policy.name.span, "they would not be guarded")
                .help("make the directory readable, and give every file in it a name that is UTF-8"),
        );
    }
    let plan = bind::plan::build(host, &policy, &binding, sources);
    let context = lint::Context { sources, policy: &policy, host, binding: &binding, plan: &plan };
    // A statement that was not understood is missing from the policy, and what lint says of the rest would mislead.
    if !findings.iter().any(|finding| finding.severity == Severity::Error) {
        findings.extend(lint::run(&context));
    }
    done(findings, Some(Bound { policy, binding, plan }))
}

fn done(mut findings: Vec<Finding>, bound: Option<Bound>) -> Checked {
    finding::sort(&mut findings);
    Checked { findings, bound }
}

/// Writes the artifact of a profile without errors. What cannot be compiled yet, or has no spelling, is a finding.
///
/// # Errors
/// Only a failure of the program itself.
pub fn compile(
    sources: &Sources,
    bound: &Bound,
    host: &dyn Host,
    seatbelt_name: &str,
) -> Result<Result<Artifact, Finding>, CompileError> {
    let Bound { policy, plan, .. } = bound;
    let seatbelt = match plan.target {
        System::Linux => None,
        System::Macos => match emit::seatbelt(plan, &policy.name.value) {
            Ok(seatbelt) => {
                emit::validate::check(plan, &seatbelt)?;
                Some(seatbelt)
            }
            Err(error) => {
                let finding = Finding::new("unspeakable-path", Severity::Error, error.to_string());
                let stated = plan.rules.iter().filter(|rule| error.names(&rule.path));
                return Ok(Err(match stated.filter_map(|rule| rule.origin.span).next_back() {
                    Some(span) => finding.at(span, "comes from here"),
                    None => finding,
                }));
            }
        },
    };
    let checks = lint::names();
    let beside = seatbelt.as_ref().map(|seatbelt| manifest::Beside {
        name: seatbelt_name,
        text: &seatbelt.text,
        parameters: &seatbelt.parameters,
    });
    let manifest = manifest::build(policy, plan, sources, host.architecture(), beside, &checks);
    Ok(Ok(Artifact { manifest: manifest::write(&manifest)?, seatbelt: seatbelt.map(|it| it.text) }))
}
