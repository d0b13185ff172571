use crate::finding::Finding;
use crate::lint::Context;
use crate::lint::edits::add_after;
use crate::policy::{LimitKind, Network};

rule! {
    /// A network that is open for as long as a command likes.
    ///
    /// ## What it does
    ///
    /// Reports a profile whose network is not off and that states no `time`.
    ///
    /// ## Why it is bad
    ///
    /// What a command was talked into goes on while nobody looks: it waits for orders, scans, or sends what it finds
    /// bit by bit. Without a limit, that ends when somebody notices.
    ///
    /// ## Example
    ///
    /// ```palisade bad
    /// edition 1
    /// profile "agent" {
    ///     root "$workspace" read-only
    ///     network only { allow "static.crates.io" }
    /// }
    /// ```
    ///
    /// ```palisade good
    /// edition 1
    /// profile "agent" {
    ///     root "$workspace" read-only
    ///     network only { allow "static.crates.io" }
    ///     limits { time 10m }
    /// }
    /// ```
    ///
    /// Looks alike and is fine: a server of files that stays up, without a network.
    ///
    /// ```palisade fine
    /// edition 1
    /// profile "fine" {
    ///     root "$workspace" read-only
    ///     network off
    ///     limits { processes 64 }
    /// }
    /// ```
    ///
    /// ## What to do
    ///
    /// State `limits { time 10m }`, or `use "std/command"`. A server that stays up and needs the network can allow this
    /// at `network`, and say who watches it.
    name: "missing-limit",
    severity: Warning,
    confidence: Likely,
    fix: Unsafe,
    allowable: true,
    check: check,
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    if *context.policy.network() == Network::Off || context.policy.limit(LimitKind::Time).is_some() {
        return;
    }
    let Some(network) = &context.policy.network else { return };
    let limit = "limits { time 10m }".to_owned();
    let edit = add_after(context.sources, context.policy.in_profile(network.span), &[limit]);
    findings.push(
        INFO.finding("the network is open, and no limit of time ends it")
            .at(context.policy.in_profile(network.span), "for as long as a command likes")
            .help("state `limits { time 10m }`, or `use \"std/command\"`")
            .fix("limit it to ten minutes", vec![edit], false),
    );
}
