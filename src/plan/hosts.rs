//! The one decision about hosts, as [`super::decide`] is about paths.

use crate::policy::host::{Host, Target};
use crate::policy::requests::Requests;
use crate::policy::{HostPattern, Network, NetworkRule};

/// An answer and the statement it rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HostDecision<'a> {
    pub allowed: bool,
    /// `None` where the network is off or open as a whole, or where no pattern speaks of the host.
    pub rule: Option<&'a NetworkRule>,
}

/// The port of a host named without one.
pub const DEFAULT_PORT: u16 = 443;

/// Whether a connection to `host` (`name`, `name:port`, `[v6]:port`) is allowed. A denial beats every allowance; no pattern means no.
/// What does not read as a host is denied.
pub fn decide<'a>(network: &'a Network, host: &str) -> HostDecision<'a> {
    let rules = match network {
        Network::Off => return HostDecision { allowed: false, rule: None },
        Network::All => return HostDecision { allowed: true, rule: None },
        Network::Only(rules) => rules,
    };
    let Ok(target) = Target::parse(host, Some(DEFAULT_PORT)) else {
        return HostDecision { allowed: false, rule: None };
    };
    admit(rules, &target)
}

/// The same for a host that was read already, among the rules of `network only`.
pub fn admit<'a>(rules: &'a [NetworkRule], target: &Target) -> HostDecision<'a> {
    let read = is_read_somewhere(rules, target);
    let speaks =
        |rule: &NetworkRule| matches(&rule.pattern, target) && (!rule.allow || !read || is_one(rule));
    let matching = |allow: bool| rules.iter().find(|rule| rule.allow == allow && speaks(rule));
    match (matching(false), matching(true)) {
        (Some(denial), _) => HostDecision { allowed: false, rule: Some(denial) },
        (None, allowance) => HostDecision { allowed: allowance.is_some(), rule: allowance },
    }
}

/// Whether connections to the target's host are read at some port. At another one it is opened only by a line that says just that: what is
/// said of many hosts or of every port must not lead around what may be asked of this one.
fn is_read_somewhere(rules: &[NetworkRule], target: &Target) -> bool {
    rules.iter().any(|rule| rule.requests.is_some() && names(&rule.pattern, &target.host))
}

/// Whether a rule names one host at one port.
fn is_one(rule: &NetworkRule) -> bool {
    !rule.pattern.below && rule.pattern.port.is_some()
}

/// The rule that denies a target. It holds for an address also where a name leads to it, which no allowance of an address does.
pub fn denial<'a>(rules: &'a [NetworkRule], target: &Target) -> Option<&'a NetworkRule> {
    admit(rules, target).rule.filter(|rule| !rule.allow)
}

/// What may be asked of a target whose connections are read; empty where none of them is. An allowance of more names than this one, or of
/// everything at it, opens nothing then: what is said of a host by its name is said to limit it.
pub fn limits<'a>(rules: &'a [NetworkRule], target: &Target) -> Vec<(&'a Requests, &'a NetworkRule)> {
    let speaks = |rule: &&NetworkRule| rule.allow && matches(&rule.pattern, target);
    rules.iter().filter(speaks).filter_map(|rule| Some((rule.requests.as_ref()?, rule))).collect()
}

/// The method that opens a tunnel (RFC 9110, 9.3.6).
pub const TUNNEL: &str = "CONNECT";

/// Whether one request may be sent to a target over a connection that is read, in which a tunnel could not be. `path` is what stands before the
/// `?`, as it was sent.
pub fn may_ask<'a>(rules: &'a [NetworkRule], target: &Target, method: &str, path: &str) -> HostDecision<'a> {
    if method == TUNNEL {
        return HostDecision { allowed: false, rule: None };
    }
    let admitted = admit(rules, target);
    let limits = limits(rules, target);
    if !admitted.allowed || limits.is_empty() {
        return admitted;
    }
    let rule = limits.into_iter().find(|(requests, _)| requests.hold(method, path)).map(|(_, rule)| rule);
    HostDecision { allowed: rule.is_some(), rule }
}

/// Whether there is a port at which a host would be admitted: only such a name needs an address.
pub fn could_admit(rules: &[NetworkRule], host: &Host) -> bool {
    rules.iter().filter(|rule| rule.allow).any(|rule| match rule.pattern.port {
        Some(port) => admit(rules, &Target::new(host.clone(), port)).allowed,
        // At any port, so at one that no rule names.
        None => {
            let named = |port: &u16| rules.iter().any(|rule| rule.pattern.port == Some(*port));
            let mut free = (1..=u16::MAX).filter(|port| !named(port));
            free.next().is_some_and(|port| admit(rules, &Target::new(host.clone(), port)).allowed)
        }
    })
}

/// Whether a pattern speaks of a target.
pub fn matches(pattern: &HostPattern, target: &Target) -> bool {
    pattern.port.is_none_or(|wanted| wanted == target.port) && names(pattern, &target.host)
}

