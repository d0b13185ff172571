//! Whether a filter matches a subject: yes, no, or perhaps.

use super::subject::{Address, End, Family, Known, Subject, Transport};
use super::{PathCase, paths};
use crate::sbpl::rule::{Filter, Rule, Test, Text};
use crate::sbpl::vocabulary::{Attribute, Form, Values, words};

/// An answer that knows what it does not know. The order is the order of likelihood.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Match {
    No,
    Perhaps,
    Yes,
}

impl Match {
    fn certain(answer: bool) -> Self {
        if answer { Self::Yes } else { Self::No }
    }

    fn known(answer: Option<bool>) -> Self {
        answer.map_or(Self::Perhaps, Self::certain)
    }

    fn not(self) -> Self {
        match self {
            Self::No => Self::Yes,
            Self::Perhaps => Self::Perhaps,
            Self::Yes => Self::No,
        }
    }
}

/// Whether a rule's filters match. A rule without any matches everything; one that hangs on an unknown parameter at most perhaps.
pub fn rule(rule: &Rule, subject: &Subject, case: PathCase) -> Match {
    let matched = if rule.filters.is_empty() { Match::Yes } else { any(&rule.filters, subject, case) };
    if rule.condition.is_some() { matched.min(Match::Perhaps) } else { matched }
}

fn any(filters: &[Filter], subject: &Subject, case: PathCase) -> Match {
    let mut best = Match::No;
    for inner in filters {
        best = best.max(filter(inner, subject, case));
        if best == Match::Yes {
            break;
        }
    }
    best
}

/// Whether one filter matches.
pub fn filter(tested: &Filter, subject: &Subject, case: PathCase) -> Match {
    match &tested.test {
        Test::Any(filters) => any(filters, subject, case),
        Test::All(filters) => {
            let mut worst = Match::Yes;
            for inner in filters.iter() {
                worst = worst.min(filter(inner, subject, case));
                if worst == Match::No {
                    break;
                }
            }
            worst
        }
        Test::Not(inner) => filter(inner, subject, case).not(),
        Test::Text { attribute, form, value } => text(attribute, *form, value, subject, case),
        Test::Regex { attribute, pattern } => match subject.known(attribute) {
            Known::Bytes(bytes) => Match::known(pattern.is_match(bytes)),
            Known::Absent => Match::No,
            Known::Number(_) | Known::Unknown => Match::Perhaps,
        },
        Test::Word { attribute, value } => word(attribute, value, subject),
        // Bits of a mode are not compared like numbers, and how they are is not published.
        Test::Number { attribute, .. } if attribute.name == "file-mode" => Match::Perhaps,
        Test::Number { attribute, value } => match subject.known(attribute) {
            Known::Number(number) => Match::certain(number == *value),
            Known::Bytes(bytes) => Match::known(number(attribute, bytes).map(|number| number == *value)),
            Known::Absent => Match::No,
            Known::Unknown => Match::Perhaps,
        },
        // Whatever an import that was not read makes of it.
        Test::Opaque { .. } => Match::Perhaps,
        Test::Network { attribute, protocol, address } => {
            network(subject.end(attribute.name), protocol, address.as_ref())
        }
    }
}

fn word(attribute: &Attribute, value: &str, subject: &Subject) -> Match {
    if attribute.name == "target"
        && let Some(matched) = subject.targets(value.as_bytes())
    {
        return matched;
    }
    // Two words may stand for one number, and where the list is not known it cannot be told whether these do.
    let compared = |other: Option<i64>| {
        Match::known(other.zip(number(attribute, value.as_bytes())).map(|(a, b)| a == b))
    };
    match subject.known(attribute) {
        Known::Bytes(bytes) if bytes == value.as_bytes() => Match::Yes,
        Known::Bytes(bytes) if attribute.values == Values::Number => compared(number(attribute, bytes)),
        Known::Bytes(_) | Known::Absent => Match::No,
        Known::Number(number) => compared(Some(number)),
        Known::Unknown => Match::Perhaps,
    }
}

/// The number that a word stands for in the filter of an attribute.
fn number(attribute: &Attribute, word: &[u8]) -> Option<i64> {
    words::number(attribute.name, std::str::from_utf8(word).ok()?)
}

fn text(attribute: &Attribute, form: Form, value: &Text, subject: &Subject, case: PathCase) -> Match {
    let subject_bytes = match subject.known(attribute) {
        Known::Bytes(bytes) => bytes,
        Known::Absent => return Match::No,
        Known::Number(_) | Known::Unknown => return Match::Perhaps,
    };
    let Some(value) = value.bytes() else { return Match::Perhaps };
    if attribute.values == Values::Path {
        let matched = paths::matches(form, value, subject_bytes, case);
        // Whether `subpath` holds its own place where that is a plain file is disputed.
        let disputed = form == Form::Subpath
            && value.len() == subject_bytes.len()
            && matches!(subject.known(&VNODE_TYPE), Known::Bytes(b"REGULAR-FILE"));
        return if disputed { matched.min(Match::Perhaps) } else { matched };
    }
    Match::certain(match form {
        Form::Prefix => subject_bytes.starts_with(value),
        _ => subject_bytes == value,
    })
}

/// Only its name is looked at.
static VNODE_TYPE: Attribute = Attribute { name: "vnode-type", kind: "vnode-type", values: Values::Exact };

fn network(end: End<'_>, protocol: &str, address: Option<&Text>) -> Match {
    let found = match (end, protocol) {
        (End::None, _) => return Match::No,
        (End::Unknown, _) => return Match::Perhaps,
        (End::UnixSocket, protocol) => return Match::certain(protocol == "unix-socket"),
        (End::Ip(_), "unix-socket") => return Match::No,
        (End::Ip(found), _) => found,
    };
    let transport = match protocol.get(..3) {
        Some("tcp") => Match::known(found.transport.map(|transport| transport == Transport::Tcp)),
        Some("udp") => Match::known(found.transport.map(|transport| transport == Transport::Udp)),
        _ => Match::Yes,
    };
    let family = match protocol.as_bytes().last() {
        Some(b'4') => Match::known(found.family.map(|family| family == Family::V4)),
        Some(b'6') => Match::known(found.family.map(|family| family == Family::V6)),
        _ => Match::Yes,
    };
    transport.min(family).min(address.map_or(Match::Yes, |address| place(address, found)))
}

/// `"host:port"`; the host is `*` or `localhost`, the port a number or `*`.
fn place(address: &Text, found: &Address) -> Match {
    let Some((host, port)) = address.bytes().and_then(split_address) else { return Match::Perhaps };
    let host = match host {
        "*" => Match::Yes,
        "localhost" => Match::known(found.loopback),
        _ => Match::Perhaps,
    };
    let port = match (port, port_number(port)) {
        ("*", _) => Match::Yes,
        (_, Some(port)) => Match::known(found.port.map(|found| found == port)),
        _ => Match::Perhaps,
    };
    host.min(port)
}

/// The two halves of `"host:port"`.
pub fn split_address(address: &[u8]) -> Option<(&str, &str)> {
    std::str::from_utf8(address).ok()?.rsplit_once(':')
}

/// A port, in digits alone.
pub fn port_number(port: &str) -> Option<u16> {
    port.bytes().all(|byte| byte.is_ascii_digit()).then(|| port.parse().ok()).flatten()
}
