use super::secret_in_env::names_a_secret;
use super::{readable_credentials, readable_secret};
use crate::finding::Finding;
use crate::lint::Context;
use crate::lint::catalogue::hosts::{COLLECTORS, RESOLVERS, UPLOADS, reaches, takes, written};
use crate::lint::places::{Roots, list};
use crate::plan::hosts;
use crate::policy::Network;
use crate::source::Span;

rule! {
    /// Secrets that can be read, together with a way to send them out.
    ///
    /// ## What it does
    ///
    /// Reports a profile with `network all`, or with a host among `network only` at which anybody can leave
    /// something, where a store of credentials, a file that by its name is a secret, or a variable that holds one can
    /// be read too. A masked variable cannot, and a host that may only be read takes nothing.
    ///
    /// ## Why it is bad
    ///
    /// An agent reads what strangers wrote: issues, web pages, the packages it works on. What is written there can
    /// tell it to read the secret and to send it. Each of the three is harmless without the others; together
    /// they need no flaw in any program, and no wall is broken on the way.
    ///
    /// ## Example
    ///
    /// ```palisade bad
    /// edition 1
    /// profile "agent" {
    ///     root "~/other" read-only             # holds .env
    ///     working-directory "~/other"
    ///     network all
    ///     limits { time 10m }
    /// }
    /// ```
    ///
    /// ```palisade good
    /// edition 1
    /// profile "agent" {
    ///     root "~/other" read-only
    ///     deny "~/other/.env"
    ///     working-directory "~/other"
    ///     network all
    ///     limits { time 10m }
    /// }
    /// ```
    ///
    /// Looks alike and is fine: the secret can be read, and sent nowhere but to a registry that takes nothing from
    /// strangers.
    ///
    /// ```palisade fine
    /// edition 1
    /// profile "fine" {
    ///     root "~/other" read-only             # holds .env
    ///     working-directory "~/other"
    ///     network only { allow "static.crates.io" }
    ///     limits { time 10m }
    /// }
    /// ```
    ///
    /// ## What to do
    ///
    /// Deny the secret, or close the network. Two profiles are better than one: fetch with the network and without
    /// secrets, then work with them and without the network. Where both must be, allow this at `network` and say
    /// what the secret opens.
    name: "lethal-trifecta",
    severity: Error,
    confidence: Likely,
    fix: None,
    allowable: true,
    check: check,
}

/// A host to which anybody can send something, as the profile names it; `None` where every host is one.
fn way_out(network: &Network) -> Option<(Option<String>, Option<Span>)> {
    let rules = match network {
        Network::Off => return None,
        Network::All => return Some((None, None)),
        Network::Only(rules) => rules,
    };
    // What is sent to the others is sent by asking for anything.
    let always = COLLECTORS.iter().map(|(host, _)| *host).chain(RESOLVERS.iter().copied());
    let known = UPLOADS.iter().map(|(host, _)| (*host, true)).chain(always.map(|host| (host, false)));
    known
        .flat_map(|host| rules.iter().filter(|rule| rule.allow).map(move |rule| (host, rule)))
        .find(|((host, may_be_read), rule)| {
            let port = rule.pattern.port.unwrap_or(hosts::DEFAULT_PORT);
            let open = || match may_be_read {
                true => takes(network, host, port),
                false => hosts::decide(network, &format!("{host}:{port}")).allowed,
            };
            reaches(&rule.pattern, host) && open()
        })
        .map(|((host, _), rule)| (Some(format!("`{host}`, as `{}` allows", written(rule))), Some(rule.span)))
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let network = context.policy.network();
    let (Some((host, rule)), Some(stated)) = (way_out(network), &context.policy.network) else { return };
    let mut secrets: Vec<(String, Span, &str)> = Vec::new();
    for store in readable_credentials::open(context) {
        secrets.push((store.path.to_string(), store.root.statement.span, "opens it"));
    }
    for root in Roots::of(context).iter() {
        for path in readable_secret::open(context, root) {
            secrets.push((path.to_string(), root.statement.span, "opens it"));
        }
    }
    for entry in &context.policy.env {
        if entry.value.as_deref() != Some("") && names_a_secret(&entry.name) {
            secrets.push((entry.name.clone(), entry.span, "hands it over"));
        }
    }
    let Some((_, span, label)) = secrets.first() else { return };
    let names: Vec<_> = secrets.iter().map(|(name, ..)| name.as_str()).collect();
    let to = host.unwrap_or_else(|| "any host".to_owned());
    findings.push(
        INFO.finding(format!("{} can be read, and sent to {to}", list(&names))).about(&names)
            .at(context.policy.in_profile(rule.unwrap_or(stated.span)), "the way out")
            .at(*span, *label)
            .help(
                "deny the secret or close the network; what an agent reads from strangers can tell it to send one out. A variable can be \
                 masked (`mask NAME for \"HOST\"`), and a host read only (`methods GET HEAD`)",
            ),
    );
}

