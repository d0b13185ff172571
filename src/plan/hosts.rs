//! The one decision about hosts, as [`super::decide`] is about paths.

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
    let Some((name, port)) = split(host) else { return HostDecision { allowed: false, rule: None } };
    let matching =
        |allow: bool| rules.iter().find(|rule| rule.allow == allow && matches(&rule.pattern, &name, port));
    match (matching(false), matching(true)) {
        (Some(denial), _) => HostDecision { allowed: false, rule: Some(denial) },
        (None, allowance) => HostDecision { allowed: allowance.is_some(), rule: allowance },
    }
}

fn matches(pattern: &HostPattern, name: &str, port: u16) -> bool {
    let same_port = pattern.port.is_none_or(|wanted| wanted == port);
    let same_name = if pattern.below && pattern.host.is_empty() {
        // `*`, every host: only a denial says so.
        true
    } else if pattern.below {
        name.strip_suffix(pattern.host.as_str()).is_some_and(|label| label.len() > 1 && label.ends_with('.'))
    } else {
        name == pattern.host
    };
    same_port && same_name
}

fn split(host: &str) -> Option<(String, u16)> {
    if host.is_empty() || host.chars().any(|character| character.is_control() || character.is_whitespace()) {
        return None;
    }
    let bracket = host.rfind(']').map_or(0, |at| at + 1);
    let (name, port) = match host.get(bracket..)?.rfind(':') {
        Some(at) => (host.get(..bracket + at)?, host.get(bracket + at + 1..)?.parse().ok()?),
        None => (host, DEFAULT_PORT),
    };
    Some((name.strip_suffix('.').unwrap_or(name).to_lowercase(), port))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::{Sources, Span};

    fn rule(allow: bool, below: bool, host: &str, port: Option<u16>) -> NetworkRule {
        let span = Span::new(Sources::new().add("x", None, ""), 0..0);
        NetworkRule { allow, pattern: HostPattern { below, host: host.into(), port }, span }
    }

    #[test]
    fn names_ports_and_what_lies_below() {
        let network = Network::Only(vec![
            rule(true, false, "example.com", Some(443)),
            rule(true, true, "pypi.org", None),
            rule(true, false, "[::1]", Some(80)),
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
            ("[::1]:80", true),
            ("[::1]", false),
            ("example.com\0.pypi.org", false),
            ("example.com:x", false),
            ("", false),
        ] {
            assert_eq!(decide(&network, host).allowed, allowed, "{host}");
        }
    }

    #[test]
    fn off_is_no_and_all_is_yes_and_an_empty_list_is_no() {
        assert!(!decide(&Network::Off, "example.com").allowed);
        assert!(decide(&Network::All, "example.com").allowed);
        assert!(!decide(&Network::Only(Vec::new()), "example.com").allowed);
    }
}
