//! Texts of SARIF messages.

use super::model::Message;
use crate::report::terminal::shown;
use regex::Regex;
use std::borrow::Cow;
use std::sync::LazyLock;

/// What a viewer would take for a link (section 3.11.6): `[text](1)`.
static LINK: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"\[([^\[\]]*)\]\(").ok());

/// A message that says `text`, whatever is in it: hidden characters are written out line by line, braces are doubled, which would be placeholders otherwise
/// (section 3.11.5), and brackets that look like a link are escaped.
pub fn message(text: &str) -> Message {
    let lines: Vec<Cow<'_, str>> = text.split('\n').map(shown).collect();
    let text = lines.join("\n").replace('{', "{{").replace('}', "}}");
    let text = match &*LINK {
        Some(link) => link.replace_all(&text, r"\[$1\](").into_owned(),
        None => text,
    };
    Message { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_text_is_a_placeholder_a_link_or_hidden() {
        assert_eq!(message("`{a,b}/[ab]*`\nhelp").text, "`{{a,b}}/[ab]*`\nhelp");
        assert_eq!(message("`[x](1)` and [y](z)").text, r"`\[x\](1)` and \[y\](z)");
        assert_eq!(message("a\u{1b}[m\rb").text, r"a\u{{1b}}[m\rb");
    }
}
