use super::public_suffix::allowed;
use crate::finding::Finding;
use crate::lint::Context;
use crate::lint::catalogue::hosts::{COLLECTORS, is_below, reaches};
use crate::lint::edits::remove;

rule! {
    /// A host that exists to catch what is sent to it, or to pass it on unseen.
    ///
    /// ## What it does
    ///
    /// Reports allowed hosts that show whoever asks what they were sent, and those that lead to anybody's own machine or
    /// to an address written in the name.
    ///
    /// ## Why it is bad
    ///
    /// No work needs them that is not a test of one of them, and every tale of data that was led out by an agent ends
    /// at one. A tunnel's name is worth as much as the machine behind it, which nobody has looked at.
    ///
    /// ## Example
    ///
    /// ```palisade bad
    /// edition 1
    /// profile "agent" {
    ///     root "$workspace/src" read-only
    ///     working-directory "$workspace/src"
    ///     network only { allow "webhook.site" }
    ///     limits { time 10m }
    /// }
    /// ```
    ///
    /// ```palisade good
    /// edition 1
    /// profile "agent" {
    ///     root "$workspace/src" read-only
    ///     working-directory "$workspace/src"
    ///     network only { allow "static.crates.io" }
    ///     limits { time 10m }
    /// }
    /// ```
    ///
    /// Looks alike and is fine: it is denied by name, so that a wider pattern does not reach it.
    ///
    /// ```palisade fine
    /// edition 1
    /// profile "fine" {
    ///     root "$workspace/src" read-only
    ///     working-directory "$workspace/src"
    ///     network only { allow "webhook.example.com" }
    ///     limits { time 10m }
    /// }
    /// ```
    ///
    /// ## What to do
    ///
    /// Leave it out. To test a web hook, run the catcher behind the same walls.
    name: "collector-host",
    severity: Error,
    confidence: Likely,
    fix: Unsafe,
    allowable: true,
    check: check,
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for rule in allowed(context) {
        let host = rule.pattern.host.as_str();
        let known = COLLECTORS
            .iter()
            .find(|(known, _)| host == *known || is_below(host, known) || reaches(&rule.pattern, known));
        let Some((known, what)) = known else { continue };
        // A whole platform of tunnels is a suffix too, and reported as such where the pattern is one.
        findings.push(
            INFO.finding(format!("`{known}` {what}"))
                .at(rule.span, "a way out for whatever can be read")
                .help("leave it out")
                .fix("remove the pattern", remove(context.sources, rule.span), false),
        );
    }
}
