//! Other hard links of protected files: a rule names a path, and a file with a second name is reached past it.

use super::LinkFact;
use super::denials::list;
use crate::host::{Entry, Host, Identity};
use camino::{Utf8Path, Utf8PathBuf};
use std::collections::{HashMap, HashSet};

struct Seen {
    denied: bool,
    path: Utf8PathBuf,
    protected: Utf8PathBuf,
    links: u64,
    known: u64,
}

/// A protected path and what stands there.
type Top = (Utf8PathBuf, Option<Entry>);

/// Counts, over all protected paths and everything below them, how many names of each file are protected as much: those of a denied
/// file must all be denied, those of one that is only kept from being written must be that or denied. Files that have more names than
/// that are reported, and so is whatever could not be examined. Neither list may hold a path inside another; denied paths may lie
/// inside `others`.
pub fn check(host: &dyn Host, denied: &[Top], others: &[Top]) -> Vec<LinkFact> {
    let mut files: HashMap<Identity, Seen> = HashMap::new();
    let mut facts = Vec::new();
    let closed: HashSet<&Utf8Path> = denied.iter().map(|(top, _)| top.as_path()).collect();
    let all = denied.iter().map(|top| (top, true)).chain(others.iter().map(|top| (top, false)));
    for ((top, entry), is_denied) in all {
        let Some(entry) = entry else { continue };
        note(&mut files, top, top, entry, is_denied);
        let mut pending = Vec::new();
        if entry.is_directory() {
            pending.push(top.clone());
        }
        while let Some(directory) = pending.pop() {
            let mut unexamined = Vec::new();
            for (path, entry) in list(host, &directory, &mut unexamined) {
                if !is_denied && closed.contains(path.as_path()) {
                    continue;
                }
                note(&mut files, &path, top, &entry, is_denied);
                if entry.is_directory() {
                    pending.push(path);
                }
            }
            facts.extend(
                unexamined.into_iter().map(|error| LinkFact::Unexamined { protected: top.clone(), error }),
            );
        }
    }
    let mut linked: Vec<Seen> = files.into_values().filter(|seen| seen.known < seen.links).collect();
    linked.sort_by(|a, b| a.path.cmp(&b.path));
    facts.extend(linked.into_iter().map(|seen| LinkFact::Linked {
        path: seen.path,
        protected: seen.protected,
        links: seen.links,
        known: seen.known,
    }));
    facts
}

/// Denied paths are noted before the others.
fn note(files: &mut HashMap<Identity, Seen>, path: &Utf8Path, top: &Utf8Path, entry: &Entry, denied: bool) {
    if entry.is_directory() || entry.links < 2 {
        return;
    }
    let known = |seen: &mut Seen| seen.known += u64::from(denied || !seen.denied);
    files.entry(entry.identity).and_modify(known).or_insert_with(|| Seen {
        denied,
        path: path.into(),
        protected: top.into(),
        links: entry.links,
        known: 1,
    });
}
