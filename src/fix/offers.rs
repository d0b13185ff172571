//! The fixes that are offered, and by how many of those whom they concern.

use super::apply::Change;
use super::files::{Files, Key};
use crate::finding::{Finding, Fix, Severity};
use crate::lint;
use crate::plan::Plan;
use crate::policy::System;
use crate::source::{FileId, Sources};
use crate::syntax;
use crate::syntax::ast::{FileKind, StatementKind};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// What checking one profile on one machine gave.
#[derive(Debug, Clone)]
pub struct Look {
    pub sources: Sources,
    /// The profile among the sources.
    pub profile: FileId,
    pub findings: Vec<Finding>,
    /// Where the profile was understood.
    pub plan: Option<Plan>,
    pub target: System,
}

impl Look {
    /// What makes the text none of the language, or none that can be resolved: findings that come from no check.
    pub fn misunderstood(&self) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(|finding| lint::find_rule(finding.rule).is_none())
    }
}

/// A fix, once for all profiles and machines that offer it. The order is that of the places.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Offer {
    pub changes: Vec<Change>,
    pub safe: bool,
    pub rule: &'static str,
    pub title: String,
}

impl Offer {
    fn of(finding: &Finding, fix: &Fix, keys: &[Option<Key>]) -> Option<Self> {
        let mut changes = fix
            .edits
            .iter()
            .map(|edit| {
                let file = keys.get(edit.span.file.index())?.clone()?;
                let Range { start, end } = edit.span.range();
                Some(Change { file, start, end, with: edit.replacement.clone() })
            })
            .collect::<Option<Vec<_>>>()?;
        changes.sort();
        (!changes.is_empty()).then(|| Self {
            changes,
            safe: fix.safe,
            rule: finding.rule,
            title: fix.title.clone(),
        })
    }

    /// Whether it answers a check, and not what reading the text said.
    fn is_of_a_check(&self) -> bool {
        lint::find_rule(self.rule).is_some()
    }
}

/// Who offers a fix, and who has been asked and does not: indices of looks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Voted {
    pub offer: Offer,
    pub against: Vec<usize>,
}

/// What has to be known of a text to tell whom a place in it concerns.
struct Shape {
    kind: FileKind,
    /// `on` blocks.
    blocks: Vec<(System, Range<usize>)>,
}

/// Every fix that is offered, in the order of the places; of notes only where they are asked for, since they need no answer.
///
/// A fix concerns every look that has read its file, for it changes the file for all of them. It does not concern, where a check offers it, a
/// fragment looked at by itself, which no check looks at; nor a machine of another system than the `on` block that the fix stands in is for.
pub fn gather(looks: &[Look], files: &Files, notes: bool) -> Vec<Voted> {
    let mut by_offer: BTreeMap<Offer, BTreeSet<usize>> = BTreeMap::new();
    let mut read: Vec<BTreeSet<Key>> = Vec::new();
    let mut shapes: BTreeMap<Key, Option<Shape>> = BTreeMap::new();
    let mut profiles: Vec<Option<Key>> = Vec::new();
    for (at, look) in looks.iter().enumerate() {
        let keys: Vec<Option<Key>> = look.sources.files().map(|(_, source)| files.key(source)).collect();
        for ((id, _), key) in look.sources.files().zip(&keys) {
            if let Some(key) = key {
                shapes.entry(key.clone()).or_insert_with(|| shape(&look.sources, id));
            }
        }
        for finding in look.findings.iter().filter(|finding| notes || finding.severity > Severity::Note) {
            let offer = finding.fix.as_ref().and_then(|fix| Offer::of(finding, fix, &keys));
            if let Some(offer) = offer {
                by_offer.entry(offer).or_default().insert(at);
            }
        }
        profiles.push(keys.get(look.profile.index()).cloned().flatten());
        read.push(keys.into_iter().flatten().collect());
    }
    let concerns = |offer: &Offer, at: usize| {
        let look = looks.get(at);
        let has_read =
            read.get(at).is_some_and(|read| offer.changes.iter().any(|it| read.contains(&it.file)));
        if !has_read || !offer.is_of_a_check() {
            return has_read;
        }
        let own = profiles.get(at).and_then(|key| shapes.get(key.as_ref()?)?.as_ref());
        let is_fragment = own.is_some_and(|shape| shape.kind == FileKind::Fragment);
        let is_elsewhere = offer.changes.iter().all(|change| {
            let shape = shapes.get(&change.file).and_then(Option::as_ref);
            shape.is_some_and(|shape| {
                shape.blocks.iter().any(|(system, range)| {
                    range.start <= change.start
                        && change.end <= range.end
                        && look.is_some_and(|look| look.target != *system)
                })
            })
        });
        !is_fragment && !is_elsewhere
    };
    let voted = by_offer.into_iter().map(|(offer, by)| {
        let against = (0..looks.len()).filter(|at| !by.contains(at) && concerns(&offer, *at)).collect();
        Voted { offer, against }
    });
    voted.collect()
}

fn shape(sources: &Sources, id: FileId) -> Option<Shape> {
    let file = syntax::parse(sources, id).file?;
    let blocks = file.statements.iter().filter_map(|statement| match &statement.kind {
        StatementKind::On { system, .. } => Some((system.value, statement.span.range())),
        _ => None,
    });
    Some(Shape { kind: file.kind, blocks: blocks.collect() })
}
