//! Spellings of one name that a case- and normalisation-insensitive disk (APFS by default) takes for the same.

use camino::{Utf8Path, Utf8PathBuf};
use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::sync::LazyLock;
use unicode_normalization::UnicodeNormalization;

/// One spelling for all that such a disk takes for the same path.
pub fn fold(path: &Utf8Path) -> Utf8PathBuf {
    Utf8PathBuf::from(fold_name(path.as_str()))
}

/// As [`fold`], for one name: canonical caseless matching (Unicode, section 3.13), by full case folding.
pub fn fold_name(name: &str) -> String {
    if name.is_ascii() {
        return name.to_ascii_lowercase();
    }
    name.nfd().flat_map(fold_letter).nfd().collect()
}

/// The full case folding of one letter. Through upper case, since that puts together what has one capital (`ſ` and `s`, `ς` and `σ`), and
/// through lower case first, since `ẞ` is a capital itself. Only the dotless `ı` has another letter's capital and is a letter of its own.
fn fold_letter(letter: char) -> impl Iterator<Item = char> {
    let upper = |letter: char| letter.to_uppercase().flat_map(char::to_lowercase);
    let folded: Vec<char> = match letter {
        'ı' => vec![letter],
        _ if letter.is_ascii() => vec![letter.to_ascii_lowercase()],
        _ => letter.to_lowercase().flat_map(upper).collect(),
    };
    folded.into_iter()
}

/// Where letters lie that fold to others: everything with case, compositions and compatibility forms.
const FOLDED: [RangeInclusive<char>; 8] = [
    '\u{80}'..='\u{33ff}',
    '\u{a000}'..='\u{d7a3}',
    '\u{f900}'..='\u{ffff}',
    '\u{10400}'..='\u{11fff}',
    '\u{16000}'..='\u{16fff}',
    '\u{1d100}'..='\u{1d1ff}',
    '\u{1e000}'..='\u{1efff}',
    '\u{2f800}'..='\u{2fa1f}',
];

/// The letters beyond ASCII that fold to another text, by that text.
static UNFOLDED: LazyLock<HashMap<Vec<char>, Vec<char>>> = LazyLock::new(|| {
    let mut unfolded: HashMap<Vec<char>, Vec<char>> = HashMap::new();
    for letter in FOLDED.into_iter().flatten() {
        let folded: Vec<char> = fold_name(letter.encode_utf8(&mut [0; 4])).chars().collect();
        if folded != [letter] {
            unfolded.entry(folded).or_default().push(letter);
        }
    }
    unfolded
});

/// The longest text that one letter folds to, in letters.
const LONGEST: usize = 4;

/// More spellings of one name than this are not written into a profile; its losses say so.
pub const MOST_VARIANTS: usize = 64;

/// Every name that such a disk takes for this one, but for the case of ASCII letters, which are given in lower case. `None` where there
/// are more than `most`.
pub fn variants(name: &str, most: usize) -> Option<Vec<String>> {
    let folded: Vec<char> = fold_name(name).chars().collect();
    // Of each end of the name, from the last letter on.
    let mut ends: Vec<Vec<String>> = vec![vec![String::new()]];
    for at in (0..folded.len()).rev() {
        let mut here = Vec::new();
        for length in 1..=LONGEST.min(folded.len() - at) {
            let part = &folded[at..at + length];
            let itself = part.first().filter(|_| length == 1);
            let letters = UNFOLDED.get(part).into_iter().flatten().chain(itself);
            let rest = &ends[ends.len() - length];
            here.extend(letters.flat_map(|letter| rest.iter().map(move |rest| format!("{letter}{rest}"))));
            if here.len() > most {
                return None;
            }
        }
        ends.push(here);
    }
    ends.pop()
}

/// The name among `names` that `asked` stands for: itself where it is there, else one that folds to the same.
pub fn among<'a>(names: &'a [String], asked: &str) -> Option<&'a str> {
    if let Some(exact) = names.iter().find(|name| *name == asked) {
        return Some(exact);
    }
    let folded = fold_name(asked);
    names.iter().find(|name| fold_name(name) == folded).map(String::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefers_the_exact_name_and_else_takes_a_twin() {
        let names = ["Cafe\u{301}".to_owned(), "readme".to_owned(), "README".to_owned()];
        assert_eq!(among(&names, "README"), Some("README"));
        assert_eq!(among(&names, "CAF\u{c9}"), Some("Cafe\u{301}"));
        assert_eq!(among(&names, "cafe"), None);
    }

    #[test]
    fn folds_what_has_one_capital_or_is_composed_otherwise() {
        for (one, other) in [
            (".vscode", ".V\u{17f}code"),
            ("kit", "\u{212a}IT"),
            ("strasse", "Stra\u{df}e"),
            ("strasse", "STRA\u{1e9e}E"),
            ("profile", "pro\u{fb01}le"),
            ("\u{3c3}", "\u{3c2}"),
            ("\u{e9}a\u{e9}", "E\u{301}A\u{c9}"),
            ("\u{212b}", "a\u{30a}"),
        ] {
            assert_eq!(fold_name(one), fold_name(other), "{one} {other}");
        }
        assert_ne!(fold_name("i"), fold_name("\u{131}"));
        assert_ne!(fold_name("2"), fold_name("\u{b2}"));
    }

    #[test]
    fn variants_are_all_names_that_fold_alike() {
        assert_eq!(variants("Readme", 8).unwrap(), ["readme"]);
        assert_eq!(sorted(".vscode"), [".vscode", ".v\u{17f}code"]);
        let of_pass = sorted("pass");
        for name in ["pass", "pa\u{17f}s", "pas\u{17f}", "pa\u{17f}\u{17f}", "pa\u{df}", "pa\u{1e9e}"] {
            assert!(of_pass.iter().any(|it| it == name), "{name}");
        }
        let both = sorted("\u{e9}a\u{e9}");
        assert!(both.iter().any(|it| it == "\u{e9}ae\u{301}"));
        assert_eq!(variants("ssssssssssss", 64), None);
        assert_eq!(variants("\u{3042}", 8).unwrap(), ["\u{3042}"]);
    }

    fn sorted(name: &str) -> Vec<String> {
        let mut names = variants(name, 512).unwrap();
        names.sort();
        assert!(names.iter().all(|it| fold_name(it) == fold_name(name)));
        names
    }

    /// Every letter of Unicode that folds to something else is found again from what it folds to.
    #[test]
    fn no_letter_is_forgotten() {
        for letter in ('\u{80}'..=char::MAX).filter(|letter| letter.is_alphabetic()) {
            let name = letter.to_string();
            let folded = fold_name(&name);
            if folded == name {
                continue;
            }
            assert!(folded.chars().count() <= LONGEST, "{letter:?}");
            let known = UNFOLDED.get(&folded.chars().collect::<Vec<_>>());
            assert!(known.is_some_and(|known| known.contains(&letter)), "{letter:?} {folded}");
        }
    }
}
