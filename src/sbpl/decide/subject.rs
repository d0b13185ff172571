//! What is asked about: the object of an access, and what is known of it.

use crate::sbpl::vocabulary::Attribute;
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
    /// A service, a setting, …: the attribute that names it, and the name.
    Named(String, Vec<u8>),
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

    /// What the filter `attribute` names: `Subject::named("global-name", "com.apple.trustd")`.
    pub fn named(attribute: &str, name: impl Into<Vec<u8>>) -> Self {
        Self { object: Object::Named(attribute.to_owned(), name.into()), facts: BTreeMap::new() }
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
        let names_another = NAMING.contains(&attribute.kind);
        match &self.object {
            Object::Path(path) if attribute.name == "path" => Known::Bytes(path),
            // Both are paths of the object; the other one is not known.
            Object::Path(_) if attribute.kind == "path" => Known::Unknown,
            Object::Named(name, value) if name == attribute.name => Known::Bytes(value),
            Object::Path(_) | Object::Connection { .. } | Object::Named(..) if names_another => Known::Absent,
            _ => Known::Unknown,
        }
    }

    /// The end of the connection that a filter named `local` or `remote` looks at.
    pub(super) fn end(&self, filter: &str) -> End<'_> {
        match &self.object {
            Object::Connection { local, remote } => End::Ip(if filter == "local" { local } else { remote }),
            Object::Path(_) => End::UnixSocket,
            Object::Named(..) => End::None,
            Object::Any => End::Unknown,
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

impl Subject {
    /// Whether the object is the process itself.
    pub(super) fn targets_itself(&self) -> super::Match {
        match self.facts.get("target") {
            Some(Fact::Is(target)) if target == b"self" => super::Match::Yes,
            Some(_) => super::Match::No,
            None => super::Match::Perhaps,
        }
    }
}
