//! Where things lie: the few questions about roots, denials and source text that many checks ask.

use super::Context;
use crate::bind::BoundDenial;
use crate::host::{Hop, Resolution, resolve};
use crate::plan::{Decider, Operation, Protected, Protection};
use crate::policy::{Access, Denial, Root};
use crate::source::{FileId, Sources, Span};
use camino::{Utf8Path, Utf8PathBuf};
use std::collections::HashMap;

/// A root that exists, its statement and where it leads.
#[derive(Clone, Copy)]
pub struct PlacedRoot<'a> {
    pub statement: &'a Root,
    pub found: &'a Resolution,
}

impl<'a> PlacedRoot<'a> {
    /// Canonical.
    pub fn path(&self) -> &'a Utf8Path {
        &self.found.canonical
    }

    pub fn is_writable(&self) -> bool {
        self.statement.access == Access::ReadWrite
    }
}

/// The roots that are there, indexed by path: a question costs as many look-ups as the path has components.
pub struct Roots<'a> {
    list: Vec<PlacedRoot<'a>>,
    by_path: HashMap<&'a Utf8Path, usize>,
}

impl<'a> Roots<'a> {
    pub fn of(context: &Context<'a>) -> Self {
        let mut roots = Self { list: Vec::new(), by_path: HashMap::new() };
        for (statement, bound) in context.policy.roots.iter().zip(&context.binding.roots) {
            if let Some(found) = bound.found.as_ref().ok().filter(|found| found.exists()) {
                let root = PlacedRoot { statement, found };
                roots.by_path.entry(root.path()).or_insert(roots.list.len());
                roots.list.push(root);
            }
        }
        roots
    }

    /// In the policy's order.
    pub fn iter(&self) -> impl Iterator<Item = &PlacedRoot<'a>> {
        self.list.iter()
    }

    /// The root at exactly this path; the first, where it is stated several times.
    pub fn at(&self, path: &Utf8Path) -> Option<&PlacedRoot<'a>> {
        self.by_path.get(path).map(|&at| &self.list[at])
    }

    /// The root that decides about a path: the longest that holds it.
    pub fn holding(&self, path: &Utf8Path) -> Option<&PlacedRoot<'a>> {
        path.ancestors().find_map(|ancestor| self.at(ancestor))
    }

    /// The root that another one lies in, not counting those at the same place: the longest such.
    pub fn around(&self, inner: &PlacedRoot<'a>) -> Option<&PlacedRoot<'a>> {
        self.holding(inner.path().parent()?)
    }
}

/// Every denial with what it is on this machine.
pub fn denials<'a>(context: &Context<'a>) -> impl Iterator<Item = (&'a Denial, &'a BoundDenial)> + use<'a> {
    let policy = context.policy;
    context
        .binding
        .denials
        .iter()
        .filter_map(|bound| policy.denials.get(bound.statement).map(|denial| (denial, bound)))
}

/// The first symlink on the way to a path that is not also on the way to the root around it.
///
/// A root may be given through a symlink (`/tmp` is one on a Mac), and then so is everything in it; what matters
/// are the links beyond that.
pub fn own_hop<'a>(found: &'a Resolution, root: Option<&Resolution>) -> Option<&'a Hop> {
    found.hops.iter().find(|hop| !root.is_some_and(|root| root.hops.contains(hop)))
}

/// Whether a file ships with the program: nobody can write an allowance there, and it speaks for every profile.
pub fn is_shipped(sources: &Sources, file: FileId) -> bool {
    let file = sources.file(file);
    file.path.is_none() && file.name.starts_with("std/")
}

/// Whether a program may read the path, or anything below it that no rule names.
pub fn is_readable(decider: &Decider<'_>, path: &Utf8Path) -> bool {
    decider.decide(Operation::Read, path).allowed || decider.decide_below(Operation::Read, path).allowed
}

/// What is protected, and by which statement, indexed by path.
pub struct Protections<'a> {
    by_path: HashMap<&'a Utf8Path, &'a Protected>,
    roots: Roots<'a>,
}

impl<'a> Protections<'a> {
    pub fn of(context: &Context<'a>) -> Self {
        let protected = context.plan.protected.iter();
        let by_path = protected.map(|protected| (protected.path.as_path(), protected)).collect();
        Self { by_path, roots: Roots::of(context) }
    }

    /// What protects a path and the statement that says so; where none does, as for a guard, the root it stands in.
    pub fn at(&self, path: &Utf8Path) -> (Protection, Option<Span>) {
        let root = || self.roots.holding(path).map(|root| root.statement.span);
        match path.ancestors().find_map(|ancestor| self.by_path.get(ancestor)) {
            Some(protected) => (protected.protection, protected.origin.span.or_else(root)),
            None => (Protection::ReadOnly, root()),
        }
    }
}

/// The home of whoever compiles, canonical, and the number of its owner.
pub fn home(context: &Context<'_>) -> (Utf8PathBuf, u32) {
    let home = &context.policy.home;
    match resolve::resolve(context.host, home) {
        Ok(found) => {
            let uid = found.entry.as_ref().map_or(0, |entry| entry.uid);
            (found.canonical, uid)
        }
        Err(_) => (home.clone(), 0),
    }
}

/// A path as a quoted string of the language.
pub fn quoted(path: &Utf8Path) -> String {
    let plain = path.as_str().replace('\\', "\\\\").replace('"', "\\\"").replace('$', "\\$");
    format!("\"{plain}\"")
}

/// The first few of many, for a message: "`a`, `b`, `c` and 4 more".
pub fn list<T: AsRef<str>>(items: &[T]) -> String {
    const SHOWN: usize = 3;
    let mut text =
        items.iter().take(SHOWN).map(|item| format!("`{}`", item.as_ref())).collect::<Vec<_>>().join(", ");
    if items.len() > SHOWN {
        text.push_str(&format!(" and {} more", items.len() - SHOWN));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_three_and_counts_the_rest() {
        assert_eq!(list(&["a", "b"]), "`a`, `b`");
        assert_eq!(list(&["a", "b", "c", "d", "e"]), "`a`, `b`, `c` and 2 more");
    }

    #[test]
    fn quotes_what_the_language_would_read_otherwise() {
        assert_eq!(quoted("/a/$b\"c\\d".into()), r#""/a/\$b\"c\\d""#);
    }
}
