//! What every program needs of a system, whatever it is: the base that each plan begins with.

pub mod linux;
pub mod macos;

use crate::host::{Hop, Host};
use crate::plan::{Operations, OriginKind, Scope};
use camino::{Utf8Path, Utf8PathBuf};

/// One grant of the base and its reason, which the manifest shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BaseGrant {
    /// Canonical.
    pub path: Utf8PathBuf,
    pub scope: Scope,
    pub operations: Operations,
    /// [`OriginKind::System`], or the kind that a `needs` or `ipc` statement gives it.
    pub kind: OriginKind,
    pub reason: String,
}

/// The base of one plan.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Base {
    pub grants: Vec<BaseGrant>,
    /// What is closed within the grants.
    pub closed: Vec<BaseGrant>,
    /// Symlinks met on the way, which must be there for the grants to be found by their usual names.
    pub links: Vec<Hop>,
}

impl Base {
    fn grant(&mut self, path: impl Into<Utf8PathBuf>, scope: Scope, operations: Operations, reason: &str) {
        self.grant_as(OriginKind::System, path, scope, operations, reason);
    }

    fn grant_as(
        &mut self,
        kind: OriginKind,
        path: impl Into<Utf8PathBuf>,
        scope: Scope,
        operations: Operations,
        reason: &str,
    ) {
        self.grants.push(BaseGrant { path: path.into(), scope, operations, kind, reason: reason.into() });
    }

    fn close(&mut self, path: impl Into<Utf8PathBuf>, reason: &str) {
        let (scope, operations, kind) = (Scope::Subtree, Operations::ALL, OriginKind::System);
        self.closed.push(BaseGrant { path: path.into(), scope, operations, kind, reason: reason.into() });
    }

    /// Grants what a path leads to, and the links on the way. What is missing is left out.
    fn grant_resolved(&mut self, host: &dyn Host, path: &Utf8Path, operations: Operations, reason: &str) {
        let Ok(found) = crate::host::resolve::resolve(host, path) else { return };
        let Some(entry) = found.entry else { return };
        let scope = if entry.is_directory() { Scope::Subtree } else { Scope::Literal };
        self.grant(found.canonical, scope, operations, reason);
        self.links.extend(found.hops);
    }
}

/// The directory that is `HOME` in the command's environment: empty, and not writable.
pub const HOME: &str = "/var/empty";
