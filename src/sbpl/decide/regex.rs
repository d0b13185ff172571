//! Expressions. Their dialect is AppleMatch's: like POSIX's extended one, searching anywhere, anchors only at the ends, case-sensitive.
//!
//! Only what is known to mean the same is translated to the `regex` crate's; everything else matches "perhaps".

use crate::sbpl::rule::Text;
use std::ops::Range;
use std::sync::OnceLock;

/// What stands in the way of an expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Obstacle {
    /// Its bytes within the expression.
    pub range: Range<usize>,
    pub what: &'static str,
    /// Whether the system is known to refuse it, and with it the whole profile; else its meaning there is unverified.
    pub refused: bool,
}

/// An expression, compiled when it is first asked.
#[derive(Debug)]
pub struct Pattern {
    pub text: Text,
    compiled: OnceLock<Option<regex::bytes::Regex>>,
}

/// The most memory a compiled expression may take, in bytes; a larger one matches "perhaps".
const SIZE_LIMIT: usize = 1 << 20;

impl Pattern {
    pub fn new(text: Text) -> Self {
        Self { text, compiled: OnceLock::new() }
    }

    /// What keeps it from being evaluated; `None` also where its text is not known.
    pub fn obstacle(&self) -> Option<Obstacle> {
        translate(self.text.bytes()?).err()
    }

    /// Whether it is found in `subject`; `None` where that cannot be told.
    pub fn is_match(&self, subject: &[u8]) -> Option<bool> {
        let compiled = self.compiled.get_or_init(|| {
            let translated = translate(self.text.bytes()?).ok()?;
            regex::bytes::RegexBuilder::new(&translated)
                .unicode(false)
                .dot_matches_new_line(true)
                .size_limit(SIZE_LIMIT)
                .dfa_size_limit(SIZE_LIMIT)
                .build()
                .ok()
        });
        compiled.as_ref().map(|regex| regex.is_match(subject))
    }
}

/// The same expression in the crate's dialect.
fn translate(pattern: &[u8]) -> Result<String, Obstacle> {
    let mut translator = Translator { pattern, at: 0, out: String::new(), depth: 0 };
    translator.run()?;
    Ok(translator.out)
}

struct Translator<'a> {
    pattern: &'a [u8],
    at: usize,
    out: String,
    depth: usize,
}

/// What the last item was, for the quantifier behind it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Last {
    /// Nothing that could be repeated.
    Nothing,
    Item,
    Quantified,
    /// One byte of a longer character: whether a quantifier takes the byte or the character is not known.
    PartOfCharacter,
}

