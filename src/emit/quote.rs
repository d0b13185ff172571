//! Strings and comments of a profile. A string is read by TinyScheme's reader: a backslash and a quote are escaped, and nothing else needs to be.

/// The longest string that is written as a literal, in bytes: the stock reader's buffer is 256.
const MAX_LITERAL: usize = 255;

/// A text that a profile cannot hold safely.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unspeakable {
    #[error("`{}` holds a control character, which a seatbelt profile cannot spell safely", .0.escape_debug())]
    Control(String),
    #[error(
        "`{0}` is longer than {MAX_LITERAL} bytes, more than a seatbelt profile's reader is known to take"
    )]
    Long(String),
}

/// A string literal.
///
/// # Errors
/// A control character, or more bytes than the reader takes.
pub fn quoted(text: &str) -> Result<String, Unspeakable> {
    if text.chars().any(char::is_control) {
        return Err(Unspeakable::Control(text.into()));
    }
    if text.len() > MAX_LITERAL {
        return Err(Unspeakable::Long(text.into()));
    }
    Ok(format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"")))
}

/// A text for behind a `;`: one line, whatever it held.
pub fn comment(text: &str) -> String {
    text.chars().map(|character| if character.is_control() { ' ' } else { character }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_what_must_be_and_refuses_what_cannot_be() {
        assert_eq!(quoted(r#"/a "b" \c"#).unwrap(), r#""/a \"b\" \\c""#);
        assert_eq!(quoted("/ä$(x);#|").unwrap(), "\"/ä$(x);#|\"");
        assert!(matches!(quoted("/a\nb"), Err(Unspeakable::Control(_))));
        assert!(matches!(quoted(&"/a".repeat(200)), Err(Unspeakable::Long(_))));
        assert_eq!(comment("a\n(allow default)"), "a (allow default)");
    }
}
