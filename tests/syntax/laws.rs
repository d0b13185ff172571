//! What holds for every text.

use crate::case;
use palisade::source::Sources;
use palisade::syntax::{load, outline::outline};
use proptest::prelude::*;

/// Pieces that profiles are made of, in any order: nearer to the language than any string is.
pub fn soup() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "edition 1\n",
        "profile \"p\" {\n",
        "fragment \"f\" {\n",
        "}",
        "}\n",
        "{",
        "[",
        "]",
        "\n",
        ";",
        " ",
        "\"",
        "#",
        "r#\"",
        "\"#",
        "\\",
        "$",
        "${",
        "root",
        "deny",
        "glob",
        "tools",
        "@inspection",
        "git",
        "env {",
        "set",
        "A",
        "\"x\"",
        "\"$workspace\"",
        "read-only",
        "read-write",
        "network",
        "only",
        "localhost",
        "allow",
        "inspect",
        "methods",
        "GET",
        "paths",
        "mask",
        "for",
        "5432",
        "off",
        "limits {",
        "time",
        "30s",
        "on",
        "macos",
        "expect {",
        "read",
        "allowed",
        "because",
        "é",
        "\u{202e}",
        "\r\n",
        "\0",
        "\u{feff}",
        "# palisade: allow(x)",
        "\t",
        "'",
        ",",
    ]);
    prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.join(" "))
}

fn name() -> impl Strategy<Value = String> {
    "[a-z_][a-z0-9_.-]{0,8}"
}

/// A quoted text that means something: no lone `$`, no unknown escape.
fn quoted() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-zA-Z0-9/ #;{}\\[\\]*.~é-]{0,12}".prop_map(|text| format!("\"{text}\"")),
        Just("\"$workspace/a\\$b\\u{e9}\\n\\\\\"".to_owned()),
        "[a-z$\\\\/# ]{0,8}".prop_map(|text| format!("r##\"{text}\"##")),
    ]
}

/// Statements that can stand several times in a profile.
fn statement() -> impl Strategy<Value = String> {
    prop_oneof![
        (quoted(), prop::bool::ANY).prop_map(|(path, write)| format!(
            "root {path} {}",
            if write { "read-write" } else { "read-only" }
        )),
        quoted().prop_map(|path| format!("deny {path}")),
        quoted().prop_map(|path| format!("deny glob {path}")),
        (quoted(), prop::collection::vec(quoted(), 1..4))
            .prop_map(|(path, names)| format!("deny gitignored {path} except {}", names.join(" "))),
        prop::collection::vec(name(), 1..6).prop_map(|names| format!("tools {}", names.join(" "))),
        prop::collection::vec(name(), 0..6)
            .prop_map(|names| format!("optional-tools [\n {}\n ]", names.join(" # c\n "))),
        (quoted(), quoted()).prop_map(|(path, why)| format!("unguard {path} because {why}")),
        (quoted(), quoted()).prop_map(|(a, b)| format!("on macos {{ seatbelt {a} because {b}; deny {a} }}")),
        (name(), quoted())
            .prop_map(|(word, path)| format!("expect {{ {word} {path} allowed; {word} {path} denied\n}}")),
        quoted().prop_map(|host| format!("on linux {{ tool {host} }}")),
        Just("# a comment".to_owned()),
        Just(String::new()),
    ]
}

/// Statements that stand in a profile once: what may be asked of a host, and a masked variable.
fn once() -> impl Strategy<Value = String> {
    let methods = prop::collection::vec("[A-Z][A-Z0-9_-]{0,6}", 1..4);
    let asked =
        (quoted(), methods, prop::collection::vec(quoted(), 1..3)).prop_map(|(host, methods, paths)| {
            let (methods, paths) = (methods.join(" "), paths.join(" # c\n "));
            format!("network only {{ allow {host} methods {methods} paths [ {paths}\n ]; inspect {host} }}\n")
        });
    let masked = ("[A-Z]{1,3}", prop::collection::vec(quoted(), 1..3))
        .prop_map(|(name, hosts)| format!("env {{ mask {name} for {} }}\n", hosts.join(" ")));
    (prop::option::of(asked), prop::option::of(masked))
        .prop_map(|(asked, masked)| asked.unwrap_or_default() + &masked.unwrap_or_default())
}

pub fn profile() -> impl Strategy<Value = String> {
    let end = prop::sample::select(vec!["\n", ";\n", " # c\n", "\r\n", "\n\n"]);
    (once(), prop::collection::vec((statement(), end), 0..12)).prop_map(|(once, statements)| {
        // A `;` after a comment is part of it.
        let body: String =
            statements.into_iter().map(|(statement, end)| format!("  {statement}{end}")).collect();
        format!("edition 1\n# head\nprofile \"p\" {{\n{once}{body}}}\n")
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_string_gets_an_answer(text in "\\PC*|(?s).{0,200}") {
        check(&text);
    }

    #[test]
    fn any_soup_gets_an_answer(text in soup()) {
        check(&text);
    }

    #[test]
    fn any_bytes_get_an_answer(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let mut sources = Sources::new();
        if let Ok(id) = load(&mut sources, "x", None, bytes) {
            palisade::syntax::parse(&sources, id);
        }
    }

    /// Nothing is lost in cutting a text up, and nothing is made up.
    #[test]
    fn pieces_hold_all_but_blanks(text in soup()) {
        let outline = outline(&text);
        let mut end = 0;
        for piece in &outline.pieces {
            let range = piece.range();
            let blank = text[end..range.start].chars().all(|c| matches!(c, ' ' | '\t' | '\u{feff}'));
            prop_assert!(blank, "{:?}", &text[end..range.start]);
            end = range.end;
        }
        // A byte-order mark may be all there is.
        let blank = text[end..].chars().all(|c| matches!(c, ' ' | '\t') || (end == 0 && c == '\u{feff}'));
        prop_assert!(blank, "{:?}", &text[end..]);
    }

    #[test]
    fn a_right_profile_is_understood(text in profile()) {
        let case = case(&text);
        prop_assert_eq!(case.found(), vec![]);
        prop_assert!(palisade::syntax::accepts(&text), "the grammar's `file` says otherwise:\n{}", text);
    }

    /// Statement by statement, or as one file: the grammar gives the same answer. Where only rules beyond it are broken, it says so.
    #[test]
    fn statement_by_statement_is_the_whole_grammar(text in soup()) {
        let beyond_grammar = ["repeated-statement", "hidden-character", "edition", "limit-amount"];
        let findings = case(&text).parsed.findings;
        if findings.is_empty() {
            prop_assert!(palisade::syntax::accepts(&text), "{}", text);
        }
        if palisade::syntax::accepts(&text) {
            for finding in findings {
                prop_assert!(beyond_grammar.contains(&finding.rule), "{finding:?}\n{text}");
            }
        }
    }
}

fn check(text: &str) {
    let case = case(text);
    for finding in &case.parsed.findings {
        for label in &finding.labels {
            assert!(text.get(label.span.range()).is_some(), "{label:?}");
        }
        for edit in finding.fix.iter().flat_map(|fix| &fix.edits) {
            assert!(text.get(edit.span.range()).is_some(), "{edit:?}");
        }
    }
    assert!(case.parsed.file.is_some() || !case.parsed.findings.is_empty());
}
