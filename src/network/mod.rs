//! In: connections of a confined command, and the hosts that its profile admits. Out: connections to those hosts and no others, and what is
//! to be said of them: a line of the log each, and a refusal that names the line which would admit.
//!
//! Blocking, a thread or two for each connection: the bytes only pass through.

pub mod connection;
mod dial;
mod dns;
pub mod gate;
mod hello;
mod http;
mod incoming;
pub mod inspect;
pub mod listen;
mod names;
mod opening;
pub mod record;
mod relay;
mod socks;
mod tunnel;

#[cfg(test)]
mod tests;

use crate::policy::address::Class;
use crate::policy::host::Target;
use inspect::{Reading, Search};
use std::net::{IpAddr, TcpStream};
use std::time::Duration;

/// How a command came to ask for a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Via {
    /// HTTP `CONNECT` (RFC 9110, 9.3.6).
    Connect,
    /// HTTP with the whole URL as its target (RFC 9112, 3.2.2).
    Http,
    /// SOCKS 5 (RFC 1928).
    Socks,
    /// It connected to an address that leads here, as if there were no proxy.
    Capture,
    /// The same, at the address of this machine itself: `localhost PORT`.
    Localhost,
}

impl Via {
    pub fn name(self) -> &'static str {
        match self {
            Self::Connect => "connect",
            Self::Http => "http",
            Self::Socks => "socks",
            Self::Capture => "capture",
            Self::Localhost => "localhost",
        }
    }
}

/// Why a connection was refused, or was ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reason {
    /// No line allows it.
    NotAllowed,
    /// A line denies it.
    Denied,
    /// What was asked for is no host, or no port.
    BadHost,
    /// The request is not one that is understood; in a few words, why.
    BadRequest(&'static str),
    /// It has no address.
    Unresolved,
    /// Every address of it leads where no profile lets a command go.
    Address(Class),
    /// One of its addresses is this machine's own.
    OwnAddress,
    /// Nobody answered there.
    Unreachable,
    /// TLS was begun with another name than the one that was admitted.
    SniMismatch,
    /// A request was sent on it for another host than the one that was admitted.
    HostMismatch,
    /// Something else than TLS was begun on a connection that is read.
    NotTls,
    /// The server's certificate is not one for its name that this machine believes.
    Untrusted,
    /// There was no agreeing on TLS, or on HTTP/1.1 within.
    TlsFailed,
    /// The client does not believe the authority of the run.
    AuthorityRefused,
    /// There is nothing to read a connection with that must be read.
    CannotInspect,
    /// No line allows the request, though its host is admitted.
    RequestNotAllowed,
    /// What stands for a secret was on its way to where the secret does not belong.
    SecretMisdirected,
    /// The server coded its answer, though it was asked not to.
    Encoded,
    /// A host whose connections are read answered with what is no HTTP/1.
    BadAnswer,
    /// As many are open as may be.
    TooMany,
    /// Nothing came for too long.
    TooSlow,
}

impl Reason {
    /// The reason as it stands in the log, in a header and in messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::NotAllowed => "not-allowed",
            Self::Denied => "denied",
            Self::BadHost => "bad-host",
            Self::BadRequest(_) => "bad-request",
            Self::Unresolved => "unresolved",
            Self::Address(class) => class.name(),
            Self::OwnAddress => "own-address",
            Self::Unreachable => "unreachable",
            Self::SniMismatch => "sni-mismatch",
            Self::HostMismatch => "host-mismatch",
            Self::NotTls => "not-tls",
            Self::Untrusted => "untrusted",
            Self::TlsFailed => "tls-failed",
            Self::AuthorityRefused => "authority-refused",
            Self::CannotInspect => "cannot-inspect",
            Self::RequestNotAllowed => "request-not-allowed",
            Self::SecretMisdirected => "secret-misdirected",
            Self::Encoded => "encoded-answer",
            Self::BadAnswer => "bad-answer",
            Self::TooMany => "too-many-connections",
            Self::TooSlow => "too-slow",
        }
    }
}

/// A connection that is not made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    pub reason: Reason,
    /// What was asked for, where that could be read.
    pub target: Option<Target>,
    /// The statement that would admit it, or the one that denies it; `None` where no statement would.
    pub line: Option<String>,
}

impl Refused {
    /// A request that names no host that could be admitted.
    pub fn unread(reason: Reason) -> Self {
        Self { reason, target: None, line: None }
    }
}

/// A connection that was made.
#[derive(Debug)]
pub struct Opened {
    pub stream: TcpStream,
    pub address: IpAddr,
}

/// A connection that is over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Closed {
    pub via: Via,
    pub target: Target,
    pub address: IpAddr,
    /// The name in the TLS client's first message, where one was seen.
    pub sni: Option<String>,
    /// Bytes from the command, and to it.
    pub up: u64,
    pub down: u64,
    pub lasted: Duration,
    /// Why it was ended, where neither side did.
    pub why: Option<Reason>,
    /// Where it was read: what was asked on it.
    pub requested: Option<Requested>,
}

/// What was asked on a connection that was read.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Requested {
    /// How many requests there were, with those that were refused.
    pub count: u64,
    /// The masked variables whose values were put in.
    pub secrets: Vec<String>,
    /// Whether that which ended the connection is on record already, as the refusal of a request.
    pub refused: bool,
}

/// Who decides about hosts, and keeps the record of it.
pub trait Gate: Sync {
    /// What is meant by an address that stands for a name inside; anything else means itself.
    fn meant(&self, target: Target) -> Target {
        target
    }

    /// Admits a target by its name, and only then resolves it, judges its addresses and connects to one of them.
    ///
    /// # Errors
    /// The refusal, which is on record already.
    fn open(&self, via: Via, target: &Target) -> Result<Opened, Refused>;

    /// Puts a refusal on record that the gate was not asked about.
    fn refused(&self, via: Via, refused: &Refused);

    /// How connections to a target are read; `None` where they only pass through.
    fn reading(&self, target: &Target) -> Option<Reading<'_>> {
        let _ = target;
        None
    }

    /// What finds placeholders on the way to where no value goes, where there are any.
    fn strays(&self) -> Option<Search> {
        None
    }

    /// Puts on record that a request was refused on a connection that is read.
    fn refused_request(&self, via: Via, refused: &Refused, method: &str) {
        let _ = method;
        self.refused(via, refused);
    }

    /// Puts on record that placeholders of some variables were on their way to where they do not belong. There is no target where they are in
    /// its name.
    fn misdirected(&self, via: Via, target: Option<&Target>, secrets: &[String]) {
        let _ = secrets;
        self.refused(via, &Refused { target: target.cloned(), ..Refused::unread(Reason::SecretMisdirected) });
    }

    /// Puts the end of a connection on record.
    fn closed(&self, closed: &Closed);
}
