use super::public_suffix::allowed;
use crate::finding::Finding;
use crate::lint::Context;
use crate::lint::catalogue::hosts::{UPLOADS, reaches, takes};
use crate::lint::edits::{add_after, remove};
use crate::lint::places::list;
use crate::plan::hosts;

rule! {
    /// A host at which anybody can leave something.
    ///
    /// ## What it does
    ///
    /// Reports an allowed host, or a pattern that holds one, where accounts are free or not needed and what is sent can
    /// be fetched by others: forges, paste bins, stores of files, messengers, forms. A pattern whose such hosts are all
    /// denied is not reported, and neither is a host of which nothing but `GET`, `HEAD` and `OPTIONS` may be asked, or what
    /// git asks to fetch. Where something can be left by a `GET`, as at some messengers, a host is reported all the same.
    ///
    /// ## Why it is bad
    ///
    /// The name of a host says to whom the connection goes, not to whose account. An agent that was talked into it
    /// sends what it can read to the attacker's repository at the very host that it needs for its work, with a token
    /// that the attacker gave it.
    ///
    /// ## Example
    ///
    /// ```palisade bad
    /// edition 1
    /// profile "agent" {
    ///     root "$workspace/src" read-only
    ///     working-directory "$workspace/src"
    ///     network only { allow "api.github.com" }
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
    /// Looks alike and is fine: the hosts of the pattern where strangers can write are denied.
    ///
    /// ```palisade fine
    /// edition 1
    /// profile "fine" {
    ///     root "$workspace/src" read-only
    ///     working-directory "$workspace/src"
    ///     network only { allow "*.pypi.org"; deny "upload.pypi.org" }
    ///     limits { time 10m }
    /// }
    /// ```
    ///
    /// So is one that may be read, and nothing else:
    ///
    /// ```palisade fine
    /// edition 1
    /// profile "fine" {
    ///     root "$workspace/src" read-only
    ///     working-directory "$workspace/src"
    ///     network only { allow "api.github.com" methods GET HEAD }
    ///     limits { time 10m }
    /// }
    /// ```
    ///
    /// ## What to do
    ///
    /// Say what may be asked (`methods GET HEAD`; to clone from a forge, `methods POST paths "/*/*/git-upload-pack"`
    /// beside it). Servers that change something on a `GET` exist: that such a host takes nothing is likely, not
    /// certain. Or allow hosts that only serve (`codeload.github.com` and not `api.github.com`), or deny the ones that take
    /// something. Where the command must write there, see that nothing it can read is a secret, and allow this with the
    /// reason.
    name: "upload-host",
    severity: Warning,
    confidence: Likely,
    fix: Unsafe,
    allowable: true,
    check: check,
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let network = context.policy.network();
    for rule in allowed(context) {
        let port = rule.pattern.port.unwrap_or(hosts::DEFAULT_PORT);
        let open = |host: &str| {
            reaches(&rule.pattern, host) && takes(network, host, port)
        };
        let reached: Vec<_> = UPLOADS.iter().filter(|(host, _)| open(host)).collect();
        let [(first, what), ..] = &reached[..] else { continue };
        let names: Vec<_> = reached.iter().map(|(host, _)| *host).collect();
        let denials: Vec<String> = names.iter().map(|host| format!("deny \"{host}\"")).collect();
        let (title, edits) = if rule.pattern.below {
            ("deny it", vec![add_after(context.sources, rule.span, &denials)])
        } else {
            ("remove the pattern", remove(context.sources, rule.span))
        };
        findings.push(
            INFO.finding(format!("anybody can leave something at {}", list(&names))).about(&names)
                .at(rule.span, format!("takes {what}"))
                .help(format!(
                    "let it be read only, as `allow \"{first}\" methods GET HEAD` does, or deny what takes something, as in `deny \"{first}\"`; or see \
                     that nothing secret can be read, and allow this with the reason"
                ))
                .fix(title, edits, false),
        );
    }
}
