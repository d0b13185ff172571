//! Whether a mount of the host shows a protected path under a name that is not protected.

use super::Refusal;
use crate::host::mounts;
use crate::manifest::Manifest;
use crate::plan::{Decider, Protection, Rule, Spelling, aliases};
use crate::policy::Access;

/// Compares what is mounted with what is protected. Read once: what is mounted later does not reach the sandbox, whose mounts are private.
///
/// # Errors
/// A protected path that has another name; a table of mounts that cannot be read.
pub fn check(manifest: &Manifest, rules: &[Rule]) -> Result<(), Refusal> {
    let unexamined = |error| Refusal::Unexamined { path: mounts::TABLE.into(), error };
    let mounts = mounts::here().map_err(unexamined)?;
    let protected = manifest.protected.iter().map(|entry| (entry.path.as_path(), entry.protection));
    let read_only = manifest.roots.iter().filter(|root| root.access == Access::ReadOnly);
    let read_only = read_only.map(|root| (root.path.as_path(), Protection::ReadOnly));
    let found = aliases(&mounts, &Decider::new(rules, Spelling::Exact), protected.chain(read_only));
    match found.into_iter().next() {
        Some(alias) => {
            Err(Refusal::Mounted { path: alias.shown, name: alias.name, mount: alias.mount.to_path_buf() })
        }
        None => Ok(()),
    }
}
