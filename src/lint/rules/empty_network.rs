use crate::finding::{Edit, Finding};
use crate::lint::Context;
use crate::policy::Network;

rule! {
    /// A list of hosts that allows none.
    ///
    /// ## What it does
    ///
    /// Reports `network only` without a single `allow`, `localhost` or `unix`, in the profile and in the fragments it uses.
    ///
    /// ## Why it is bad
    ///
    /// It is `network off`: empty means none. Other tools have taken an empty list for every host, so that its reader
    /// cannot be sure, and a list that somebody forgot to fill looks the same.
    ///
    /// ## Example
    ///
    /// ```palisade bad
    /// edition 1
    /// profile "agent" {
    ///     root "$workspace" read-only
    ///     network only { }
    /// }
    /// ```
    ///
    /// ```palisade good
    /// edition 1
    /// profile "agent" {
    ///     root "$workspace" read-only
    ///     network off
    /// }
    /// ```
    ///
    /// Looks alike and is fine: the fragment has hosts, and lists add up.
    ///
    /// ```palisade fine
    /// edition 1
    /// profile "fine" {
    ///     use "std/net/crates"
    ///     root "$workspace" read-only
    ///     network only { }
    ///     limits { time 10m }
    /// }
    /// ```
    ///
    /// ## What to do
    ///
    /// Write `network off`, or name the hosts.
    name: "empty-network",
    severity: Warning,
    confidence: Certain,
    fix: Safe,
    allowable: true,
    check: check,
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let Some(network) = &context.policy.network else { return };
    let Network::Only(rules) = &network.value else { return };
    if rules.iter().any(|rule| rule.allow) || !context.policy.unix.is_empty() {
        return;
    }
    let mut finding = INFO
        .finding("a list that allows no host")
        .at(context.policy.in_profile(network.span), "the same as `network off`")
        .help("write `network off`, or name the hosts");
    // What the block says beside it would be lost.
    if rules.is_empty() && !context.sources.text(network.span).contains('#') {
        let edit = Edit { span: network.span, replacement: "network off".into() };
        finding = finding.fix("write `network off`", vec![edit], true);
    }
    findings.push(finding);
}
