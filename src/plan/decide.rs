//! The one decision function. `why`, `expect`, lint, emission and the Linux walls all ask it, and nothing else decides access.
//!
//! Rules are an ordered list: of those that speak of the operation and hold the path, the last one decides; where
//! none does, the answer is no. Binding puts them in the order that makes this the precedence of the language.

use super::operation::{Operation, Operations};
use super::rule::{Effect, Rule, Scope};
use camino::{Utf8Path, Utf8PathBuf};
use std::borrow::Cow;
use std::collections::HashMap;
use unicode_normalization::UnicodeNormalization;

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
    spelling: Spelling,
    literal: HashMap<Cow<'a, str>, Vec<u32>>,
    subtree: HashMap<Cow<'a, str>, Vec<u32>>,
    folded_literal: HashMap<Cow<'a, str>, Vec<u32>>,
    folded_subtree: HashMap<Cow<'a, str>, Vec<u32>>,
}

impl<'a> Decider<'a> {
    pub fn new(rules: &'a [Rule], spelling: Spelling) -> Self {
        let mut decider = Self {
            rules,
            spelling,
            literal: HashMap::new(),
            subtree: HashMap::new(),
            folded_literal: HashMap::new(),
            folded_subtree: HashMap::new(),
        };
        for (at, rule) in rules.iter().enumerate() {
            let at = at as u32;
            let folded = spelling == Spelling::Folded && rule.effect == Effect::Deny;
            let key = if folded {
                Cow::Owned(fold(&rule.path).into_string())
            } else {
                Cow::Borrowed(rule.path.as_str())
            };
            let map = match (rule.scope, folded) {
                (Scope::Literal, false) => &mut decider.literal,
                (Scope::Subtree, false) => &mut decider.subtree,
                (Scope::Literal, true) => &mut decider.folded_literal,
                (Scope::Subtree, true) => &mut decider.folded_subtree,
            };
            map.entry(key).or_default().push(at);
        }
        decider
    }

    /// Whether `operation` on `path` (canonical) is allowed, and by what.
    pub fn decide(&self, operation: Operation, path: &Utf8Path) -> Decision<'a> {
        let mut last = None;
        self.note(&mut last, self.literal.get(path.as_str()), operation);
        for ancestor in ancestors(path) {
            self.note(&mut last, self.subtree.get(ancestor), operation);
        }
        if self.spelling == Spelling::Folded {
            let folded = fold(path);
            self.note(&mut last, self.folded_literal.get(folded.as_str()), operation);
            for ancestor in ancestors(&folded) {
                self.note(&mut last, self.folded_subtree.get(ancestor), operation);
            }
        }
        self.answer(last)
    }

    /// The same for a path below `directory` that no rule names: what holds for its contents in general.
    pub fn decide_below(&self, operation: Operation, directory: &Utf8Path) -> Decision<'a> {
        let mut last = None;
        for ancestor in ancestors(directory) {
            self.note(&mut last, self.subtree.get(ancestor), operation);
        }
        if self.spelling == Spelling::Folded {
            let folded = fold(directory);
            for ancestor in ancestors(&folded) {
                self.note(&mut last, self.folded_subtree.get(ancestor), operation);
            }
        }
        self.answer(last)
    }

    /// Every operation allowed on a path.
    pub fn allowed(&self, path: &Utf8Path) -> Operations {
        let folded = self.folded(path);
        let mut last = [None; Operation::ALL.len()];
        self.note_all(&mut last, self.literal.get(path.as_str()));
        self.note_all(&mut last, folded.as_deref().and_then(|path| self.folded_literal.get(path.as_str())));
        self.allowed_by(last, path, folded.as_deref())
    }

    /// Every operation allowed on what lies below a directory and is named by no rule.
    pub fn allowed_below(&self, directory: &Utf8Path) -> Operations {
        let folded = self.folded(directory);
        self.allowed_by([None; Operation::ALL.len()], directory, folded.as_deref())
    }

    pub fn rules(&self) -> &'a [Rule] {
        self.rules
    }

    fn note(&self, last: &mut Option<u32>, candidates: Option<&Vec<u32>>, operation: Operation) {
        let found = candidates
            .into_iter()
            .flatten()
            .rev()
            .find(|&&at| self.rules[at as usize].operations.contains(operation));
        *last = (*last).max(found.copied());
    }

    fn folded(&self, path: &Utf8Path) -> Option<Utf8PathBuf> {
        (self.spelling == Spelling::Folded).then(|| fold(path))
    }

    /// The look-ups for all operations at once, the subtree rules added to what `last` holds already.
    fn allowed_by(
        &self,
        mut last: [Option<u32>; Operation::ALL.len()],
        path: &Utf8Path,
        folded: Option<&Utf8Path>,
    ) -> Operations {
        for ancestor in ancestors(path) {
            self.note_all(&mut last, self.subtree.get(ancestor));
        }
        for ancestor in folded.into_iter().flat_map(ancestors) {
            self.note_all(&mut last, self.folded_subtree.get(ancestor));
        }
        let allowed = Operation::ALL.into_iter().zip(last).filter(|(_, last)| self.answer(*last).allowed);
        allowed.fold(Operations::NONE, |set, (operation, _)| set.union(Operations::of(&[operation])))
    }

    fn note_all(&self, last: &mut [Option<u32>; Operation::ALL.len()], candidates: Option<&Vec<u32>>) {
        for &at in candidates.into_iter().flatten() {
            for operation in self.rules[at as usize].operations.iter() {
                let last = &mut last[operation as usize];
                *last = (*last).max(Some(at));
            }
        }
    }

    fn answer(&self, last: Option<u32>) -> Decision<'a> {
        let rule = last.map(|at| &self.rules[at as usize]);
        Decision { allowed: rule.is_some_and(|rule| rule.effect == Effect::Allow), rule }
    }
}

/// A canonical path and everything above it, as text: comparing and hashing a path part by part takes several times as long.
fn ancestors(path: &Utf8Path) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(path.as_str()), |path| match path.rfind('/') {
        Some(0) if path.len() > 1 => Some("/"),
        Some(0) | None => None,
        Some(at) => path.get(..at),
    })
}

/// One spelling for all that a case- and normalisation-insensitive disk takes for the same.
pub fn fold(path: &Utf8Path) -> Utf8PathBuf {
    Utf8PathBuf::from(path.as_str().nfd().flat_map(char::to_lowercase).nfd().collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::rule::{Origin, OriginKind};
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

        /// All operations at once give what one at a time gives.
        #[test]
        fn the_sets_agree_with_the_single_answers(
            rules in proptest::collection::vec(any_rule(), 0..12),
            parts in proptest::collection::vec("[aAb]", 0..5),
            folded in any::<bool>(),
        ) {
            let path = Utf8PathBuf::from(format!("/{}", parts.join("/")));
            let decider = Decider::new(&rules, if folded { Spelling::Folded } else { Spelling::Exact });
            let (own, below) = (decider.allowed(&path), decider.allowed_below(&path));
            for operation in Operation::ALL {
                prop_assert_eq!(own.contains(operation), decider.decide(operation, &path).allowed);
                prop_assert_eq!(below.contains(operation), decider.decide_below(operation, &path).allowed);
            }
        }
    }
}
