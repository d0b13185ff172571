//! The gate of a run: admits by the one decision about hosts, resolves only what was admitted, judges each address, and connects to those
//! that were judged, never to what a second look-up says.

use super::dial::{self, Unanswered};
use super::names::Names;
use super::record::Record;
use super::{Closed, Gate, Opened, Reason, Refused, Via};
use crate::plan::hosts::{DEFAULT_PORT, admit};
use crate::policy::NetworkRule;
use crate::policy::address::{Class, class};
use crate::policy::host::{Host, Target};
use std::io;
use std::net::{IpAddr, ToSocketAddrs, UdpSocket};

/// The gate for the hosts of a policy, which stay the same for the whole run.
#[derive(Debug)]
pub struct Keeper {
    rules: Vec<NetworkRule>,
    /// The addresses that stand for names inside.
    names: Names,
    record: Record,
}

impl Keeper {
    pub fn new(rules: Vec<NetworkRule>, record: Record) -> Self {
        Self { rules, names: Names::default(), record }
    }

    pub fn rules(&self) -> &[NetworkRule] {
        &self.rules
    }

    pub fn names(&self) -> &Names {
        &self.names
    }

    pub fn record(&self) -> &Record {
        &self.record
    }

    /// The addresses a target may be reached at.
    fn addresses(&self, target: &Target) -> Result<Vec<IpAddr>, Reason> {
        self.admitted(target)?;
        let (addresses, named) = match &target.host {
            Host::Address(address) => (vec![*address], true),
            Host::Name(name) => (resolve(name, target.port).map_err(|_| Reason::Unresolved)?, false),
        };
        let mut refused = Reason::Unresolved;
        let mut kept = Vec::new();
        for address in addresses {
            match judge(address, named) {
                Ok(()) => kept.push(address),
                Err(reason) => refused = reason,
            }
        }
        if kept.is_empty() { Err(refused) } else { Ok(kept) }
    }

    fn admitted(&self, target: &Target) -> Result<(), Reason> {
        if target.host.is_localhost() {
            return Err(Reason::Address(Class::ThisMachine));
        }
        let decision = admit(&self.rules, target);
        match (decision.allowed, decision.rule) {
            (true, _) => Ok(()),
            (false, Some(_)) => Err(Reason::Denied),
            (false, None) => Err(Reason::NotAllowed),
        }
    }

    /// The statement that would admit a target, or the one that denies it.
    fn line(&self, target: &Target, reason: Reason) -> Option<String> {
        match reason {
            Reason::NotAllowed => Some(allowance(target)),
            Reason::Denied => {
                admit(&self.rules, target).rule.map(|rule| format!("deny \"{}\"", rule.pattern))
            }
            _ => None,
        }
    }
}

/// The statement that allows a target and nothing else; `443` goes without saying.
pub fn allowance(target: &Target) -> String {
    match target.port {
        DEFAULT_PORT => format!("allow \"{}\"", target.host),
        _ => format!("allow \"{target}\""),
    }
}

impl Gate for Keeper {
    fn meant(&self, target: Target) -> Target {
        self.names.meant(target)
    }

    fn open(&self, via: Via, target: &Target) -> Result<Opened, Refused> {
        let opened = self.addresses(target).and_then(|addresses| {
            dial::any(&addresses, target.port).map_err(|error| match error {
                Unanswered::Refused => Reason::Unreachable,
                Unanswered::TooSlow => Reason::TooSlow,
            })
        });
        opened.map_err(|reason| {
            let refused = Refused { reason, target: Some(target.clone()), line: self.line(target, reason) };
            self.record.refused(via, &refused);
            refused
        })
    }

    fn refused(&self, via: Via, refused: &Refused) {
        self.record.refused(via, refused);
    }

    fn closed(&self, closed: &Closed) {
        self.record.closed(closed);
    }
}

/// Every address of a name, as this machine looks names up: its hosts file, its resolver, its private networks.
fn resolve(name: &str, port: u16) -> io::Result<Vec<IpAddr>> {
    let mut addresses: Vec<IpAddr> = Vec::new();
    for found in (name, port).to_socket_addrs()? {
        let address = found.ip();
        if !addresses.contains(&address) {
            addresses.push(address);
        }
    }
    Ok(addresses)
}

/// Whether a command may reach an address: not this machine, nor what gives away its credentials; and nothing inside a private network,
/// unless the policy names the address itself.
fn judge(address: IpAddr, named: bool) -> Result<(), Reason> {
    match class(address) {
        Some(class) if !(named && class.can_be_named()) => return Err(Reason::Address(class)),
        _ => {}
    }
    // Only an address of this machine's own can be bound (bind(2)).
    if UdpSocket::bind((address, 0)).is_ok() { Err(Reason::OwnAddress) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resolve::parse_host;
    use crate::source::{Sources, Span};

    fn keeper(rules: &[(bool, &str)]) -> Keeper {
        let span = Span::new(Sources::new().add("x", None, ""), 0..0);
        let rule = |(allow, text): &(bool, &str)| NetworkRule {
            allow: *allow,
            pattern: parse_host(text, *allow).unwrap(),
            span,
        };
        Keeper::new(rules.iter().map(rule).collect(), Record::new(None, String::new()))
    }

    fn refusal(keeper: &Keeper, target: &str) -> (Reason, Option<String>) {
        let refused = keeper.open(Via::Connect, &Target::parse(target, Some(443)).unwrap()).unwrap_err();
        (refused.reason, refused.line)
    }

    #[test]
    fn a_refusal_names_the_line_that_would_admit() {
        let keeper = keeper(&[(true, "*.example.com"), (false, "bad.example.com:*")]);
        let line = |text: &str| Some(text.to_owned());
        assert_eq!(refusal(&keeper, "example.com"), (Reason::NotAllowed, line("allow \"example.com\"")));
        assert_eq!(
            refusal(&keeper, "www.example.com:22"),
            (Reason::NotAllowed, line("allow \"www.example.com:22\""))
        );
        assert_eq!(refusal(&keeper, "bad.example.com"), (Reason::Denied, line("deny \"bad.example.com:*\"")));
        assert_eq!(refusal(&keeper, "192.0.2.1"), (Reason::NotAllowed, line("allow \"192.0.2.1\"")));
        assert_eq!(refusal(&keeper, "localhost:80"), (Reason::Address(Class::ThisMachine), None));
    }

    #[test]
    fn an_address_is_judged_even_where_it_is_allowed() {
        let named = |address: &str| judge(address.parse().unwrap(), true);
        let found = |address: &str| judge(address.parse().unwrap(), false);
        assert_eq!(named("10.255.254.253"), Ok(()));
        assert_eq!(found("10.255.254.253"), Err(Reason::Address(Class::Private)));
        for address in ["127.0.0.1", "::1", "169.254.169.254", "64:ff9b::7f00:1", "0.0.0.0"] {
            assert!(matches!(named(address), Err(Reason::Address(_))), "{address}");
            assert!(matches!(found(address), Err(Reason::Address(_))), "{address}");
        }
    }
}
