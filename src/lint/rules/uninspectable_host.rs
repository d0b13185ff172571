use crate::finding::Finding;
use crate::lint::Context;
use crate::lint::catalogue::hosts::{CLEARTEXT, PINNED, is_below};
use crate::policy::{HostPattern, Network};
use crate::source::Span;

rule! {
    /// A host whose connections are to be read and cannot be.
    ///
    /// ## What it does
    ///
    /// Reports `inspect`, `methods`, `paths` and `mask` with a host to which clients make connections that nobody else
    /// can open: services that know their certificates beforehand or want one of the client, and ports at which
    /// something else than TLS is spoken: 22, 80, 25 and others.
    ///
    /// ## Why it is bad
    ///
    /// Where connections are read, Palisade stands in for the server, with a certificate of its own. A client that
    /// knows the server's certificate refuses that one, a server that asks for a client's gets none, and what is no TLS
    /// is closed. The host is as good as denied, and nothing on the way says why.
    ///
    /// ## Example
    ///
    /// ```palisade bad
    /// edition 1
    /// profile "agent" {
    ///     root "$workspace/src" read-only
    ///     working-directory "$workspace/src"
    ///     network only { inspect "api.push.apple.com" }
    ///     limits { time 10m }
    /// }
    /// ```
    ///
    /// ```palisade good
    /// edition 1
    /// profile "agent" {
    ///     root "$workspace/src" read-only
    ///     working-directory "$workspace/src"
    ///     network only { allow "api.push.apple.com" }
    ///     limits { time 10m }
    /// }
    /// ```
    ///
    /// Looks alike and is fine: a port of its own, at which TLS is spoken.
    ///
    /// ```palisade fine
    /// edition 1
    /// profile "fine" {
    ///     root "$workspace/src" read-only
    ///     working-directory "$workspace/src"
    ///     network only { inspect "registry.example.com:8443" }
    ///     limits { time 10m }
    /// }
    /// ```
    ///
    /// ## What to do
    ///
    /// Allow it as a whole, or name the port at which it speaks HTTPS.
    name: "uninspectable-host",
    severity: Error,
    confidence: Likely,
    fix: None,
    allowable: true,
    check: check,
}

/// What is spoken at a port, and is no TLS.
fn spoken(port: Option<u16>) -> Option<&'static str> {
    let port = port?;
    let known = CLEARTEXT.iter().find(|(known, _)| *known == port).map(|(_, protocol)| *protocol);
    known.or_else(|| (port == 22).then_some("ssh"))
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let Network::Only(rules) = context.policy.network() else { return };
    let asked = rules.iter().filter(|rule| rule.requests.is_some()).map(|rule| (&rule.pattern, rule.span));
    let masked =
        context.policy.masks.iter().flat_map(|mask| mask.hosts.iter().map(|host| (&host.value, host.span)));
    let mut said: Vec<&HostPattern> = Vec::new();
    for (pattern, span) in asked.chain(masked) {
        if said.contains(&pattern) {
            continue;
        }
        let found = finding(pattern, span);
        if found.is_some() {
            said.push(pattern);
        }
        findings.extend(found);
    }
}

fn finding(pattern: &HostPattern, span: Span) -> Option<Finding> {
    if let (Some(protocol), Some(port)) = (spoken(pattern.port), pattern.port) {
        return Some(
            INFO.finding(format!("connections to `{pattern}` are to be read, and {protocol} is no TLS"))
                .at(span, format!("{port} is {protocol}"))
                .help(format!("leave the port out, `\"{}\"`: then it is 443", pattern.host)),
        );
    }
    let labels = pattern.host.split('.').next().unwrap_or_default();
    let by_name = matches!(labels, "mtls" | "mutual-tls").then_some("by its name its clients show a certificate of their own");
    let known = PINNED.iter().find(|(host, _)| *host == pattern.host || is_below(&pattern.host, host));
    let why = known.map(|(_, why)| *why).or(by_name)?;
    Some(
        INFO.finding(format!("connections to `{}` are to be read, and its clients do not let them", pattern.host))
            .at(span, why)
            .help(format!("allow it as a whole: `allow \"{}\"`", pattern.host)),
    )
}

#[cfg(test)]
mod tests {
    use crate::lint::testing::Case;

    #[test]
    fn what_cannot_be_read_is_told_once_a_host() {
        let mut case = Case::in_workspace();
        case.limited("x.push.apple.com", &["GET"], &[])
            .limited("x.push.apple.com", &["POST"], &["/3/**"])
            .limited("mtls.example.com", &[], &[])
            .limited("example.com:80", &[], &[])
            .limited("example.com:8443", &[], &[])
            .limited("notpush.apple.com", &[], &[])
            .host(true, "whatsapp.net", None)
            .host(true, "example.com:22", None)
            .mask("TOKEN", "example.com:22");
        let messages: Vec<_> =
            case.findings("uninspectable-host").into_iter().map(|finding| finding.message).collect();
        assert_eq!(
            messages,
            [
                "connections to `x.push.apple.com` are to be read, and its clients do not let them",
                "connections to `mtls.example.com` are to be read, and its clients do not let them",
                "connections to `example.com:80` are to be read, and http is no TLS",
                "connections to `example.com:22` are to be read, and ssh is no TLS",
            ]
        );
    }
}
