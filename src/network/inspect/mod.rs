//! In: a connection of the command to a host whose connections are read, and one to the host. Out: its requests there, as far as they are
//! allowed, with the values in them that the command itself never has.

mod authority;

pub use authority::{Authority, AuthorityError};

use crate::policy::HostPattern;
use crate::policy::host::Target;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::CertificateDer;
use std::sync::Arc;
use zeroize::Zeroizing;

/// The only protocol that is spoken on such a connection, on both sides (RFC 7301, 6).
const ALPN: &[u8] = b"http/1.1";

/// What it takes to read connections.
#[derive(Debug)]
pub struct Inspector {
    /// What the command's programs believe.
    pub authority: Authority,
    pub secrets: Vec<Secret>,
    /// The authorities that servers are verified by. They are looked at when the first connection is read.
    pub roots: Vec<CertificateDer<'static>>,
}

/// A connection cannot be read that must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Unreadable;

fn provider() -> Arc<CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}

/// A variable that is masked: what the command sees, and what stands for it on the way to the hosts that may have it.
pub struct Secret {
    pub name: String,
    /// As long as the value, of the same shape.
    pub placeholder: String,
    pub value: Zeroizing<String>,
    /// Single names, each with its port.
    pub hosts: Vec<HostPattern>,
}

impl Secret {
    /// Whether a target may have the value.
    pub fn is_for(&self, target: &Target) -> bool {
        let host = target.host.to_string();
        self.hosts
            .iter()
            .any(|one| !one.below && one.host == host && one.port.is_none_or(|port| port == target.port))
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Secret").field("name", &self.name).field("hosts", &self.hosts).finish_non_exhaustive()
    }
}
