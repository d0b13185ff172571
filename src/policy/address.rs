//! What an address leads to, from its bits alone.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Why an address is not one of the public network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Class {
    /// Where a cloud hands out this machine's credentials.
    Metadata,
    /// This machine: loopback, or no address at all, which is taken for it.
    ThisMachine,
    /// The cable this machine is at (RFC 3927, RFC 4291).
    LinkLocal,
    /// Inside somebody's network (RFC 1918, RFC 4193, RFC 6598).
    Private,
    /// Many machines at once, or none (IANA special-purpose address registries).
    Special,
}

impl Class {
    /// The reason as it stands in messages and logs.
    pub fn name(self) -> &'static str {
        match self {
            Self::Metadata => "metadata-address",
            Self::ThisMachine => "this-machine",
            Self::LinkLocal => "link-local-address",
            Self::Private => "private-address",
            Self::Special => "special-address",
        }
    }

    /// Whether a profile may name such an address all the same. What gives away this machine no profile can open.
    pub fn can_be_named(self) -> bool {
        self == Self::Private
    }
}

/// What an address leads to, if not to the public network. An IPv4 address within an IPv6 one counts as itself: some router on the way
/// may take it for that.
pub fn class(address: IpAddr) -> Option<Class> {
    match address {
        IpAddr::V4(address) => class_v4(address),
        IpAddr::V6(address) => match embedded(address) {
            Some(inner) => class_v4(inner).or_else(|| class_v6(address)),
            None => class_v6(address),
        },
    }
}

fn class_v4(address: Ipv4Addr) -> Option<Class> {
    let [a, b, c, _] = address.octets();
    // Alibaba, Azure and Oracle keep their metadata outside the link-local range.
    if [[100, 100, 100, 200], [168, 63, 129, 16], [192, 0, 0, 192]].contains(&address.octets()) {
        return Some(Class::Metadata);
    }
    Some(match (a, b, c) {
        (0 | 127, ..) => Class::ThisMachine,
        (169, 254, _) => Class::LinkLocal,
        (10, ..) | (192, 168, _) | (172, 16..=31, _) | (100, 64..=127, _) => Class::Private,
        // Protocols, documentation, benchmarks, the old anycast relay.
        (192, 0, 0 | 2) | (198, 51, 100) | (203, 0, 113) | (198, 18 | 19, _) | (192, 88, 99) => {
            Class::Special
        }
        // Multicast, reserved, broadcast.
        (224.., ..) => Class::Special,
        _ => return None,
    })
}

fn class_v6(address: Ipv6Addr) -> Option<Class> {
    let segments = address.segments();
    // AWS and Google have unique local addresses for their metadata.
    if segments[..2] == [0xfd00, 0xec2] || (segments[..2] == [0xfd20, 0xce] && segments[7] == 0x254) {
        return Some(Class::Metadata);
    }
    if address.is_loopback() || address.is_unspecified() {
        return Some(Class::ThisMachine);
    }
    Some(match segments {
        [0xfe80..=0xfebf, ..] => Class::LinkLocal,
        // Unique local, and site local, which came before it.
        [0xfc00..=0xfdff | 0xfec0..=0xfeff, ..] => Class::Private,
        // NAT64 and Teredo, whose inner address was looked at, are of the public network; so is what is given out today (RFC 4291, 2.4).
        [0x64, 0xff9b, 0, 0, 0, 0, ..] => return None,
        // Documentation, and the protocols of 2001::/23 but for Teredo.
        [0x2001, 0xdb8, ..] | [0x3fff, 0..=0xfff, ..] => Class::Special,
        [0x2001, 1..=0x1ff, ..] => Class::Special,
        [0x2000..=0x3fff, ..] => return None,
        _ => Class::Special,
    })
}

/// The IPv4 address that an IPv6 one stands for.
fn embedded(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let [a, b, c, d, e, f, g, h] = address.segments();
    let of = |high: u16, low: u16| Ipv4Addr::from(u32::from(high) << 16 | u32::from(low));
    match (a, b, c, d, e, f) {
        // Mapped, and compatible, which is out of use (RFC 4291, 2.5.5). `::` and `::1` are themselves.
        (0, 0, 0, 0, 0, 0xffff) => Some(of(g, h)),
        (0, 0, 0, 0, 0, 0) if g != 0 || h > 1 => Some(of(g, h)),
        // Translated (RFC 2765), NAT64 (RFC 6052), for networks of one's own too (RFC 8215).
        (0, 0, 0, 0, 0xffff, 0) | (0x64, 0xff9b, ..) => Some(of(g, h)),
        // 6to4 (RFC 3056).
        (0x2002, b, c, ..) => Some(of(b, c)),
        // Teredo, whose client's address is written inverted (RFC 4380).
        (0x2001, 0, ..) => Some(of(!g, !h)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_known_in_every_form() {
        for (text, expected) in [
            ("93.184.216.34", None),
            ("2606:4700::1", None),
            ("64:ff9b::5db8:d822", None),
            ("2002:5db8:d822::1", None),
            ("127.0.0.1", Some(Class::ThisMachine)),
            ("0.0.0.0", Some(Class::ThisMachine)),
            ("::", Some(Class::ThisMachine)),
            ("::1", Some(Class::ThisMachine)),
            ("::ffff:127.0.0.1", Some(Class::ThisMachine)),
            ("::7f00:1", Some(Class::ThisMachine)),
            ("2002:7f00:1::", Some(Class::ThisMachine)),
            ("169.254.169.254", Some(Class::LinkLocal)),
            ("64:ff9b::a9fe:a9fe", Some(Class::LinkLocal)),
            ("64:ff9b:1::a9fe:a9fe", Some(Class::LinkLocal)),
            ("2001:0:1:2:3:4:5601:5601", Some(Class::LinkLocal)),
            ("fe80::1", Some(Class::LinkLocal)),
            ("100.100.100.200", Some(Class::Metadata)),
            ("168.63.129.16", Some(Class::Metadata)),
            ("192.0.0.192", Some(Class::Metadata)),
            ("fd00:ec2::254", Some(Class::Metadata)),
            ("fd20:ce::254", Some(Class::Metadata)),
            ("10.1.2.3", Some(Class::Private)),
            ("172.31.0.1", Some(Class::Private)),
            ("172.32.0.1", None),
            ("192.168.1.1", Some(Class::Private)),
            ("100.64.0.1", Some(Class::Private)),
            ("::ffff:10.0.0.1", Some(Class::Private)),
            ("fc00::1", Some(Class::Private)),
            ("fec0::1", Some(Class::Private)),
            ("224.0.0.1", Some(Class::Special)),
            ("255.255.255.255", Some(Class::Special)),
            ("198.18.0.1", Some(Class::Special)),
            ("ff02::1", Some(Class::Special)),
            ("2001:db8::1", Some(Class::Special)),
            ("100::1", Some(Class::Special)),
        ] {
            assert_eq!(class(text.parse().unwrap()), expected, "{text}");
        }
    }
}
