//! The law of this reader: whatever it takes, the reader of all of YAML takes for the same.

use super::super::{Manifest, write};
use super::read;
use proptest::prelude::*;

/// The artifact of a profile of many parts, as another test keeps it.
fn body() -> &'static str {
    let kept = include_str!("../../../snapshots/manifest.snap");
    &kept[kept.find("# Palisade").unwrap()..kept.rfind("digest: sha256:").unwrap()]
}

fn as_yaml(text: &str) -> Option<Manifest> {
    serde_yaml::from_str(text).ok()
}

fn agree(text: &str) {
    if let Some(plain) = read::<Manifest>(text) {
        assert_eq!(Some(plain), as_yaml(text), "{text}");
    }
}

#[test]
fn what_compile_writes_is_plain() {
    assert!(body().contains("\nrules:\n") && body().contains("\n- "));
    let plain = read::<Manifest>(body());
    assert!(plain.is_some());
    assert_eq!(plain, as_yaml(body()));
}

#[test]
fn gives_up_on_all_other_yaml() {
    for (old, new) in [
        ("\nschema: 1\n", "\nschema: 0x1\n"),
        ("\nschema: 1\n", "\nschema: +1\n"),
        ("\nschema: 1\n", "\nschema: !!int 1\n"),
        ("\nschema: 1\n", "\nschema: 1 # one\n"),
        ("\nschema: 1\n", "\n\"schema\": 1\n"),
        ("\nschema: 1\n", "\n? schema\n: 1\n"),
        ("\nschema: 1\n", "\n\nschema: 1\n"),
        ("\nschema: 1\n", "\n# one\nschema: 1\n# two\n"),
        ("\nschema: 1\n", "\n---\nschema: 1\n"),
        ("\nsources:\n", "\nsources: &a\n"),
        ("\nroots:\n", "\nroots:\n\n"),
    ] {
        let text = body().replacen(old, new, 1);
        assert_ne!(text, body(), "{old}");
        assert!(as_yaml(&text).is_some(), "{new}");
        assert!(read::<Manifest>(&text).is_none(), "{new}");
    }
}

#[test]
fn takes_nothing_that_yaml_refuses() {
    let body = body();
    for text in [
        format!("{body}surprise: 1\n"),
        format!("{body}schema: 1\n"),
        format!("{body}  deeper: 1\n"),
        format!("{body}- entry\n"),
        body.replacen("schema: 1\n", "", 1),
        body.replacen("\n- ", "\n-", 1),
        body.replacen("\n  ", "\n ", 1),
        String::new(),
    ] {
        assert!(as_yaml(&text).is_none(), "{text}");
        assert!(read::<Manifest>(&text).is_none(), "{text}");
    }
}

/// Pieces of text that mean something to YAML, somewhere.
fn piece() -> impl Strategy<Value = String> {
    prop_oneof![
        "[-:#?,&*!|>'\"%@`~\\[\\]{} \n]{1,3}",
        "[a-z0-9 ']{1,3}",
        Just("null".into()),
        Just("true".into()),
        Just(" #".into()),
        Just(": ".into()),
        Just("- ".into()),
        Just("''".into()),
        Just("\n  ".into()),
        Just("\n- ".into()),
        Just("\t".into()),
        Just("\r".into()),
        Just("\u{2028}".into()),
        Just("\u{feff}".into()),
        Just("é".into()),
        Just("---\n".into()),
        Just("...\n".into()),
        Just("<<: x\n".into()),
    ]
}

#[derive(Debug, Clone)]
enum Damage {
    Insert(String),
    Remove(usize),
    Replace(usize, String),
    /// The line once more.
    Double,
    /// Without its line break.
    Join,
}

fn damage() -> impl Strategy<Value = (prop::sample::Index, Damage)> {
    let how = prop_oneof![
        3 => piece().prop_map(Damage::Insert),
        2 => (1usize..4).prop_map(Damage::Remove),
        3 => (1usize..4, piece()).prop_map(|(length, piece)| Damage::Replace(length, piece)),
        1 => Just(Damage::Double),
        1 => Just(Damage::Join),
    ];
    (any::<prop::sample::Index>(), how)
}

fn damaged(text: &str, damages: &[(prop::sample::Index, Damage)]) -> String {
    let mut letters: Vec<char> = text.chars().collect();
    for (index, damage) in damages {
        let at = index.index(letters.len());
        let end = |length: usize| (at + length).min(letters.len());
        let line_end =
            letters[at..].iter().position(|&letter| letter == '\n').map_or(letters.len(), |found| at + found);
        let line_start =
            letters[..at].iter().rposition(|&letter| letter == '\n').map_or(0, |found| found + 1);
        match damage {
            Damage::Insert(piece) => drop(letters.splice(at..at, piece.chars())),
            Damage::Remove(length) => drop(letters.drain(at..end(*length))),
            Damage::Replace(length, piece) => drop(letters.splice(at..end(*length), piece.chars())),
            Damage::Double => {
                let mut line = letters[line_start..line_end].to_vec();
                line.push('\n');
                letters.splice(line_start..line_start, line);
            }
            Damage::Join => drop(letters.drain(line_end..end(line_end + 1 - at))),
        }
    }
    letters.into_iter().collect()
}

/// A short manifest, so that damage often meets the same place twice.
fn short() -> String {
    let mut manifest = as_yaml(body()).unwrap();
    manifest.protected.truncate(2);
    manifest.tools.truncate(1);
    manifest.links.truncate(1);
    manifest.rules.truncate(2);
    manifest.files.truncate(1);
    manifest.cache.truncate(1);
    manifest.losses = vec!["one: two".into(), "it's".into()];
    manifest.assumptions = Vec::new();
    let text = write(&manifest).unwrap();
    text[..text.rfind("digest: sha256:").unwrap()].to_owned()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn a_damaged_manifest_is_taken_as_yaml_takes_it(damages in prop::collection::vec(damage(), 1..4)) {
        agree(&damaged(&short(), &damages));
    }
}

proptest! {
    #[test]
    fn odd_words_are_taken_as_yaml_takes_them(
        words in prop::collection::vec(prop_oneof![piece(), "[ -~]{0,12}", any::<String>()], 4),
        name in "[A-Za-z_][A-Za-z0-9_]{0,8}",
    ) {
        let mut manifest = as_yaml(&short()).unwrap();
        let [one, two, three, four] = &words[..] else { unreachable!() };
        manifest.description = Some(one.clone());
        manifest.environment.set.insert(name, two.clone());
        manifest.parameters.insert(three.clone(), four.clone());
        manifest.losses = words;
        let text = write(&manifest).unwrap();
        agree(&text[..text.rfind("digest: sha256:").unwrap()]);
    }

    #[test]
    fn ordinary_paths_are_plain(path in "(/[A-Za-z0-9._-]{1,8}){1,4}", sentence in "[a-z]{1,6}( [a-z']{1,6}){0,4}(: [a-z]{1,4})?") {
        let mut manifest = as_yaml(&short()).unwrap();
        manifest.workspace = path.into();
        manifest.losses = vec![sentence];
        let text = write(&manifest).unwrap();
        let read = read::<Manifest>(&text[..text.rfind("digest: sha256:").unwrap()]);
        prop_assert_eq!(read, Some(manifest));
    }
}
