//! Hosts that `network only` names. One meaning for each text: what other tools read otherwise is refused, with what to write.

use super::idn;
use crate::policy::HostPattern;
use crate::policy::address::{self, Class};
use crate::policy::host::{Host, HostFault, port_number};
use std::borrow::Cow;
use std::net::{Ipv4Addr, Ipv6Addr};

/// The port where none is written: HTTPS.
pub const DEFAULT_PORT: u16 = 443;

/// Why a text is not a host, and what to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostError {
    pub message: String,
    pub help: String,
    /// Another text that is probably meant.
    pub replacement: Option<String>,
}

fn refuse<T>(message: impl Into<String>, help: impl Into<String>) -> Result<T, HostError> {
    Err(HostError { message: message.into(), help: help.into(), replacement: None })
}

fn rewrite<T>(message: impl Into<String>, to: String) -> Result<T, HostError> {
    Err(HostError { message: message.into(), help: format!("write `{to}`"), replacement: Some(to) })
}

/// The pattern a text means. `allow` is whether it is to be allowed: less can be, for what no profile may open.
///
/// Letters beyond ASCII are read by IDNA, and the pattern has the name that the network knows.
///
/// A name is at most 253 bytes of labels of 1 to 63 bytes (RFC 1035, 2.3.4), read in lower case and without its last dot. An address
/// matches only itself: names that lead to it are another thing. An IPv4-mapped address is the IPv4 one.
pub fn parse(text: &str, allow: bool) -> Result<HostPattern, HostError> {
    pattern(text, allow).map_err(|mut error| {
        // What is said to be meant must be a host: of `https://` nothing is left.
        if let Some(Err(other)) = error.replacement.as_deref().map(|to| pattern(to, allow)) {
            error.help = other.help;
            error.replacement = None;
        }
        error
    })
}

fn pattern(text: &str, allow: bool) -> Result<HostPattern, HostError> {
    if let Some((_, rest)) = text.split_once("://") {
        let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
        let host = host.rsplit('@').next().unwrap_or_default();
        let port = if text.starts_with("http://") && !host.contains(':') { ":80" } else { "" };
        return rewrite("a URL is not a host", format!("{host}{port}"));
    }
    let (host, port) = split_port(text)?;
    let port = match port {
        None => Some(DEFAULT_PORT),
        Some("*") => None,
        Some(digits) => Some(port_number(digits).or_else(|fault| no_host(&fault))?),
    };
    let (below, host) = name(host, text, allow)?;
    let pattern = HostPattern { below, host, port };
    if allow {
        forbidden(&pattern)?;
    }
    Ok(pattern)
}

fn split_port(text: &str) -> Result<(&str, Option<&str>), HostError> {
    if let Some(rest) = text.strip_prefix('[') {
        let Some((address, after)) = rest.split_once(']') else {
            return refuse("an address in brackets that are not closed", "write `[2001:db8::1]:443`");
        };
        let host = text.get(..address.len() + 2).unwrap_or(text);
        return match after.strip_prefix(':') {
            Some(port) => Ok((host, Some(port))),
            None if after.is_empty() => Ok((host, None)),
            None => refuse(format!("`{after}` after an address"), "only `:PORT` can follow"),
        };
    }
    if text.parse::<Ipv6Addr>().is_ok() {
        return rewrite("an IPv6 address without brackets", format!("[{text}]"));
    }
    match text.split_once(':') {
        Some((_, port)) if port.contains(':') => refuse("more than one `:` in a host", "write `HOST:PORT`"),
        Some((host, port)) => Ok((host, Some(port))),
        None => Ok((text, None)),
    }
}

