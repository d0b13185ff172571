//! Resolving a path as the kernel would (path_resolution(7)), keeping every symlink hop on the way.

use super::{Entry, Host, HostError, Kind};
use camino::{Utf8Component, Utf8Path, Utf8PathBuf};
use std::collections::VecDeque;

/// One symlink that was followed: where it stands (canonical) and what it says.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Hop {
    pub link: Utf8PathBuf,
    pub target: Utf8PathBuf,
}

/// Where a path leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolution {
    /// The path with every symlink followed. Where the leaf is missing: through its deepest existing ancestor.
    pub canonical: Utf8PathBuf,
    /// In the order in which they were followed.
    pub hops: Vec<Hop>,
    /// What is there; `None` where nothing is.
    pub entry: Option<Entry>,
    /// The deepest part of `canonical` that exists.
    pub existing: Utf8PathBuf,
}

impl Resolution {
    pub fn exists(&self) -> bool {
        self.entry.is_some()
    }
}

/// Why a path leads nowhere that can be named.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ResolveError {
    #[error("`{0}` is a loop of symbolic links")]
    Loop(Utf8PathBuf),
    #[error("`{0}` is not a directory")]
    NotDirectory(Utf8PathBuf),
    #[error("`{0}` is not an absolute path")]
    NotAbsolute(Utf8PathBuf),
    #[error("`{0}` climbs out of a directory that is missing")]
    DotsBelowMissing(Utf8PathBuf),
    #[error(transparent)]
    Host(#[from] HostError),
}

/// The kernel's own bound on followed links, `MAXSYMLINKS` (path_resolution(7)).
const MAX_HOPS: usize = 40;

/// Follows every symlink in `path`, the last component too.
///
/// # Errors
/// A loop, a component that is no directory, `..` below a missing directory, or a host that cannot answer. All of
/// them mean that nothing may be concluded about the path.
pub fn resolve(host: &dyn Host, path: &Utf8Path) -> Result<Resolution, ResolveError> {
    walk(host, path, true)
}

/// As [`resolve`], but a symlink in the last place is not followed.
///
/// # Errors
/// As [`resolve`].
pub fn resolve_parent(host: &dyn Host, path: &Utf8Path) -> Result<Resolution, ResolveError> {
    walk(host, path, false)
}

fn walk(host: &dyn Host, path: &Utf8Path, follow_last: bool) -> Result<Resolution, ResolveError> {
    if !path.is_absolute() {
        return Err(ResolveError::NotAbsolute(path.to_path_buf()));
    }
    let mut rest: VecDeque<String> = components(path).collect();
    let mut at = Utf8PathBuf::from("/");
    let mut hops = Vec::new();
    let mut entry = host.lstat(&at)?;
    let mut existing = at.clone();
    while let Some(name) = rest.pop_front() {
        if name == ".." {
            if entry.is_none() {
                return Err(ResolveError::DotsBelowMissing(path.to_path_buf()));
            }
            at.pop();
            entry = host.lstat(&at)?;
            existing.clone_from(&at);
            continue;
        }
        match &entry {
            Some(parent) if !parent.is_directory() => return Err(ResolveError::NotDirectory(at)),
            Some(_) => {}
            None => {
                at.push(name);
                continue;
            }
        }
        at.push(&name);
        entry = host.lstat(&at)?;
        let Some(found) = &entry else { continue };
        if let Kind::Symlink(target) = &found.kind
            && (follow_last || !rest.is_empty())
        {
            if hops.len() == MAX_HOPS {
                return Err(ResolveError::Loop(path.to_path_buf()));
            }
            hops.push(Hop { link: at.clone(), target: target.clone() });
            for component in components(target).collect::<Vec<_>>().into_iter().rev() {
                rest.push_front(component);
            }
            if target.is_absolute() {
                at = Utf8PathBuf::from("/");
            } else {
                at.pop();
            }
            entry = host.lstat(&at)?;
        }
        existing.clone_from(&at);
    }
    Ok(Resolution { canonical: at, hops, entry, existing })
}

fn components(path: &Utf8Path) -> impl Iterator<Item = String> + '_ {
    path.components().filter_map(|component| match component {
        Utf8Component::Normal(name) => Some(name.to_owned()),
        Utf8Component::ParentDir => Some("..".to_owned()),
        _ => None,
    })
}
