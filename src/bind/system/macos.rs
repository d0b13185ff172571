//! The macOS base, as far as it is about paths. What else a program needs to start there (system services, sysctl names) is
//! no matter of paths and stands in the emitter. The paths are those that the profiles compared in public sources agree on.

use super::Base;
use crate::host::Host;
use crate::plan::{Operation, Operations, OriginKind, Scope};
use crate::policy::Network;
use camino::Utf8Path;

const READ: Operations = Operations::READING;
const LIBRARY: Operations = Operations::of(&[Operation::Read, Operation::Metadata, Operation::Map]);
const DEVICE: Operations = Operations::of(&[Operation::Read, Operation::Metadata, Operation::Write]);

/// Links of the top directory that programs still go through. Seatbelt asks for metadata of the link itself.
const LINKS: [&str; 4] = ["/etc", "/tmp", "/var", "/private/etc/localtime"];

/// A unix socket of the system's own.
const SOCKET: Operations = Operations::of(&[Operation::Metadata, Operation::Connect]);

const ETC: [(&str, &str); 7] = [
    ("/private/etc/passwd", "accounts: names of users"),
    ("/private/etc/group", "accounts: names of groups"),
    ("/private/etc/hosts", "name look-up: names of this machine"),
    ("/private/etc/protocols", "name look-up: names of protocols"),
    ("/private/etc/services", "name look-up: names of ports"),
    ("/private/etc/localtime", "time zone"),
    ("/private/var/select/sh", "which shell /bin/sh is"),
];

const ETC_TLS: [(&str, &str); 2] = [
    ("/private/etc/ssl/openssl.cnf", "settings of the TLS library"),
    ("/private/etc/ssl/cert.pem", "certificates of authorities"),
];

/// Where hosts are reached without a proxy.
const ETC_NETWORK: [(&str, &str); 2] = [
    ("/Library/Preferences/com.apple.networkd.plist", "settings of the network"),
    ("/private/etc/resolv.conf", "name look-up: which servers are asked"),
];

/// The base for a Mac, with what the policy's network and needs add to it.
pub fn base(host: &dyn Host, network: &Network, needs: &[String]) -> Base {
    let mut base = Base::default();
    base.grant("/", Scope::Literal, READ, "the loader aborts without it");
    for (path, reason) in [
        ("/bin", "the system's programs, to read"),
        ("/usr/bin", "the system's programs, to read"),
        ("/usr/share", "the system's data"),
        ("/private/var/db/timezone", "time zone"),
        ("/private/var/select", "which shell and which developer tools are selected"),
    ] {
        base.grant(path, Scope::Subtree, READ, reason);
    }
    for (path, reason) in [
        ("/usr/lib", "the system's libraries"),
        ("/System/Library", "the system's frameworks"),
        ("/System/iOSSupport", "the system's frameworks"),
        ("/System/Cryptexes", "the system's libraries since macOS 13"),
        ("/System/Volumes/Preboot/Cryptexes", "the system's libraries since macOS 13"),
        ("/Library/Apple", "the system's frameworks and Rosetta"),
        ("/private/var/db/dyld", "the loader's shared cache"),
        ("/private/var/db/oah", "what Rosetta has translated"),
    ] {
        base.grant(path, Scope::Subtree, LIBRARY, reason);
    }
    for link in LINKS {
        base.grant(link, Scope::Literal, READ, "a link that programs go through");
        if let Ok(found) = crate::host::resolve::resolve(host, Utf8Path::new(link)) {
            base.links.extend(found.hops);
        }
    }
    let with_tls = if *network == Network::Off { &[][..] } else { &ETC_TLS[..] };
    let with_network = if *network == Network::All { &ETC_NETWORK[..] } else { &[][..] };
    for (path, reason) in ETC.iter().chain(with_network).chain(with_tls) {
        base.grant_resolved(host, Utf8Path::new(path), READ, reason);
    }
    for (path, reason) in [
        ("/dev/null", "a device that keeps nothing"),
        ("/dev/zero", "a device that keeps nothing"),
        ("/dev/tty", "the command's own terminal, where it has one"),
        ("/dev/dtracehelper", "the loader tells of probes"),
    ] {
        base.grant(path, Scope::Literal, DEVICE, reason);
    }
    for path in ["/dev/random", "/dev/urandom"] {
        base.grant(path, Scope::Literal, READ, "randomness");
    }
    base.grant("/dev/fd", Scope::Subtree, DEVICE, "the command's own open files");
    for path in ["/dev/stdin", "/dev/stdout", "/dev/stderr"] {
        base.grant(path, Scope::Literal, READ, "a link to one of the command's own open files");
    }
    base.grant("/private/var/run/syslog", Scope::Literal, SOCKET, "the system's log");
    if *network == Network::All {
        base.grant("/private/var/run/mDNSResponder", Scope::Literal, SOCKET, "name look-up");
    }
    for need in needs {
        match need.as_str() {
            "terminal" => {
                base.grant_as(
                    OriginKind::Need,
                    "/dev/ptmx",
                    Scope::Literal,
                    DEVICE,
                    "needs terminal: makes pseudo-terminals",
                );
            }
            "tls" => {
                let reason = "needs tls: certificates of authorities, settings of the TLS library";
                base.grant_as(OriginKind::Need, "/private/etc/ssl", Scope::Subtree, READ, reason);
            }
            _ => {}
        }
    }
    base
}
