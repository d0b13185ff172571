//! Hosts as a connection names them: one strict grammar for requests and for patterns, applied before anything is compared. What one
//! program reads as another name than the next (a NUL, a second dot, `127.1`) is no host here.

use std::borrow::Cow;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// At most this many letters of what is no host are repeated.
const SHOWN: usize = 64;

/// A name or an address.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Host {
    /// Lower case, without its last dot; at most 253 bytes of labels of 1 to 63 (RFC 1035, 2.3.4).
    Name(String),
    /// An IPv4-mapped address is the IPv4 one.
    Address(IpAddr),
}

/// What is connected to.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Target {
    pub host: Host,
    pub port: u16,
}

/// Why a text is no host.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HostFault {
    #[error("a host without a name")]
    Empty,
    #[error("a host of more than 253 characters")]
    TooLong,
    #[error("`{}` in a host", .0.escape_default())]
    Character(char),
    #[error("two dots side by side in a host")]
    Dots,
    #[error("`{}` cannot be a part of a host", short(.0))]
    Label(String),
    /// To inet_aton(3) and to no reader.
    #[error("`{}` reads as an address, but is none written out", short(.0))]
    HalfAddress(String),
    #[error("an address with a zone")]
    Zone,
    #[error("`{}` is not an IPv6 address", short(.0))]
    NotV6(String),
    #[error("`{}` is not a port", short(.0))]
    Port(String),
}

/// The beginning of a text for a message.
fn short(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => Cow::Owned(format!("{}…", &text[..end])),
        None => Cow::Borrowed(text),
    }
}

impl Host {
    /// Reads a name, a dotted quad, or an IPv6 address in brackets.
    ///
    /// # Errors
    /// What is none of these.
    pub fn parse(text: &str) -> Result<Self, HostFault> {
        match text.strip_prefix('[') {
            Some(rest) => v6(rest),
            None => name(text),
        }
    }

    /// An address, as the one that is meant: IPv4 where it is mapped.
    pub fn address(address: IpAddr) -> Self {
        match address {
            IpAddr::V6(v6) => Self::Address(v6.to_ipv4_mapped().map_or(address, IpAddr::V4)),
            IpAddr::V4(_) => Self::Address(address),
        }
    }

    /// The machine itself: its names, which never leave it (RFC 6761, 6.3), and the two addresses that they have.
    pub fn is_localhost(&self) -> bool {
        match self {
            Self::Name(name) => name == "localhost" || name.ends_with(".localhost"),
            Self::Address(address) => {
                [IpAddr::from(Ipv4Addr::LOCALHOST), Ipv6Addr::LOCALHOST.into()].contains(address)
            }
        }
    }
}

fn v6(rest: &str) -> Result<Host, HostFault> {
    let inner = rest.strip_suffix(']').unwrap_or(rest);
    match inner.parse::<Ipv6Addr>() {
        Ok(address) if inner.len() < rest.len() => Ok(Host::address(address.into())),
        _ if inner.contains('%') => Err(HostFault::Zone),
        _ => Err(HostFault::NotV6(inner.to_owned())),
    }
}

fn name(text: &str) -> Result<Host, HostFault> {
    let name = text.strip_suffix('.').unwrap_or(text);
    if name.is_empty() {
        return Err(HostFault::Empty);
    }
    if name.len() > 253 {
        return Err(HostFault::TooLong);
    }
    if let Some(c) = name.chars().find(|c| !(c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-'))) {
        return Err(HostFault::Character(c));
    }
    let name = name.to_ascii_lowercase();
    let bad =
        |label: &&str| label.is_empty() || label.len() > 63 || label.starts_with('-') || label.ends_with('-');
    if let Some(label) = name.split('.').find(bad) {
        return Err(if label.is_empty() { HostFault::Dots } else { HostFault::Label(label.to_owned()) });
    }
    // `127.1`, `0x7f.1` and `2130706433` are addresses to inet_aton(3) and names to a reader.
    let last = name.rsplit('.').next().unwrap_or_default();
    let hexadecimal =
        last.strip_prefix("0x").is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_hexdigit()));
    if last.bytes().all(|byte| byte.is_ascii_digit()) || hexadecimal {
        return match name.parse::<Ipv4Addr>() {
            Ok(address) => Ok(Host::Address(address.into())),
            Err(_) => Err(HostFault::HalfAddress(name)),
        };
    }
    Ok(Host::Name(name))
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => f.write_str(name),
            Self::Address(IpAddr::V4(address)) => write!(f, "{address}"),
            Self::Address(IpAddr::V6(address)) => write!(f, "[{address}]"),
        }
    }
}

