//! The passes over texts, with a check that finds what a test wants.

use super::*;
use crate::finding::{Edit, Finding, Severity};
use crate::policy::System;
use crate::report::origin::STANDARD_INPUT;
use crate::source::{Sources, Span};
use crate::syntax;

/// Fixes text of standard input. Each of `rules` finds every occurrence of a word and offers to put another in its place; what the parser says is found
/// too.
fn fixed(text: &str, rules: &[(&'static str, &str, &str, bool)], wanted: Wanted) -> (String, Fixed) {
    let mut files = Files::new(Vec::new());
    let check = |files: &Files| {
        let mut scratch = Sources::new();
        let id = scratch.add(STANDARD_INPUT, None, text);
        let now = files.now(scratch.file(id));
        let mut sources = Sources::new();
        let profile = sources.add(STANDARD_INPUT, None, now.clone());
        let mut findings = syntax::parse(&sources, profile).findings;
        findings.retain(|finding| finding.rule != "edition");
        for (rule, from, to, safe) in rules {
            for (at, _) in now.match_indices(from) {
                let span = Span::new(profile, at..at + from.len());
                let edit = Edit { span, replacement: (*to).to_owned() };
                let finding = Finding::new(rule, Severity::Warning, format!("`{from}`")).at(span, "");
                findings.push(finding.fix(format!("write `{to}`"), vec![edit], *safe));
            }
        }
        vec![Look { sources, profile, findings, plan: None, target: System::Linux }]
    };
    let fixed = fix(&mut files, wanted, &check);
    let now = files.get(STANDARD_INPUT_KEY.into()).map(|file| file.now.to_string());
    (now.unwrap_or_default(), fixed)
}

const BOTH: Wanted = Wanted { unsafe_too: true, notes: false };
const TEXT: &str = "edition 1\nprofile \"x\" {\n    ipc off\n    root \"/aa\" read-only\n}\n";

#[test]
fn fixes_are_made_in_passes_until_none_is_left() {
    let rules = [("broad-root", "/aa", "/ab", true), ("broad-root", "/ab", "/ac", true)];
    let (text, made) = fixed(TEXT, &rules, Wanted::default());
    assert_eq!(text, TEXT.replace("/aa", "/ac"));
    assert_eq!((made.made.len(), made.left.len()), (2, 0));
}

#[test]
fn what_changes_the_meaning_is_made_only_where_it_is_wanted() {
    let rules = [("broad-root", "/aa", "/ab", false)];
    let (text, made) = fixed(TEXT, &rules, Wanted::default());
    assert_eq!((text.as_str(), made.made.len()), (TEXT, 0));
    assert_eq!(made.left.iter().map(|left| left.why.clone()).collect::<Vec<_>>(), [Why::Unsafe]);
    assert_eq!(fixed(TEXT, &rules, BOTH).0, TEXT.replace("/aa", "/ab"));
}

#[test]
fn a_fix_that_breaks_the_text_is_taken_back_and_the_others_stay() {
    let rules = [
        ("broad-root", "\"/aa\"", "\"/aa", true),
        ("symlinked-root", "ipc off", "ipc shared-memory", true),
        ("missing-root", "\"x\"", "\"y\"", true),
    ];
    let (text, made) = fixed(TEXT, &rules, BOTH);
    assert_eq!(text, TEXT.replace("ipc off", "ipc shared-memory").replace("\"x\"", "\"y\""));
    let [left] = &made.left[..] else { panic!("{:?}", made.left) };
    let Why::TakenBack(objection) = &left.why else { panic!("{:?}", left.why) };
    assert!(objection.starts_with("make another mistake: "), "{objection}");
    assert_eq!(left.offer.rule, "broad-root");
}

#[test]
fn fixes_that_undo_each_other_come_to_an_end() {
    let rules = [("broad-root", "/aa", "/ab", true), ("broad-root", "/ab", "/aa", true)];
    let (text, made) = fixed(TEXT, &rules, BOTH);
    assert_eq!((text.as_str(), made.made.len()), (TEXT, MAX_PASSES));
    assert_eq!(made.left.iter().map(|left| left.why.clone()).collect::<Vec<_>>(), [Why::Endless]);
}

#[test]
fn a_file_is_changed_only_below_what_was_given() {
    let files = Files::new(vec!["/a/policies".into(), "/a/one.palisade".into()]);
    let may = |path: &str| files.may_change(path.into());
    assert!(may("/a/policies/x.palisade") && may("/a/one.palisade") && may(STANDARD_INPUT_KEY));
    assert!(!may("/a/policies2/x.palisade") && !may("/a/two.palisade") && !may("/a"));
}