/// Whether a pattern speaks of a host, whatever the port.
fn names(pattern: &HostPattern, host: &Host) -> bool {
    match (pattern.below, pattern.host.as_str(), host) {
        // `*`, every host: only a denial says so.
        (true, "", _) => true,
        // Its names and addresses are one place.
        (_, own, host) if host.is_localhost() => {
            own == "localhost" || Host::parse(own).is_ok_and(|own| own.is_localhost())
        }
        (true, _, Host::Address(_)) => false,
        (true, apex, Host::Name(name)) => {
            name.strip_suffix(apex).is_some_and(|label| label.len() > 1 && label.ends_with('.'))
        }
        (false, name, host) => host.to_string() == name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::{Sources, Span};

    fn rule(allow: bool, below: bool, host: &str, port: Option<u16>) -> NetworkRule {
        let span = Span::new(Sources::new().add("x", None, ""), 0..0);
        NetworkRule { allow, pattern: HostPattern { below, host: host.into(), port }, requests: None, span }
    }

    #[test]
    fn names_ports_and_what_lies_below() {
        let network = Network::Only(vec![
            rule(true, false, "example.com", Some(443)),
            rule(true, true, "pypi.org", None),
            rule(true, false, "[2600::1]", Some(80)),
            rule(true, false, "localhost", Some(5432)),
            rule(false, false, "uploads.pypi.org", None),
        ]);
        for (host, allowed) in [
            ("example.com", true),
            ("EXAMPLE.com.:443", true),
            ("example.com:80", false),
            ("www.example.com", false),
            ("files.pypi.org:8080", true),
            ("pypi.org", false),
            ("evilpypi.org", false),
            ("uploads.pypi.org", false),
            ("[2600::1]:80", true),
            ("[2600::1]", false),
            ("localhost:5432", true),
            ("db.localhost:5432", true),
            ("127.0.0.1:5432", true),
            ("[::1]:5432", true),
            ("[::ffff:127.0.0.1]:5432", true),
            ("localhost", false),
            ("127.0.0.1:80", false),
            ("127.0.0.2:5432", false),
            ("0.0.0.0:5432", false),
            ("[::]:5432", false),
            ("xlocalhost:5432", false),
            ("localhost.example.com:5432", false),
            ("example.com\0.pypi.org", false),
            ("example.com:x", false),
            ("", false),
        ] {
            assert_eq!(decide(&network, host).allowed, allowed, "{host}");
        }
    }

    #[test]
    fn a_denial_of_this_machine_by_any_of_its_names_beats_a_port_of_it() {
        for (below, host) in [
            (false, "localhost"),
            (true, "localhost"),
            (false, "a.localhost"),
            (false, "127.0.0.1"),
            (false, "[::1]"),
            (true, ""),
        ] {
            let rules = [rule(true, false, "localhost", Some(5432)), rule(false, below, host, None)];
            let network = Network::Only(rules.into());
            for own in ["localhost:5432", "a.localhost:5432", "127.0.0.1:5432", "[::1]:5432"] {
                assert!(!decide(&network, own).allowed, "{own} where `{host}` is denied");
            }
        }
    }

    #[test]
    fn a_name_needs_an_address_where_some_port_of_it_is_open() {
        let rules = [
            rule(true, false, "a.com", Some(443)),
            rule(true, true, "b.com", None),
            rule(false, false, "shut.b.com", None),
            rule(false, false, "half.b.com", Some(1)),
            rule(false, false, "a.com", Some(22)),
        ];
        let could = |name: &str| could_admit(&rules, &Host::parse(name).unwrap());
        assert!(could("a.com") && could("x.b.com") && could("half.b.com"));
        assert!(!could("b.com") && !could("shut.b.com") && !could("c.com"));
    }

    #[test]
    fn what_is_said_of_one_host_limits_it() {
        let only = |host: &str, methods: &[&str]| {
            let methods = methods.iter().map(|&method| method.to_owned()).collect();
            NetworkRule {
                requests: Some(Requests { methods, paths: Vec::new() }),
                ..rule(true, false, host, Some(443))
            }
        };
        let rules = [
            rule(true, true, "example.com", None),
            rule(true, false, "api.example.com", Some(443)),
            only("api.example.com", &["GET"]),
            only("api.example.com", &["HEAD"]),
            rule(true, false, "api.example.com", None),
            rule(true, false, "api.example.com", Some(80)),
            only("shut.example.com", &[]),
            rule(false, false, "shut.example.com", None),
        ];
        let ask = |host: &str, method: &str| {
            may_ask(&rules, &Target::parse(host, Some(443)).unwrap(), method, "/").allowed
        };
        assert!(ask("api.example.com", "GET") && ask("api.example.com", "HEAD"));
        assert!(!ask("api.example.com", "POST"));
        assert!(!ask("api.example.com:8443", "POST"), "no line speaks of that port alone");
        assert!(ask("api.example.com:80", "POST"), "one does of this");
        assert!(ask("www.example.com", "POST") && !ask("example.com", "GET"));
        assert!(!ask("shut.example.com", "GET"));
    }

    #[test]
    fn off_is_no_and_all_is_yes_and_an_empty_list_is_no() {
        assert!(!decide(&Network::Off, "example.com").allowed);
        assert!(decide(&Network::All, "example.com").allowed);
        assert!(!decide(&Network::Only(Vec::new()), "example.com").allowed);
    }
}
