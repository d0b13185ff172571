//! From text to data.

use crate::{case, whole};
use palisade::sbpl::read::{Kind, read};
use palisade::sbpl::{NoImports, Params, print};
use palisade::source::Sources;

/// What a text reads as, printed again, and what is wrong with it.
fn reads(text: &str) -> (Vec<String>, Vec<(String, String)>) {
    let mut sources = Sources::new();
    let file = sources.add("x.sb", None, text);
    let read = read(&sources, file);
    let findings = read.findings.iter().map(|finding| {
        let at = finding.span().map(|span| sources.text(span).to_owned()).unwrap_or_default();
        (finding.message.clone(), at)
    });
    (read.data.iter().map(print::datum).collect(), findings.collect())
}

#[test]
fn words_numbers_texts_and_lists() {
    for (text, data) in [
        ("(a file-read* #t #f)", "(a file-read* #t #f)"),
        ("(12 -3 +4 #o755 #xff 1a ...)", "(12 -3 4 493 255 1a ...)"),
        (r#"("a\"b\\" #"^/a\.b$")"#, r#"("a\"b\\" #"^/a\.b$")"#),
        ("'a '(b 'c)", "'a '(b 'c)"),
        ("(a;b)\n#!c)\nd)", "(a d)"),
        ("(a\x0b\x0c\r\n\tb)", "(a b)"),
        ("\"a\nb\"", r#""a\nb""#),
        (r#""\x41\101\.""#, r#""AA.""#),
        ("\"é\"", "\"é\""),
        (r#""\xc3\xa9\xff\x01""#, r#""é\xff\x01""#),
        ("()", "()"),
        ("", ""),
    ] {
        let (found, findings) = reads(text);
        assert_eq!((found.join(" ").as_str(), findings), (data, vec![]), "{text}");
    }
}

#[test]
fn what_is_not_of_the_language_is_named() {
    for (text, message, underlined) in [
        ("(a #| b |# c)", "`#|` begins no comment in this language", "#|"),
        ("(a . b)", "pairs are not understood", "."),
        ("`(a)", "templates (quasiquote) are not understood", "`"),
        ("#(a)", "vectors are not understood", "#"),
        (r"#\a", "characters are not understood", r"#\a"),
        ("[a]", "`[a]` cannot be read", "[a]"),
        ("(a", "this bracket is never closed", "("),
        ("a)", "this bracket closes nothing", ")"),
        ("(a ')", "nothing stands behind this quote", "'"),
        ("(a \"b)", "this text is never closed", "\""),
        ("#\"a", "this text is never closed", "#\""),
        (r#""\xg""#, "this escape means nothing", r"\xg"),
        ("(a \"b\0c\")", "a text cannot hold a NUL", "\0"),
        ("(a #\"\0\")", "a text cannot hold a NUL", "\0"),
        ("99999999999999999999", "`99999999999999999999` is too large a number", "99999999999999999999"),
        ("\u{feff}(a)", "`\u{feff}` cannot be read", "\u{feff}"),
    ] {
        let (_, findings) = reads(text);
        assert_eq!(findings.first(), Some(&(message.to_owned(), underlined.to_owned())), "{text}");
    }
}

#[test]
fn a_quote_in_a_raw_text_is_read_as_it_was_meant_and_marked() {
    let mut sources = Sources::new();
    let file = sources.add("x.sb", None, r#"(regex #"^/a\"b\".*$") (x)"#);
    let read = read(&sources, file);
    assert_eq!(read.findings, []);
    let text = &read.data[0].list().unwrap()[1];
    assert!(matches!(&text.kind, Kind::Torn(bytes) if &**bytes == br#"^/a\"b\".*$"#), "{text:?}");
    assert_eq!(read.data[1].head(), Some("x"));
    // A backslash at the very end is no quote inside.
    assert_eq!(reads(r#"(regex #"a\")"#), (vec![r#"(regex #"a\")"#.to_owned()], vec![]));
}

#[test]
fn the_version_comes_first() {
    let params = Params::default();
    let found = |text: &str| {
        whole(text, &params, &NoImports)
            .found()
            .iter()
            .map(|(message, _)| message.to_string())
            .collect::<Vec<_>>()
    };
    assert_eq!(found(""), ["no version is stated"]);
    assert_eq!(found("(deny default)(version 1)"), ["no version is stated before this"]);
    assert_eq!(found("(version 1)(version 1)"), [""; 0]);
    assert_eq!(found("(version 2)"), ["version 2 is not understood, only version 1"]);
    assert_eq!(case("(version 3)").found(), [("version 3 is not understood, only version 1", "(version 3)")]);
}
