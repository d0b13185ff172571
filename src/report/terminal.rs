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

/// Columns of everything that is written for people.
const WIDTH: usize = 80;
/// Stands for a blank that no line may end at: a noncharacter, which is one column wide and in no text that is exchanged (Unicode, 23.7).
const UNBROKEN: char = '\u{fdd0}';

/// A message in lines of 80 columns where its words allow it, the first beginning with `first` and the others with as many blanks. What stands
/// in backticks, such as a path or a command to be copied, is never broken. Line ends at the end of each.
pub fn wrapped(first: &str, text: &str) -> String {
    hanging(first, &" ".repeat(first.len()), text)
}

/// The same, with what the lines after the first begin with.
pub fn hanging(first: &str, rest: &str, text: &str) -> String {
    let mut quoted = false;
    let held: String = shown(text)
        .chars()
        .map(|character| {
            quoted ^= character == '`';
            match character {
                ' ' if quoted => UNBROKEN,
                UNBROKEN => char::REPLACEMENT_CHARACTER,
                _ => character,
            }
        })
        .collect();
    let options = textwrap::Options::new(WIDTH)
        .initial_indent(first)
        .subsequent_indent(rest)
        .break_words(false)
        .word_separator(textwrap::WordSeparator::AsciiSpace)
        .word_splitter(textwrap::WordSplitter::NoHyphenation);
    textwrap::fill(&held, options).replace(UNBROKEN, " ") + "\n"
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

    #[test]
    fn long_messages_are_wrapped_and_what_is_to_be_copied_is_not() {
        let command =
            "cp -p /home/dev/a project/with blanks/x /home/dev/a project/with blanks/x.copy && mv it back";
        let text = wrapped(
            "  help: ",
            &format!(
                "break the link, as every other name would expose what is in it: `{command}`; nothing was run"
            ),
        );
        assert_eq!(
            text,
            format!(
                "  help: break the link, as every other name would expose what is in it:\n        `{command}`;\n        nothing was run\n"
            )
        );
        assert_eq!(wrapped("palisade: ", "short\n"), "palisade: short\\n\n");
        // The blanks of what is quoted have their columns, too.
        let text = wrapped("  ", &format!("{} `a b c d e f g h i j`:", "x".repeat(60)));
        assert_eq!(text, format!("  {}\n  `a b c d e f g h i j`:\n", "x".repeat(60)));
    }

    proptest! {
        #[test]
        fn wrapping_keeps_every_word(text in "[a-z` ]{0,300}") {
            let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
            prop_assert_eq!(words(&wrapped("", &text)), words(&text));
        }

        #[test]
        fn nothing_hidden_is_left(text in any::<String>()) {
            prop_assert!(!shown(&text).contains(is_hidden));
        }
    }
}
