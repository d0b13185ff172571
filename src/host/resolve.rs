//! Resolving a path as the kernel would (path_resolution(7)), keeping every symlink hop on the way.

use super::{Entry, Host, HostError, Kind};
use crate::policy::System;
use camino::{Utf8Path, Utf8PathBuf};

/// One symlink that was followed: where it stands (canonical) and what it says.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Hop {
    pub link: Utf8PathBuf,
    pub target: Utf8PathBuf,
}

/// Where a path leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolution {
    /// The path with every symlink followed, spelled as the disk spells it. Where the leaf is missing: through its deepest
    /// existing ancestor.
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

/// How many links the kernel follows before it gives up: `MAXSYMLINKS`, 40 on Linux (path_resolution(7)), 32 in XNU's `sys/param.h`.
fn max_hops(system: System) -> usize {
    match system {
        System::Linux => 40,
        System::Macos => 32,
    }
}

/// Follows every symlink in `path`, the last component too. A trailing `/` or `/.` asks for a directory, as it does in the kernel.
///
/// # Errors
/// A loop, a component that is no directory, `..` below a missing directory, or a host that cannot answer. All of
/// them mean that nothing may be concluded about the path.
pub fn resolve(host: &dyn Host, path: &Utf8Path) -> Result<Resolution, ResolveError> {
    walk(host, path, true)
}

/// As [`resolve`], but a symlink in the last place is not followed, unless a trailing `/` asks for what is behind it.
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
    // A stack: the next component is the last element.
    let mut rest = Vec::new();
    push_components(&mut rest, path.as_str());
    let mut at = Utf8PathBuf::from("/");
    let mut hops = Vec::new();
    let mut entry = host.lstat(&at)?;
    let mut existing = at.clone();
    while let Some(name) = rest.pop() {
        match &entry {
            Some(parent) if !parent.is_directory() => return Err(ResolveError::NotDirectory(at)),
            None if name == ".." => return Err(ResolveError::DotsBelowMissing(path.to_path_buf())),
            None if name == "." => continue,
            None => {
                at.push(name);
                continue;
            }
            Some(_) => {}
        }
        match name.as_str() {
            "." => continue,
            ".." => {
                at.pop();
                entry = host.lstat(&at)?;
                existing.clone_from(&at);
                continue;
            }
            _ => {}
        }
        let parent = at.clone();
        at.push(&name);
        entry = host.lstat(&at)?;
        let Some(found) = &entry else { continue };
        if host.case_insensitive() {
            at = parent.join(host.spelling(&parent, &name)?);
        }
        if let Kind::Symlink(target) = &found.kind
            && (follow_last || !rest.is_empty())
        {
            if hops.len() == max_hops(host.system()) {
                return Err(ResolveError::Loop(path.to_path_buf()));
            }
            if target.as_str().is_empty() {
                return Err(HostError::Other { path: at, reason: "the symbolic link is empty".into() }.into());
            }
            hops.push(Hop { link: at, target: target.clone() });
            push_components(&mut rest, target.as_str());
            at = if target.is_absolute() { Utf8PathBuf::from("/") } else { parent };
            entry = host.lstat(&at)?;
        }
        existing.clone_from(&at);
    }
    Ok(Resolution { canonical: at, hops, entry, existing })
}

/// Puts the components of `path` on the stack, the first on top. What ends in a slash ends in a `.`, which only a directory has.
fn push_components(stack: &mut Vec<String>, path: &str) {
    if path.ends_with('/') {
        stack.push(".".to_owned());
    }
    stack.extend(path.split('/').rev().filter(|name| !name.is_empty()).map(str::to_owned));
}

#[cfg(test)]
mod tests;