#[cfg(test)]
mod tests {
    use crate::lint::testing::Case;
    use crate::policy::{HostPattern, Network, NetworkRule};
    use crate::source::Spanned;

    fn only(case: &mut Case, rules: &[(bool, &str)]) {
        let rules = rules
            .iter()
            .map(|(allow, host)| NetworkRule {
                allow: *allow,
                pattern: HostPattern {
                    below: host.starts_with("*."),
                    host: host.trim_start_matches("*.").into(),
                    port: Some(443),
                },
                requests: None,
                span: case.line(&format!("allow \"{host}\"")),
            })
            .collect();
        let span = case.line("network only");
        case.policy.network = Some(Spanned::new(Network::Only(rules), span));
    }

    #[test]
    fn a_host_that_takes_anything_is_a_way_out_until_it_is_denied() {
        let mut case = Case::in_workspace();
        case.deny("/home/dev/project/shared.key");
        only(&mut case, &[(true, "*.github.com")]);
        assert_eq!(
            case.found("lethal-trifecta"),
            [
                "`/home/dev/project/.env` can be read, and sent to `api.github.com`, as `*.github.com` allows\n\
              allow \"*.github.com\" -- the way out\n\
              root \"/home/dev/project\" read-write -- opens it"
            ]
        );
        let denied = ["api.github.com", "gist.github.com", "uploads.github.com"];
        let mut rules = vec![(true, "*.github.com")];
        rules.extend(denied.map(|host| (false, host)));
        only(&mut case, &rules);
        assert!(case.found("lethal-trifecta").is_empty());
    }

    #[test]
    fn a_masked_variable_is_none_and_a_host_that_is_only_read_takes_nothing() {
        let mut case = Case::in_workspace();
        case.deny("/home/dev/project/shared.key").deny("/home/dev/project/.env");
        case.host(true, "api.github.com", None).mask("GITHUB_TOKEN", "api.github.com");
        assert!(case.found("lethal-trifecta").is_empty());
        case.env("NPM_TOKEN", None);
        assert_eq!(case.found("lethal-trifecta").len(), 1);
        case.limited("api.github.com", &["GET", "HEAD"], &[]);
        assert!(case.found("lethal-trifecta").is_empty());
        case.limited("webhook.site", &["GET"], &[]);
        assert_eq!(case.found("lethal-trifecta").len(), 1);
    }

    #[test]
    fn a_variable_is_a_secret_too() {
        let mut case = Case::in_workspace();
        case.deny("/home/dev/project/shared.key").deny("/home/dev/project/.env");
        let span = case.line("network all");
        case.policy.network = Some(Spanned::new(Network::All, span));
        assert!(case.found("lethal-trifecta").is_empty());
        case.env("GITHUB_TOKEN", None).env("NPM_TOKEN", Some(""));
        assert_eq!(
            case.found("lethal-trifecta"),
            ["`GITHUB_TOKEN` can be read, and sent to any host\n\
              network all -- the way out\n\
              pass GITHUB_TOKEN -- hands it over"]
        );
    }
}
