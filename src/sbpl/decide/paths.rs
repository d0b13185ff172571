//! Comparing paths. A filter's path is taken as it stands: nothing is resolved, no slash is dropped.

use super::matching::Match;
use crate::sbpl::vocabulary::Form;
use unicode_normalization::UnicodeNormalization as _;

/// Whether the disk tells the cases of letters apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PathCase {
    /// As APFS is unless made otherwise.
    #[default]
    Insensitive,
    Sensitive,
}

/// Whether `value`, compared as `form` says, matches the resolved path `subject`.
///
/// ASCII letters of either case are the same on an insensitive disk. What else might be the same letter there (other scripts' cases,
/// composed and decomposed) has not been measured in public, so it matches perhaps.
pub fn matches(form: Form, value: &[u8], subject: &[u8], case: PathCase) -> Match {
    if plainly(form, value, subject, case) {
        return Match::Yes;
    }
    // The empty path is no place, and what the kernel makes of one is not known.
    if value.is_empty() && form != Form::Whole {
        return Match::Perhaps;
    }
    if value.is_ascii() && subject.is_ascii() {
        return Match::No;
    }
    let (Some(value), Some(subject)) = (folded(value, case), folded(subject, case)) else {
        return Match::No;
    };
    let alike = plainly(form, value.as_bytes(), subject.as_bytes(), PathCase::Sensitive);
    if alike { Match::Perhaps } else { Match::No }
}

fn plainly(form: Form, value: &[u8], subject: &[u8], case: PathCase) -> bool {
    let same = |a: &[u8], b: &[u8]| match case {
        PathCase::Insensitive => a.eq_ignore_ascii_case(b),
        PathCase::Sensitive => a == b,
    };
    let Some((head, tail)) = subject.split_at_checked(value.len()) else { return false };
    if !same(head, value) {
        return false;
    }
    match form {
        Form::Prefix => !value.is_empty(),
        Form::Subpath => !value.is_empty() && (tail.is_empty() || tail.starts_with(b"/") || value == b"/"),
        Form::Whole | Form::Regex => tail.is_empty(),
    }
}

/// One text for every spelling of a path that [`matches`] may take for it: where the keys differ, it answers no.
pub(super) fn key(path: &[u8], case: PathCase) -> Vec<u8> {
    match (folded(path, case), case) {
        (Some(folded), _) => folded.into_bytes(),
        (None, PathCase::Insensitive) => path.to_ascii_lowercase(),
        (None, PathCase::Sensitive) => path.to_vec(),
    }
}

/// Decomposed, and of one case where the disk is of one.
fn folded(path: &[u8], case: PathCase) -> Option<String> {
    let text = std::str::from_utf8(path).ok()?;
    Some(match case {
        PathCase::Sensitive => text.nfd().collect(),
        PathCase::Insensitive => {
            text.nfd().flat_map(char::to_uppercase).flat_map(char::to_lowercase).nfd().collect()
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use Form::{Prefix, Subpath, Whole};
    use Match::{No, Perhaps, Yes};

    #[test]
    fn boundaries_and_spellings() {
        for (form, value, subject, expected) in [
            (Subpath, "/a/b", "/a/b", Yes),
            (Subpath, "/a/b", "/a/b/c", Yes),
            (Subpath, "/a/b", "/a/bc", No),
            (Subpath, "/a/b", "/a", No),
            (Subpath, "/", "/", Yes),
            (Subpath, "/", "/x", Yes),
            (Subpath, "/a/", "/a/b", No),
            (Subpath, "//a", "/a", No),
            (Subpath, "", "/a", Perhaps),
            (Prefix, "/a/b", "/a/bc", Yes),
            (Prefix, "/a/b", "/a", No),
            (Whole, "/a", "/a", Yes),
            (Whole, "/a", "/a/b", No),
            (Whole, "/a/.ENV", "/A/.env", Yes),
            (Whole, "/caf\u{e9}", "/cafe\u{301}", Perhaps),
            (Whole, "/CAF\u{c9}", "/caf\u{e9}", Perhaps),
            (Whole, "/\u{212a}ey", "/key", Perhaps),
            (Whole, "/caf\u{e9}", "/cafe", No),
            (Subpath, "/caf\u{e9}", "/cafe\u{301}/x", Perhaps),
        ] {
            let found = matches(form, value.as_bytes(), subject.as_bytes(), PathCase::Insensitive);
            assert_eq!(found, expected, "{form:?} {value} {subject}");
        }
        assert_eq!(matches(Whole, b"/a/.ENV", b"/a/.env", PathCase::Sensitive), No);
        assert_eq!(matches(Whole, b"/\xff", b"/\xff", PathCase::Sensitive), Yes);
        assert_eq!(matches(Whole, b"/\xff", b"/\xfe", PathCase::Insensitive), No);
    }
}
