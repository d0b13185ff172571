use super::public_suffix::allowed;
use crate::finding::Finding;
use crate::lint::Context;
use crate::lint::catalogue::authority::{GIT_BY_SSH, PORTS};
use crate::lint::catalogue::hosts::written;
use crate::lint::edits::remove;

rule! {
    /// A host and a port at which a service does what it is told.
    ///
    /// ## What it does
    ///
    /// Reports allowed ports of shells and remote desktops, container engines, clusters and debuggers, and of data
    /// stores that run code. Port 22 of a forge whose ssh is for git alone is not reported.
    ///
    /// ## Why it is bad
    ///
    /// The command acts there with rights that no wall of this profile bounds: what it has that machine run, it runs.
    ///
    /// ## Example
    ///
    /// ```palisade bad
    /// edition 1
    /// profile "agent" {
    ///     root "$workspace" read-only
    ///     network only { allow "build.example.com:2375" }
    ///     limits { time 10m }
    /// }
    /// ```
    ///
    /// ```palisade good
    /// edition 1
    /// profile "agent" {
    ///     root "$workspace" read-only
    ///     network only { allow "build.example.com" }
    ///     limits { time 10m }
    /// }
    /// ```
    ///
    /// Looks alike and is fine: ssh at a forge is for git, and gives no shell.
    ///
    /// ```palisade fine
    /// edition 1
    /// profile "fine" {
    ///     root "$workspace" read-only
    ///     network only { allow "git.sr.ht:22" }
    ///     limits { time 10m }
    /// }
    /// ```
    ///
    /// ## What to do
    ///
    /// Leave it out, and let a program outside the walls do that step. Where the command must have it, allow this and
    /// say what the account there may do.
    name: "authority-port",
    severity: Warning,
    confidence: Likely,
    fix: Unsafe,
    allowable: true,
    check: check,
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for rule in allowed(context) {
        let Some((port, what)) = PORTS.iter().find(|(port, _)| rule.pattern.port == Some(*port)) else {
            continue;
        };
        if *port == 22 && !rule.pattern.below && GIT_BY_SSH.contains(&rule.pattern.host.as_str()) {
            continue;
        }
        findings.push(
            INFO.finding(format!("at `{}` a service does what it is told", written(rule)))
                .at(rule.span, *what)
                .help("leave it out; where the command must have it, allow this and say what it may do there")
                .fix("remove the pattern", remove(context.sources, rule.span), false),
        );
    }
}
