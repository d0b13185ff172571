//! The gate of a run: admits by the one decision about hosts, resolves only what was admitted, judges each address, and connects to those
//! that were judged, never to what a second look-up says.

use super::dial::{self, Unanswered};
use super::inspect::{Inspector, Reader, Reading, Search};
use super::names::Names;
use super::record::Record;
use super::{Closed, Gate, Opened, Reason, Refused, Via};
use crate::plan::hosts::{DEFAULT_PORT, admit, denial, limits};
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
    /// How connections are read, where some are to be.
    reader: Option<Reader>,
}

impl Keeper {
    pub fn new(rules: Vec<NetworkRule>, record: Record, inspector: Option<Inspector>) -> Self {
        let names = Names::reserving(rules.iter().filter(|rule| rule.allow).map(|rule| &rule.pattern));
        Self { rules, names, record, reader: inspector.map(Reader::new) }
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

    /// Connects to a target that is admitted; where it is not, says why, and which line of the policy speaks of that.
    fn connect(&self, target: &Target) -> Result<Opened, (Reason, Option<String>)> {
        admission(&self.rules, target).map_err(|reason| (reason, line(&self.rules, target, reason)))?;
        let answered = if target.host.is_localhost() {
            // The one address and then the other, never both at once: two programs may be there.
            let at = |address: IpAddr| dial::any(&[address], target.port);
            at(Ipv4Addr::LOCALHOST.into()).or_else(|_| at(Ipv6Addr::LOCALHOST.into()))
        } else {
            dial::any(&self.addresses(target)?, target.port)
        };
        answered.map_err(|error| match error {
            Unanswered::Refused => (Reason::Unreachable, None),
            Unanswered::TooSlow => (Reason::TooSlow, None),
        })
    }

    /// The addresses an admitted target may be reached at.
    fn addresses(&self, target: &Target) -> Result<Vec<IpAddr>, (Reason, Option<String>)> {
        match &target.host {
            Host::Address(address) => self.kept(&[*address], true, target.port),
            Host::Name(name) => {
                let found = resolve(name, target.port).map_err(|_| (Reason::Unresolved, None))?;
                self.kept(&found, false, target.port)
            }
        }
    }

    /// Those of some addresses that may be connected to; `named` says that the policy speaks of them, and not of a name that led to them.
    fn kept(
        &self,
        addresses: &[IpAddr],
        named: bool,
        port: u16,
    ) -> Result<Vec<IpAddr>, (Reason, Option<String>)> {
        let mut refused = (Reason::Unresolved, None);
        let mut kept = Vec::new();
        for &address in addresses {
            let there = Target::new(Host::address(address), port);
            match (judge(address, named), denial(&self.rules, &there)) {
                (Ok(()), None) => kept.push(address),
                // The policy's own word is what its author can change.
                (_, Some(rule)) => refused = (Reason::Denied, Some(denying(rule))),
                (Err(reason), None) if refused.0 != Reason::Denied => refused = (reason, None),
                (Err(_), None) => {}
            }
        }
        if kept.is_empty() { Err(refused) } else { Ok(kept) }
    }

    /// Whether some connections are read.
    pub fn reads(&self) -> bool {
        self.reader.is_some()
    }

    /// Puts on record that placeholders of masked variables are in a name that was asked for, where some are.
    fn misnamed(&self, via: Via, host: &Host) -> bool {
        let found = self.reader.as_ref().and_then(|reader| reader.named_in(host));
        if let Some(found) = &found {
            self.record.misdirected(via, None, found);
        }
        found.is_some()
    }

    /// Puts on record that a name has no address inside, since no port of it could be admitted.
    pub fn unnamed(&self, host: Host) {
        if self.misnamed(Via::Capture, &host) {
            return;
        }
        let target = Target::new(host, DEFAULT_PORT);
        let reason = admission(&self.rules, &target).err().unwrap_or(Reason::NotAllowed);
        let line = line(&self.rules, &target, reason);
        self.record.unnamed(&target.host, reason, line);
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

/// How connections to a target are read; `None` where they only pass through.
pub(super) fn reading<'k>(
    rules: &'k [NetworkRule],
    reader: Option<&'k Reader>,
    target: &Target,
) -> Option<Reading<'k>> {
    let masked = reader.is_some_and(|reader| reader.has_secret_for(target));
    (masked || !limits(rules, target).is_empty()).then_some(Reading { reader, rules })
}

/// The statement that would admit a target that was refused, or the one that denies it; `None` where no statement would.
pub fn line(rules: &[NetworkRule], target: &Target, reason: Reason) -> Option<String> {
    match reason {
        Reason::NotAllowed => allowance(target),
        Reason::Address(Class::ThisMachine) if target.host.is_localhost() => allowance(target),
        Reason::Denied => denial(rules, target).map(denying),
        _ => None,
    }
}

fn denying(rule: &NetworkRule) -> String {
    format!("deny \"{}\"", rule.pattern)
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
        if self.misnamed(via, &target.host) {
            return Err(Refused::unread(Reason::SecretMisdirected));
        }
        self.connect(target).map_err(|(reason, line)| {
            let refused = Refused { reason, target: Some(target.clone()), line };
            self.record.refused(recorded(via, target), &refused);
            refused
        })
    }

    fn refused(&self, via: Via, refused: &Refused) {
        self.record.refused(via, refused);
    }

    fn reading(&self, target: &Target) -> Option<Reading<'_>> {
        reading(&self.rules, self.reader.as_ref(), target)
    }

    fn strays(&self) -> Option<Search> {
        self.reader.as_ref().map(Reader::search)
    }

    fn refused_request(&self, via: Via, refused: &Refused, method: &str) {
        self.record.refused_request(via, refused, method);
    }

    fn misdirected(&self, via: Via, target: Option<&Target>, secrets: &[String]) {
        self.record.misdirected(via, target, secrets);
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
            requests: None,
            span,
        };
        Keeper::new(rules.iter().map(rule).collect(), Record::new(None, String::new()), None)
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
    fn a_denied_address_is_denied_to_the_names_that_lead_there() {
        let keeper = keeper(&[(true, "example.com"), (false, "93.184.216.7:*"), (false, "93.184.216.9:80")]);
        let kept = |addresses: &[&str]| {
            let addresses: Vec<IpAddr> = addresses.iter().map(|text| text.parse().unwrap()).collect();
            keeper.kept(&addresses, false, 443)
        };
        let free: IpAddr = "93.184.216.9".parse().unwrap();
        let denied = Err((Reason::Denied, Some("deny \"93.184.216.7:*\"".to_owned())));
        assert_eq!(judge(free, false), Ok(()));
        assert_eq!(kept(&["93.184.216.7", "93.184.216.9"]), Ok(vec![free]));
        assert_eq!(kept(&["93.184.216.7"]), denied);
        assert_eq!(kept(&["::ffff:93.184.216.7"]), denied);
        assert_eq!(kept(&["93.184.216.7", "10.0.0.1"]), denied);
        assert_eq!(kept(&["10.0.0.1"]), Err((Reason::Address(Class::Private), None)));
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
        rules.push(NetworkRule { allow: true, pattern: HostPattern::localhost(port), requests: None, span });
        let open = Keeper::new(rules.clone(), Record::new(None, String::new()), None);
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
        rules.push(NetworkRule {
            allow: false,
            pattern: parse_host("*:*", false).unwrap(),
            requests: None,
            span,
        });
        let shut = Keeper::new(rules, Record::new(None, String::new()), None);
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
