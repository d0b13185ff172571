//! Three profiles written from memory in the style of public ones, and what is found in them.

use palisade::report::concise;
use palisade::sbpl::{Engine, NoImports, Operation, Params, Subject, Verdict, evaluate, lint};
use palisade::source::Sources;

fn found(name: &str, text: &str) -> String {
    let mut sources = Sources::new();
    let file = sources.add(name, None, text);
    let evaluation = evaluate(&mut sources, file, &Params::default(), &NoImports);
    concise::render(&sources, &lint::run(&sources, &evaluation), name)
}

fn matches_snapshot(name: &str, text: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../../snapshots");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(format!("sb-check-{name}"), found(&format!("{name}.sb"), text)));
}

#[test]
fn permissive() {
    matches_snapshot("permissive", include_str!("style/permissive.sb"));
}

#[test]
fn strict() {
    matches_snapshot("strict", include_str!("style/strict.sb"));
}

#[test]
fn imported() {
    matches_snapshot("imported", include_str!("style/imported.sb"));
}

/// The most telling of the findings, seen as decisions: what the author wrote last does not hold.
#[test]
fn the_findings_are_true() {
    let parse = |text: &str| {
        palisade::sbpl::Profile::parse(text, &Params::default(), &NoImports).expect("an understood profile")
    };
    let ask = |profile: &palisade::sbpl::Profile, name: &str, path: &str| {
        let operation = Operation::named(name).expect("an operation");
        profile.decide(operation, &Subject::path(path), Engine::PerOperation).verdict
    };
    let strict = parse(include_str!("style/strict.sb"));
    assert_eq!(ask(&strict, "file-read-metadata", "/Users/dev/project/.secrets/key"), Verdict::Allow);
    assert_eq!(ask(&strict, "file-write-unlink", "/Users/dev/project/.secrets"), Verdict::Allow);
    assert_eq!(ask(&strict, "file-read-data", "/"), Verdict::Deny);
    let permissive = parse(include_str!("style/permissive.sb"));
    assert_eq!(ask(&permissive, "file-read-data", "/w/.ENV"), Verdict::Allow);
    assert_eq!(ask(&permissive, "file-read-data", "/Users/dev/.aws/credentials"), Verdict::Allow);
}
