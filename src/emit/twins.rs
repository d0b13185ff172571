//! Paths that a Seatbelt filter may take for one another and the plan does not. The plan grants by the exact spelling; a filter compares
//! ASCII letters without their case, and how it compares other letters is not published.

use super::Unspeakable;
use super::spellings::Spellings;
use crate::host::spelling::fold_name;
use crate::plan::{Effect, Plan, Spelling};
use camino::Utf8Path;
use std::collections::HashMap;
use unicode_normalization::UnicodeNormalization as _;

/// One spelling of a path, and whether a grant lies at or below it.
struct Seen<'a> {
    path: &'a Utf8Path,
    granted: bool,
}

/// Refuses a plan that names two spellings of one path, where a grant hangs on one of them, or where they differ in more than the case
/// of ASCII letters and how letters are composed. On a disk that folds case, real paths have one spelling; only what is missing has two.
pub fn refuse(plan: &Plan, spellings: &Spellings<'_>) -> Result<(), Unspeakable> {
    let mut seen: HashMap<String, Vec<Seen<'_>>> = HashMap::new();
    for rule in &plan.rules {
        let grants = rule.effect == Effect::Allow;
        for path in rule.path.ancestors() {
            let known = seen.entry(key(path, plan.spelling)).or_default();
            for other in known.iter().filter(|other| other.path != path) {
                if grants || other.granted || !is_folded(plan.spelling, spellings, path, other.path) {
                    return Err(Unspeakable::Twins(other.path.to_string(), path.to_string()));
                }
            }
            match known.iter_mut().find(|other| other.path == path) {
                Some(known) => known.granted |= grants,
                None => known.push(Seen { path, granted: grants }),
            }
        }
    }
    Ok(())
}

/// Whether the filters written for a denial of one path certainly match the other as the plan does.
fn is_folded(spelling: Spelling, spellings: &Spellings<'_>, path: &Utf8Path, other: &Utf8Path) -> bool {
    let same = |it: &Utf8Path| it.as_str().eq_ignore_ascii_case(other.as_str());
    spelling == Spelling::Folded && spellings.denied(path).iter().any(|it| same(it))
}

/// One text for all spellings that a filter may take for one another.
fn key(path: &Utf8Path, spelling: Spelling) -> String {
    match spelling {
        Spelling::Folded => fold_name(path.as_str()),
        Spelling::Exact => path.as_str().nfd().collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_put_together_what_filters_may() {
        for (one, other) in [("/a/B", "/A/b"), ("/caf\u{e9}", "/CAFE\u{301}"), ("/stra\u{df}e", "/STRASSE")] {
            assert_eq!(key(one.into(), Spelling::Folded), key(other.into(), Spelling::Folded));
        }
        assert_ne!(key("/a".into(), Spelling::Exact), key("/A".into(), Spelling::Exact));
        assert_eq!(key("/\u{e9}".into(), Spelling::Exact), key("/e\u{301}".into(), Spelling::Exact));
        let none = Spellings::default();
        assert!(is_folded(Spelling::Folded, &none, "/caf\u{e9}/A".into(), "/cafe\u{301}/a".into()));
        assert!(!is_folded(Spelling::Folded, &none, "/caf\u{e9}".into(), "/caf\u{c9}".into()));
    }
}
