//! Files that somebody made to hurt. Each must get an answer, quickly and without a panic; `cargo test` would not end if time grew
//! with the square of these sizes.

use crate::case;
use palisade::syntax::MAX_FINDINGS;

const MIB: usize = 1 << 20;

fn answered(text: &str) -> usize {
    let case = case(text);
    let count = case.parsed.findings.len();
    assert!((1..=MAX_FINDINGS + 1).contains(&count), "{count}");
    for finding in &case.parsed.findings {
        assert!(finding.message.chars().count() < 400, "{}", finding.message.len());
        for label in &finding.labels {
            assert!(case.sources.file(case.id).text.get(label.span.range()).is_some());
        }
    }
    count
}

#[test]
fn a_mebibyte_of_one_thing() {
    for piece in [
        "{", "}", "[", "]", "\"", "\\", ";x", "$", "#", "a", "r#", "r#\"", "\u{feff}", "{}", "\u{202e}", "é",
        "a ", "\r",
    ] {
        answered(&piece.repeat(MIB / piece.len()));
        // A quarter: these are cut into very many pieces, and a square of that would not end either.
        let lines = format!("{piece}\n").repeat(MIB / 4 / (piece.len() + 1));
        answered(&lines);
        answered(&format!("edition 1\nprofile \"p\" {{\n{lines}"));
    }
}

#[test]
fn a_quarter_of_that_inside_a_profile() {
    for piece in [
        "tools [\n",
        "env {\n",
        "root \"x\" read-only root\n",
        "deny \"\\q\"\n",
        "deny \"$\"\n",
        "zzzz \"x\"\n",
        "on macos {\n",
        "tools [ a\n",
        "deny \"x\"; ",
        "network only { allow x }\n",
        "limits { time 3s } limits { time 4s }\n",
        "profile \"x\" {\n",
        "edition 1\n",
        "env\n{\n}\n",
    ] {
        answered(&format!("edition 1\nprofile \"p\" {{\n{}", piece.repeat(MIB / 4 / piece.len())));
    }
}

#[test]
fn one_list_of_a_mebibyte() {
    let text = format!("edition 1\nprofile \"p\" {{\ntools [\n{}]\n}}\n", "aaaaaaa\n".repeat(MIB / 8));
    assert_eq!(case(&text).found(), []);
}

#[test]
fn ten_thousand_lines() {
    let statements: String =
        (0..10_000).map(|n| format!("root \"$workspace/dir-{n}/$a\" read-only # {n}\n")).collect();
    let case = case(&format!("edition 1\nprofile \"p\" {{\n{statements}}}\n"));
    assert_eq!(case.found(), []);
    assert_eq!(case.keywords().len(), 10_000);
}

#[test]
fn the_rest_is_counted() {
    let case = case(&format!("edition 1\nprofile \"p\" {{\n{}}}\n", "rot \"x\"\n".repeat(250)));
    assert_eq!(case.parsed.findings.len(), MAX_FINDINGS + 1);
    assert_eq!(case.parsed.findings[MAX_FINDINGS].message, "150 more errors in `x.palisade` are not shown");
}

#[test]
fn a_nul_is_told_of() {
    assert_eq!(
        case("edition 1\nprofile \"p\" {\ndeny \"a\0b\"\n}\n").found(),
        [("a character that cannot be seen: U+0000".to_owned(), "\0")]
    );
}

#[test]
fn deep_blocks_are_refused_and_the_rest_is_read() {
    let case = case(&format!(
        "edition 1\nprofile \"p\" {{\n{}{}\ndeny \"x\"\n}}\n",
        "env {\n".repeat(500),
        "}\n".repeat(500)
    ));
    assert!(case.found().iter().any(|(message, _)| message == "blocks nest too deeply"));
    assert!(case.keywords().contains(&"deny"));
}
