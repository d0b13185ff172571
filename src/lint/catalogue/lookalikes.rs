//! Hosts that everybody knows, and letters that are read as the Latin ones in their names.

use super::hosts::{COLLECTORS, UPLOADS, is_below};
use unicode_normalization::UnicodeNormalization as _;
use unicode_script::{Script, UnicodeScript};

/// Domains that people and their programs trust by name, beside [`UPLOADS`].
const KNOWN: &[&str] = &[
    "amazon.com",
    "anthropic.com",
    "apple.com",
    "atlassian.com",
    "cloudflare.com",
    "debian.org",
    "docker.com",
    "docker.io",
    "facebook.com",
    "golang.org",
    "google.com",
    "googleapis.com",
    "githubusercontent.com",
    "microsoft.com",
    "mozilla.org",
    "npmjs.com",
    "npmjs.org",
    "openai.com",
    "paypal.com",
    "pypi.org",
    "python.org",
    "pythonhosted.org",
    "rust-lang.org",
    "stripe.com",
    "ubuntu.com",
    "wikipedia.org",
    "yarnpkg.com",
];

/// Letters that are drawn like a Latin one, from the confusables of Unicode Technical Standard 39; marks are taken off before.
const ALIKE: &[(&str, char)] = &[
    ("\u{430}\u{251}\u{3b1}", 'a'),
    ("\u{44c}\u{42c}", 'b'),
    ("\u{441}\u{3f2}", 'c'),
    ("\u{501}", 'd'),
    ("\u{435}\u{4bd}", 'e'),
    ("\u{581}\u{261}", 'g'),
    ("\u{4bb}\u{570}", 'h'),
    ("\u{456}\u{131}\u{3b9}\u{4cf}\u{269}", 'i'),
    ("\u{458}\u{3f3}", 'j'),
    ("\u{43a}\u{3ba}\u{138}", 'k'),
    ("\u{4c0}\u{142}", 'l'),
    ("\u{43c}", 'm'),
    ("\u{578}\u{57c}\u{3b7}\u{43f}", 'n'),
    ("\u{43e}\u{3bf}\u{585}\u{f8}\u{3c3}", 'o'),
    ("\u{440}\u{3c1}", 'p'),
    ("\u{51b}\u{566}", 'q'),
    ("\u{433}\u{1d26}", 'r'),
    ("\u{455}", 's'),
    ("\u{442}\u{3c4}", 't'),
    ("\u{57d}\u{3c5}\u{28b}", 'u'),
    ("\u{475}\u{3bd}", 'v'),
    ("\u{51d}\u{461}\u{3c9}\u{561}", 'w'),
    ("\u{445}\u{3c7}", 'x'),
    ("\u{443}\u{3b3}\u{4af}", 'y'),
    ("\u{290}\u{437}", 'z'),
];

/// Letters that are the Latin one with something added that no decomposition takes off (a stroke, a hook), or its small capital.
const ALTERED: &[(&str, char)] = &[
    ("\u{1d00}\u{2c65}", 'a'),
    ("\u{299}\u{180}\u{253}\u{183}", 'b'),
    ("\u{1d04}\u{23c}\u{188}", 'c'),
    ("\u{1d05}\u{111}\u{256}\u{257}\u{18c}", 'd'),
    ("\u{1d07}\u{247}", 'e'),
    ("\u{a730}\u{192}", 'f'),
    ("\u{262}\u{1e5}\u{260}", 'g'),
    ("\u{29c}\u{127}\u{266}", 'h'),
    ("\u{26a}\u{268}", 'i'),
    ("\u{1d0a}\u{249}\u{237}", 'j'),
    ("\u{1d0b}\u{199}\u{a741}", 'k'),
    ("\u{29f}\u{19a}\u{26b}\u{26c}\u{26d}", 'l'),
    ("\u{1d0d}\u{271}", 'm'),
    ("\u{274}\u{272}\u{19e}\u{14b}", 'n'),
    ("\u{1d0f}\u{275}", 'o'),
    ("\u{1d18}\u{1a5}\u{1d7d}", 'p'),
    ("\u{24b}\u{2a0}", 'q'),
    ("\u{280}\u{24d}\u{27c}\u{27d}", 'r'),
    ("\u{a731}\u{282}", 's'),
    ("\u{1d1b}\u{167}\u{1ad}\u{288}", 't'),
    ("\u{1d1c}\u{289}", 'u'),
    ("\u{1d20}", 'v'),
    ("\u{1d21}", 'w'),
    ("\u{28f}\u{24f}\u{1b4}", 'y'),
    ("\u{1d22}\u{1b6}\u{225}", 'z'),
];

