//! Paths that a Seatbelt filter may take for one another and the plan does not. The plan grants by the exact spelling; a filter compares
//! ASCII letters without their case, and how it compares other letters is not published.

use super::Unspeakable;
use super::rules::spellings;
use crate::host::spelling::fold_name;
use crate::plan::{Effect, Plan, Rule, Scope, Spelling};
use camino::Utf8Path;
use std::collections::HashMap;
use unicode_normalization::UnicodeNormalization as _;

/// One spelling of a path, and the denials met so far: of it, of all below it, of anything at or below it.
struct Seen<'a> {
    path: &'a Utf8Path,
    here: bool,
    all_below: bool,
    somewhere: bool,
}

/// Refuses a plan in which a grant could lift an earlier denial of another spelling, or in which two spellings differ in more than the
/// case of ASCII letters and how letters are composed.
pub fn refuse(plan: &Plan) -> Result<(), Unspeakable> {
    let mut seen: HashMap<String, Vec<Seen<'_>>> = HashMap::new();
    for rule in &plan.rules {
        for path in rule.path.ancestors() {
            let known = seen.entry(key(path, plan.spelling)).or_default();
            let itself = path == rule.path;
            for other in known.iter().filter(|other| other.path != path) {
                if !is_folded(plan.spelling, path, other.path) || lifts(rule, other, itself) {
                    return Err(Unspeakable::Twins(other.path.to_string(), path.to_string()));
                }
            }
            let at = known.iter().position(|other| other.path == path).unwrap_or_else(|| {
                known.push(Seen { path, here: false, all_below: false, somewhere: false });
                known.len() - 1
            });
            if rule.effect == Effect::Deny {
                known[at].somewhere = true;
                known[at].here |= itself;
                known[at].all_below |= itself && rule.scope == Scope::Subtree;
            }
        }
    }
    Ok(())
}

/// Whether the filters written for a denial of one path certainly match the other as the plan does.
fn is_folded(spelling: Spelling, path: &Utf8Path, other: &Utf8Path) -> bool {
    let same = |it: &Utf8Path| it.as_str().eq_ignore_ascii_case(other.as_str());
    spelling == Spelling::Folded && spellings(path).iter().any(|it| same(it))
}

/// Whether a grant reaches into what was denied in the other spelling.
fn lifts(rule: &Rule, other: &Seen<'_>, itself: bool) -> bool {
    let reaches =
        other.all_below || (itself && (other.here || (other.somewhere && rule.scope == Scope::Subtree)));
    rule.effect == Effect::Allow && reaches
}

/// One text for all spellings that a filter may take for one another.
fn key(path: &Utf8Path, spelling: Spelling) -> String {
    match spelling {
        Spelling::Folded if path.as_str().is_ascii() => path.as_str().to_ascii_lowercase(),
        Spelling::Folded => fold_name(&path.as_str().nfd().flat_map(char::to_uppercase).collect::<String>()),
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
        assert!(is_folded(Spelling::Folded, "/caf\u{e9}/A".into(), "/cafe\u{301}/a".into()));
        assert!(!is_folded(Spelling::Folded, "/caf\u{e9}".into(), "/caf\u{c9}".into()));
    }
}
