//! How a denied path may be spelled. Letters of either case are the same to Seatbelt's filters on paths; nothing is published of how they
//! compare other letters, so that every spelling which the disk takes for the path is named.

use crate::host::spelling::{MOST_VARIANTS, variants};
use crate::plan::{Effect, OriginKind, Plan, Presence, Protection, Spelling};
use camino::{Utf8Path, Utf8PathBuf};
use std::collections::HashSet;
use unicode_normalization::UnicodeNormalization as _;

/// The spellings of the paths of one plan.
#[derive(Default)]
pub struct Spellings<'a> {
    /// What is missing, or holds what is: who makes it chooses how it is spelled. What is there keeps its spelling.
    unmade: HashSet<&'a Utf8Path>,
}

impl<'a> Spellings<'a> {
    pub fn of(plan: &'a Plan) -> Self {
        let roots: HashSet<&Utf8Path> = plan.roots.iter().map(|root| root.path.as_path()).collect();
        let stated = plan.rules.iter().filter(|rule| {
            plan.spelling == Spelling::Folded
                && rule.effect == Effect::Deny
                && rule.origin.kind == OriginKind::Seatbelt
        });
        let unmade = plan
            .protected
            .iter()
            .filter(|_| plan.spelling == Spelling::Folded)
            // Of a guarded file that compiling writes it is not said whether it is there yet.
            .filter(|it| {
                matches!(it.presence, Presence::Missing | Presence::Absent)
                    || it.protection == Protection::Guarded
            })
            // A root is there.
            // A root is there.
            .flat_map(|it| it.path.ancestors().take_while(|path| !roots.contains(path)))
            // Of what a seatbelt rule denies it is not known either.
            .chain(stated.map(|rule| rule.path.as_path()))
            .collect();
        Self { unmade }
    }

    /// The path itself first; then composed and decomposed, and where it is not made yet with its last name in every spelling. The names
    /// above have rules of their own.
    pub fn denied(&self, path: &Utf8Path) -> Vec<Utf8PathBuf> {
        let mut spellings = vec![path.to_path_buf()];
        let mut add = |other: Utf8PathBuf| {
            if !spellings.iter().any(|known| known.as_str().eq_ignore_ascii_case(other.as_str())) {
                spellings.push(other);
            }
        };
        if !path.as_str().is_ascii() {
            add(path.as_str().nfc().collect::<String>().into());
            add(path.as_str().nfd().collect::<String>().into());
        }
        if self.is_unmade(path)
            && let (Some(parent), Some(name)) = (path.parent(), path.file_name())
        {
            variants(name, MOST_VARIANTS)
                .unwrap_or_default()
                .into_iter()
                .for_each(|name| add(parent.join(name)));
        }
        spellings
    }

    pub fn is_unmade(&self, path: &Utf8Path) -> bool {
        self.unmade.contains(path)
    }
}
