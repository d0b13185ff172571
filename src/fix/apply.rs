//! Changes to texts: which of many can be made together, and making them.

use super::files::Key;
use std::collections::BTreeMap;

/// One replacement in one file. The order is that of the places.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Change {
    pub file: Key,
    /// Bytes.
    pub start: usize,
    pub end: usize,
    pub with: String,
}

impl Change {
    /// Whether the two cannot both be made. Two insertions at one place cannot, since their order would be a guess; nor can an insertion at the
    /// edge of what is replaced.
    fn clashes(&self, other: &Self) -> bool {
        if self.start == self.end || other.start == other.end {
            self.start <= other.end && other.start <= self.end
        } else {
            self.start < other.end && other.start < self.end
        }
    }
}

/// Of groups of changes, the indices of those that can be made together: each whole or not at all, the earlier before the later.
pub fn compatible<'a>(groups: impl Iterator<Item = &'a [Change]>) -> Vec<usize> {
    let mut taken: BTreeMap<&Key, BTreeMap<usize, &Change>> = BTreeMap::new();
    let mut chosen = Vec::new();
    for (at, group) in groups.enumerate() {
        let is_free = |change: &Change| {
            let Some(known) = taken.get(&change.file) else { return true };
            // Nothing taken overlaps, so only the nearest on each side can clash.
            let before = known.range(..=change.start).next_back().map(|(_, known)| *known);
            let after = known.range(change.start..).next().map(|(_, known)| *known);
            !before.into_iter().chain(after).any(|known| known.clashes(change))
        };
        let own = group.iter().enumerate().all(|(at, change)| {
            group.iter().skip(at + 1).all(|other| other.file != change.file || !other.clashes(change))
        });
        if own && group.iter().all(is_free) {
            group.iter().for_each(|change| {
                taken.entry(&change.file).or_default().insert(change.start, change);
            });
            chosen.push(at);
        }
    }
    chosen
}

/// The text with the changes made, which do not clash; `None` where one lies outside it or cuts a character. A new line ends as those of the
/// text do.
pub fn apply<'a>(text: &str, changes: impl Iterator<Item = &'a Change>) -> Option<String> {
    let mut changes: Vec<&Change> = changes.collect();
    changes.sort();
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for change in changes {
        out.push_str(text.get(at..change.start)?);
        text.get(change.start..change.end)?;
        if ends_with_carriage_return(text) {
            out.push_str(&change.with.replace("\r\n", "\n").replace('\n', "\r\n"));
        } else {
            out.push_str(&change.with);
        }
        at = change.end;
    }
    out.push_str(text.get(at..)?);
    Some(out)
}

/// Whether the first line, and so the text, has the line ends of DOS.
fn ends_with_carriage_return(text: &str) -> bool {
    text.split_once('\n').is_some_and(|(line, _)| line.ends_with('\r'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn change(start: usize, end: usize, with: &str) -> Change {
        Change { file: "x".into(), start, end, with: with.into() }
    }

    fn chosen(groups: &[Vec<Change>]) -> Vec<usize> {
        compatible(groups.iter().map(Vec::as_slice))
    }

    #[test]
    fn what_overlaps_is_left_for_the_next_pass() {
        assert_eq!(chosen(&[vec![change(0, 4, "")], vec![change(3, 6, "")], vec![change(4, 6, "")]]), [0, 2]);
        // A group is made whole or not at all.
        assert_eq!(
            chosen(&[
                vec![change(8, 9, "")],
                vec![change(0, 1, ""), change(8, 9, "")],
                vec![change(0, 1, "")]
            ]),
            [0, 2]
        );
        // Insertions at one place, or at the edge of what goes.
        assert_eq!(chosen(&[vec![change(2, 2, "a")], vec![change(2, 2, "b")], vec![change(2, 4, "")]]), [0]);
        assert_eq!(
            chosen(&[vec![change(2, 4, "")], vec![change(4, 4, "b")], vec![change(5, 5, "b")]]),
            [0, 2]
        );
        // A group that clashes with itself is never made.
        assert_eq!(chosen(&[vec![change(0, 4, ""), change(2, 3, "")]]), [0; 0]);
        let elsewhere = Change { file: "y".into(), ..change(0, 4, "") };
        assert_eq!(chosen(&[vec![change(0, 4, "")], vec![elsewhere]]), [0, 1]);
    }

    #[test]
    fn a_change_outside_the_text_is_none() {
        assert_eq!(apply("ä", [change(1, 2, "")].iter()), None);
        assert_eq!(apply("a", [change(1, 3, "")].iter()), None);
        assert_eq!(apply("abc", [change(2, 3, "z"), change(0, 1, "x")].iter()), Some("xbz".into()));
    }

    #[test]
    fn a_new_line_ends_as_the_others_do() {
        assert_eq!(apply("a\r\nb\r\n", [change(1, 1, "\n  c")].iter()), Some("a\r\n  c\r\nb\r\n".into()));
        assert_eq!(apply("a\nb\r\n", [change(1, 1, "\n  c")].iter()), Some("a\n  c\nb\r\n".into()));
    }

    proptest! {
        /// What is chosen never clashes, and what is not chosen clashes with something chosen before it.
        #[test]
        fn the_choice_is_sound_and_leaves_out_nothing_needlessly(
            ranges in proptest::collection::vec((0usize..20, 0usize..4), 0..12),
        ) {
            let groups: Vec<Vec<Change>> =
                ranges.iter().map(|(start, length)| vec![change(*start, start + length, "x")]).collect();
            let chosen = chosen(&groups);
            for (at, group) in groups.iter().enumerate() {
                let earlier = chosen.iter().filter(|other| **other < at);
                let clashes = earlier.clone().any(|other| groups[*other][0].clashes(&group[0]));
                prop_assert_eq!(chosen.contains(&at), !clashes);
            }
        }
    }
}
