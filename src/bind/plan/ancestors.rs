//! The way to what is granted: a program looks at every directory on its way (getcwd, realpath, loaders), so each may be
//! seen, and on Linux listed, where only what is granted shows.

use super::{Builder, SEEN};
use crate::plan::{Decider, Effect, Operation, Operations, Origin, OriginKind, Rule, Scope, Spelling};
use crate::policy::System;
use camino::{Utf8Path, Utf8PathBuf};
use std::collections::BTreeMap;

impl Builder<'_> {
    /// Adds a rule for every ancestor of a grant that no rule allows to be seen yet. They are put where their kind
    /// belongs, before everything that could be denied there.
    pub(super) fn ancestors(&mut self, scratch: &Utf8Path) {
        let decider = Decider::new(&self.rules, Spelling::Exact);
        let seen = if self.policy.target == System::Macos { SEEN } else { Operations::READING };
        let mut ways: BTreeMap<Utf8PathBuf, (Operations, String)> = BTreeMap::new();
        let mut note = |path: &Utf8Path, is_link: bool, purpose: &str| {
            for (at, ancestor) in path.ancestors().enumerate().skip(usize::from(!is_link)) {
                // Following a link is reading what it says.
                let (asked, operations) = if at == 0 {
                    (Operation::Read, Operations::READING)
                } else {
                    (Operation::Metadata, seen)
                };
                if !decider.decide(asked, ancestor).allowed {
                    let way = ways.entry(ancestor.to_path_buf());
                    let way = way.or_insert_with(|| (operations, format!("the way to {purpose}")));
                    way.0 = way.0.union(operations);
                }
            }
        };
        for rule in self.rules.iter().filter(|rule| rule.effect == Effect::Allow) {
            note(&rule.path, false, rule.path.as_str());
        }
        for hop in &self.links {
            note(&hop.link, true, hop.target.as_str());
        }
        let origin = |text: String| Origin { kind: OriginKind::Ancestor, text, span: None };
        let mut added: Vec<Rule> = self.closed_in_scratch(scratch, origin);
        added.extend(ways.into_iter().filter(|(path, _)| path != "/").map(|(path, (operations, text))| {
            Rule { effect: Effect::Allow, operations, scope: Scope::Literal, path, origin: origin(text) }
        }));
        let at = self.rules.partition_point(|rule| rule.origin.kind <= OriginKind::Scratch);
        self.rules.splice(at..at, added);
    }

    /// A root below the scratch directory's own path (`/tmp/x`): what leads to it there is no place to write.
    fn closed_in_scratch(&self, scratch: &Utf8Path, origin: impl Fn(String) -> Origin) -> Vec<Rule> {
        let mut closed: BTreeMap<Utf8PathBuf, Utf8PathBuf> = BTreeMap::new();
        for rule in self.rules.iter().filter(|rule| rule.effect == Effect::Allow) {
            let Ok(below) = rule.path.strip_prefix(scratch) else { continue };
            let Some(first) = below.components().next() else { continue };
            closed.entry(scratch.join(first)).or_insert_with(|| rule.path.clone());
        }
        closed
            .into_iter()
            .map(|(path, holds)| Rule {
                effect: Effect::Deny,
                operations: Operations::WRITING,
                scope: Scope::Subtree,
                path,
                origin: origin(format!("the way to {holds}")),
            })
            .collect()
    }
}
