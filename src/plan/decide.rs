//! The one decision function. `why`, `expect`, lint, emission and the Linux walls all ask it, and nothing else decides access.
//!
//! Rules are an ordered list: of those that speak of the operation and hold the path, the last one decides; where
//! none does, the answer is no. Binding puts them in the order that makes this the precedence of the language.

use super::operation::{Operation, Operations};
use super::rule::{Effect, Rule, Scope};
use crate::host::fold;
use camino::Utf8Path;
use std::borrow::Cow;
use std::collections::HashMap;

/// How names are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spelling {
    /// Byte by byte, as Linux file systems do.
    Exact,
    /// Case and Unicode normalisation folded, as APFS does by default. Grants go by the exact spelling all the same: only what
    /// takes access away is widened to other spellings, so that a mistake here can only deny too much.
    Folded,
}

/// An answer and the rule it rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decision<'a> {
    pub allowed: bool,
    /// `None` where no rule speaks of the path: the default is to deny.
    pub rule: Option<&'a Rule>,
}

/// The rules of one plan, indexed by path: a question costs as many look-ups as the path has components, however
/// many rules there are.
pub struct Decider<'a> {
    rules: &'a [Rule],
    exact: Index<'a>,
    /// Only where spellings are folded: the denials, by their folded paths.
    folded: Option<Index<'a>>,
}

/// Rule numbers by path. Keys are text: canonical paths have one spelling, and text is compared much faster than paths are.
#[derive(Default)]
struct Index<'a> {
    literal: HashMap<Cow<'a, str>, Vec<u32>>,
    subtree: HashMap<Cow<'a, str>, Vec<u32>>,
}

impl<'a> Index<'a> {
    fn add(&mut self, scope: Scope, path: Cow<'a, str>, rule: u32) {
        let map = match scope {
            Scope::Literal => &mut self.literal,
            Scope::Subtree => &mut self.subtree,
        };
        map.entry(path).or_default().push(rule);
    }

    /// Raises `last` by the rules for the path itself, where `itself` is asked for, and by those for what holds it.
    fn raise(&self, rules: &[Rule], last: &mut Last, path: &str, itself: bool) {
        let own = self.literal.get(path).filter(|_| itself);
        let around = ancestors(path).filter_map(|ancestor| self.subtree.get(ancestor));
        for &at in own.into_iter().chain(around).flatten() {
            for operation in rules[at as usize].operations.iter() {
                let last = &mut last[operation as usize];
                *last = (*last).max(Some(at));
            }
        }
    }
}

/// For each operation, the last rule that speaks of it.
type Last = [Option<u32>; Operation::ALL.len()];

/// A path and everything it lies in, up to `/`.
fn ancestors(path: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(path), |path| match path.rfind('/') {
        Some(0) if path.len() > 1 => Some("/"),
        Some(0) | None => None,
        Some(at) => Some(&path[..at]),
    })
}

impl<'a> Decider<'a> {
    pub fn new(rules: &'a [Rule], spelling: Spelling) -> Self {
        let mut exact = Index::default();
        let mut folded = (spelling == Spelling::Folded).then(Index::default);
        for (at, rule) in (0..).zip(rules) {
            match &mut folded {
                Some(folded) if rule.effect == Effect::Deny => {
                    folded.add(rule.scope, Cow::Owned(fold(&rule.path).into_string()), at);
                }
                _ => exact.add(rule.scope, Cow::Borrowed(rule.path.as_str()), at),
            }
        }
        Self { rules, exact, folded }
    }

