use super::public_suffix::allowed;
use crate::finding::Finding;
use crate::lint::Context;
use crate::lint::catalogue::hosts::{is_below, written};
use crate::lint::edits::remove;
use crate::policy::host::Host;
use std::net::{Ipv4Addr, Ipv6Addr};

rule! {
    /// A host inside the network that the machine is in.
    ///
    /// ## What it does
    ///
    /// Reports allowed addresses of private networks (RFC 1918, RFC 6598, RFC 4193) and names that only exist in one: a
    /// single word, `.internal`, `.local`, `.lan`, `.corp`, `.home.arpa`.
    ///
    /// ## Why it is bad
    ///
    /// A name whose addresses are inside a private network is refused at run time, whatever the list says: nobody but its
    /// owner says where a name leads, and that may be next week another machine in here. Only an address that is written
    /// out opens one. And then: routers, printers, databases and the services of a company trust whoever is inside, often without a password. An
    /// agent that strangers can talk to is then inside for them. And such a name means another machine in every other
    /// network.
    ///
    /// ## Example
    ///
    /// ```palisade bad
    /// edition 1
    /// profile "agent" {
    ///     root "$workspace" read-only
    ///     network only { allow "192.168.1.1" }
    ///     limits { time 10m }
    /// }
    /// ```
    ///
    /// ```palisade good
    /// edition 1
    /// profile "agent" {
    ///     root "$workspace" read-only
    ///     network only { allow "static.crates.io" }
    ///     limits { time 10m }
    /// }
    /// ```
    ///
    /// Looks alike and is fine: a name of a company that is known outside.
    ///
    /// ```palisade fine
    /// edition 1
    /// profile "fine" {
    ///     root "$workspace" read-only
    ///     network only { allow "internal.example.com" }
    ///     limits { time 10m }
    /// }
    /// ```
    ///
    /// ## What to do
    ///
    /// Leave it out. Where the service must be reached, name its address (`allow "10.1.2.3:5432"`), allow this, and say
    /// what the service does for whoever asks it.
    name: "private-host",
    severity: Warning,
    confidence: Likely,
    fix: Unsafe,
    allowable: true,
    check: check,
}

const INSIDE: [&str; 8] =
    ["corp", "home", "home.arpa", "internal", "intranet", "lan", "local", "localdomain"];

/// Why a host is inside.
fn inside(host: &str) -> Option<&'static str> {
    if let Ok(address) = host.parse::<Ipv4Addr>() {
        let [first, second, ..] = address.octets();
        let shared = first == 100 && (64..128).contains(&second);
        return (address.is_private() || shared).then_some("an address of a private network");
    }
    if let Some(address) = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        let address = address.parse::<Ipv6Addr>().ok()?;
        return address.is_unique_local().then_some("an address of a private network");
    }
    if !host.contains('.') {
        return Some("one word: what it means is for the network to say");
    }
    INSIDE.iter().any(|end| is_below(host, end)).then_some("a name that exists inside one network only")
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for rule in allowed(context) {
        let Some(why) = inside(&rule.pattern.host) else { continue };
        let finding = if matches!(Host::parse(&rule.pattern.host), Ok(Host::Address(_))) {
            INFO.finding(format!("`{}` is inside the network that the machine is in", written(rule)))
                .help("leave it out, or allow this and say what the service does for whoever asks it")
        } else {
            INFO.finding(format!("`{}` is inside the network that the machine is in, and is refused there", written(rule)))
                .help("no name opens a private address: write the address in its place, and say what the service does for whoever asks it")
        };
        let removal = remove(context.sources, rule.span);
        findings.push(finding.at(rule.span, why).fix("remove the pattern", removal, false));
    }
}

#[cfg(test)]
mod tests {
    use super::inside;

    #[test]
    fn tells_inside_from_outside() {
        for host in [
            "10.1.2.3",
            "172.16.0.1",
            "192.168.0.1",
            "100.64.0.1",
            "[fd12::1]",
            "printer",
            "db.internal",
            "nas.local",
        ] {
            assert!(inside(host).is_some(), "{host}");
        }
        for host in
            ["172.32.0.1", "100.128.0.1", "8.8.8.8", "[2001:db8::1]", "internal.example.com", "local.dev"]
        {
            assert_eq!(inside(host), None, "{host}");
        }
    }
}
