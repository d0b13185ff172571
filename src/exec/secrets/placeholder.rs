//! What a command sees in the stead of a value: as long, of the same shape, and random wherever the value says anything.

use std::ops::RangeInclusive;
use zeroize::Zeroizing;

/// How many characters of a value must be replaced: fewer could stand somewhere by chance, and would say much of the value.
pub const LEAST: usize = 12;
/// Where a prefix ends at the latest.
const PREFIX: usize = 16;
/// What providers begin their tokens with that does not read as words (theirs to say, and widely scanned for).
const KNOWN: [&str; 8] = ["AIza", "SG.", "eyJ", "ATATT3xFf", "ATCTT3xFf", "rubygems_", "AKIA", "ASIA"];
/// As many letters and digits as a word of a prefix has at most.
const WORD: usize = 7;

/// Why there is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoPlaceholder {
    #[error("has fewer than {LEAST} letters and digits behind what is the same in each of its kind")]
    Short,
    #[error("cannot be told from others: the system gives no random numbers")]
    Random,
}

/// Makes one for a value of printable ASCII. What tells programs of what kind it is stays, as do the characters between letters and digits;
/// each letter and digit is replaced by a random one of its class. It is not the value, holds none of `others`, and none of them holds it.
///
/// # Errors
/// Where too little of the value would be replaced.
pub fn placeholder(value: &str, others: &[&str]) -> Result<String, NoPlaceholder> {
    let (kept, rest) = value.split_at(prefix(value));
    if count(rest) < LEAST {
        return Err(NoPlaceholder::Short);
    }
    // Digits of base 16 stay such: programs look whether all of them are.
    let hexadecimal = rest.bytes().filter(u8::is_ascii_alphabetic).all(|letter| letter.is_ascii_hexdigit());
    let (lower, upper) = if hexadecimal { (b'a'..=b'f', b'A'..=b'F') } else { (b'a'..=b'z', b'A'..=b'Z') };
    loop {
        let mut made = String::with_capacity(value.len());
        made.push_str(kept);
        let mut random = Random::new(rest.len())?;
        for letter in rest.chars() {
            made.push(match letter {
                'a'..='z' => random.one(&lower)?,
                'A'..='Z' => random.one(&upper)?,
                '0'..='9' => random.one(&(b'0'..=b'9'))?,
                other => other,
            });
        }
        let clashes = others.iter().any(|other| made.contains(other) || other.contains(&made));
        if !clashes && made != value {
            return Ok(made);
        }
    }
}

/// Where what says of what kind a value is ends: `ghp_`, `sk-ant-api03-`. Only short words are taken for that, so that no part of a value
/// that has separators itself (a UUID) is given away.
fn prefix(value: &str) -> usize {
    let head = value.get(..PREFIX.min(value.len())).unwrap_or_default();
    let mut end = KNOWN.iter().find(|known| value.starts_with(**known)).map_or(0, |known| known.len());
    let mut from = end;
    for (at, _) in head.match_indices(['_', '-']) {
        if !head.get(from..at).is_some_and(is_word) {
            break;
        }
        from = at + 1;
        end = from;
    }
    match value.get(end..) {
        Some(rest) if count(rest) >= LEAST => end,
        _ => 0,
    }
}

/// Letters of one case, and perhaps a number of a version.
fn is_word(text: &str) -> bool {
    let letters = text.trim_end_matches(|letter: char| letter.is_ascii_digit());
    let digits = text.len() - letters.len();
    text.len() <= WORD
        && digits <= 2
        && !letters.is_empty()
        && letters.bytes().all(|letter| letter.is_ascii_lowercase())
}

/// How many characters would be replaced.
fn count(text: &str) -> usize {
    text.bytes().filter(u8::is_ascii_alphanumeric).count()
}

/// Random bytes of the system (getrandom(2)).
struct Random {
    bytes: Zeroizing<Vec<u8>>,
}

impl Random {
    fn new(expected: usize) -> Result<Self, NoPlaceholder> {
        // Some are not used: see below.
        let mut random = Self { bytes: Zeroizing::new(Vec::with_capacity(expected * 2)) };
        random.fill(expected * 2)?;
        Ok(random)
    }

