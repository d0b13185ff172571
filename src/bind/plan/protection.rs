//! Guards, denials, and what keeps both from being moved away: the part of a plan that takes access away.

use super::Builder;
use crate::host::{Entry, Hop, Kind};
use crate::plan::{
    Effect, Operation, Operations, Origin, OriginKind, Presence, Protected, Protection, Scope,
};
use crate::policy::{Access, System};
use camino::{Utf8Path, Utf8PathBuf};
use std::collections::BTreeMap;

impl Builder<'_> {
    /// Adds guards, pins and denials, in this order, and gives every protected path.
    pub(super) fn protections(&mut self) -> Vec<Protected> {
        let mut protected: Vec<Protected> = self.read_only_in_writable();
        for guard in self.binding.guards.iter().filter(|guard| guard.lifted_by.is_none()) {
            let origin =
                Origin { kind: OriginKind::Guard, text: format!("guard: {}", guard.reason), span: None };
            protected.push(Protected {
                path: guard.path.clone(),
                protection: Protection::Guarded,
                presence: match &guard.entry {
                    None if guard.own => Presence::File,
                    None if guard.keep_absent => Presence::Absent,
                    entry => presence(entry.as_ref()),
                },
                origin,
            });
        }
        for denial in &self.binding.denials {
            let origin = self.statement(OriginKind::Denial, self.policy.denials[denial.statement].span);
            protected.extend(denial.paths.iter().map(|denied| Protected {
                path: denied.path.clone(),
                protection: Protection::Denied,
                presence: presence(denied.entry.as_ref()),
                origin: origin.clone(),
            }));
        }
        protected.sort_by(|a, b| (&a.path, a.protection).cmp(&(&b.path, b.protection)));
        protected.dedup_by(|a, b| a.path == b.path && a.protection == b.protection);
        self.protect(&protected, Protection::Guarded, Operations::WRITING);
        self.pins(&protected);
        self.pin_links();
        self.protect(&protected, Protection::Denied, Operations::ALL);
        protected
    }

    fn protect(&mut self, protected: &[Protected], protection: Protection, operations: Operations) {
        for entry in protected.iter().filter(|entry| entry.protection == protection) {
            self.rule(Effect::Deny, operations, Scope::Subtree, &entry.path, entry.origin.clone());
        }
    }

    fn read_only_in_writable(&self) -> Vec<Protected> {
        let usable = self.binding.usable_roots(self.policy);
        let writable = |path: &Utf8Path| {
            usable.iter().any(|&(at, outer, _)| {
                self.policy.roots[at].access == Access::ReadWrite && outer != path && path.starts_with(outer)
            })
        };
        usable
            .iter()
            .filter(|&&(at, path, _)| self.policy.roots[at].access == Access::ReadOnly && writable(path))
            .map(|&(at, path, entry)| Protected {
                path: path.to_path_buf(),
                protection: Protection::ReadOnly,
                presence: presence(Some(entry)),
                origin: self.statement(OriginKind::Root, self.policy.roots[at].span),
            })
            .collect()
    }

    /// Every directory between a writable place and a protected path stays where it is: moving it would take the path from under its rule.
    fn pins(&mut self, protected: &[Protected]) {
        let writable: Vec<Utf8PathBuf> = self
            .rules
            .iter()
            .filter(|rule| {
                rule.effect == Effect::Allow
                    && rule.scope == Scope::Subtree
                    && matches!(rule.origin.kind, OriginKind::Root | OriginKind::Worktree)
                    && rule.operations.contains(Operation::Remove)
            })
            .map(|rule| rule.path.clone())
            .collect();
        let mut pins: BTreeMap<Utf8PathBuf, Utf8PathBuf> = BTreeMap::new();
        // On Linux a place where programs may run is a mount, which would take that with it.
        let linux = self.policy.target == System::Linux;
        let executables =
            self.rules.iter().filter(|rule| linux && rule.origin.kind == OriginKind::Executable);
        let held = protected.iter().map(|entry| &entry.path).chain(executables.map(|rule| &rule.path));
        for held in held {
            let inside = |path: &Utf8Path| writable.iter().any(|top| path != top && path.starts_with(top));
            for ancestor in held.ancestors().skip(1).take_while(|ancestor| inside(ancestor)) {
                pins.entry(ancestor.to_path_buf()).or_insert_with(|| held.clone());
            }
        }
        for (path, holds) in pins {
            let text = format!("holds {holds}");
            let origin = Origin { kind: OriginKind::Pin, text, span: None };
            self.rule(Effect::Deny, Operations::MOVING, Scope::Literal, &path, origin);
        }
    }

    /// A symlink that the plan rests on and that the command could replace is kept as it is, and where it is.
    fn pin_links(&mut self) {
        let mut pins: BTreeMap<Utf8PathBuf, (Operations, String)> = BTreeMap::new();
        let mut pin = |path: &Utf8Path, operations: Operations, text: String| {
            let pinned = pins.entry(path.to_path_buf()).or_insert((Operations::NONE, text));
            pinned.0 = pinned.0.union(operations);
        };
        let writable = |path: &Utf8Path| self.binding.is_writable(self.policy, path);
        for Hop { link, .. } in self.links.iter().filter(|hop| writable(&hop.link)) {
            pin(link, Operations::WRITING, "a link that the plan rests on".into());
            for ancestor in link.ancestors().skip(1).take_while(|ancestor| writable(ancestor)) {
                pin(ancestor, Operations::MOVING, format!("holds {link}"));
            }
        }
        for (path, (operations, text)) in pins {
            let origin = Origin { kind: OriginKind::Pin, text, span: None };
            self.rule(Effect::Deny, operations, Scope::Literal, &path, origin);
        }
    }
}

fn presence(entry: Option<&Entry>) -> Presence {
    match entry.map(|entry| &entry.kind) {
        None => Presence::Missing,
        Some(Kind::File) => Presence::File,
        Some(Kind::Directory) => Presence::Directory,
        Some(_) => Presence::Special,
    }
}
