use super::public_suffix::allowed;
use crate::finding::Finding;
use crate::lint::Context;
use crate::lint::catalogue::hosts::{RESOLVER_PORTS, RESOLVERS, is_below, reaches, written};

rule! {
    /// A host that looks up any name for the command.
    ///
    /// ## What it does
    ///
    /// Reports allowed hosts that are known to resolve names over HTTPS (RFC 8484), and the ports of name servers: 53,
    /// and 853 for names over TLS (RFC 7858).
    ///
    /// ## Why it is bad
    ///
    /// A question for a name is asked on, to whoever owns the name, so that it carries out what the name spells, piece by
    /// piece, and brings back what the answer spells. No list of hosts bounds that. Behind the walls no command needs
    /// one: names that can be reached have addresses there, from a name server that asks nobody.
    ///
    /// ## Example
    ///
    /// ```palisade bad
    /// edition 1
    /// profile "agent" {
    ///     root "$workspace/src" read-only
    ///     working-directory "$workspace/src"
    ///     network only { allow "cloudflare-dns.com" }
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
    /// Looks alike and is fine: a host that is called so, and answers on the port of HTTPS.
    ///
    /// ```palisade fine
    /// edition 1
    /// profile "fine" {
    ///     root "$workspace/src" read-only
    ///     working-directory "$workspace/src"
    ///     network only { allow "dns.example.com" }
    ///     limits { time 10m }
    /// }
    /// ```
    ///
    /// ## What to do
    ///
    /// Leave it out.
    name: "name-server",
    severity: Warning,
    confidence: Likely,
    fix: None,
    allowable: true,
    check: check,
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for rule in allowed(context) {
        let host = rule.pattern.host.as_str();
        let known = RESOLVERS
            .iter()
            .any(|known| host == *known || is_below(host, known) || reaches(&rule.pattern, known));
        let by_port = rule.pattern.port.is_some_and(|port| RESOLVER_PORTS.contains(&port));
        if known || by_port {
            findings.push(
                INFO.finding(format!("at `{}` any name is looked up", written(rule)))
                    .at(rule.span, "what a name spells goes out with the question")
                    .help("leave it out: names that can be reached have addresses behind the walls"),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::lint::testing::Case;
    use crate::policy::{Network, NetworkRule};
    use crate::resolve::hosts::parse;
    use crate::source::Spanned;

    #[test]
    fn resolvers_are_known_by_name_by_address_and_by_port() {
        for (host, is_found) in [
            ("dns.google", true),
            ("1.1.1.1", true),
            ("*.quad9.net", true),
            ("me.dns.nextdns.io", true),
            ("ns.example.com:853", true),
            ("ns.example.com:53", true),
            ("ns.example.com", false),
            ("google", false),
        ] {
            let mut case = Case::in_workspace();
            let span = case.line(&format!("allow \"{host}\""));
            let pattern = parse(host, true).unwrap();
            let rules = vec![NetworkRule { allow: true, pattern, requests: None, span }];
            case.policy.network = Some(Spanned::new(Network::Only(rules), span));
            assert_eq!(!case.found("name-server").is_empty(), is_found, "{host}");
        }
    }
}
