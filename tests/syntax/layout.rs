//! The formatter.

use crate::laws::{profile, soup};
use crate::{Case, case};
use palisade::syntax::format;
use palisade::syntax::outline::{PieceKind, outline};
use proptest::prelude::*;

fn formatted(text: &str) -> String {
    let Case { sources, id, .. } = case(text);
    format(&sources, id)
}

/// Every word and comment, in order, without what may change.
fn words(text: &str) -> Vec<&str> {
    let kept = |kind| !matches!(kind, PieceKind::EndOfLine | PieceKind::Semicolon);
    outline(text)
        .pieces
        .into_iter()
        .filter(|piece| kept(piece.kind))
        .map(|piece| text[piece.range()].trim_end())
        .collect()
}

#[test]
fn columns_indents_and_blank_lines() {
    let text = "\u{feff}edition 1\r\n\r\n\r\nprofile \"p\"{\r\n\r\nroot \"$workspace\" read-write;\nroot   \"a\"   read-only# c\ntools git\noptional-tools   [\n  rg # fast\njq ]\n\n\nenv{set A \"x\" ;pass B;}\nlimits {\ntime 30s # one\n open-files 256 # two\n\n}\n}";
    let right = "edition 1\n\nprofile \"p\" {\n    root \"$workspace\" read-write\n    root \"a\"          read-only  # c\n    tools git\n    optional-tools [\n        rg  # fast\n        jq ]\n\n    env { set A \"x\"; pass B }\n    limits {\n        time       30s  # one\n        open-files 256  # two\n    }\n}\n";
    assert_eq!(formatted(text), right);
}

#[test]
fn a_wrong_text_is_left_alone() {
    let text = "edition 1\nprofile \"p\" {\n  rot  \"x\"\n}\n";
    assert_eq!(formatted(text), text);
}

#[test]
fn what_ships_is_formatted() {
    for directory in ["std", "std/net", "examples"] {
        let directory = format!("{}/policies/{directory}", env!("CARGO_MANIFEST_DIR"));
        for entry in std::fs::read_dir(directory).expect("policies") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                continue;
            }
            let text = std::fs::read_to_string(&path).expect("a text");
            assert_eq!(formatted(&text), text, "{}", path.display());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn twice_is_once_and_no_word_is_lost(text in prop_oneof![profile(), soup()]) {
        let once = formatted(&text);
        prop_assert_eq!(&formatted(&once), &once);
        prop_assert_eq!(words(&once), words(&text));
        let (before, after) = (case(&text), case(&once));
        prop_assert_eq!(before.parsed.findings.len(), after.parsed.findings.len());
        if before.parsed.file.is_some() {
            prop_assert_eq!(before.keywords(), after.keywords());
        }
    }
}
