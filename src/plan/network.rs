//! Which hosts a plan lets a command reach. `why connect` and `expect connect` ask this; so will the network wall.

use crate::policy::{HostPattern, Network, NetworkRule};

/// Why a host may or may not be reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NetworkDecision<'a> {
    /// `network off`, or nothing stated.
    Off,
    /// `network all`.
    All,
    /// The `allow` that admits it.
    Allowed(&'a NetworkRule),
    /// The `deny` that refuses it.
    Denied(&'a NetworkRule),
    /// `network only`, and no `allow` matches.
    NotListed,
}

impl NetworkDecision<'_> {
    pub fn allowed(self) -> bool {
        matches!(self, Self::All | Self::Allowed(_))
    }
}

/// Decides for a host and port. A denial wins over every allowance, whatever the order.
pub fn decide<'a>(network: &'a Network, host: &str, port: u16) -> NetworkDecision<'a> {
    let rules = match network {
        Network::Off => return NetworkDecision::Off,
        Network::All => return NetworkDecision::All,
        Network::Only(rules) => rules,
    };
    let host = host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase();
    let matching = |allow: bool| rules.iter().find(|rule| rule.allow == allow && matches(&rule.pattern, &host, port));
    match (matching(false), matching(true)) {
        (Some(rule), _) => NetworkDecision::Denied(rule),
        (None, Some(rule)) => NetworkDecision::Allowed(rule),
        (None, None) => NetworkDecision::NotListed,
    }
}

fn matches(pattern: &HostPattern, host: &str, port: u16) -> bool {
    if pattern.port.is_some_and(|only| only != port) {
        return false;
    }
    if !pattern.below {
        return pattern.host == host;
    }
    host.strip_suffix(pattern.host.as_str())
        .and_then(|above| above.strip_suffix('.'))
        .is_some_and(|label| !label.is_empty())
}

/// `host`, `host:port` or `[v6]:port` cut apart; no port means 443.
pub fn split(text: &str) -> Option<(&str, u16)> {
    let (host, port) = match text.rsplit_once(':') {
        Some((host, port)) if !host.contains(':') || host.ends_with(']') => (host, port.parse().ok()?),
        Some(_) if !text.ends_with(']') => return None,
        _ => (text, 443),
    };
    (!host.is_empty() && port != 0).then_some((host, port))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::{Sources, Span};

    fn only(rules: &[(bool, bool, &str, Option<u16>)]) -> Network {
        let span = Span::new(Sources::new().add("x", None, ""), 0..0);
        Network::Only(
            rules
                .iter()
                .map(|&(allow, below, host, port)| NetworkRule {
                    allow,
                    pattern: HostPattern { below, host: host.into(), port },
                    span,
                })
                .collect(),
        )
    }

    #[test]
    fn a_wildcard_is_any_depth_below_and_not_the_name_itself() {
        let network = only(&[(true, true, "pypi.org", Some(443))]);
        assert!(decide(&network, "files.pypi.org", 443).allowed());
        assert!(decide(&network, "A.B.PyPI.org.", 443).allowed());
        assert!(!decide(&network, "pypi.org", 443).allowed());
        assert!(!decide(&network, "evilpypi.org", 443).allowed());
        assert!(!decide(&network, "files.pypi.org", 80).allowed());
    }

    #[test]
    fn a_denial_wins_and_empty_means_none() {
        let network = only(&[(true, true, "x.com", None), (false, false, "up.x.com", None)]);
        assert!(!decide(&network, "up.x.com", 443).allowed());
        assert!(decide(&network, "down.x.com", 22).allowed());
        assert_eq!(decide(&only(&[]), "x.com", 443), NetworkDecision::NotListed);
    }

    #[test]
    fn splits_hosts_and_ports() {
        assert_eq!(split("x.com"), Some(("x.com", 443)));
        assert_eq!(split("x.com:80"), Some(("x.com", 80)));
        assert_eq!(split("[::1]:80"), Some(("[::1]", 80)));
        assert_eq!(split("[::1]"), Some(("[::1]", 443)));
        assert_eq!(split("::1"), None);
        assert_eq!(split("x:y"), None);
        assert_eq!(split(":80"), None);
    }
}
