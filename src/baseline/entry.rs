//! What a baseline knows of findings that are alike.

use super::{Ground, key, may_hold};
use crate::report::{Found, Run};
use crate::source::Span;
use std::collections::{BTreeMap, BTreeSet};

/// Findings of one rule with the same words at the same statement of the same file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub rule: String,
    /// The profiles that it was found in, relative to the baseline.
    pub profiles: BTreeSet<String>,
    /// The file that it stands in, where that is no profile.
    pub file: Option<String>,
    /// The machines that it was found on.
    pub machines: BTreeSet<String>,
    /// The workspaces that it was found in, relative to the baseline where they are on this machine.
    pub workspaces: BTreeSet<String>,
    pub message: String,
    /// How many are alike.
    pub count: usize,
    pub fingerprint: String,
    /// Where it stands in the baseline that it was read from.
    pub span: Option<Span>,
}

/// The entries for what is found in a run, as far as it is `wanted`, sorted.
pub fn of_run(run: &Run, ground: &Ground<'_>, wanted: &dyn Fn(&Found) -> bool) -> Vec<Entry> {
    let mut keys = key::Keys::new(run, ground);
    let mut entries: BTreeMap<String, Entry> = BTreeMap::new();
    for found in run.findings.iter().filter(|found| wanted(found) && may_hold(&found.finding)) {
        let new = keys.entry(found);
        match entries.get_mut(&new.fingerprint) {
            Some(old) => {
                old.count += 1;
                old.profiles.extend(new.profiles);
                old.machines.extend(new.machines);
                old.workspaces.extend(new.workspaces);
            }
            None => drop(entries.insert(new.fingerprint.clone(), new)),
        }
    }
    let mut entries: Vec<Entry> = entries.into_values().collect();
    entries.sort_by(|a, b| {
        let key = |it: &Entry| {
            (
                it.profiles.clone(),
                it.file.clone(),
                it.rule.clone(),
                it.message.clone(),
                it.fingerprint.clone(),
            )
        };
        key(a).cmp(&key(b))
    });
    entries
}

/// The profiles of a run by the paths that a baseline knows them by.
pub fn profiles_of(run: &Run, found: &Found, ground: &Ground<'_>) -> BTreeSet<String> {
    run.profiles_of(found).into_iter().map(|profile| key::path_of(run.origin(profile), ground)).collect()
}
