//! Profiles that somebody made to hurt. Each must get an answer, quickly and without a panic.

use crate::case;
use palisade::finding::Severity;
use palisade::sbpl::{Engine, Operation, Subject, lint, print};

const MIB: usize = 1 << 20;

/// Evaluates, lints, decides and prints.
fn answered(forms: &str) -> usize {
    let case = case(forms);
    let findings = lint::run(&case.sources, &case.evaluation);
    for finding in &findings {
        assert!(finding.message.chars().count() < 1000, "{}", finding.message.len());
        for label in &finding.labels {
            assert!(case.sources.file(label.span.file).text.get(label.span.range()).is_some());
        }
    }
    let profile = &case.evaluation.profile;
    for operation in Operation::all().filter(|operation| operation.has_path()).take(3) {
        profile.decide(operation, &Subject::path("/x"), Engine::PerOperation);
        profile.decide(operation, &Subject::path("/x"), Engine::LastMatch);
    }
    let _ = print::profile(profile);
    case.evaluation.findings.len()
}

#[test]
fn a_quarter_mebibyte_of_one_thing() {
    for piece in [
        "(",
        ")",
        "'",
        "\"",
        "\\",
        ";",
        "#",
        "#\"",
        "a",
        "a ",
        "1 ",
        "()",
        "(allow ",
        "((",
        "é",
        "\u{0}",
        "`",
        "#\"a\\\"b",
        "\"\\x\" ",
    ] {
        answered(&piece.repeat(MIB / 4 / piece.len()));
    }
}

#[test]
fn a_quarter_mebibyte_of_one_form() {
    for piece in [
        "(allow file-read* (literal \"/a\"))\n",
        "(deny file* (subpath \"/a\"))(allow file-read-data (subpath \"/a\"))\n",
        "(allow file-raed*)\n",
        "(import \"a\")\n",
        "(define a 1)\n",
        "(deny file-read* (regex #\"(a|b)*(a|b)*c$\"))\n",
        "(allow default)(deny file-read* (literal \"/x/agent.sock\"))\n",
    ] {
        answered(&piece.repeat(MIB / 4 / piece.len()));
    }
    answered(&format!("(allow file-read* {})", "(literal \"/a\")".repeat(MIB / 64)));
    answered(&format!("(cond {})", "(#f 1)".repeat(MIB / 32)));
    answered(&format!("(allow file-read* (literal \"{}\"))", "/a".repeat(MIB / 4)));
    answered(&format!("(allow file-read* (regex #\"{}\"))", "(".repeat(MIB / 8)));
    answered(&format!("(allow file-read* (regex #\"{}\"))", "(a*b|c)*".repeat(MIB / 64)));
    answered(&format!("(allow file-read-metadata (path-ancestors \"{}\"))", "/a".repeat(MIB / 8)));
}

#[test]
fn programs_that_do_not_end_are_stopped() {
    for forms in [
        "(define (f x) (f x)) (f 1)".to_owned(),
        "(define (f) (begin (f) (f))) (f)".to_owned(),
        format!(
            "(define (f x) (string-append x x)) (allow file-read* (literal {}\"ab\"{}))",
            "(f ".repeat(60),
            ")".repeat(60)
        ),
        (0..64).fold("(define f0 (literal \"/a\"))".to_owned(), |text, n| {
            format!("{text}(define f{} (require-any f{n} f{n}))", n + 1)
        }) + "(allow file-read* f64)",
        (0..99).fold("(define f0 (literal \"/a\"))".to_owned(), |text, n| {
            format!("{text}(define f{} (require-not f{n}))", n + 1)
        }) + "(allow file-read* f99)",
        format!("{}(g){}", "(begin ".repeat(90), ")".repeat(90)),
        format!("{}(literal \"/a\"){}", "(require-not ".repeat(90), ")".repeat(90)),
        (0..22).fold("(define (g0) 1)".to_owned(), |text, n| {
            format!("{text}(define (g{}) (g{n}) (g{n}))", n + 1)
        }) + "(g22)",
    ] {
        assert!(answered(&forms) > 0, "{}", forms.get(..200).unwrap_or(&forms));
    }
}

/// A check that stops says so, loudly enough to fail a run.
#[test]
fn a_check_that_cannot_look_at_everything_says_so() {
    let case = case(&"(deny file* (subpath \"/a\"))(allow file-read-data (subpath \"/a\"))\n".repeat(4000));
    let findings = lint::run(&case.sources, &case.evaluation);
    let said = findings.iter().any(|finding| {
        finding.message.starts_with("the profile is too large") && finding.severity == Severity::Warning
    });
    assert!(said, "{findings:#?}");
}

#[test]
fn many_large_rules_are_bounded_together() {
    let rules = "(allow file-read* f)".repeat(4000);
    let doubled = (0..10).fold("(define f0 (literal \"/a\"))".to_owned(), |text, n| {
        format!("{text}(define f{} (require-any f{n} f{n}))", n + 1)
    });
    let text = format!("{doubled}(define f f10){rules}");
    assert!(answered(&text) > 0);
}
