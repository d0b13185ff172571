//! Texts that an expression matches: one for every way through it, as far as there are few.

use super::regex::{Pattern, letters_of_one_case};

/// At most so many of one expression, and this long.
const MOST: usize = 64;
const LONGEST: usize = 4096;
const DEPTH: usize = 32;

/// A text that an expression finds, and whether the expression holds it to the ends of what is searched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sample {
    pub text: Vec<u8>,
    pub from_start: bool,
    pub to_end: bool,
}

/// Samples of an expression that can be evaluated: of a repetition once and, if that is enough, not at all; of a large class one member. `None`
/// where there are too many ways to tell them all.
pub fn of(pattern: &Pattern) -> Option<Vec<Sample>> {
    let bytes = pattern.text.bytes()?;
    if pattern.obstacle().is_some() {
        return None;
    }
    let (rest, from_start) = match bytes.strip_prefix(b"^") {
        Some(rest) => (rest, true),
        None => (bytes, false),
    };
    let mut reader = Reader { bytes: rest, at: 0 };
    let ways = reader.alternatives(0)?;
    let last = ways.len().saturating_sub(1);
    let mut samples = Vec::new();
    for (at, texts) in ways.into_iter().enumerate() {
        // Of several alternatives an anchor belongs to the one it stands in.
        let (from_start, to_end) = (from_start && at == 0, reader.ends_with_anchor() && at == last);
        samples.extend(texts.into_iter().map(|text| Sample { text, from_start, to_end }));
    }
    (samples.len() <= MOST).then_some(samples)
}