/// Whether it is all names below one, and the name.
fn name(host: &str, text: &str, allow: bool) -> Result<(bool, String), HostError> {
    let after = text.get(host.len()..).unwrap_or_default();
    if host == "*" {
        return match (allow, after) {
            (true, "" | ":*") => refuse("`*` allows every host", "write `network all` if that is meant"),
            (true, _) => refuse(
                "`*` allows every host on a port",
                "name the hosts; every host at all is `network all`",
            ),
            (false, _) => Ok((true, String::new())),
        };
    }
    if let Some(rest) = host.strip_prefix("**.") {
        return rewrite("`**.` has no meaning", format!("*.{rest}{after}"))
            .map_err(|error: HostError| also_apex(error, rest, after));
    }
    if let Some(rest) = host.strip_prefix('.') {
        return rewrite("a host that begins with a dot", format!("*.{rest}{after}"))
            .map_err(|error: HostError| also_apex(error, rest, after));
    }
    let (below, base) = match host.strip_prefix("*.") {
        Some(base) => (true, base),
        None => (false, host),
    };
    if base.contains('*') {
        let parent =
            base.rsplit_once('*').and_then(|(_, rest)| rest.split_once('.')).map_or("", |(_, parent)| parent);
        return if parent.contains('.') {
            rewrite("`*` stands only as the whole first label", format!("*.{parent}{after}"))
        } else {
            refuse("`*` stands only as the whole first label", "write `*.example.com`, or name the hosts")
        };
    }
    if base.contains('/') {
        return if base.split('/').next().is_some_and(|address| address.parse::<Ipv4Addr>().is_ok()) {
            refuse("a range of addresses", "name the addresses one by one")
        } else {
            rewrite("a path after a host", format!("{}{after}", host.split('/').next().unwrap_or_default()))
        };
    }
    if base.contains('@') {
        return rewrite(
            "a user before a host",
            format!("{}{after}", base.rsplit('@').next().unwrap_or_default()),
        );
    }
    let star = if below { "*." } else { "" };
    let base = match idn::to_network(base) {
        Ok(name) => name,
        // What has a finding of its own.
        Err(idn::Fault::Invalid) if base.is_ascii() && Host::parse(base).is_err() => base.into(),
        Err(fault) => return no_name(base, fault, |plain| format!("{star}{plain}{after}")),
    };
    let host = Host::parse(&base).or_else(|fault| no_host(&fault))?;
    let is_address = matches!(host, Host::Address(_));
    let host = host.to_string();
    if below {
        if is_address {
            return refuse("`*.` before an address", "an address has no names below it");
        }
        if !host.contains('.') && allow {
            return refuse(
                format!("`*.{host}` is a whole top-level domain"),
                "name the domain: `*.example.com`",
            );
        }
    }
    Ok((below, host))
}

/// What a name that IDNA does not take is told.
fn no_name<T>(base: &str, fault: idn::Fault, whole: impl Fn(&str) -> String) -> Result<T, HostError> {
    match fault {
        idn::Fault::Plain(plain) => rewrite(format!("another spelling of `{plain}`"), whole(&plain)),
        idn::Fault::Invalid => match base.chars().find(|c| !c.is_ascii()) {
            Some(_) => refuse(
                format!("`{}` is no name that IDNA knows", base.escape_default()),
                "a name has letters and digits of any alphabet, `-` and dots; as the network knows it, it is written `xn--…`",
            ),
            None => refuse(
                format!("`{base}` stands for no name"),
                "what follows `xn--` is the encoded form of letters beyond ASCII (RFC 3492)",
            ),
        },
    }
}

/// A host as somebody asks about it, `HOST` or `HOST:PORT`: with letters beyond ASCII it is the name that the network knows. Any other text stays
/// as it is, whatever is wrong with it.
pub fn read(text: &str) -> Cow<'_, str> {
    let (host, port) = text.rsplit_once(':').map_or((text, None), |(host, port)| (host, Some(port)));
    if host.is_ascii() {
        return Cow::Borrowed(text);
    }
    match (idn::to_network(host), port) {
        (Ok(name), Some(port)) => Cow::Owned(format!("{name}:{port}")),
        (Ok(name), None) => Cow::Owned(name.into_owned()),
        (Err(_), _) => Cow::Borrowed(text),
    }
}