impl Translator<'_> {
    fn unverified(&self, length: usize, what: &'static str) -> Obstacle {
        Obstacle { range: self.at..(self.at + length).min(self.pattern.len()), what, refused: false }
    }

    fn refused(&self, length: usize, what: &'static str) -> Obstacle {
        Obstacle { refused: true, ..self.unverified(length, what) }
    }

    fn run(&mut self) -> Result<(), Obstacle> {
        let mut last = Last::Nothing;
        while let Some(&byte) = self.pattern.get(self.at) {
            let next = self.pattern.get(self.at + 1).copied();
            match byte {
                // In front of an alternative it is an anchor in every reading, and Apple's own profiles have it there.
                b'^' if self.at == 0 => self.out.push('^'),
                b'^' if matches!(self.pattern.get(self.at - 1), Some(b'(' | b'|')) => {
                    return Err(self.unverified(1, "`^` stands at the very beginning only"));
                }
                b'^' => return Err(self.refused(1, "`^` stands at the beginning only")),
                b'$' if next.is_none() => self.out.push('$'),
                b'$' => return Err(self.unverified(1, "`$` stands at the end only")),
                b'(' if next == Some(b'?') => {
                    // `(?i)` is known to be refused; `(?:` is used in the field, unverified.
                    return Err(match self.pattern.get(self.at + 2) {
                        Some(b':') => self.unverified(3, "groups with `?` are not known to this dialect"),
                        _ => self.refused(3, "flags and look-around are not known to this dialect"),
                    });
                }
                b'(' => {
                    self.depth += 1;
                    self.out.push_str("(?:");
                }
                b')' if self.depth == 0 => return Err(self.unverified(1, "this bracket closes nothing")),
                b')' => {
                    self.depth -= 1;
                    self.out.push(')');
                }
                b'|' => self.out.push('|'),
                b'*' | b'+' | b'?' => match last {
                    Last::Item => self.out.push(char::from(byte)),
                    Last::Nothing => {
                        return Err(self.unverified(1, "nothing stands before it to be repeated"));
                    }
                    Last::Quantified => return Err(self.unverified(1, "a repetition of a repetition")),
                    Last::PartOfCharacter => {
                        return Err(self.unverified(1, "a repetition of a character outside of ASCII"));
                    }
                },
                b'{' => return Err(self.unverified(1, "counted repetitions are unverified here")),
                b'[' => {
                    self.class()?;
                    last = Last::Item;
                    continue;
                }
                b'.' => self.out.push('.'),
                b'\\' => match next {
                    Some(escaped) if escaped.is_ascii_punctuation() => {
                        self.at += 1;
                        self.literal(escaped);
                    }
                    Some(_) => return Err(self.unverified(2, "only punctuation is escaped in this dialect")),
                    None => return Err(self.unverified(1, "nothing stands behind the backslash")),
                },
                other => self.literal(other),
            }
            last = match byte {
                b'(' | b'|' | b'^' => Last::Nothing,
                b'*' | b'+' | b'?' => Last::Quantified,
                0x80.. => Last::PartOfCharacter,
                _ => Last::Item,
            };
            self.at += 1;
        }
        if self.depth > 0 {
            return Err(self.unverified(0, "a bracket is never closed"));
        }
        Ok(())
    }

    fn literal(&mut self, byte: u8) {
        self.out.push_str(&format!("\\x{byte:02x}"));
    }

    /// `[…]`: plain characters and ranges, ASCII only.
    fn class(&mut self) -> Result<(), Obstacle> {
        self.out.push('[');
        self.at += 1;
        if self.pattern.get(self.at) == Some(&b'^') {
            self.out.push('^');
            self.at += 1;
        }
        let mut first = true;
        loop {
            match self.pattern.get(self.at).copied() {
                None => return Err(self.unverified(0, "this class is never closed")),
                Some(b']') if !first => {
                    self.out.push(']');
                    self.at += 1;
                    return Ok(());
                }
                Some(b'\\') => return Err(self.unverified(1, "a backslash in a class is unverified here")),
                Some(b'[') => return Err(self.unverified(1, "a bracket in a class is unverified here")),
                Some(0x80..) => return Err(self.unverified(1, "a character outside of ASCII in a class")),
                Some(byte) => {
                    let is_end = |byte: &u8| !matches!(*byte, b']' | b'[' | b'\\' | 0x80..);
                    match (self.pattern.get(self.at + 1), self.pattern.get(self.at + 2)) {
                        (Some(b'-'), Some(end)) if is_end(end) => {
                            if *end < byte {
                                return Err(self.unverified(3, "this range is empty"));
                            }
                            self.out.push_str(&format!("\\x{byte:02x}-\\x{end:02x}"));
                            self.at += 3;
                        }
                        _ => {
                            self.literal(byte);
                            self.at += 1;
                        }
                    }
                    first = false;
                }
            }
        }
    }
}

