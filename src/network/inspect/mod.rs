//! In: a connection of the command to a host whose connections are read, and one to the host. Out: its requests there, as far as they are
//! allowed, with the values in them that the command itself never has.

mod authority;
mod basic;
mod bodies;
mod exchange;
mod headers;
mod masks;
mod pace;
pub(in crate::network) mod session;
mod strays;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod wire;

pub use authority::{Authority, AuthorityError};
pub use strays::Search;

use crate::plan::hosts::matches;
use crate::policy::host::{Host, Target};
use crate::policy::{HostPattern, NetworkRule};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::CertificateDer;
use rustls::{ClientConfig, RootCertStore};
use std::sync::{Arc, OnceLock};
use strays::Placeholders;
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

/// What reads the connections of a run.
#[derive(Debug)]
pub struct Reader {
    authority: Authority,
    secrets: Vec<Secret>,
    placeholders: Arc<Placeholders>,
    roots: Vec<CertificateDer<'static>>,
    /// How servers are asked, once one was.
    asking: OnceLock<Option<Arc<ClientConfig>>>,
}

impl Reader {
    pub fn new(inspector: Inspector) -> Self {
        let Inspector { authority, secrets, roots } = inspector;
        let placeholders = Arc::new(Placeholders::new(&secrets));
        Self { authority, secrets, placeholders, roots, asking: OnceLock::new() }
    }

    /// Whether a secret is for a target, so that connections to it are read.
    pub fn has_secret_for(&self, target: &Target) -> bool {
        self.secrets.iter().any(|secret| secret.is_for(target))
    }

    /// What finds placeholders on the way to where no value goes.
    pub fn search(&self) -> Search {
        Search::any(&self.placeholders)
    }

    /// What finds placeholders on the way to a target that do not belong there.
    fn search_for(&self, target: &Target) -> Search {
        Search::except(&self.placeholders, &self.secrets, target)
    }

    /// The names in which placeholders of masked variables are. A host's is in lower case.
    pub fn named_in(&self, host: &Host) -> Option<Vec<String>> {
        let mut search = self.search();
        search.text(host.to_string().as_bytes());
        search.found()
    }

    /// How servers are asked, and verified.
    fn asking(&self) -> Result<Arc<ClientConfig>, Unreadable> {
        let asking = self.asking.get_or_init(|| {
            let mut roots = RootCertStore::empty();
            // Some that machines have are of another age; a server that one of them vouches for is not believed.
            roots.add_parsable_certificates(self.roots.iter().cloned());
            let config =
                ClientConfig::builder_with_provider(provider()).with_safe_default_protocol_versions();
            let mut config = config.ok()?.with_root_certificates(roots).with_no_client_auth();
            config.alpn_protocols = vec![ALPN.to_vec()];
            Some(Arc::new(config))
        });
        asking.clone().ok_or(Unreadable)
    }
}

/// How connections to a target are read.
#[derive(Debug, Clone, Copy)]
pub struct Reading<'k> {
    /// What reads them; without it none is carried.
    pub reader: Option<&'k Reader>,
    /// What decides about requests.
    pub rules: &'k [NetworkRule],
}

/// What a thread needs that reads a connection: TLS and HTTP on both sides.
pub const STACK: usize = 1 << 20;

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
        self.hosts.iter().any(|host| matches(host, target))
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Secret").field("name", &self.name).field("hosts", &self.hosts).finish_non_exhaustive()
    }
}