/// A request as somebody asks about it, `METHOD URL`, with its host as [`read`] has it.
pub fn read_request(text: &str) -> Cow<'_, str> {
    let Some(start) = text.find("://").map(|at| at + "://".len()) else { return Cow::Borrowed(text) };
    let (before, rest) = text.split_at(start);
    let (host, after) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    match read(host) {
        Cow::Owned(host) => Cow::Owned(format!("{before}{host}{after}")),
        Cow::Borrowed(_) => Cow::Borrowed(text),
    }
}

fn also_apex(mut error: HostError, rest: &str, after: &str) -> HostError {
    error.help =
        format!("write `*.{rest}{after}` for the names below, and `{rest}{after}` for the name itself");
    error
}

/// What a text that is no host is told.
fn no_host<T>(fault: &HostFault) -> Result<T, HostError> {
    let help = match fault {
        HostFault::Empty => "write `example.com` or `example.com:443`",
        HostFault::TooLong => "no such name can exist",
        HostFault::Character(_) => "a host is letters, digits, `-`, `_` and dots",
        HostFault::Dots => "a name between dots has 1 to 63 characters",
        HostFault::Label(_) => "it has 1 to 63 characters and no `-` at its ends",
        HostFault::HalfAddress(_) => "write an address as four decimal numbers: `192.0.2.1`",
        HostFault::Zone => "a zone means something on one machine only; leave it out",
        HostFault::NotV6(_) => "write `[2001:db8::1]`",
        HostFault::Port(_) => "a port is 1 to 65535, or `*` for any",
    };
    refuse(fault.to_string(), help)
}