    /// Whether `operation` on `path` (canonical) is allowed, and by what.
    pub fn decide(&self, operation: Operation, path: &Utf8Path) -> Decision<'a> {
        self.answer(self.last(path, true)[operation as usize])
    }

    /// The same for a path below `directory` that no rule names: what holds for its contents in general.
    pub fn decide_below(&self, operation: Operation, directory: &Utf8Path) -> Decision<'a> {
        self.answer(self.last(directory, false)[operation as usize])
    }

    /// What is decided for each operation on a path, in the order of [`Operation::ALL`].
    pub fn decide_all(&self, path: &Utf8Path) -> [Decision<'a>; Operation::ALL.len()] {
        self.last(path, true).map(|last| self.answer(last))
    }

    /// The same for a path below `directory` that no rule names.
    pub fn decide_all_below(&self, directory: &Utf8Path) -> [Decision<'a>; Operation::ALL.len()] {
        self.last(directory, false).map(|last| self.answer(last))
    }

    /// Every operation allowed on a path.
    pub fn allowed(&self, path: &Utf8Path) -> Operations {
        self.answers(self.last(path, true))
    }

    /// Every operation allowed on what lies below a directory and is named by no rule.
    pub fn allowed_below(&self, directory: &Utf8Path) -> Operations {
        self.answers(self.last(directory, false))
    }

    pub fn rules(&self) -> &'a [Rule] {
        self.rules
    }

    fn last(&self, path: &Utf8Path, itself: bool) -> Last {
        let mut last = Last::default();
        self.exact.raise(self.rules, &mut last, path.as_str(), itself);
        if let Some(folded) = &self.folded {
            folded.raise(self.rules, &mut last, fold(path).as_str(), itself);
        }
        last
    }

    fn answer(&self, last: Option<u32>) -> Decision<'a> {
        let rule = last.map(|at| &self.rules[at as usize]);
        Decision { allowed: rule.is_some_and(|rule| rule.effect == Effect::Allow), rule }
    }

    fn answers(&self, last: Last) -> Operations {
        let allowed = Operation::ALL.into_iter().zip(last).filter(|(_, last)| self.answer(*last).allowed);
        allowed.fold(Operations::NONE, |set, (operation, _)| set.union(Operations::of(&[operation])))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::rule::{Origin, OriginKind};
    use camino::Utf8PathBuf;
    use proptest::prelude::*;

    fn rule(effect: Effect, operations: Operations, scope: Scope, path: &str) -> Rule {
        Rule {
            effect,
            operations,
            scope,
            path: path.into(),
            origin: Origin { kind: OriginKind::System, text: String::new(), span: None },
        }
    }

    #[test]
    fn the_last_rule_that_speaks_of_it_decides() {
        let rules = [
            rule(Effect::Allow, Operations::ALL, Scope::Subtree, "/w"),
            rule(Effect::Deny, Operations::WRITING, Scope::Subtree, "/w/vendor"),
            rule(Effect::Deny, Operations::ALL, Scope::Literal, "/w/.env"),
        ];
        let decider = Decider::new(&rules, Spelling::Exact);
        assert!(decider.decide(Operation::Write, "/w/a".into()).allowed);
        assert!(decider.decide(Operation::Read, "/w/vendor/x".into()).allowed);
        assert!(!decider.decide(Operation::Create, "/w/vendor/x".into()).allowed);
        assert_eq!(decider.decide(Operation::Read, "/w/.env".into()).rule, Some(&rules[2]));
        assert!(decider.decide(Operation::Read, "/w/.env2".into()).allowed);
        assert!(!decider.decide(Operation::Read, "/wx".into()).allowed);
        assert!(!decider.decide_below(Operation::Write, "/w/vendor".into()).allowed);
    }

    #[test]
    fn folding_widens_denials_and_never_grants() {
        let rules = [
            rule(Effect::Allow, Operations::ALL, Scope::Subtree, "/w"),
            rule(Effect::Deny, Operations::ALL, Scope::Subtree, "/w/Caf\u{e9}"),
        ];
        let decider = Decider::new(&rules, Spelling::Folded);
        assert!(!decider.decide(Operation::Read, "/w/CAFE\u{301}/x".into()).allowed);
        assert!(!decider.decide(Operation::Read, "/W/a".into()).allowed);
        assert!(decider.decide(Operation::Read, "/w/cafe".into()).allowed);
    }

    fn any_rule() -> impl Strategy<Value = Rule> {
        let path = proptest::collection::vec("[ab]", 0..4).prop_map(|parts| format!("/{}", parts.join("/")));
        (any::<bool>(), 1u16..1024, any::<bool>(), path).prop_map(|(allow, bits, literal, path)| {
            let operations = Operation::ALL
                .into_iter()
                .filter(|&operation| bits & (1 << operation as u16) != 0)
                .fold(Operations::NONE, |set, operation| set.union(Operations::of(&[operation])));
            let effect = if allow { Effect::Allow } else { Effect::Deny };
            rule(effect, operations, if literal { Scope::Literal } else { Scope::Subtree }, &path)
        })
    }

    proptest! {
        /// The index gives what a plain reading of the list gives.
        #[test]
        fn the_index_agrees_with_the_list(
            rules in proptest::collection::vec(any_rule(), 0..12),
            parts in proptest::collection::vec("[ab]", 0..5),
        ) {
            let path = Utf8PathBuf::from(format!("/{}", parts.join("/")));
            let decider = Decider::new(&rules, Spelling::Exact);
            for operation in Operation::ALL {
                let plain = rules.iter().rev().find(|rule| {
                    rule.operations.contains(operation) && match rule.scope {
                        Scope::Literal => rule.path == path,
                        Scope::Subtree => path.starts_with(&rule.path),
                    }
                });
                prop_assert_eq!(decider.decide(operation, &path).rule, plain);
            }
        }
    }
}