impl Target {
    pub fn new(host: Host, port: u16) -> Self {
        Self { host, port }
    }

    /// Reads `HOST:PORT`, or `HOST` where there is a port that goes without saying.
    ///
    /// # Errors
    /// What is no host, and what is no port: 1 to 65535 in decimal, without sign, space or leading zero.
    pub fn parse(text: &str, default: Option<u16>) -> Result<Self, HostFault> {
        let end = text.rfind(']').map_or(0, |at| at + 1);
        let (host, port) = match text.get(end..).and_then(|after| after.find(':')) {
            Some(at) => text.split_at(end + at),
            None => (text, ""),
        };
        let port = match (port.strip_prefix(':'), default) {
            (Some(digits), _) => port_number(digits)?,
            (None, Some(default)) => default,
            (None, None) => return Err(HostFault::Port(String::new())),
        };
        Ok(Self { host: Host::parse(host)?, port })
    }
}

/// Reads a port: 1 to 65535 in decimal, without sign, space or leading zero.
///
/// # Errors
/// What is none.
pub fn port_number(digits: &str) -> Result<u16, HostFault> {
    let plain = digits.bytes().all(|byte| byte.is_ascii_digit()) && !digits.starts_with('0');
    let number = digits.parse().ok().filter(|_| plain);
    number.ok_or_else(|| HostFault::Port(digits.to_owned()))
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.host, self.port)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(text: &str) -> Option<String> {
        Target::parse(text, Some(443)).ok().map(|target| target.to_string())
    }

    #[test]
    fn one_target_has_one_spelling() {
        for (text, target) in [
            ("OK.com.", "ok.com:443"),
            ("x_y.com:80", "x_y.com:80"),
            ("192.0.2.1:22", "192.0.2.1:22"),
            ("[2001:DB8::1]:22", "[2001:db8::1]:22"),
            ("[::ffff:127.0.0.1]", "127.0.0.1:443"),
            ("xn--bcher-kva.de", "xn--bcher-kva.de:443"),
        ] {
            assert_eq!(read(text).as_deref(), Some(target), "{text}");
        }
    }

    #[test]
    fn what_two_programs_would_read_differently_is_no_host() {
        let long = format!("{}.com", "a".repeat(64));
        let longer = format!("{}com", "a.".repeat(126));
        for text in [
            "",
            ".",
            "ok.com..",
            "a..b",
            ".a",
            "-a.com",
            "a-.com",
            "evil\0.ok.com",
            "ok.com\r\n",
            "ok com",
            "ok.com\t",
            "ok.com:443@evil",
            "user@ok.com",
            "ok%00.com",
            "ok%2ecom",
            "ok.com\\",
            "ok.com#",
            "ok.com?",
            "ok.com/",
            "b\u{fc}cher.de",
            "127.1",
            "0x7f000001",
            "0x7f.1",
            "2130706433",
            "0177.0.0.1",
            "1.2.3.256",
            "1.2.3.4.5",
            "[::1%25lo]",
            "[fe80::1%eth0]",
            "[::1",
            "[::1]x",
            "::1",
            "[1.2.3.4]",
            "[]",
            "ok.com:0",
            "ok.com:0443",
            "ok.com:65536",
            "ok.com: 443",
            "ok.com:443x",
            "ok.com:",
            "ok.com:+1",
            "a:b:c",
            "[::1]:1:2",
            &long,
            &longer,
        ] {
            assert_eq!(read(text), None, "{text:?}");
        }
    }

    #[test]
    fn of_a_long_text_the_beginning_is_repeated() {
        let long = "5".repeat(5000);
        for text in [format!("a.com:{long}"), format!("[{long}]")] {
            let said = Target::parse(&text, Some(443)).unwrap_err().to_string();
            assert!(said.chars().count() < 100 && said.contains("555…`"), "{said}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_as_the_same(text in "\\PC{0,40}|[a-z0-9._\\-\\[\\]:]{0,40}") {
            if let Ok(target) = Target::parse(&text, Some(443)) {
                prop_assert_eq!(Target::parse(&target.to_string(), None), Ok(target.clone()));
                let bytes_are_plain = target.to_string().bytes().all(|byte| byte.is_ascii_graphic());
                prop_assert!(bytes_are_plain);
            }
        }
    }
}
