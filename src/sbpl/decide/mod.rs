//! In: an evaluated profile, an operation, a subject. Out: allowed, denied or unknown, the rules that decide, and why.
//! Two engines: the one that measurements support, and a naive one that only serves to compare.

mod matching;
mod order;
mod paths;
mod places;
pub mod regex;
pub mod samples;
mod subject;

pub use matching::{Match, filter as match_filter, port_number, rule as match_rule, split_address};
pub use order::Engine;
pub use paths::PathCase;
pub use places::{Place, Places};
pub use samples::Sample;
pub use subject::{Address, Fact, Family, Subject, Transport};

use super::Profile;
use super::rule::Effect;
use super::vocabulary::{Builtin, Operation};
use order::RulesFor;
use std::borrow::Cow;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    Allow,
    Deny,
    /// Something that is not known here decides.
    Unknown,
}

/// What decides, or may decide.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decider {
    /// A rule, by its place in [`Profile::rules`], written for this operation.
    Rule { index: usize, operation: Operation },
    /// An import that was not read, by its place in [`Profile::opaque`].
    Import { index: usize, operation: Operation },
    /// What the kernel does of itself.
    Builtin { operation: Operation, builtin: Builtin },
    /// The kernel's own allowance for a process that signals itself.
    SelfSignal,
}

/// A verdict and where it comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    pub verdict: Verdict,
    /// What decides for certain, where anything does: what would, if none of `perhaps` did.
    pub certain: Option<Decider>,
    /// What would decide before it if it applied, which is not known; first things first.
    pub perhaps: Vec<Decider>,
}

impl Decision {
    /// The rule that decides for certain.
    pub fn rule(&self) -> Option<usize> {
        match self.certain {
            Some(Decider::Rule { index, .. }) if self.verdict != Verdict::Unknown => Some(index),
            _ => None,
        }
    }
}

/// At most so many that may decide are named.
const MAX_PERHAPS: usize = 16;

/// Decides.
pub(super) fn decide(profile: &Profile, operation: Operation, subject: &Subject, engine: Engine) -> Decision {
    let matched = |index: usize| {
        profile.rules.get(index).map_or(Match::No, |rule| match_rule(rule, subject, profile.case))
    };
    let asked =
        Asked { profile, rules_for: &|node| Cow::Borrowed(profile.rules_for(node)), matched: &matched };
    asked.decide(operation, engine, subject.targets_itself())
}

/// What holds where no filter matches: rules without one, and the kernel.
pub(super) fn fallback(profile: &Profile, operation: Operation) -> Decision {
    let matched = |index: usize| match profile.rules.get(index) {
        Some(rule) if rule.filters.is_empty() => match_rule(rule, &Subject::any(), profile.case),
        _ => Match::No,
    };
    let asked =
        Asked { profile, rules_for: &|node| Cow::Borrowed(profile.rules_for(node)), matched: &matched };
    asked.decide(operation, Engine::PerOperation, Match::No)
}

/// The rules that are asked, and how each is found to match.
struct Asked<'a> {
    profile: &'a Profile,
    rules_for: RulesFor<'a>,
    matched: &'a dyn Fn(usize) -> Match,
}

impl Asked<'_> {
    fn decide(&self, operation: Operation, engine: Engine, targets_itself: Match) -> Decision {
        let mut perhaps = Vec::new();
        // Whether something may allow, and may deny.
        let mut possible = [false; 2];
        let mut certain = None;
        order::candidates(self.profile, self.rules_for, operation, engine, &mut |decider| {
            let (matched, effects) = self.judge(decider, targets_itself);
            if matched == Match::No {
                return false;
            }
            for effect in effects {
                possible[usize::from(*effect == Effect::Deny)] = true;
            }
            if matched == Match::Yes {
                certain = Some(decider);
            } else if perhaps.len() < MAX_PERHAPS {
                perhaps.push(decider);
            }
            // Once both are possible nothing behind can change the verdict, but it can still say what would hold otherwise.
            matched == Match::Yes
        });
        let verdict = match possible {
            [true, false] => Verdict::Allow,
            [false, true] => Verdict::Deny,
            _ => Verdict::Unknown,
        };
        Decision { verdict, certain, perhaps }
    }

    /// Whether a candidate applies, and what it may then say.
    fn judge(&self, decider: Decider, targets_itself: Match) -> (Match, &'static [Effect]) {
        const BOTH: &[Effect] = &[Effect::Allow, Effect::Deny];
        match decider {
            Decider::Rule { index, .. } => match self.profile.rules.get(index) {
                Some(rule) => ((self.matched)(index), one(rule.effect)),
                None => (Match::No, BOTH),
            },
            Decider::Import { .. } => (Match::Perhaps, BOTH),
            Decider::Builtin { builtin: Builtin::Allow, .. } => (Match::Yes, one(Effect::Allow)),
            Decider::Builtin { builtin: Builtin::Deny, .. } => (Match::Yes, one(Effect::Deny)),
            Decider::Builtin { .. } => (Match::Yes, BOTH),
            Decider::SelfSignal => (targets_itself, one(Effect::Allow)),
        }
    }
}

fn one(effect: Effect) -> &'static [Effect] {
    match effect {
        Effect::Allow => &[Effect::Allow],
        Effect::Deny => &[Effect::Deny],
    }
}
