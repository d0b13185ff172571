//! In which order rules are asked. The first that applies decides.

use super::Decider;
use crate::sbpl::Profile;
use crate::sbpl::vocabulary::{Builtin, Operation};
use std::borrow::Cow;

/// The rules written for exactly an operation, by their place in [`Profile::rules`], in order: all of them, or those that may match.
pub(super) type RulesFor<'a> = &'a dyn Fn(Operation) -> Cow<'a, [usize]>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Engine {
    /// What published measurements on macOS show: an operation's own filtered rules, the last first; then its unfiltered one; then what
    /// the kernel does of itself; then the same for its parent.
    PerOperation,
    /// Every rule for the operation or one above it, the last first, filtered or not. Nothing works like this; a profile that means the
    /// same under both hangs on no theory of precedence.
    LastMatch,
}

/// Calls `ask` for one candidate after the other until it says that one has decided.
pub(super) fn candidates(
    profile: &Profile,
    rules_for: RulesFor<'_>,
    operation: Operation,
    engine: Engine,
    ask: &mut dyn FnMut(Decider) -> bool,
) {
    match engine {
        Engine::PerOperation => {
            for node in operation.ancestry() {
                if own(profile, &rules_for(node), node, ask) {
                    return;
                }
                if node.name() == "signal" && ask(Decider::SelfSignal) {
                    return;
                }
                if builtin(node, ask) {
                    return;
                }
            }
        }
        Engine::LastMatch => last_match(profile, rules_for, operation, ask),
    }
}

/// What the kernel does of itself, where it does not ask the parent.
fn builtin(operation: Operation, ask: &mut dyn FnMut(Decider) -> bool) -> bool {
    match operation.builtin() {
        Builtin::Inherit => false,
        builtin => ask(Decider::Builtin { operation, builtin }),
    }
}

/// The rules written for exactly this operation: filtered ones, then unfiltered ones. An import that was not read may hold rules of
/// both kinds.
fn own(
    profile: &Profile,
    rules: &[usize],
    operation: Operation,
    ask: &mut dyn FnMut(Decider) -> bool,
) -> bool {
    for filtered in [true, false] {
        let mut imports = profile.opaque.iter().enumerate().rev().peekable();
        for &index in rules.iter().rev() {
            // Imports that stand behind the rule.
            while let Some((import, _)) = imports.next_if(|(_, import)| import.before > index) {
                if ask(Decider::Import { index: import, operation }) {
                    return true;
                }
            }
            let is_filtered = profile.rules.get(index).is_some_and(|rule| !rule.filters.is_empty());
            if is_filtered == filtered && ask(Decider::Rule { index, operation }) {
                return true;
            }
        }
        for (import, _) in imports {
            if ask(Decider::Import { index: import, operation }) {
                return true;
            }
        }
    }
    false
}

fn last_match(
    profile: &Profile,
    rules_for: RulesFor<'_>,
    operation: Operation,
    ask: &mut dyn FnMut(Decider) -> bool,
) {
    let ancestry: Vec<Operation> = operation.ancestry().collect();
    let own: Vec<Cow<'_, [usize]>> = ancestry.iter().map(|node| rules_for(*node)).collect();
    // Each list is in order; together they are merged from their ends.
    let mut lists: Vec<(Operation, &[usize])> =
        ancestry.iter().copied().zip(own.iter().map(|rules| &**rules)).collect();
    let mut imports = profile.opaque.iter().enumerate().rev().peekable();
    while let Some((node, rules)) = lists.iter_mut().max_by_key(|(_, rules)| rules.last().copied()) {
        let Some((&index, rest)) = rules.split_last() else { break };
        *rules = rest;
        while let Some((import, _)) = imports.next_if(|(_, import)| import.before > index) {
            if ask(Decider::Import { index: import, operation }) {
                return;
            }
        }
        if ask(Decider::Rule { index, operation: *node }) {
            return;
        }
    }
    for (import, _) in imports {
        if ask(Decider::Import { index: import, operation }) {
            return;
        }
    }
    ancestry.iter().any(|node| builtin(*node, ask));
}
