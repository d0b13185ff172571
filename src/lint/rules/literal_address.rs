use super::public_suffix::allowed;
use crate::finding::Finding;
use crate::lint::Context;
use crate::lint::catalogue::hosts::written;
use crate::policy::address::class;
use crate::policy::host::Host;

rule! {
    /// A host that is allowed by its address.
    ///
    /// ## What it does
    ///
    /// Notes allowed addresses of the public network. Those of private networks are reported by `private-host`.
    ///
    /// ## Why it is bad
    ///
    /// An address has no name that its certificate must bear, so that whoever has the address by then is believed. It is
    /// somebody else's when its owner moves, in a cloud within the hour. And it matches itself only: a name that leads to
    /// it is still refused.
    ///
    /// ## Example
    ///
    /// ```palisade bad
    /// edition 1
    /// profile "agent" {
    ///     root "$workspace" read-only
    ///     network only { allow "93.184.216.34" }
    ///     limits { time 10m }
    /// }
    /// ```
    ///
    /// ```palisade good
    /// edition 1
    /// profile "agent" {
    ///     root "$workspace" read-only
    ///     network only { allow "www.example.com" }
    ///     limits { time 10m }
    /// }
    /// ```
    ///
    /// Looks alike and is fine: a name that begins with digits.
    ///
    /// ```palisade fine
    /// edition 1
    /// profile "fine" {
    ///     root "$workspace" read-only
    ///     network only { allow "93.example.com" }
    ///     limits { time 10m }
    /// }
    /// ```
    ///
    /// ## What to do
    ///
    /// Allow the name. Where there is none, allow this and say whose address it is.
    name: "literal-address",
    severity: Note,
    confidence: Likely,
    fix: None,
    allowable: true,
    check: check,
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for rule in allowed(context) {
        match Host::parse(&rule.pattern.host) {
            Ok(Host::Address(address)) if class(address).is_none() => findings.push(
                INFO.finding(format!("`{}` is an address, and no certificate bears its name", written(rule)))
                    .at(rule.span, "whoever has it by then is believed")
                    .help("allow the host by its name"),
            ),
            _ => {}
        }
    }
}
