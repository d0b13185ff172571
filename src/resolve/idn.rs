//! Names with letters beyond ASCII, as the network knows them (RFC 5891, Unicode Technical Standard 46).

use idna::AsciiDenyList;
use idna::uts46::{DnsLength, Hyphens, Uts46};
use std::borrow::Cow;

/// Why a text is no such name, and what is probably meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// A letter that no name has, or one that stands where none may.
    Invalid,
    /// Other letters for a name that needs none of them.
    Plain(String),
}

/// A name, without port and wildcard, as it is asked for: with each part that has letters beyond ASCII in its `xn--…` form. Strict: no letter
/// that no name may have, no part that is too long, and nothing in ASCII but letters, digits and `-`. What is in ASCII stays as it is.
pub fn to_network(name: &str) -> Result<Cow<'_, str>, Fault> {
    if name.is_ascii() {
        // What decodes to nothing, or to another spelling of itself, would be read by one program and not by the next.
        return match name.split('.').all(is_sound) {
            true => Ok(Cow::Borrowed(name)),
            false => Err(Fault::Invalid),
        };
    }
    let ascii = Uts46::new()
        .to_ascii(
            name.as_bytes(),
            AsciiDenyList::STD3,
            Hyphens::CheckFirstLast,
            DnsLength::VerifyAllowRootDot,
        )
        .map_err(|_| Fault::Invalid)?;
    // A part that was written with such letters and has none is another spelling of a plain name, or of an address.
    let written = name.split(['.', '\u{3002}', '\u{ff0e}', '\u{ff61}']);
    let same = |(written, network): (&str, &str)| written.is_ascii() || network.starts_with("xn--");
    if name.contains(['\u{3002}', '\u{ff0e}', '\u{ff61}']) || !written.zip(ascii.split('.')).all(same) {
        return Err(Fault::Plain(to_reader(&ascii).into_owned()));
    }
    Ok(ascii)
}

fn is_sound(label: &str) -> bool {
    let lower = label.to_ascii_lowercase();
    if !lower.starts_with("xn--") {
        return true;
    }
    let (unicode, decoded) =
        Uts46::new().to_unicode(lower.as_bytes(), AsciiDenyList::STD3, Hyphens::CheckFirstLast);
    decoded.is_ok() && !unicode.is_ascii()
}

/// The same name as people read it. What cannot be decoded stays as it is.
pub fn to_reader(name: &str) -> Cow<'_, str> {
    if !name.split('.').any(|label| label.starts_with("xn--")) {
        return Cow::Borrowed(name);
    }
    match Uts46::new().to_unicode(name.as_bytes(), AsciiDenyList::EMPTY, Hyphens::Allow) {
        (unicode, Ok(())) => unicode,
        _ => Cow::Borrowed(name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_beyond_ascii_have_one_form() {
        for (name, network) in [
            ("b\u{fc}cher.de", "xn--bcher-kva.de"),
            ("bu\u{308}cher.de", "xn--bcher-kva.de"),
            ("B\u{dc}CHER.de", "xn--bcher-kva.de"),
            ("stra\u{df}e.de", "xn--strae-oqa.de"),
            ("\u{43f}\u{440}\u{438}\u{43c}\u{435}\u{440}.\u{440}\u{444}", "xn--e1afmkfd.xn--p1ai"),
            ("xn--bcher-kva.de", "xn--bcher-kva.de"),
            ("\u{430}pple.com", "xn--pple-43d.com"),
            ("Plain_name.com.", "Plain_name.com."),
        ] {
            assert_eq!(to_network(name).as_deref(), Ok(network), "{name}");
        }
        assert_eq!(to_reader("xn--bcher-kva.de"), "b\u{fc}cher.de");
        assert_eq!(to_reader("example.com"), "example.com");
        assert_eq!(to_reader("xn--99999999999.de"), "xn--99999999999.de");
    }

    #[test]
    fn what_is_no_name_is_none_and_another_spelling_of_a_plain_one_is_said_to_be() {
        for name in [
            "x\u{202e}y.de",
            "\u{fc}_b.de",
            "-\u{fc}.de",
            "\u{fc}..de",
            "a\u{0}\u{fc}.de",
            "\u{fc} b.de",
            "\u{2f}\u{fc}.de",
            "\u{fc}%.de",
            "\u{1f600}\u{200d}\u{fc}.de/",
            "xn--.de",
            "xn--99999999999.de",
            &format!("{}.de", "\u{fc}".repeat(64)),
        ] {
            assert_eq!(to_network(name).map(|it| it.into_owned()), Err(Fault::Invalid), "{name:?}");
        }
        for (name, plain) in [
            ("\u{200b}x.de", "x.de"),
            ("\u{ff45}xample.com", "example.com"),
            ("\u{ff11}27.0.0.1", "127.0.0.1"),
            ("\u{2460}27.0.0.1", "127.0.0.1"),
            ("\u{212a}.com", "k.com"),
            ("example\u{3002}com", "example.com"),
            ("b\u{fc}cher\u{ff0e}de", "b\u{fc}cher.de"),
        ] {
            assert_eq!(to_network(name), Err(Fault::Plain(plain.into())), "{name:?}");
        }
    }
}
