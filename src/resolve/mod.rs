//! In: the syntax tree of a profile, and a way to read the files it uses. Out: the policy it states, with every `use`, `param`, group
//! and `$name` resolved, or what keeps it from being one.
//!
//! No machine is looked at but for the text of used files: whether a path exists is for binding.

mod allowances;
mod collect;
mod expand;
mod files;
mod groups;
pub(crate) mod hosts;
pub mod idn;
mod loader;
mod masks;
mod names;
mod network;
mod params;
pub mod standard;

use crate::finding::{self, Finding, Severity};
use crate::policy::{Policy, System};
use crate::source::{FileId, Sources, Span};
use crate::syntax::{MAX_FINDINGS, ast};
use camino::Utf8PathBuf;
use std::collections::BTreeMap;

pub use hosts::{parse as parse_host, read as read_host, read_request};
pub use loader::{LiveLoader, LoadFailure, Loader, MemoryLoader};

/// What the one who compiles brings along.
#[derive(Debug, Clone)]
pub struct Options {
    /// `$workspace`: absolute.
    pub workspace: Utf8PathBuf,
    /// `$home`: absolute.
    pub home: Utf8PathBuf,
    /// Values of parameters, from `--set NAME=VALUE`.
    pub set: BTreeMap<String, String>,
    pub target: System,
}

/// What resolving gives.
#[derive(Debug, Clone)]
pub struct Resolved {
    /// None where a fragment was given instead of a profile. With an error among the findings it lacks what is wrong, and must not
    /// be compiled.
    pub policy: Option<Policy>,
    pub findings: Vec<Finding>,
}

/// Resolves a profile. A fragment can be given as well, to be checked by itself: then there are findings and no policy.
///
/// Files that are used are added to `sources`.
pub fn resolve(sources: &mut Sources, loader: &dyn Loader, file: ast::File, options: &Options) -> Resolved {
    let mut findings = Vec::new();
    let is_profile = file.kind == ast::FileKind::Profile;
    let used = files::gather(sources, loader, file, options, &mut findings);
    let params = params::declare(&used.files, options, is_profile, &mut findings);
    let groups = groups::Groups::define(sources, &used.files, &mut findings);
    let mut policy = collect::collect(sources, &used, params, groups, options, &mut findings);
    for file in &used.files {
        allowances::attach(sources, file, &mut policy.allowances, &mut findings);
    }
    finding::sort(&mut findings);
    bound(sources, &mut findings);
    Resolved { policy: is_profile.then_some(policy), findings }
}

/// At most [`MAX_FINDINGS`] for each file, and a last one that says how many more there were.
fn bound(sources: &Sources, findings: &mut Vec<Finding>) {
    let mut counts: BTreeMap<FileId, usize> = BTreeMap::new();
    findings.retain(|finding| {
        let Some(span) = finding.span() else { return true };
        let count = counts.entry(span.file).or_default();
        *count += 1;
        *count <= MAX_FINDINGS
    });
    for (id, count) in counts.into_iter().filter(|(_, count)| *count > MAX_FINDINGS) {
        let beyond = count - MAX_FINDINGS;
        let message = format!("{beyond} more errors in `{}` are not shown", sources.file(id).name);
        let whole = sources.whole(id);
        let end = Span { start: whole.end, ..whole };
        findings.push(Finding::new("too-many", Severity::Error, message).at(end, "to here"));
    }
}
