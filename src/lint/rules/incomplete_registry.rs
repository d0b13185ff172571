use super::public_suffix::allowed;
use crate::finding::Finding;
use crate::lint::Context;
use crate::lint::catalogue::hosts::COMPANIONS;
use crate::lint::edits::add_after;
use crate::lint::places::list;
use crate::plan::hosts;

rule! {
    /// A registry without the host that its files come from.
    ///
    /// ## What it does
    ///
    /// Notes an allowed registry of packages whose files are served by another host that is not allowed: `pypi.org`
    /// without `files.pythonhosted.org`, `crates.io` without `static.crates.io`.
    ///
    /// ## Why it is bad
    ///
    /// The first request succeeds and the second is refused, so the tool reports a broken network, and an agent looks
    /// for another way.
    ///
    /// ## Example
    ///
    /// ```palisade bad
    /// edition 1
    /// profile "agent" {
    ///     root "$workspace" read-only
    ///     network only { allow "pypi.org" }
    ///     limits { time 10m }
    /// }
    /// ```
    ///
    /// ```palisade good
    /// edition 1
    /// profile "agent" {
    ///     root "$workspace" read-only
    ///     network only { allow "pypi.org"; allow "files.pythonhosted.org" }
    ///     limits { time 10m }
    /// }
    /// ```
    ///
    /// Looks alike and is fine: the pattern holds the other host too.
    ///
    /// ```palisade fine
    /// edition 1
    /// profile "fine" {
    ///     root "$workspace" read-only
    ///     network only { allow "pypi.org"; allow "*.pythonhosted.org" }
    ///     limits { time 10m }
    /// }
    /// ```
    ///
    /// ## What to do
    ///
    /// Allow the other host, or nothing where only the index is read.
    name: "incomplete-registry",
    severity: Note,
    confidence: Likely,
    fix: Unsafe,
    allowable: true,
    check: check,
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let network = context.policy.network();
    for rule in allowed(context).filter(|rule| !rule.pattern.below) {
        let Some((_, others)) = COMPANIONS.iter().find(|(host, _)| *host == rule.pattern.host) else {
            continue;
        };
        let missing: Vec<_> = others.iter().filter(|host| !hosts::decide(network, host).allowed).collect();
        let [first, ..] = &missing[..] else { continue };
        let allowed: Vec<String> = missing.iter().map(|host| format!("allow \"{host}\"")).collect();
        findings.push(
            INFO.finding(format!("what `{}` offers comes from {} too", rule.pattern.host, list(&missing))).about(&missing)
                .at(rule.span, format!("`{first}` is not allowed"))
                .help("allow it, or nothing where only the index is read")
                .fix("allow it", vec![add_after(context.sources, rule.span, &allowed)], false),
        );
    }
}