/// Whether an expression takes one case of a letter and not the other.
pub fn tells_cases_apart(pattern: &Pattern) -> bool {
    let Some(bytes) = pattern.text.bytes() else { return false };
    let Some(samples) = of(pattern) else { return letters_of_one_case(bytes, false) };
    // One letter after the other is turned round: each way must still be found.
    let turned = |text: &str| -> Vec<String> {
        let turn = |(at, letter): (usize, char)| {
            let other: String = if letter.is_lowercase() {
                letter.to_uppercase().collect()
            } else {
                letter.to_lowercase().collect()
            };
            let rest = text.get(at + letter.len_utf8()..).unwrap_or_default();
            (!other.eq(letter.encode_utf8(&mut [0; 4])))
                .then(|| format!("{}{other}{rest}", text.get(..at).unwrap_or_default()))
        };
        text.char_indices().filter_map(turn).collect()
    };
    letters_of_one_case(bytes, true)
        || samples
            .iter()
            .filter_map(|sample| std::str::from_utf8(&sample.text).ok())
            .flat_map(turned)
            .any(|text| pattern.is_match(text.as_bytes()) == Some(false))
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

type Texts = Vec<Vec<u8>>;

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    /// An escaped dollar is none: the reader has stopped before a plain one.
    fn ends_with_anchor(&self) -> bool {
        self.peek() == Some(b'$')
    }

    fn alternatives(&mut self, depth: usize) -> Option<Vec<Texts>> {
        if depth > DEPTH {
            return None;
        }
        let mut ways = vec![self.sequence(depth)?];
        while self.peek() == Some(b'|') {
            self.at += 1;
            ways.push(self.sequence(depth)?);
        }
        Some(ways)
    }

    fn sequence(&mut self, depth: usize) -> Option<Texts> {
        let mut texts: Texts = vec![Vec::new()];
        while let Some(byte) = self.peek().filter(|byte| !matches!(byte, b'|' | b')' | b'$')) {
            let item = self.item(byte, depth)?;
            let item = match self.peek() {
                Some(b'*' | b'?') => {
                    self.at += 1;
                    let mut more = item;
                    more.push(Vec::new());
                    more
                }
                Some(b'+') => {
                    self.at += 1;
                    item
                }
                _ => item,
            };
            if texts.len().saturating_mul(item.len()) > MOST {
                return None;
            }
            let joined =
                texts.iter().flat_map(|head| item.iter().map(|tail| [head.as_slice(), tail].concat()));
            texts = joined.collect();
            if texts.iter().any(|text| text.len() > LONGEST) {
                return None;
            }
        }
        Some(texts)
    }

    fn item(&mut self, byte: u8, depth: usize) -> Option<Texts> {
        self.at += 1;
        Some(match byte {
            b'(' => {
                let inner = self.alternatives(depth + 1)?.into_iter().flatten().collect();
                self.at += 1;
                inner
            }
            b'[' => self.class(),
            b'.' => vec![b"x".to_vec()],
            b'\\' => {
                let escaped = self.peek()?;
                self.at += 1;
                vec![vec![escaped]]
            }
            other => vec![vec![other]],
        })
    }

    /// All of a small class, or one member that is least likely to be anything special.
    fn class(&mut self) -> Texts {
        let negated = self.peek() == Some(b'^');
        self.at += usize::from(negated);
        let mut held = [false; 256];
        let mut first = true;
        while let Some(byte) = self.peek().filter(|byte| first || *byte != b']') {
            first = false;
            match (self.bytes.get(self.at + 1), self.bytes.get(self.at + 2)) {
                (Some(b'-'), Some(end)) if *end != b']' => {
                    (byte..=*end).for_each(|byte| held[usize::from(byte)] = true);
                    self.at += 3;
                }
                _ => {
                    held[usize::from(byte)] = true;
                    self.at += 1;
                }
            }
        }
        self.at += 1;
        let holds = |byte: u8| held[usize::from(byte)] != negated;
        let members: Vec<u8> = (1..=0x7f).filter(|byte| holds(*byte)).collect();
        if members.len() > 4 {
            let plain = b"x0X_a".iter().copied().find(|byte| holds(*byte));
            return plain.or(members.first().copied()).map(|byte| vec![byte]).into_iter().collect();
        }
        members.into_iter().map(|byte| vec![byte]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sbpl::rule::Text;

    fn texts(pattern: &str) -> Option<Vec<String>> {
        let samples = of(&Pattern::new(Text::known(pattern.as_bytes())))?;
        let shown = |sample: Sample| {
            let (start, end) =
                (if sample.from_start { "^" } else { "" }, if sample.to_end { "$" } else { "" });
            format!("{start}{}{end}", String::from_utf8_lossy(&sample.text))
        };
        Some(samples.into_iter().map(shown).collect())
    }

    #[test]
    fn one_for_every_way() {
        for (pattern, expected) in [
            (r"/[.][Ee]nv$", vec!["/.Env$", "/.env$"]),
            ("^/(tmp|var)/", vec!["^/tmp/", "^/var/"]),
            ("^/(private/)?tmp", vec!["^/private/tmp", "^/tmp"]),
            ("^/Users/[^/]+/.*x$", vec!["^/Users/x/xx$", "^/Users/x/x$"]),
            ("^a|b$", vec!["^a", "b$"]),
            (r"\$a", vec!["$a"]),
            ("^/[]-]$", vec!["^/-$", "^/]$"]),
            ("^/[a-z0-9]", vec!["^/x"]),
            ("é", vec!["é"]),
        ] {
            let expected: Vec<String> = expected.into_iter().map(str::to_owned).collect();
            assert_eq!(texts(pattern), Some(expected), "{pattern}");
        }
        assert_eq!(texts("(a|b)(a|b)(a|b)(a|b)(a|b)(a|b)(a|b)"), None);
        assert_eq!(texts(r"\d"), None);
        assert_eq!(texts(&format!("{}a{}", "(".repeat(5000), ")".repeat(5000))), None);
    }

    #[test]
    fn letters_are_safe_in_both_cases() {
        for (pattern, apart) in [
            (r"/\.(E|e)(N|n)(V|v)$", false),
            ("/(ENV|env)$", true),
            ("/[.][Ee][Nn][Vv]$", false),
            ("/[a-z]+/", true),
            ("/[a-zA-Z]+/", false),
            ("^/s/[^a]$", true),
            ("/é$", true),
            ("/(é|É)$", false),
            ("/日$", false),
            ("/[0-9]+$", false),
        ] {
            assert_eq!(tells_cases_apart(&Pattern::new(Text::known(pattern.as_bytes()))), apart, "{pattern}");
        }
    }

    proptest::proptest! {
        /// Every sample is found by its expression.
        #[test]
        fn a_sample_matches(pattern in r"\^?([a-c/.]|\\[.$]|\[[a-c]{1,3}\]|\[\^/\]|\((a|b/)\|c\)|[a-c][*+?]){0,8}\$?") {
            let pattern = Pattern::new(Text::known(pattern.into_bytes()));
            for sample in of(&pattern).unwrap_or_default() {
                proptest::prop_assert_eq!(pattern.is_match(&sample.text), Some(true), "{:?}", sample);
            }
        }
    }
}
