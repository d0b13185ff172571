//! The law of baselines: what was found when one was written is left out, what came since is shown, and what went since is told of.

use camino::Utf8Path;
use palisade::baseline::{Asked, Ground, Machine, leave_out, of_run, read, write};
use palisade::finding::{Finding, Severity};
use palisade::lint::STALE_BASELINE;
use palisade::policy::System;
use palisade::report::Run;
use palisade::report::collect::Collector;
use palisade::report::origin::Origin;
use palisade::source::{FileId, Sources, Span};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::path::Path;

fn origin(path: &Path) -> Origin {
    Origin::Repository(path.strip_prefix("/repo").unwrap_or(path).to_path_buf())
}

fn ground() -> Ground<'static> {
    Ground {
        root: Path::new("/repo"),
        directory: Path::new("/repo/policies"),
        machines: vec![Machine::This(System::Linux)],
        asked: Asked::default(),
        exists: &|_| true,
    }
}

/// Profiles whose statements are these kinds: one finding for each statement, all of a kind alike.
fn run(profiles: &[Vec<u8>], baseline: &str) -> (Run, FileId) {
    let mut collector = Collector::new(&origin, Vec::new(), Vec::new());
    for (at, kinds) in profiles.iter().enumerate() {
        let mut sources = Sources::new();
        let mut text = format!("edition 1\nprofile \"p{at}\" {{\n");
        let mut places = Vec::new();
        for kind in kinds {
            let start = text.len() + 4;
            text.push_str(&format!("    param k{kind} \"x\"\n"));
            places.push((start + 6..start + 8, kind));
        }
        text.push_str("}\n");
        let path = format!("/repo/policies/p{at}.palisade");
        let file = sources.add(path.clone(), Some(Utf8Path::new(&path)), text);
        let finding = |(place, kind)| {
            Finding::new("unused-param", Severity::Warning, format!("`k{kind}` is used nowhere"))
                .at(Span::new(file, place), "declared here")
        };
        let findings = places.into_iter().map(finding).collect();
        let profile = collector.profile(sources.file(file));
        collector.add(profile, 0, &sources, findings);
    }
    let mut sources = Sources::new();
    let file = sources.add("known.toml", Some(Utf8Path::new("/repo/policies/known.toml")), baseline);
    let file = collector.adopt(sources.file(file));
    (collector.finish("check", Vec::new(), Severity::Warning), file)
}

fn written(profiles: &[Vec<u8>]) -> String {
    write(&of_run(&run(profiles, "").0, &ground(), &|_| true)).unwrap()
}

/// What is shown, what is told of as stale, and how much is left out.
fn checked(profiles: &[Vec<u8>], baseline: &str) -> (usize, usize, usize) {
    let (mut run, file) = run(profiles, baseline);
    let entries = read(&run.sources, file).unwrap();
    leave_out(&mut run, &entries, Some(file), &ground());
    let stale = run.findings.iter().filter(|found| found.finding.rule == STALE_BASELINE.name).count();
    assert!(run.findings.iter().all(|found| found.finding.span().is_some()));
    (run.findings.len() - stale, stale, run.told.left_out)
}

fn counts(profiles: &[Vec<u8>]) -> BTreeMap<(usize, u8), usize> {
    let mut counts = BTreeMap::new();
    for (at, kinds) in profiles.iter().enumerate() {
        for kind in kinds {
            *counts.entry((at, *kind)).or_default() += 1;
        }
    }
    counts
}

fn profiles() -> impl Strategy<Value = Vec<Vec<u8>>> {
    prop::collection::vec(prop::collection::vec(0u8..5, 0..8), 2..=2)
}

/// The finding points at the name only, and says the same of another value.
#[test]
fn a_place_in_a_statement_stands_for_the_whole_statement() {
    let found = |statement: &str, rest: &str, baseline: &str| {
        let text = format!("edition 1\nprofile \"p\" {{\n    {statement}\n    {rest}\n}}\n");
        let mut sources = Sources::new();
        let file = sources.add("/repo/p.palisade", Some(Utf8Path::new("/repo/p.palisade")), text.as_str());
        let at = text.find("thing").unwrap();
        let finding =
            Finding::new("unused-param", Severity::Warning, "m").at(Span::new(file, at..at + 5), "");
        let mut collector = Collector::new(&origin, Vec::new(), Vec::new());
        let profile = collector.profile(sources.file(file));
        collector.add(profile, 0, &sources, vec![finding]);
        let known = sources.add("known.toml", Some(Utf8Path::new("/repo/policies/known.toml")), baseline);
        let known = collector.adopt(sources.file(known));
        let mut run = collector.finish("check", Vec::new(), Severity::Warning);
        let text = write(&of_run(&run, &ground(), &|_| true)).unwrap();
        if !baseline.is_empty() {
            let entries = read(&run.sources, known).unwrap();
            leave_out(&mut run, &entries, Some(known), &ground());
        }
        (text, run.told.left_out)
    };
    for (statement, changed) in [
        ("param thing \"x\"", "param thing \"y\""),
        ("root \"thing\" read-only", "root \"thing\" read-write"),
        ("optional-tools thing", "tools thing"),
        ("env { pass thing }", "env { set thing \"s\" }"),
        ("network only { deny \"thing\" }", "network only { allow \"thing\" }"),
        ("on linux { root \"thing\" read-only }", "on linux { root \"thing\" read-write }"),
    ] {
        let (text, _) = found(statement, "", "");
        assert_eq!(found(statement, "ipc off", &text).1, 1, "{statement}");
        assert_eq!(found(&statement.replace(' ', "   "), "", &text).1, 1, "{statement}");
        assert_eq!(found(changed, "", &text).1, 0, "{changed}");
    }
    // What is beside it in a block is another entry.
    let (text, _) = found("env { pass thing }", "", "");
    assert_eq!(found("env { pass OTHER; pass thing }", "", &text).1, 1);
}

proptest! {
    #[test]
    fn written_and_checked_is_clean(before in profiles()) {
        let all = before.iter().map(Vec::len).sum();
        prop_assert_eq!(checked(&before, &written(&before)), (0, 0, all));
    }

    #[test]
    fn what_came_is_shown_and_what_went_is_told_of(before in profiles(), after in profiles()) {
        let (old, new) = (counts(&before), counts(&after));
        let (mut came, mut went, mut stayed) = (0, 0, 0);
        for key in old.keys().chain(new.keys()).collect::<std::collections::BTreeSet<_>>() {
            let (old, new) = (old.get(key).copied().unwrap_or(0), new.get(key).copied().unwrap_or(0));
            came += new.saturating_sub(old);
            went += usize::from(old > new);
            stayed += old.min(new);
        }
        prop_assert_eq!(checked(&after, &written(&before)), (came, went, stayed));
    }

    #[test]
    fn the_order_of_statements_never_shows(before in profiles()) {
        let mut turned = before.clone();
        turned.iter_mut().for_each(|kinds| kinds.reverse());
        prop_assert_eq!(written(&before), written(&turned));
    }

    /// Whatever stands in the file, it is read or refused, with a place that is in it.
    #[test]
    fn any_text_is_read_or_refused(
        text in "(palisade-baseline = 1\n|\\[\\[finding\\]\\]\n|rule = \"x\"\n|count = [0-9]\n|profiles = \\[\\]\n|=|\"|\\[|é|\n){0,12}",
    ) {
        let mut sources = Sources::new();
        let file = sources.add("known.toml", None, text.clone());
        if let Err(finding) = read(&sources, file) {
            let span = finding.span().unwrap();
            prop_assert!(text.get(span.range()).is_some(), "{:?}", span);
        }
    }
}
