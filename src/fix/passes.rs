//! Passes over the texts until no fix applies any more.

use super::apply::{apply, compatible};
use super::files::{Files, Key};
use super::offers::{Look, Offer, Voted, gather};
use super::verify::{Objection, verify, verify_for_others};
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

/// How often the texts are gone over. Each pass settles what did not overlap in the one before; rules whose fixes undo each other would go on for
/// ever.
pub const MAX_PASSES: usize = 50;

/// Why a fix that was offered is not made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Why {
    /// It changes what the profile means, and nobody asked for such fixes.
    Unsafe,
    /// It stands in a file that was not given.
    Outside(Key),
    /// Not all profiles and hosts that it concerns offer it.
    Divided,
    /// It was made and taken back; what it would do.
    TakenBack(Objection),
    /// The last pass is over.
    Endless,
}

/// A fix that was not made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Left {
    pub offer: Offer,
    pub why: Why,
}

/// What came of it. The texts are in [`Files`].
#[derive(Debug)]
pub struct Fixed {
    /// What checking the fixed texts gives.
    pub looks: Vec<Look>,
    /// The fixes that were made, in the order in which they were.
    pub made: Vec<Offer>,
    pub left: Vec<Left>,
}

/// What tells a fix from others when places have moved: its rule, its title, and what it puts in place of what.
type Mark = (&'static str, String, Vec<(Key, String, String)>);

struct Passes<'a> {
    files: &'a mut Files,
    check: &'a dyn Fn(&Files) -> Vec<Look>,
    looks: Vec<Look>,
    objections: BTreeMap<Mark, Objection>,
    /// Fixes that not all offer, and that somebody would notice.
    divided: HashSet<Mark>,
    made: Vec<Offer>,
}

/// Which fixes are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Wanted {
    /// Also those that change what a profile means.
    pub unsafe_too: bool,
    /// Also those of notes.
    pub notes: bool,
}

/// Makes the safe fixes, and then the others that are wanted, until there are none left to make. `check` gives a look at every profile on every
/// machine, always in the same order, with the texts as they are.
pub fn fix(files: &mut Files, wanted: Wanted, check: &dyn Fn(&Files) -> Vec<Look>) -> Fixed {
    let looks = check(files);
    let mut passes = Passes {
        files,
        check,
        looks,
        objections: BTreeMap::new(),
        divided: HashSet::new(),
        made: Vec::new(),
    };
    passes.meet();
    for _ in 0..MAX_PASSES {
        let voted = gather(&passes.looks, passes.files, wanted.notes);
        let open: Vec<&Voted> =
            voted.iter().filter(|voted| passes.why_not(voted, wanted.unsafe_too).is_none()).collect();
        let agreed = |safe: bool| -> Vec<&Offer> {
            let offers = open.iter().filter(|voted| voted.against.is_empty() && voted.offer.safe == safe);
            let offers: Vec<&Offer> = offers.map(|voted| &voted.offer).collect();
            let chosen = compatible(offers.iter().map(|offer| offer.changes.as_slice()));
            chosen.into_iter().filter_map(|at| offers.get(at).copied()).collect()
        };
        let progressed = passes.attempt(&agreed(true))
            || open
                .iter()
                .filter(|voted| !voted.against.is_empty())
                .any(|voted| passes.attempt_divided(voted))
            || passes.attempt(&agreed(false));
        if !progressed {
            break;
        }
    }
    let left = gather(&passes.looks, passes.files, wanted.notes).into_iter().map(|voted| {
        let why = passes.why_not(&voted, wanted.unsafe_too).unwrap_or(Why::Endless);
        Left { offer: voted.offer, why }
    });
    let left = left.collect();
    let Passes { looks, made, .. } = passes;
    Fixed { looks, made, left }
}

impl Passes<'_> {
    /// Takes note of every file that was read.
    fn meet(&mut self) {
        for look in &self.looks {
            for (_, source) in look.sources.files() {
                if let Some(key) = self.files.key(source) {
                    self.files.meet(key, source);
                }
            }
        }
    }

    fn mark(&self, offer: &Offer) -> Mark {
        let changes = offer.changes.iter().map(|change| {
            let text = self.files.get(&change.file).and_then(|file| file.now.get(change.start..change.end));
            (change.file.clone(), text.unwrap_or_default().to_owned(), change.with.clone())
        });
        (offer.rule, offer.title.clone(), changes.collect())
    }

    /// Why a fix is not to be tried; `None` where it is.
    fn why_not(&self, voted: &Voted, unsafe_too: bool) -> Option<Why> {
        let Voted { offer, against } = voted;
        if let Some(change) = offer.changes.iter().find(|change| !self.files.may_change(&change.file)) {
            return Some(Why::Outside(change.file.clone()));
        }
        let mark = self.mark(offer);
        if let Some(objection) = self.objections.get(&mark) {
            return Some(Why::TakenBack(objection.clone()));
        }
        // One that changes the meaning is not for some of those who share the text to decide.
        if self.divided.contains(&mark) || !offer.safe && !against.is_empty() {
            return Some(Why::Divided);
        }
        (!offer.safe && !unsafe_too).then_some(Why::Unsafe)
    }

    /// Makes fixes and keeps those that can be kept: all of them, else those of one half that can. Whether any was.
    fn attempt(&mut self, offers: &[&Offer]) -> bool {
        if offers.is_empty() {
            return false;
        }
        let all_safe = offers.iter().all(|offer| offer.safe);
        match self.made_with(offers).and_then(|(files, looks)| {
            verify(&self.looks, &looks, all_safe)?;
            Ok((files, looks))
        }) {
            Ok((files, looks)) => {
                self.keep(files, looks, offers);
                true
            }
            Err(objection) => match offers {
                [only] => {
                    self.objections.insert(self.mark(only), objection);
                    false
                }
                several => {
                    let (first, second) = several.split_at(several.len() / 2);
                    // The places of the second half hold only while the first has not been made.
                    self.attempt(first) || self.attempt(second)
                }
            },
        }
    }

    /// Makes a safe fix that not all offer, and keeps it where the others lose and gain nothing by it.
    fn attempt_divided(&mut self, voted: &Voted) -> bool {
        let offer = &voted.offer;
        let tried = self.made_with(&[offer]).and_then(|(files, looks)| {
            verify(&self.looks, &looks, true)?;
            verify_for_others(&self.looks, &looks, &voted.against)?;
            Ok((files, looks))
        });
        match tried {
            Ok((files, looks)) => {
                self.keep(files, looks, &[offer]);
                true
            }
            Err(_) => {
                self.divided.insert(self.mark(offer));
                false
            }
        }
    }

    /// The files and what checking them gives, with fixes made that do not clash.
    fn made_with(&self, offers: &[&Offer]) -> Result<(Files, Vec<Look>), Objection> {
        let mut files = self.files.clone();
        let changes = || offers.iter().flat_map(|offer| &offer.changes);
        let keys: std::collections::BTreeSet<&Key> = changes().map(|change| &change.file).collect();
        for key in keys {
            let now = self.files.get(key).map(|file| Arc::clone(&file.now)).unwrap_or_default();
            let text = apply(&now, changes().filter(|change| change.file == *key))
                .ok_or("change what is not there")?;
            files.set(key, text);
        }
        let looks = (self.check)(&files);
        Ok((files, looks))
    }

    fn keep(&mut self, files: Files, looks: Vec<Look>, offers: &[&Offer]) {
        *self.files = files;
        self.looks = looks;
        self.made.extend(offers.iter().map(|offer| (*offer).clone()));
        self.meet();
    }
}
