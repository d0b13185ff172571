//! Many questions about many paths: rules are found by the path they name, and matched once for each place.

use super::matching::{Match, filter as match_filter, rule as match_rule};
use super::{Asked, Decision, Engine, PathCase, Subject, paths};
use crate::sbpl::Profile;
use crate::sbpl::rule::{Filter, Rule, Test};
use crate::sbpl::vocabulary::{Form, Operation};
use std::borrow::Cow;
use std::collections::HashMap;

/// The rules of a profile by the paths they name. Decides what [`Profile::decide`] decides; a question costs as many look-ups as the
/// path has components, however many rules name other paths.
pub struct Places<'a> {
    profile: &'a Profile,
    whole: Named<'a>,
    below: Named<'a>,
    /// Rules that say more than which path they are about.
    rest: Vec<usize>,
}

/// Filters by the key of the path they name, each with its rule.
type Named<'a> = HashMap<Vec<u8>, Vec<(usize, &'a Filter)>>;

/// One subject, and the rules that may speak of it.
pub struct Place<'a> {
    profile: &'a Profile,
    /// In order, those that do not match left out.
    rules: Vec<(usize, Match)>,
    targets_itself: Match,
}

impl<'a> Places<'a> {
    pub fn new(profile: &'a Profile) -> Self {
        let mut places = Self { profile, whole: HashMap::new(), below: HashMap::new(), rest: Vec::new() };
        for (at, rule) in profile.rules.iter().enumerate() {
            match named(rule, profile.case) {
                Some(named) => {
                    for (form, key, filter) in named {
                        let map = if form == Form::Whole { &mut places.whole } else { &mut places.below };
                        map.entry(key).or_default().push((at, filter));
                    }
                }
                None => places.rest.push(at),
            }
        }
        places
    }

    /// The rules that may speak of a subject.
    pub fn at(&self, subject: &Subject) -> Place<'a> {
        let profile = self.profile;
        let mut rules: Vec<(usize, Match)> = Vec::new();
        let mut whole = |at: usize| {
            let matched =
                profile.rules.get(at).map_or(Match::No, |rule| match_rule(rule, subject, profile.case));
            rules.push((at, matched));
        };
        match subject.as_path().filter(|path| is_plain(path)) {
            Some(path) => {
                self.rest.iter().for_each(|at| whole(*at));
                let key = paths::key(path, profile.case);
                let around = above(&key).filter_map(|path| self.below.get(path));
                for (at, filter) in self.whole.get(&key).into_iter().chain(around).flatten() {
                    let mut matched = match_filter(filter, subject, profile.case);
                    if profile.rules.get(*at).is_some_and(|rule| rule.condition.is_some()) {
                        matched = matched.min(Match::Perhaps);
                    }
                    rules.push((*at, matched));
                }
            }
            None => (0..profile.rules.len()).for_each(whole),
        }
        rules.retain(|(_, matched)| *matched != Match::No);
        // One of a rule's filters is enough, and the best of them says how well.
        rules.sort_unstable_by(|a, b| (a.0, b.1).cmp(&(b.0, a.1)));
        rules.dedup_by_key(|(at, _)| *at);
        Place { profile, rules, targets_itself: subject.targets_itself() }
    }
}

impl Place<'_> {
    /// As [`Profile::decide`].
    pub fn decide(&self, operation: Operation, engine: Engine) -> Decision {
        let rules_for = |node: Operation| {
            let own = self.rules.iter().filter(|(at, _)| self.profile.speaks(*at, node));
            Cow::Owned(own.map(|(at, _)| *at).collect())
        };
        let matched = |index: usize| {
            let found = self.rules.binary_search_by_key(&index, |(at, _)| *at).ok();
            found.and_then(|at| self.rules.get(at)).map_or(Match::No, |(_, matched)| *matched)
        };
        let asked = Asked { profile: self.profile, rules_for: &rules_for, matched: &matched };
        asked.decide(operation, engine, self.targets_itself)
    }
}

/// The paths that a rule names, where it says nothing else of what it is about.
fn named(rule: &Rule, case: PathCase) -> Option<Vec<(Form, Vec<u8>, &Filter)>> {
    if rule.filters.is_empty() {
        return None;
    }
    let mut named = Vec::new();
    rule.filters.iter().all(|filter| name(filter, case, &mut named)).then_some(named)
}

fn name<'a>(filter: &'a Filter, case: PathCase, named: &mut Vec<(Form, Vec<u8>, &'a Filter)>) -> bool {
    match &filter.test {
        Test::Any(filters) => filters.iter().all(|filter| name(filter, case, named)),
        Test::Text { attribute, form: form @ (Form::Whole | Form::Subpath), value }
            if attribute.name == "path" =>
        {
            match value.bytes().filter(|path| is_plain(path)) {
                Some(path) => {
                    named.push((*form, paths::key(path, case), filter));
                    true
                }
                None => false,
            }
        }
        _ => false,
    }
}

/// Absolute, without empty components and without a slash at the end.
fn is_plain(path: &[u8]) -> bool {
    path == b"/"
        || (path.starts_with(b"/") && !path.ends_with(b"/") && !path.windows(2).any(|two| two == b"//"))
}

/// A path and everything it lies in, up to `/`.
fn above(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::successors(Some(path), |path| match path.iter().rposition(|byte| *byte == b'/') {
        Some(0) if path.len() > 1 => Some(&path[..1]),
        Some(0) | None => None,
        Some(at) => Some(&path[..at]),
    })
}
