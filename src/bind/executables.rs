//! What programs and modules in an `executable` place load from the system: libraries that are there to be read, but that no tool maps.
//!
//! Where a command can write to the place, it can copy there, and run, all that it can read. Refusing it the system's libraries would
//! take nothing from it but the programs it builds. Elsewhere it gets what the files that are there now ask for, and no more.

use super::Binding;
use super::tools::{Finder, LOAD};
use crate::host::Resolution;
use crate::plan::{Operations, Scope};
use crate::policy::Policy;
use camino::{Utf8Path, Utf8PathBuf};

/// A library or loader of the system, or a directory of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Load {
    pub path: Utf8PathBuf,
    pub scope: Scope,
    pub operations: Operations,
}

/// Where systems keep libraries (file-hierarchy(7)); beside /usr only where /usr is not merged.
const LIBRARIES: [&str; 10] = [
    "/usr/lib",
    "/usr/lib32",
    "/usr/lib64",
    "/usr/libx32",
    "/usr/local/lib",
    "/usr/local/lib64",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
];

/// The loads of one place, by its canonical path.
///
/// # Errors
/// A place that cannot be looked through.
pub fn loads(
    finder: &mut Finder<'_>,
    policy: &Policy,
    binding: &Binding,
    place: &Resolution,
) -> Result<Vec<Load>, String> {
    let readable = |path: &Utf8Path| {
        let mut grants = binding.base.grants.iter().filter(|grant| grant.scope == Scope::Subtree);
        grants.any(|grant| path.starts_with(&grant.path))
    };
    if is_written(policy, binding, &place.canonical) {
        let directories = LIBRARIES.iter().map(Utf8PathBuf::from).filter(|path| readable(path));
        return Ok(directories.map(|path| Load { path, scope: Scope::Subtree, operations: LOAD }).collect());
    }
    let grants = finder.loads(place)?.into_iter();
    // What lies elsewhere is for other statements to grant: a library's own search path can name any directory.
    let of_the_system = grants.filter(|grant| {
        readable(&grant.path) && LIBRARIES.iter().any(|directory| grant.path.starts_with(directory))
    });
    Ok(of_the_system
        .map(|grant| Load { path: grant.path, scope: grant.scope, operations: grant.operations })
        .collect())
}

/// Whether a command can write to a place or below it.
fn is_written(policy: &Policy, binding: &Binding, place: &Utf8Path) -> bool {
    let inside = |path: &Utf8Path| path.starts_with(place) && binding.is_writable(policy, path);
    binding.is_writable(policy, place) || binding.usable_roots(policy).iter().any(|(_, root, _)| inside(root))
}
