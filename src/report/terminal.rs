//! Text of others on somebody's terminal: what would move the cursor, set a colour or turn the reading direction is written out instead.

use std::borrow::Cow;

/// Whether a character is shown by its number: control characters (an escape sequence begins with one), and those that are invisible or reorder what is
/// read (Unicode Technical Report 36, section 2.6; the bidirectional controls of Unicode Standard Annex 9).
pub fn is_hidden(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{ad}'
                | '\u{61c}'
                | '\u{180e}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{fe00}'..='\u{fe0f}'
                | '\u{feff}'
                | '\u{fff9}'..='\u{fffb}'
                | '\u{e0000}'..='\u{e0fff}'
        )
}

/// How a hidden character is written: `\n`, `\t`, `\u{1b}`.
pub fn escape(character: char) -> String {
    match character {
        '\n' => "\\n".to_owned(),
        '\r' => "\\r".to_owned(),
        '\t' => "\\t".to_owned(),
        _ => format!("\\u{{{:x}}}", u32::from(character)),
    }
}

/// The text on one line, with every hidden character written out.
pub fn shown(text: &str) -> Cow<'_, str> {
    if !text.contains(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        if is_hidden(character) {
            safe.push_str(&escape(character));
        } else {
            safe.push(character);
        }
    }
    Cow::Owned(safe)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn writes_out_what_a_terminal_would_act_on() {
        assert_eq!(shown("a\u{1b}[31mb\nc\u{202e}d\u{9b}e"), "a\\u{1b}[31mb\\nc\\u{202e}d\\u{9b}e");
        assert!(matches!(shown("grün, 日本, “x”"), Cow::Borrowed(_)));
    }

    proptest! {
        #[test]
        fn nothing_hidden_is_left(text in any::<String>()) {
            prop_assert!(!shown(&text).contains(is_hidden));
        }
    }
}
