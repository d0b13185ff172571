//! Other hard links of protected files: a rule names a path, and a file with a second name is reached past it.

use super::LinkFact;
use super::denials::list;
use crate::host::{Entry, Host, Identity};
use camino::{Utf8Path, Utf8PathBuf};
use std::collections::HashMap;

struct Seen {
    path: Utf8PathBuf,
    protected: Utf8PathBuf,
    links: u64,
    known: u64,
}

/// Counts, over all `protected` paths and everything below them, how many names of each file are protected too. Files that have
/// more names than that are reported, and so is whatever could not be examined. `protected` must hold no path twice and none inside another.
pub fn check(host: &dyn Host, protected: &[(Utf8PathBuf, Option<Entry>)]) -> Vec<LinkFact> {
    let mut files: HashMap<Identity, Seen> = HashMap::new();
    let mut facts = Vec::new();
    for (top, entry) in protected {
        let Some(entry) = entry else { continue };
        note(&mut files, top, top, entry);
        let mut pending = Vec::new();
        if entry.is_directory() {
            pending.push(top.clone());
        }
        while let Some(directory) = pending.pop() {
            let mut unexamined = Vec::new();
            for (path, entry) in list(host, &directory, &mut unexamined) {
                note(&mut files, &path, top, &entry);
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

fn note(files: &mut HashMap<Identity, Seen>, path: &Utf8Path, top: &Utf8Path, entry: &Entry) {
    if entry.is_directory() || entry.links < 2 {
        return;
    }
    files.entry(entry.identity).and_modify(|seen| seen.known += 1).or_insert_with(|| Seen {
        path: path.into(),
        protected: top.into(),
        links: entry.links,
        known: 1,
    });
}
