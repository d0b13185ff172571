//! What the escapes of a text in plain quotes mean.

use std::ops::Range;

/// What is wrong with a NUL in a text, written or escaped: it would end there.
pub const NUL: &str = "a text cannot hold a NUL";

/// Why an escape has no meaning, and its bytes within the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadEscape {
    pub range: Range<usize>,
    pub why: &'static str,
}

/// The bytes of a text; `inner` is what stands between the quotes.
///
/// `\n`, `\t`, `\r`; `\xHH`; three octal digits; before any other character a backslash only says that it is meant as it is.
pub fn decode(inner: &str) -> Result<Vec<u8>, BadEscape> {
    let bytes = inner.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        if byte != b'\\' {
            out.push(byte);
            at += 1;
            continue;
        }
        let bad = |length: usize, why| {
            let mut end = (at + length).min(bytes.len());
            while !inner.is_char_boundary(end) {
                end += 1;
            }
            BadEscape { range: at..end, why }
        };
        let (value, length) = match bytes.get(at + 1) {
            None => return Err(bad(1, "nothing stands behind the backslash")),
            Some(b'n') => (b'\n', 2),
            Some(b't') => (b'\t', 2),
            Some(b'r') => (b'\r', 2),
            Some(b'x') => {
                let value = number(bytes.get(at + 2..at + 4), 16);
                (value.ok_or_else(|| bad(4, "two hexadecimal digits belong behind `\\x`"))?, 4)
            }
            Some(b'0'..=b'7') => {
                let value = number(bytes.get(at + 1..at + 4), 8);
                (
                    value.ok_or_else(|| {
                        bad(4, "three octal digits, up to `\\377`, belong behind the backslash")
                    })?,
                    4,
                )
            }
            Some(&other) => (other, 2),
        };
        if value == 0 {
            return Err(bad(length, NUL));
        }
        out.push(value);
        at += length;
    }
    Ok(out)
}

fn number(digits: Option<&[u8]>, radix: u32) -> Option<u8> {
    digits?
        .iter()
        .try_fold(0u32, |value, digit| Some(value * radix + char::from(*digit).to_digit(radix)?))
        .and_then(|value| u8::try_from(value).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_mean_what_the_reader_makes_of_them() {
        for (text, meant) in [
            (r"a\nb\t\r", "a\nb\t\r"),
            (r#"\"\\\.\q"#, "\"\\.q"),
            (r"\x41\x7e", "A~"),
            (r"\101\040x", "A x"),
            (r"\é", "é"),
            ("a\nb", "a\nb"),
        ] {
            assert_eq!(decode(text), Ok(meant.as_bytes().to_vec()), "{text}");
        }
        assert_eq!(decode(r"\xff").unwrap(), [0xff]);
    }

    #[test]
    fn what_has_no_meaning_is_refused_with_its_place() {
        for (text, part) in [
            (r"ab\x4", r"\x4"),
            (r"\xg0", r"\xg0"),
            (r"\7", r"\7"),
            (r"\400", r"\400"),
            (r"a\000b", r"\000"),
            (r"\x1é", r"\x1é"),
        ] {
            let bad = decode(text).unwrap_err();
            assert_eq!(&text[bad.range], part);
        }
    }
}
