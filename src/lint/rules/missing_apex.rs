use super::public_suffix::allowed;
use crate::finding::Finding;
use crate::lint::Context;
use crate::lint::catalogue::hosts::written;
use crate::plan::hosts::admit;
use crate::policy::host::{Host, Target};
use crate::policy::{HostPattern, Network};

rule! {
    /// A pattern of hosts without the name they lie below.
    ///
    /// ## What it does
    ///
    /// Notes `allow "*.example.com"` where nothing is said of `example.com` on the same port.
    ///
    /// ## Why it is bad
    ///
    /// A pattern means the names below and not the name itself. Other tools read it otherwise, and whoever has learned
    /// theirs believes that the name is open too.
    ///
    /// ## Example
    ///
    /// ```palisade bad
    /// edition 1
    /// profile "agent" {
    ///     root "$workspace" read-only
    ///     network only { allow "*.pythonhosted.org" }
    ///     limits { time 10m }
    /// }
    /// ```
    ///
    /// ```palisade good
    /// edition 1
    /// profile "agent" {
    ///     root "$workspace" read-only
    ///     network only { allow "pythonhosted.org"; allow "*.pythonhosted.org" }
    ///     limits { time 10m }
    /// }
    /// ```
    ///
    /// Looks alike and is fine: the name is open on the port of the pattern.
    ///
    /// ```palisade fine
    /// edition 1
    /// profile "fine" {
    ///     root "$workspace" read-only
    ///     network only { allow "registry.example.com:8443"; allow "*.registry.example.com:8443" }
    ///     limits { time 10m }
    /// }
    /// ```
    ///
    /// ## What to do
    ///
    /// Allow the name too, or name the hosts that are meant in place of the pattern. Where the pattern is right as it is,
    /// allow this.
    name: "missing-apex",
    severity: Note,
    confidence: Possible,
    fix: None,
    allowable: true,
    check: check,
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let Network::Only(rules) = context.policy.network() else { return };
    for rule in allowed(context).filter(|rule| rule.pattern.below) {
        let HostPattern { host, port, .. } = &rule.pattern;
        let is_spoken_of = match (Host::parse(host), port) {
            (Ok(apex), Some(port)) => {
                let decision = admit(rules, &Target::new(apex, *port));
                // A denial of it speaks of it, too.
                decision.rule.is_some()
            }
            _ => rules.iter().any(|other| !other.pattern.below && other.pattern.host == *host),
        };
        if is_spoken_of {
            continue;
        }
        let apex = written(&crate::policy::NetworkRule {
            pattern: HostPattern { below: false, ..rule.pattern.clone() },
            ..rule.clone()
        });
        findings.push(
            INFO.finding(format!("`{}` does not allow `{apex}`", written(rule)))
                .at(rule.span, "the names below, and not the name itself")
                .help(format!("add `allow \"{apex}\"` where it is meant too")),
        );
    }
}
