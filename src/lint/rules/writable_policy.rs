use crate::finding::Finding;
use crate::host::resolve;
use crate::lint::Context;
use crate::lint::edits::remove;
use crate::lint::places::Roots;
use crate::plan::{Decider, Operation};
use camino::{Utf8Path, Utf8PathBuf};
use std::collections::BTreeSet;

rule! {
    /// A policy that what it restrains may change.
    ///
    /// ## What it does
    ///
    /// Reports the profile's own file, those of its fragments, what they are compiled into, and `palisade.toml`, where
    /// the command may write them because an `unguard` lifted their guard.
    ///
    /// ## Why it is bad
    ///
    /// A command that may rewrite its policy is restrained for one run: it states the root it would like to have, or
    /// a severity under which nothing is a finding, and the next compile takes it.
    ///
    /// ## Example
    ///
    /// ```palisade bad
    /// edition 1
    /// profile "writer" {
    ///     root "$workspace" read-write
    ///     unguard "$workspace/palisade.toml" because "it tidies the settings"
    /// }
    /// ```
    ///
    /// ```palisade good
    /// edition 1
    /// profile "writer" {
    ///     root "$workspace" read-write
    /// }
    /// ```
    ///
    /// Looks alike and is fine: a guard is lifted, and it is not on a policy.
    ///
    /// ```palisade fine
    /// edition 1
    /// profile "fine" {
    ///     root "$workspace" read-write
    ///     unguard "$workspace/.vscode" because "this profile sets the editor up"
    /// }
    /// ```
    ///
    /// ## What to do
    ///
    /// Remove the `unguard`. A command that writes policies for others is best given a directory from which nothing is
    /// compiled before somebody has read it; where that is so, allow this and say who reads it.
    name: "writable-policy",
    severity: Error,
    confidence: Certain,
    fix: Unsafe,
    allowable: true,
    check: check,
}

fn is_writable(decider: &Decider<'_>, path: &Utf8Path) -> bool {
    [Operation::Write, Operation::Create, Operation::Remove]
        .into_iter()
        .any(|operation| decider.decide(operation, path).allowed)
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let decider = context.plan.decider();
    let read = context.policy.files.iter().filter_map(|&file| context.sources.file(file).path.as_deref());
    let read =
        read.filter_map(|path| resolve::resolve_parent(context.host, path).ok()).map(|found| found.canonical);
    let guarded = context
        .binding
        .guards
        .iter()
        .filter(|guard| guard.own || guard.path.file_name() == Some("palisade.toml"));
    let paths: BTreeSet<Utf8PathBuf> = read.chain(guarded.map(|guard| guard.path.clone())).collect();
    let roots = Roots::of(context);
    // What is writable without a root is the private directory, and stands in the place of the real one.
    let held = paths.iter().filter(|path| roots.holding(path).is_some());
    for path in held.filter(|path| is_writable(&decider, path)) {
        let lifted = context
            .binding
            .guards
            .iter()
            .filter(|guard| path.starts_with(&guard.path))
            .find_map(|guard| context.policy.unguards.get(guard.lifted_by?));
        let root = decider.decide(Operation::Write, path).rule.and_then(|rule| rule.origin.span);
        let mut finding = INFO.finding(format!("`{path}` may be written by the command that it restrains"));
        if let Some(unguard) = lifted {
            finding = finding.at(unguard.span, "lifts the guard that kept it").fix(
                "remove the statement",
                remove(context.sources, unguard.span),
                false,
            );
        }
        if let Some(span) = root {
            finding = finding.at(span, "writable through this");
        }
        findings
            .push(finding.help("remove the `unguard`; the next compile would take what the command wrote"));
    }
}
