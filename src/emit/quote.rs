//! Strings and comments of a profile. A string is read by TinyScheme's reader: a backslash and a quote are escaped, and nothing else needs
//! to be. What the reader may not take, or a reviewer may not see, travels as a parameter, which never goes through the reader.

use crate::bind::plan::SCRATCH_PARAMETER;
use crate::syntax::is_hidden;
use camino::Utf8Path;
use std::collections::{BTreeMap, HashMap};

/// The longest string that is written as a literal, in bytes as written: the stock reader's buffer is 256.
const MAX_LITERAL: usize = 255;

/// A text that a profile cannot hold safely.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unspeakable {
    #[error("`{}` holds a control character, which a seatbelt profile cannot spell safely", .0.escape_debug())]
    Control(String),
    #[error(
        "`{}` and `{}` differ only in how letters are written, and a seatbelt rule for one of them may speak of the other",
        .0.escape_debug(), .1.escape_debug()
    )]
    Twins(String, String),
}

impl Unspeakable {
    /// Whether it is about a path, or what holds it.
    pub fn names(&self, path: &Utf8Path) -> bool {
        match self {
            Self::Control(text) => path == text.as_str(),
            Self::Twins(one, other) => path.starts_with(one) || path.starts_with(other),
        }
    }
}

/// How the texts of one profile are written, and the parameters it takes for some of them.
#[derive(Default)]
pub struct Texts {
    /// Name and value.
    pub parameters: BTreeMap<String, String>,
    names: HashMap<String, String>,
}

impl Texts {
    /// A path, as an expression that gives it.
    ///
    /// # Errors
    /// A control character.
    pub fn path(&mut self, path: &Utf8Path) -> Result<String, Unspeakable> {
        match path.strip_prefix(SCRATCH_PARAMETER) {
            Ok(below) if below.as_str().is_empty() => Ok("(param \"SCRATCH\")".into()),
            Ok(below) => {
                let below = self.string(&format!("/{below}"))?;
                Ok(format!("(string-append (param \"SCRATCH\") {below})"))
            }
            Err(_) => self.string(path.as_str()),
        }
    }

    /// A text, as an expression that gives it.
    ///
    /// # Errors
    /// A control character.
    pub fn string(&mut self, text: &str) -> Result<String, Unspeakable> {
        if text.chars().any(char::is_control) {
            return Err(Unspeakable::Control(text.into()));
        }
        let literal = quoted(text);
        if literal.len() - 2 <= MAX_LITERAL && !text.contains(is_hidden) {
            return Ok(literal);
        }
        let next = self.names.len() + 1;
        let name = self.names.entry(text.to_owned()).or_insert_with(|| format!("PATH_{next}"));
        self.parameters.insert(name.clone(), text.to_owned());
        Ok(format!("(param \"{name}\")"))
    }
}

/// A string literal of a text without control characters.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// A text for behind a `;`: one line, and nothing in it that is not seen.
pub fn comment(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\t' | '\n' | '\r' => shown.push(' '),
            hidden if is_hidden(hidden) => shown.extend(hidden.escape_unicode()),
            seen => shown.push(seen),
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_what_must_be_and_refuses_what_cannot_be() {
        let mut texts = Texts::default();
        assert_eq!(texts.string(r#"/a "b" \c"#).unwrap(), r#""/a \"b\" \\c""#);
        assert_eq!(texts.string("/ä$(x);#|").unwrap(), "\"/ä$(x);#|\"");
        assert!(matches!(texts.string("/a\nb"), Err(Unspeakable::Control(_))));
        assert!(texts.parameters.is_empty());
        assert_eq!(comment("a\n(allow default)\u{202e}x"), r"a (allow default)\u{202e}x");
    }

    #[test]
    fn what_the_reader_may_not_take_is_a_parameter() {
        let mut texts = Texts::default();
        let fits = format!("/{}", "a".repeat(254));
        assert_eq!(texts.string(&fits).unwrap(), format!("\"{fits}\""));
        let long = format!("{fits}a");
        assert_eq!(texts.string(&long).unwrap(), "(param \"PATH_1\")");
        assert_eq!(texts.string("/a\u{202e}b").unwrap(), "(param \"PATH_2\")");
        assert_eq!(texts.string(&long).unwrap(), "(param \"PATH_1\")");
        // Escapes count: the reader's buffer holds what is written.
        assert_eq!(texts.string(&format!("/{}", "\"".repeat(128))).unwrap(), "(param \"PATH_3\")");
        assert_eq!(texts.parameters["PATH_1"], long);
        assert_eq!(texts.parameters.len(), 3);
    }

    #[test]
    fn the_scratch_directory_is_a_parameter() {
        let mut texts = Texts::default();
        let scratch = Utf8Path::new(SCRATCH_PARAMETER);
        assert_eq!(texts.path(scratch).unwrap(), "(param \"SCRATCH\")");
        assert_eq!(texts.path(&scratch.join("a b")).unwrap(), "(string-append (param \"SCRATCH\") \"/a b\")");
        assert_eq!(texts.path(Utf8Path::new("/dev/null")).unwrap(), "\"/dev/null\"");
    }
}
