//! Other hard links of protected files: a rule names a path, and a file with a second name is reached past it.

use super::LinkFact;
use super::walk::walk;
use crate::host::{Entry, Host, Identity};
use camino::{Utf8Path, Utf8PathBuf};
use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};

/// A file with several names, of which some are protected.
struct Seen {
    /// By the first of them in the order of paths, denied ones before all others.
    denied: bool,
    path: Utf8PathBuf,
    protected: Utf8PathBuf,
    links: u64,
    /// How many names are denied, and how many protected less.
    known: [u64; 2],
}

/// A protected path and what stands there.
type Top = (Utf8PathBuf, Option<Entry>);

/// Protected by this path, which is denied or only kept from being written.
type By<'a> = (&'a Utf8Path, bool);

/// Counts, over all protected paths and everything below them, how many names of each file are protected as much: those of a denied
/// file must all be denied, those of one that is only kept from being written must be that or denied. Files that have more names than
/// that are reported, and so is whatever could not be examined. Neither list may hold a path inside another; denied paths may lie
/// inside `others`.
pub fn check(host: &dyn Host, denied: &[Top], others: &[Top]) -> Vec<LinkFact> {
    let closed: HashSet<&str> = denied.iter().map(|(top, _)| top.as_str()).collect();
    let all = denied.iter().map(|top| (top, true)).chain(others.iter().map(|top| (top, false)));
    let mut files = Files::default();
    let mut directories = Vec::new();
    for ((top, entry), denied) in all {
        let Some(entry) = entry else { continue };
        files.note(top, (top, denied), entry);
        if entry.is_directory() {
            directories.push((top.clone(), (top.as_path(), denied)));
        }
    }
    let walked = walk(host, directories, &|files: &mut Files, by: &By<'_>, path, entry| {
        let counted = !by.1 && closed.contains(path.as_str());
        if !counted {
            files.note(path, *by, entry);
        }
        !counted
    });
    let mut facts: Vec<LinkFact> = walked
        .unexamined
        .into_iter()
        .map(|((protected, _), error)| LinkFact::Unexamined { protected: protected.into(), error })
        .collect();
    walked.found.into_iter().for_each(|found| files.add(found));
    let counted = files.0.into_values().map(|seen| (seen.safe_names(), seen));
    let mut linked: Vec<(u64, Seen)> = counted.filter(|(known, seen)| *known < seen.links).collect();
    linked.sort_by(|(_, a), (_, b)| a.path.cmp(&b.path));
    facts.extend(linked.into_iter().map(|(known, seen)| LinkFact::Linked {
        path: seen.path,
        protected: seen.protected,
        links: seen.links,
        known,
    }));
    facts
}

impl Seen {
    /// How many of its names are protected as much as it must be.
    fn safe_names(&self) -> u64 {
        let [denied, others] = self.known;
        if self.denied { denied } else { denied + others }
    }

    /// Which of two names tells what the file is: the one that is denied, else the first.
    fn order(&self, other: &Self) -> Ordering {
        other.denied.cmp(&self.denied).then_with(|| self.path.cmp(&other.path))
    }
}

/// Those with more than one name.
#[derive(Default)]
struct Files(HashMap<Identity, Seen>);

impl Files {
    fn note(&mut self, path: &Utf8Path, (protected, denied): By<'_>, entry: &Entry) {
        if entry.is_directory() || entry.links < 2 {
            return;
        }
        let known = [u64::from(denied), u64::from(!denied)];
        let seen = Seen { denied, path: path.into(), protected: protected.into(), links: entry.links, known };
        self.put(entry.identity, seen);
    }

    fn put(&mut self, identity: Identity, mut seen: Seen) {
        if let Some(before) = self.0.remove(&identity) {
            let known = [seen.known[0] + before.known[0], seen.known[1] + before.known[1]];
            if before.order(&seen).is_lt() {
                seen = before;
            }
            seen.known = known;
        }
        self.0.insert(identity, seen);
    }

    fn add(&mut self, other: Self) {
        for (identity, seen) in other.0 {
            self.put(identity, seen);
        }
    }
}
