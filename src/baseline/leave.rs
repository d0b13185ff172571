//! Leaving out what is known, and telling of what is known in vain.

use super::entry::Entry;
use super::{Ground, key, may_hold};
use crate::finding::Finding;
use crate::lint::{self, STALE_BASELINE};
use crate::report::{Found, Run, fingerprint};
use crate::source::{FileId, Span};
use std::collections::{BTreeSet, HashMap};

/// Takes the findings out of a run that the entries know, and adds one for each entry that is known in vain, at its place in `file`, the baseline, which
/// the run knows; without it, of those nothing is said. How severe findings are must not have been changed before.
pub fn leave_out(run: &mut Run, entries: &[Entry], file: Option<FileId>, ground: &Ground<'_>) {
    let mut by_fingerprint: HashMap<&str, Vec<usize>> = HashMap::new();
    for (at, entry) in entries.iter().enumerate() {
        by_fingerprint.entry(&entry.fingerprint).or_default().push(at);
    }
    let mut left: Vec<usize> = entries.iter().map(|entry| entry.count).collect();
    let mut keys = key::Keys::new(run, ground);
    let mut is_known = |found: &Found| {
        if !may_hold(&found.finding) {
            return false;
        }
        let one = keys.entry(found);
        let alike = by_fingerprint.get(one.fingerprint.as_str()).into_iter().flatten();
        for &at in alike {
            if let (Some(entry), Some(left)) = (entries.get(at), left.get_mut(at))
                && *left > 0
                && says_the_same(entry, &one)
            {
                *left -= 1;
                // A profile that is new has not been known to have it.
                return one.profiles.is_subset(&entry.profiles);
            }
        }
        false
    };
    let known: Vec<bool> = run.findings.iter().map(&mut is_known).collect();
    let judge = Judge::new(run, ground);
    let in_vain: Vec<(&Entry, usize)> =
        entries.iter().zip(left).filter(|(entry, left)| *left > 0 && judge.would_have_found(entry)).collect();
    run.told.left_out = known.iter().filter(|known| **known).count();
    let mut known = known.into_iter();
    run.findings.retain(|_| !known.next().unwrap_or_default());
    if let Some(file) = file {
        add(run, in_vain.into_iter().map(|(entry, left)| stale(entry, left, file)).collect(), file);
    }
}

/// What stands in the entry is what a reviewer has read: it must be what is left out.
fn says_the_same(entry: &Entry, one: &Entry) -> bool {
    (&entry.rule, &entry.file, &entry.message) == (&one.rule, &one.file, &one.message)
}

fn stale(entry: &Entry, left: usize, file: FileId) -> Finding {
    let place = entry.file.as_ref().or(entry.profiles.first()).map(String::as_str).unwrap_or_default();
    let message = match (left, entry.count) {
        (left, count) if left < count => {
            format!("of {count} findings of `{}` in `{place}` {} are there no more", entry.rule, left)
        }
        (1, _) => format!("the finding of `{}` in `{place}` is there no more", entry.rule),
        (many, _) => format!("the {many} findings of `{}` in `{place}` are there no more", entry.rule),
    };
    let span = entry.span.unwrap_or(Span::new(file, 0..0));
    STALE_BASELINE
        .finding(message)
        .at(Span { file, ..span }, "known in vain")
        .help("remove the entry, or write the baseline anew with `palisade check --write-baseline FILE`")
}

/// Adds findings about the baseline, which is told of beside the profiles, on every host.
fn add(run: &mut Run, stale: Vec<Finding>, file: FileId) {
    let seen: BTreeSet<(FileId, usize)> = (0..run.hosts.len().max(1)).map(|host| (file, host)).collect();
    let found = |finding| Found { finding, seen: seen.clone(), fingerprint: String::new() };
    let mut stale: Vec<Found> = stale.into_iter().map(found).collect();
    let uri = run.origin(file).uri();
    let sources = &run.sources;
    fingerprint::assign(&mut stale, |found| {
        let statement = found.finding.span().map(|span| sources.text(span)).unwrap_or_default();
        (uri.clone(), statement, None)
    });
    run.findings.extend(stale);
}

/// Tells whether a run would have met a finding, were it still there.
struct Judge<'a> {
    ground: &'a Ground<'a>,
    machines: BTreeSet<String>,
    workspaces: BTreeSet<String>,
    /// The profiles that were read and understood: of the others nothing but what is wrong with them is told.
    understood: BTreeSet<String>,
}

impl<'a> Judge<'a> {
    fn new(run: &Run, ground: &'a Ground<'a>) -> Self {
        let broken = run.findings.iter().filter(|found| lint::find_rule(found.finding.rule).is_none());
        let broken: BTreeSet<FileId> =
            broken.flat_map(|found| found.seen.iter().map(|(profile, _)| *profile)).collect();
        let understood = run.profiles.iter().filter(|profile| !broken.contains(profile));
        Self {
            ground,
            machines: ground.machines.iter().map(|it| key::machine_name(it, ground)).collect(),
            workspaces: (0..run.hosts.len().max(1)).map(|host| key::workspace_name(ground, host)).collect(),
            understood: understood.map(|it| key::path_of(run.origin(*it), ground)).collect(),
        }
    }

    fn would_have_found(&self, entry: &Entry) -> bool {
        entry.machines.iter().all(|machine| self.machines.contains(machine) || self.is_gone(machine, true))
            && entry.workspaces.is_subset(&self.workspaces)
            && entry
                .profiles
                .iter()
                .all(|profile| self.understood.contains(profile) || self.is_gone(profile, false))
    }

    /// Whether a file that an entry names is there no more. What is no file is never gone.
    fn is_gone(&self, name: &str, is_machine: bool) -> bool {
        let is_file = if is_machine {
            name.ends_with(".yaml") || name.ends_with(".yml")
        } else {
            !name.starts_with("palisade:")
        };
        is_file && !(self.ground.exists)(&self.ground.directory.join(name))
    }
}
