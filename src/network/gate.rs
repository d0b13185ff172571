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
use crate::resolve::parse_host;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, ToSocketAddrs, UdpSocket};

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

    /// Connects to a target that is admitted.
    fn connect(&self, target: &Target) -> Result<Opened, Reason> {
        admission(&self.rules, target)?;
        let answered = if target.host.is_localhost() {
            // The one address and then the other, never both at once: two programs may be there.
            let at = |address: IpAddr| dial::any(&[address], target.port);
            at(Ipv4Addr::LOCALHOST.into()).or_else(|_| at(Ipv6Addr::LOCALHOST.into()))
        } else {
            dial::any(&Self::addresses(target)?, target.port)
        };
        answered.map_err(|error| match error {
            Unanswered::Refused => Reason::Unreachable,
            Unanswered::TooSlow => Reason::TooSlow,
        })
    }

    /// The addresses an admitted target may be reached at.
    fn addresses(target: &Target) -> Result<Vec<IpAddr>, Reason> {
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
}

/// Whether a target is admitted, before anything of it is looked up.
///
/// # Errors
/// Why it is not.
pub fn admission(rules: &[NetworkRule], target: &Target) -> Result<(), Reason> {
    let decision = admit(rules, target);
    let never = match &target.host {
        host if host.is_localhost() => Some(Class::ThisMachine),
        Host::Address(address) => class(*address).filter(|class| !class.can_be_named()),
        Host::Name(_) => None,
    };
    match (decision.allowed, decision.rule) {
        (true, _) => Ok(()),
        (false, Some(_)) => Err(Reason::Denied),
        (false, None) => Err(never.map_or(Reason::NotAllowed, Reason::Address)),
    }
}

/// The statement that would admit a target that was refused, or the one that denies it; `None` where no statement would.
pub fn line(rules: &[NetworkRule], target: &Target, reason: Reason) -> Option<String> {
    match reason {
        Reason::NotAllowed => allowance(target),
        Reason::Address(Class::ThisMachine) if target.host.is_localhost() => allowance(target),
        Reason::Denied => admit(rules, target).rule.map(|rule| format!("deny \"{}\"", rule.pattern)),
        _ => None,
    }
}

/// The statement that allows a target and nothing else, where there can be one; port 443 goes without saying.
pub fn allowance(target: &Target) -> Option<String> {
    if target.host.is_localhost() {
        return Some(format!("localhost {}", target.port));
    }
    let host = match target.port {
        DEFAULT_PORT => target.host.to_string(),
        _ => target.to_string(),
    };
    parse_host(&host, true).is_ok().then(|| format!("allow \"{host}\""))
}

/// As it is put on record: what arrives at the sandbox's own address has no proxy to thank, and is captured from nowhere.
fn recorded(via: Via, target: &Target) -> Via {
    if via == Via::Capture && target.host.is_localhost() { Via::Localhost } else { via }
}

impl Gate for Keeper {
    fn meant(&self, target: Target) -> Target {
        if target.host.is_localhost() {
            // By the name that its clients know it by, whichever they used.
            return Target::new(Host::Name("localhost".to_owned()), target.port);
        }
        self.names.meant(target)
    }

    fn open(&self, via: Via, target: &Target) -> Result<Opened, Refused> {
        self.connect(target).map_err(|reason| {
            let line = line(&self.rules, target, reason);
            let refused = Refused { reason, target: Some(target.clone()), line };
            self.record.refused(recorded(via, target), &refused);
            refused
        })
    }

    fn refused(&self, via: Via, refused: &Refused) {
        self.record.refused(via, refused);
    }

    fn closed(&self, closed: &Closed) {
        self.record.closed(&Closed { via: recorded(closed.via, &closed.target), ..closed.clone() });
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
    use crate::policy::HostPattern;
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
        assert_eq!(refusal(&keeper, "10.1.2.3"), (Reason::NotAllowed, line("allow \"10.1.2.3\"")));
        for own in ["localhost:80", "db.localhost:80", "127.0.0.1:80", "[::1]:80"] {
            assert_eq!(
                refusal(&keeper, own),
                (Reason::Address(Class::ThisMachine), line("localhost 80")),
                "{own}"
            );
        }
    }

    #[test]
    fn what_no_statement_opens_names_none() {
        let keeper = keeper(&[(true, "example.com")]);
        for (target, reason) in [
            ("127.0.0.2:80", Reason::Address(Class::ThisMachine)),
            ("169.254.169.254:80", Reason::Address(Class::LinkLocal)),
            ("[::ffff:169.254.169.254]:80", Reason::Address(Class::LinkLocal)),
            ("100.100.100.200:80", Reason::Address(Class::Metadata)),
            ("224.0.0.1:80", Reason::Address(Class::Special)),
            ("metadata.google.internal:80", Reason::NotAllowed),
        ] {
            assert_eq!(refusal(&keeper, target), (reason, None), "{target}");
        }
    }

    #[test]
    fn a_port_of_this_machine_is_reached_where_it_is_stated_and_nowhere_else() {
        let v4 = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = v4.local_addr().unwrap().port();
        let mut rules = keeper(&[(true, "example.com")]).rules;
        let span = rules[0].span;
        rules.push(NetworkRule { allow: true, pattern: HostPattern::localhost(port), span });
        let open = Keeper::new(rules.clone(), Record::new(None, String::new()));
        for name in ["localhost", "db.localhost", "127.0.0.1", "[::1]"] {
            let target = Target::parse(&format!("{name}:{port}"), None).unwrap();
            let opened = open.open(Via::Capture, &target).unwrap();
            assert_eq!(opened.address, IpAddr::from(Ipv4Addr::LOCALHOST), "{name}");
        }
        let other = if port == 1 { 2 } else { port - 1 };
        let others = [format!("localhost:{other}"), format!("127.0.0.2:{port}"), format!("0.0.0.0:{port}")];
        for target in others {
            let (reason, _) = refusal(&open, &target);
            assert_eq!(reason, Reason::Address(Class::ThisMachine), "{target}");
        }
        drop(v4);
        assert_eq!(refusal(&open, &format!("localhost:{port}")).0, Reason::Unreachable);
        rules.push(NetworkRule { allow: false, pattern: parse_host("*:*", false).unwrap(), span });
        let shut = Keeper::new(rules, Record::new(None, String::new()));
        assert_eq!(refusal(&shut, &format!("127.0.0.1:{port}")).0, Reason::Denied);
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