    fn fill(&mut self, length: usize) -> Result<(), NoPlaceholder> {
        self.bytes.resize(length.max(1), 0);
        getrandom::fill(&mut self.bytes).map_err(|_| NoPlaceholder::Random)
    }

    /// One of a class, each as likely as the others.
    fn one(&mut self, class: &RangeInclusive<u8>) -> Result<char, NoPlaceholder> {
        let size = class.end() - class.start() + 1;
        loop {
            match self.bytes.pop() {
                None => self.fill(64)?,
                // The last few would make the first of the class likelier.
                Some(byte) if byte >= u8::MAX - u8::MAX % size => {}
                Some(byte) => return Ok(char::from(class.start() + byte % size)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn kept(value: &str) -> &str {
        &value[..prefix(value)]
    }

    #[test]
    fn what_says_the_kind_stays() {
        let random = "a8F3k2L9xQ7w4E6r5T1y0U";
        for known in [
            "ghp_",
            "github_pat_",
            "sk-ant-api03-",
            "sk-proj-",
            "sk-",
            "xoxb-",
            "glpat-",
            "npm_",
            "pypi-",
            "hf_",
            "sk_live_",
            "dop_v1_",
            "r8_",
            "AIza",
            "SG.",
            "eyJ",
            "rubygems_",
        ] {
            let value = format!("{known}{random}");
            assert_eq!(kept(&value), known);
            assert!(placeholder(&value, &[]).unwrap().starts_with(known));
        }
    }

    #[test]
    fn what_may_be_part_of_the_value_does_not() {
        for value in [
            "3f2a9b1c-4d5e-6f70-8192-a3b4c5d6e7f8",
            "deadbeef-dead-beef-dead-beefdeadbeef",
            "Ab3_k2L9xQ7w4E6r5T1y0U",
            "abcdefghijkl",
            // What is left would be too short.
            "key-abcdef1234",
        ] {
            assert_eq!(kept(value), "", "{value}");
        }
        assert_eq!(placeholder("key-abcdef12", &[]), Err(NoPlaceholder::Short));
        assert_eq!(placeholder("____________________", &[]), Err(NoPlaceholder::Short));
    }

    #[test]
    fn digits_of_base_16_stay_such() {
        let value = "0123456789abcdef0123456789abcdef01234567";
        let made = placeholder(value, &[]).unwrap();
        assert!(made.bytes().all(|letter| matches!(letter, b'0'..=b'9' | b'a'..=b'f')), "{made}");
    }

    proptest! {
        #[test]
        fn it_has_the_shape_of_the_value(value in "[!-~][ -~]{10,80}[!-~]") {
            let Ok(made) = placeholder(&value, &[]) else {
                prop_assert!(count(&value) < LEAST);
                return Ok(());
            };
            prop_assert_eq!(made.len(), value.len());
            prop_assert_ne!(&made, &value);
            for (made, letter) in made.bytes().zip(value.bytes()) {
                let class = |letter: u8| {
                    (letter.is_ascii_lowercase(), letter.is_ascii_uppercase(), letter.is_ascii_digit())
                };
                prop_assert_eq!(class(made), class(letter));
                prop_assert!(letter.is_ascii_alphanumeric() || made == letter);
            }
        }

        #[test]
        fn enough_of_it_is_random(words in proptest::collection::vec("[a-z]{1,7}[0-9]{0,2}[_-]", 0..4), rest in "[A-Za-z0-9]{12,40}") {
            let value = format!("{}{rest}", words.concat());
            prop_assert!(count(&value[prefix(&value)..]) >= LEAST);
            prop_assert!(prefix(&value) <= PREFIX);
        }

        #[test]
        fn none_is_another(value in "[A-Za-z0-9]{12,20}", number in 2usize..8) {
            let mut all: Vec<String> = Vec::new();
            for _ in 0..number {
                let others: Vec<&str> = all.iter().map(String::as_str).collect();
                let made = placeholder(&value, &others).unwrap();
                prop_assert!(!others.contains(&made.as_str()));
                all.push(made);
            }
        }
    }
}
