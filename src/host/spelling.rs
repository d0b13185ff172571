//! Spellings of one name that a case- and normalisation-insensitive disk (APFS by default) takes for the same.

use camino::{Utf8Path, Utf8PathBuf};
use unicode_normalization::UnicodeNormalization;

/// One spelling for all that such a disk takes for the same path.
pub fn fold(path: &Utf8Path) -> Utf8PathBuf {
    Utf8PathBuf::from(fold_name(path.as_str()))
}

/// As [`fold`], for one name.
pub fn fold_name(name: &str) -> String {
    name.nfd().flat_map(char::to_lowercase).nfd().collect()
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
}
