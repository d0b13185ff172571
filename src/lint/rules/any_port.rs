use super::public_suffix::allowed;
use crate::finding::{Edit, Finding};
use crate::lint::Context;
use crate::lint::catalogue::hosts::written;
use crate::source::Span;

rule! {
    /// A host that may be spoken to on every port.
    ///
    /// ## What it does
    ///
    /// Reports `allow "HOST:*"`.
    ///
    /// ## Why it is bad
    ///
    /// The name was allowed for what it serves on one port. On the others the same machine may have ssh, mail or a
    /// debugger, and what is spoken there is not encrypted and proves no name.
    ///
    /// ## Example
    ///
    /// ```palisade bad
    /// edition 1
    /// profile "agent" {
    ///     root "$workspace" read-only
    ///     network only { allow "example.com:*" }
    ///     limits { time 10m }
    /// }
    /// ```
    ///
    /// ```palisade good
    /// edition 1
    /// profile "agent" {
    ///     root "$workspace" read-only
    ///     network only { allow "example.com"; allow "example.com:8443" }
    ///     limits { time 10m }
    /// }
    /// ```
    ///
    /// Looks alike and is fine: a denial of every port closes more, not less.
    ///
    /// ```palisade fine
    /// edition 1
    /// profile "fine" {
    ///     root "$workspace" read-only
    ///     network only { allow "*.crates.io"; deny "uploads.crates.io:*" }
    ///     limits { time 10m }
    /// }
    /// ```
    ///
    /// ## What to do
    ///
    /// Name the ports. No port at all is 443.
    name: "any-port",
    severity: Warning,
    confidence: Likely,
    fix: Unsafe,
    allowable: true,
    check: check,
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for rule in allowed(context).filter(|rule| rule.pattern.port.is_none()) {
        let mut finding = INFO
            .finding(format!("`{}` allows every port", written(rule)))
            .at(rule.span, "mail, ssh and what is not encrypted among them")
            .help("name the ports; no port at all is 443");
        let text = context.sources.text(rule.span);
        if let Some(at) = text.rfind(":*\"") {
            let start = rule.span.range().start + at;
            let edit = Edit { span: Span::new(rule.span.file, start..start + 2), replacement: String::new() };
            finding = finding.fix("allow port 443 alone", vec![edit], false);
        }
        findings.push(finding);
    }
}

#[cfg(test)]
mod tests {
    use crate::lint::testing::Case;
    use crate::policy::{HostPattern, Network, NetworkRule};
    use crate::source::Spanned;

    #[test]
    fn the_fix_leaves_the_name() {
        let mut case = Case::in_workspace();
        let span = case.line("allow \"example.com:*\"");
        let pattern = HostPattern { below: false, host: "example.com".into(), port: None };
        case.policy.network =
            Some(Spanned::new(Network::Only(vec![NetworkRule { allow: true, pattern, requests: None, span }]), span));
        let fix = case.findings("any-port")[0].fix.clone().unwrap();
        case.with(|context| assert_eq!(context.sources.text(fix.edits[0].span), ":*"));
    }
}