/// What no profile may open, whatever else it says: this machine and the places where clouds hand out credentials.
fn forbidden(pattern: &HostPattern) -> Result<(), HostError> {
    let host = pattern.host.as_str();
    if host == "localhost" || host.ends_with(".localhost") {
        return refuse(
            "`localhost` is the command's own",
            "a command reaches itself there without leave; one port of this machine is `localhost PORT`",
        );
    }
    let metadata = ["metadata.google.internal", "metadata", "instance-data", "instance-data.ec2.internal"];
    let class = match Host::parse(host) {
        Ok(Host::Address(address)) => address::class(address),
        _ => metadata.contains(&host).then_some(Class::Metadata),
    };
    match class {
        Some(Class::ThisMachine) => refuse(
            format!("`{host}` is this machine"),
            "one port of the machine it runs on is `localhost PORT`",
        ),
        Some(Class::LinkLocal | Class::Metadata) => refuse(
            format!("`{host}` can never be allowed"),
            "link-local addresses and metadata services hand out this machine's credentials",
        ),
        Some(Class::Special) => refuse(
            format!("`{host}` is no machine of the public network"),
            "multicast, broadcast, reserved addresses and those of examples are never connected to",
        ),
        Some(Class::Private) | None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allowed(text: &str) -> (bool, String, Option<u16>) {
        let pattern = parse(text, true).unwrap_or_else(|error| panic!("{text}: {error:?}"));
        (pattern.below, pattern.host, pattern.port)
    }

    fn replacement(text: &str) -> Option<String> {
        parse(text, true).expect_err(text).replacement
    }

    #[test]
    fn one_text_has_one_meaning() {
        assert_eq!(allowed("X.com."), (false, "x.com".into(), Some(443)));
        assert_eq!(allowed("*.x.com:80"), (true, "x.com".into(), Some(80)));
        assert_eq!(allowed("x_y.com:*"), (false, "x_y.com".into(), None));
        assert_eq!(allowed("[2600:DB8::1]:22"), (false, "[2600:db8::1]".into(), Some(22)));
        assert_eq!(allowed("b\u{fc}cher.de:80"), (false, "xn--bcher-kva.de".into(), Some(80)));
        assert_eq!(allowed("*.B\u{dc}cher.de"), (true, "xn--bcher-kva.de".into(), Some(443)));
        assert_eq!(allowed("[::ffff:10.0.2.1]"), (false, "10.0.2.1".into(), Some(443)));
    }

    #[test]
    fn what_other_tools_read_otherwise_is_rewritten() {
        assert_eq!(replacement("**.x.com").as_deref(), Some("*.x.com"));
        assert_eq!(replacement(".x.com:80").as_deref(), Some("*.x.com:80"));
        assert_eq!(replacement("api*.x.com").as_deref(), Some("*.x.com"));
        assert_eq!(replacement("https://u@x.com/a?b").as_deref(), Some("x.com"));
        assert_eq!(replacement("http://x.com").as_deref(), Some("x.com:80"));
        assert_eq!(replacement("*.e\u{ff58}ample.com:80").as_deref(), Some("*.example.com:80"));
        assert_eq!(replacement("x.com/a").as_deref(), Some("x.com"));
        assert_eq!(replacement("2600:db8::1").as_deref(), Some("[2600:db8::1]"));
    }

    #[test]
    fn nothing_that_is_no_host_is_said_to_be_meant() {
        for text in [
            "https://",
            "https:///x",
            "/",
            "@",
            "u@",
            "**.",
            ".",
            "http://localhost:80",
            "https://a b/",
            "**.com",
        ] {
            let error = parse(text, true).expect_err(text);
            assert_eq!(error.replacement, None, "{text}");
            assert!(!error.help.is_empty() && !error.help.contains("``"), "{text}: {}", error.help);
        }
    }

    #[test]
    fn hostile_texts_are_refused() {
        let long = format!("{}.com", "a".repeat(64));
        for text in [
            "",
            ".",
            "*",
            "*:25",
            "*.com",
            "a..b",
            "-a.com",
            "a-.com",
            "127.1",
            "0x7f.1",
            "2130706433",
            "0177.0.0.1",
            "1.2.3.256",
            "x.com:0",
            "x.com:65536",
            "x.com:+1",
            "x.com:080",
            "x.com:",
            "a:b:c",
            "x\0.com",
            "x.com\n",
            "x com",
            "x%2ecom",
            "[::1",
            "[::1]x",
            "[fe80::1%eth0]",
            "\u{ff45}xample.com",
            "\u{200b}.com",
            "b\u{fc}cher.de:\u{ff18}0",
            "b\u{fc}_cher.de",
            "*.\u{43}om",
            "xn--.com",
            "\u{ff11}27.0.0.1",
            "10.0.0.0/8",
            "*.10.0.0.1",
            "*.[2001:db8::1]",
            "localhost",
            "a.localhost",
            "127.0.0.1",
            "[::1]",
            "[::ffff:127.0.0.1]",
            "169.254.169.254",
            "metadata.google.internal",
            "100.100.100.200",
            "[fd00:ec2::254]",
            "[fe80::1]",
            "0.0.0.0",
            "224.0.0.1",
            "255.255.255.255",
            "192.0.2.1",
            "[2001:db8::1]",
            "*.*.x.com",
            &long,
        ] {
            assert!(parse(text, true).is_err(), "{text:?}");
        }
    }

    #[test]
    fn of_a_request_the_host_is_read_and_nothing_else() {
        for (text, read) in [
            ("GET https://b\u{fc}cher.de/\u{fc}", "GET https://xn--bcher-kva.de/\u{fc}"),
            ("GET https://b\u{fc}cher.de:8443?\u{fc}", "GET https://xn--bcher-kva.de:8443?\u{fc}"),
            ("GET https://a.com/b\u{fc}", "GET https://a.com/b\u{fc}"),
            ("GET https://\u{ff45}xample.com/", "GET https://\u{ff45}xample.com/"),
            ("b\u{fc}cher.de", "b\u{fc}cher.de"),
            ("", ""),
        ] {
            assert_eq!(read_request(text), read);
        }
    }

    #[test]
    fn more_can_be_denied_than_allowed() {
        assert_eq!(
            parse("*:25", false),
            Ok(HostPattern { below: true, host: String::new(), port: Some(25) })
        );
        assert!(parse("169.254.169.254", false).is_ok());
        assert!(parse("*.com", false).is_ok());
    }
}