/// Whether an expression tells the two cases of a letter apart, as far as its letters show, or its classes alone. What alternatives make up for
/// is not seen.
pub fn letters_of_one_case(pattern: &[u8], in_classes_only: bool) -> bool {
    let mut rest = pattern;
    while let Some((&byte, after)) = rest.split_first() {
        match byte {
            b'\\' => rest = after.get(1..).unwrap_or_default(),
            b'[' => {
                // The first character belongs to the class, even if it is `]`.
                let skip = if after.first() == Some(&b'^') { 2 } else { 1 };
                let end = after
                    .iter()
                    .skip(skip)
                    .position(|byte| *byte == b']')
                    .map_or(after.len(), |at| at + skip);
                if !holds_both_cases(after.get(..end).unwrap_or_default()) {
                    return true;
                }
                rest = after.get(end + 1..).unwrap_or_default();
            }
            _ if !in_classes_only && (byte.is_ascii_alphabetic() || !byte.is_ascii()) => return true,
            _ => rest = after,
        }
    }
    false
}

/// Whether a class, without its brackets, holds of every letter both cases or neither.
fn holds_both_cases(class: &[u8]) -> bool {
    let class = class.strip_prefix(b"^").unwrap_or(class);
    let mut held = [false; 256];
    let mut rest = class;
    while let Some((&byte, after)) = rest.split_first() {
        rest = match after {
            [b'-', end, more @ ..] => {
                (byte..=*end).for_each(|byte| held[usize::from(byte)] = true);
                more
            }
            _ => {
                held[usize::from(byte)] = true;
                after
            }
        };
    }
    (b'a'..=b'z').all(|letter| held[usize::from(letter)] == held[usize::from(letter ^ 0x20)])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(pattern: &str, subject: &str) -> Option<bool> {
        Pattern::new(Text::known(pattern.as_bytes())).is_match(subject.as_bytes())
    }

    #[test]
    fn searches_anywhere_and_minds_case() {
        assert_eq!(matches(r"/\.env$", "/a/.env"), Some(true));
        assert_eq!(matches(r"/\.env$", "/a/.ENV"), Some(false));
        assert_eq!(matches(r"/\.env$", "/a/xenv"), Some(false));
        assert_eq!(matches("b", "abc"), Some(true));
        assert_eq!(matches("^/a/[^/]+/(x|y)*$", "/a/b/xyx"), Some(true));
        assert_eq!(matches("^/a/[]-]b$", "/a/]b"), Some(true));
        assert_eq!(matches("^/[A-Z0-9]+$", "/A7"), Some(true));
        assert_eq!(matches("^/é.$", "/éx"), Some(true));
        assert_eq!(matches("^/a.b$", "/a\nb"), Some(true));
    }

    #[test]
    fn what_is_not_known_to_mean_the_same_is_not_decided() {
        for pattern in [
            "(?:a)",
            "(^a)",
            "a$b",
            r"\d",
            "a{2}",
            "a**",
            "*a",
            "é+",
            r"[\w]",
            "[[:alpha:]]",
            "(a",
            "a)",
            "[a",
            r"a\",
            "[z-a]",
        ] {
            assert_eq!(matches(pattern, "a"), None, "{pattern}");
            assert!(!translate(pattern.as_bytes()).unwrap_err().refused, "{pattern}");
        }
        for pattern in ["(?i)^/a", "a^b", "(?=a)"] {
            assert!(translate(pattern.as_bytes()).unwrap_err().refused, "{pattern}");
        }
        assert_eq!(Pattern::new(Text::parameter("X")).is_match(b"a"), None);
    }

    #[test]
    fn letters_are_safe_in_classes_of_both_cases() {
        for (pattern, one_case) in [
            ("/[.][Ee][Nn][Vv]$", false),
            (r"/\.env$", true),
            ("/[a-z]+/", true),
            ("/[a-zA-Z]+/", false),
            ("/[e]/", true),
            ("/[^e]/", true),
            ("/[^/]+/", false),
            ("^/[0-9]+$", false),
            (r"\.\.", false),
        ] {
            assert_eq!(letters_of_one_case(pattern.as_bytes(), false), one_case, "{pattern}");
        }
    }
}
