//! What is asked about: the object of an access, and what is known of it.

use super::Match;
use crate::sbpl::vocabulary::{Attribute, filter_named, may_meet};
use std::collections::BTreeMap;

/// The object of an access. What is not stated is not known, and a filter that hangs on it matches "perhaps".
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subject {
    object: Object,
    facts: BTreeMap<String, Fact>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Object {
    /// Resolved as the kernel does: absolute, no links, no `..`.
    Path(Vec<u8>),
    Connection {
        local: Address,
        remote: Address,
    },
    /// A service, a setting, …: the attribute that names it, its kind, and the name.
    Named {
        attribute: String,
        kind: &'static str,
        name: Vec<u8>,
    },
    /// Nothing is known of it.
    Any,
}

/// What is known of an attribute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fact {
    Is(Vec<u8>),
    Number(i64),
    /// The subject has no such thing: no filter on it matches.
    Absent,
}

/// One end of a connection. `None` is "not known".
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Address {
    pub transport: Option<Transport>,
    pub family: Option<Family>,
    /// Whether it is this machine, as `localhost` means it.
    pub loopback: Option<bool>,
    pub port: Option<u16>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transport {
    Tcp,
    Udp,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    V4,
    V6,
}

/// What is known of an attribute of a subject, when a filter asks.
pub(super) enum Known<'a> {
    Bytes(&'a [u8]),
    Number(i64),
    Absent,
    Unknown,
}

/// Kinds of filter that name the object itself: a subject of one kind is none of the others.
const NAMING: [&str; 10] = [
    "path",
    "network",
    "mach",
    "sysctl",
    "posix-ipc",
    "nvram",
    "preference-domain",
    "notification",
    "kext-bundle-id",
    "auth-right-name",
];

impl Subject {
    /// A file or, for an operation of the network, a unix socket. The path is one that the kernel would see: absolute and resolved.
    pub fn path(path: impl Into<Vec<u8>>) -> Self {
        Self { object: Object::Path(path.into()), facts: BTreeMap::new() }
    }

    /// A connection over IP.
    pub fn connection(local: Address, remote: Address) -> Self {
        Self { object: Object::Connection { local, remote }, facts: BTreeMap::new() }
    }

    /// What the filter `attribute` names: `Subject::named("global-name", "com.apple.trustd")`. Nothing else is known of it: what one
    /// access may have beside that name may be there.
    pub fn named(attribute: &str, name: impl Into<Vec<u8>>) -> Self {
        let (attribute, kind) = match filter_named(attribute) {
            Some((found, _)) => (found.name, found.kind),
            None => (attribute, ""),
        };
        let object = Object::Named { attribute: attribute.to_owned(), kind, name: name.into() };
        Self { object, facts: BTreeMap::new() }
    }

    /// Something of which nothing is known.
    pub fn any() -> Self {
        Self { object: Object::Any, facts: BTreeMap::new() }
    }

    /// The subject with one attribute known: `.with("vnode-type", Fact::Is(b"SOCKET".to_vec()))`.
    pub fn with(mut self, attribute: &str, fact: Fact) -> Self {
        self.facts.insert(attribute.to_owned(), fact);
        self
    }

    /// The path, if it has one.
    pub fn as_path(&self) -> Option<&[u8]> {
        match &self.object {
            Object::Path(path) => Some(path),
            _ => None,
        }
    }

    pub(super) fn known(&self, attribute: &Attribute) -> Known<'_> {
        match self.facts.get(attribute.name) {
            Some(Fact::Is(bytes)) => return Known::Bytes(bytes),
            Some(Fact::Number(number)) => return Known::Number(*number),
            Some(Fact::Absent) => return Known::Absent,
            None => {}
        }
        let names_an_object = NAMING.contains(&attribute.kind);
        match &self.object {
            Object::Path(path) if attribute.name == "path" => Known::Bytes(path),
            // Both are paths of the object; the other one is not known.
            Object::Path(_) if attribute.kind == "path" => Known::Unknown,
            Object::Path(_) | Object::Connection { .. } if names_an_object => Known::Absent,
            Object::Named { attribute: named, name, .. } if named == attribute.name => Known::Bytes(name),
            // A service is looked up under one kind of name.
            Object::Named { kind: "mach", .. } if attribute.kind == "mach" => Known::Absent,
            Object::Named { kind, .. } if names_an_object && !may_meet(kind, attribute.kind) => Known::Absent,
            _ => Known::Unknown,
        }
    }

    /// The end of the connection that a filter named `local` or `remote` looks at.
    pub(super) fn end(&self, filter: &str) -> End<'_> {
        match &self.object {
            Object::Connection { local, remote } => End::Ip(if filter == "local" { local } else { remote }),
            Object::Path(_) => End::UnixSocket,
            Object::Named { kind, .. } if !may_meet(kind, "network") => End::None,
            Object::Named { .. } | Object::Any => End::Unknown,
        }
    }

    /// Whether the process that is worked on is one of those that a filter's word `word` means, where the subject says it by such a word. A
    /// process may be meant by several: who is `self` is in `same-sandbox` too.
    pub(super) fn targets(&self, word: &[u8]) -> Option<Match> {
        let known = match (&self.object, self.facts.get("target")) {
            (_, Some(_)) => return None,
            (Object::Named { attribute, name, .. }, None) if attribute == "target" => name,
            _ => return None,
        };
        Some(match (known.as_slice(), word) {
            (known, word) if known == word => Match::Yes,
            (b"self", b"same-sandbox" | b"pgrp") => Match::Yes,
            (b"self", _) | (_, b"self") if !matches!(known.as_slice(), b"pgrp" | b"same-sandbox") => {
                Match::No
            }
            // launchd runs outside of every sandbox.
            (b"initproc", b"same-sandbox" | b"children") => Match::No,
            (b"same-sandbox" | b"children", b"initproc") => Match::No,
            _ => Match::Perhaps,
        })
    }

    /// Whether the object is the process itself.
    pub(super) fn targets_itself(&self) -> Match {
        match self.facts.get("target") {
            Some(Fact::Is(target)) if target == b"self" => Match::Yes,
            Some(_) => Match::No,
            None => self.targets(b"self").unwrap_or(Match::Perhaps),
        }
    }
}

/// What an end of a connection is.
pub(super) enum End<'a> {
    Ip(&'a Address),
    UnixSocket,
    None,
    Unknown,
}
