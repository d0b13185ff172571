use super::public_suffix::allowed;
use crate::finding::{Edit, Finding};
use crate::lint::Context;
use crate::lint::catalogue::hosts::{CLEARTEXT, written};
use crate::source::Span;

rule! {
    /// A host that is spoken to without encryption.
    ///
    /// ## What it does
    ///
    /// Reports allowed hosts with a port at which protocols without encryption are served: 80, 8080 and 8000 (http),
    /// 21, 23, 25, 110, 143, 389.
    ///
    /// ## Why it is bad
    ///
    /// Whoever is on the way, in the same café or at any router, reads what is sent and answers in the host's place. A
    /// package that comes so is whatever they want it to be, and a name that nobody proves by a certificate allows
    /// everybody.
    ///
    /// ## Example
    ///
    /// ```palisade bad
    /// edition 1
    /// profile "agent" {
    ///     root "$workspace" read-only
    ///     network only { allow "deb.debian.org:80" }
    ///     limits { time 10m }
    /// }
    /// ```
    ///
    /// ```palisade good
    /// edition 1
    /// profile "agent" {
    ///     root "$workspace" read-only
    ///     network only { allow "deb.debian.org" }
    ///     limits { time 10m }
    /// }
    /// ```
    ///
    /// Looks alike and is fine: a port of its own, encrypted.
    ///
    /// ```palisade fine
    /// edition 1
    /// profile "fine" {
    ///     root "$workspace" read-only
    ///     network only { allow "registry.example.com:8443" }
    ///     limits { time 10m }
    /// }
    /// ```
    ///
    /// ## What to do
    ///
    /// Leave the port out: then it is 443. Where what comes is signed and checked, as packages of a distribution are,
    /// allow this with that reason.
    name: "cleartext-port",
    severity: Warning,
    confidence: Likely,
    fix: Unsafe,
    allowable: true,
    check: check,
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for rule in allowed(context) {
        let Some((port, protocol)) = CLEARTEXT.iter().find(|(port, _)| rule.pattern.port == Some(*port))
        else {
            continue;
        };
        let mut finding = INFO
            .finding(format!("`{}` is spoken to without encryption", written(rule)))
            .at(rule.span, format!("{port} is {protocol}: whoever is on the way reads and changes it"))
            .help("leave the port out: then it is 443");
        let stated = format!(":{port}\"");
        if let Some(at) = context.sources.text(rule.span).rfind(&stated) {
            let start = rule.span.range().start + at;
            let span = Span::new(rule.span.file, start..start + stated.len() - 1);
            let edit = Edit { span, replacement: String::new() };
            finding = finding.fix("leave the port out", vec![edit], false);
        }
        findings.push(finding);
    }
}
