use crate::finding::Finding;
use crate::lint::Context;
use crate::lint::edits::remove;
use crate::policy::{LimitKind, System};

rule! {
    /// A limit that the system which the profile is for cannot hold.
    ///
    /// ## What it does
    ///
    /// Reports `temporary-space` in what is compiled for macOS.
    ///
    /// ## Why it is bad
    ///
    /// There the private temporary directory is a directory like others, on a disk that the command shares: no call
    /// bounds how much is written below one directory. `exec` refuses to start rather than drop a limit, so the
    /// profile would be of no use.
    ///
    /// ## Example
    ///
    /// ```palisade bad
    /// edition 1
    /// profile "builder" {
    ///     root "$workspace" read-write
    ///     on macos { limits { temporary-space 64MiB } }
    /// }
    /// ```
    ///
    /// ```palisade good
    /// edition 1
    /// profile "builder" {
    ///     root "$workspace" read-write
    ///     on linux { limits { temporary-space 64MiB } }
    ///     on macos { limits { file-size 64MiB } }
    /// }
    /// ```
    ///
    /// Looks alike and is fine: a limit of each file, which both systems hold.
    ///
    /// ```palisade fine
    /// edition 1
    /// profile "fine" {
    ///     root "$workspace" read-write
    ///     on macos { limits { file-size 64MiB } }
    /// }
    /// ```
    ///
    /// ## What to do
    ///
    /// State it within `on linux { … }`. `file-size` bounds each file on both systems.
    name: "unenforceable-limit",
    severity: Error,
    confidence: Certain,
    fix: Unsafe,
    allowable: false,
    check: check,
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    if context.policy.target != System::Macos {
        return;
    }
    if let Some(limit) = context.policy.limits.get(&LimitKind::TemporarySpace) {
        findings.push(
            INFO.finding("macOS cannot limit the space of the temporary directory")
                .at(limit.span, "`exec` would refuse to start")
                .help("state it within `on linux { … }`; `file-size` limits each file on both systems")
                .fix("remove the limit", remove(context.sources, limit.span), false),
        );
    }
}