/// The well-known host that a name is read as, though it is another. `name` is in the letters that people read.
pub fn known(name: &str) -> Option<&'static str> {
    let seen: String = name.nfd().filter(|letter| letter.script() != Script::Inherited).map(plain).collect();
    // Some letters are read as an `i` by one and as an `l` by the next.
    let spellings = [seen.clone(), seen.replace('i', "l"), seen.replace('l', "i")];
    let own = KNOWN.iter().copied();
    let uploads = UPLOADS.iter().map(|(host, _)| *host);
    let mut known = own.chain(uploads).filter(|host| !COLLECTORS.iter().any(|(other, _)| other == host));
    known.find(|host| {
        let alike = |it: &String| {
            let folded = if *it == spellings[1] { host.replace('i', "l") } else { (*host).to_owned() };
            *it == folded || is_below(it, &folded) || *it == *host || is_below(it, host)
        };
        spellings.iter().any(alike)
    })
}

fn plain(letter: char) -> char {
    ALIKE
        .iter()
        .chain(ALTERED)
        .find(|(letters, _)| letters.contains(letter))
        .map_or(letter, |(_, plain)| *plain)
}

/// Two alphabets in one part of a name, where no language is written with both: with Latin letters stand at most those of Chinese,
/// Japanese and Korean (Unicode Technical Standard 39, "Highly Restrictive").
pub fn scripts(label: &str) -> Option<(Script, Script)> {
    use Script::{Bopomofo, Common, Han, Hangul, Hiragana, Inherited, Katakana, Latin};
    let real = |script: &Script| !matches!(script, Common | Inherited);
    let mut scripts: Vec<Script> = label.chars().map(|c| c.script()).filter(real).collect();
    let sets: [&[Script]; 3] =
        [&[Latin, Han, Hiragana, Katakana], &[Latin, Han, Bopomofo], &[Latin, Han, Hangul]];
    if sets.iter().any(|set| scripts.iter().all(|script| set.contains(script))) {
        return None;
    }
    scripts.dedup();
    match *scripts.as_slice() {
        [one, other, ..] => Some((one, other)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_are_read_as_known_ones() {
        for (name, host) in [
            ("\u{430}pple.com", Some("apple.com")),
            ("\u{430}\u{440}\u{440}\u{4cf}\u{435}.com", Some("apple.com")),
            ("\u{430}\u{440}\u{440}\u{456}\u{435}.com", Some("apple.com")),
            ("www.g\u{456}thub.com", Some("github.com")),
            ("g\u{ed}thub.com", Some("github.com")),
            ("p\u{443}p\u{456}.org", Some("pypi.org")),
            ("g\u{f8}\u{f8}gle.com", Some("google.com")),
            ("\u{262}oogle.com", Some("google.com")),
            ("\u{1d00}pple.com", Some("apple.com")),
            ("\u{1e5}ithub.com", Some("github.com")),
            ("\u{1e7}ithub.com", Some("github.com")),
            ("gi\u{167}\u{127}ub.com", Some("github.com")),
            ("\u{280}\u{1d1c}\u{a731}\u{1d1b}-\u{29f}ang.org", Some("rust-lang.org")),
            ("\u{111}\u{259}b.org", None),
            ("b\u{fc}cher.de", None),
            ("\u{43f}\u{440}\u{438}\u{43c}\u{435}\u{440}.\u{440}\u{444}", None),
            ("\u{430}pple.de", None),
        ] {
            assert_eq!(known(name), host, "{name}");
        }
    }

    #[test]
    fn alphabets_that_no_language_mixes() {
        for label in ["\u{430}b", "b\u{3b1}", "\u{5d0}b", "\u{3b1}\u{430}", "\u{e01}a"] {
            assert!(scripts(label).is_some(), "{label}");
        }
        for label in
            ["b\u{fc}cher", "\u{65e5}\u{672c}go", "\u{30c6}\u{30b9}\u{30c8}x", "\u{43f}-1", "", "\u{d55c}a"]
        {
            assert_eq!(scripts(label), None, "{label}");
        }
    }
}
