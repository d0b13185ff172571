//! What may stand in a string: escapes, variables, and no character that a reader cannot see.

use super::ast::{Text, TextPart, Word};
use super::grammar::{Grammar, Rule};
use crate::finding::{Edit, Finding, Severity};
use crate::source::{FileId, Span};
use pest::Parser;
use pest::iterators::Pair;

/// Characters that a text shows not at all, or that change the order in which it is shown: a reviewer would read something else
/// than the compiler (Unicode TR 36; the bidirectional ones are CVE-2021-42574).
pub fn is_hidden(c: char) -> bool {
    is_misleading(c)
        || matches!(c, '\u{a0}' | '\u{ad}' | '\u{1680}' | '\u{180e}' | '\u{2000}'..='\u{200d}' | '\u{2028}' | '\u{2029}'
            | '\u{202f}' | '\u{205f}'..='\u{2064}' | '\u{3000}' | '\u{3164}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
}

/// Those that have no place in a comment either. Joiners and wide blanks have: they are part of how some languages are written.
pub fn is_misleading(c: char) -> bool {
    (c.is_control() && c != '\t')
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Findings about hidden characters in the piece of text that begins at `start`. A tab may stand in a comment, nowhere within a
/// string. `cooked` is whether an escape can be written instead.
pub fn hidden(
    file: FileId,
    start: usize,
    text: &str,
    comment: bool,
    cooked: bool,
    findings: &mut Vec<Finding>,
) {
    let bad = |c: char| if comment { is_misleading(c) } else { is_hidden(c) || c == '\t' };
    // Nearly every piece is plain ASCII.
    if text.bytes().all(|byte| (0x20..0x7f).contains(&byte)) {
        return;
    }
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        if !bad(c) {
            continue;
        }
        let mut end = at + c.len_utf8();
        let mut escapes = escape(c);
        while let Some((next, c)) = chars.next_if(|(_, c)| bad(*c)) {
            end = next + c.len_utf8();
            if escapes.len() < 64 {
                escapes.push_str(&escape(c));
            }
        }
        let span = Span::new(file, start + at..start + end);
        let message = format!("a character that cannot be seen: U+{:04X}", u32::from(c));
        let finding = Finding::new("hidden-character", Severity::Error, message).at(span, "here");
        findings.push(if c == '\0' {
            finding.help("remove it; no text may hold a NUL")
        } else if cooked && escapes.len() < 64 {
            let edit = Edit { span, replacement: escapes.clone() };
            finding.help(format!("remove it, or write `{escapes}` where it is meant")).fix(
                "write it as an escape",
                vec![edit],
                true,
            )
        } else if comment {
            finding.help("remove it")
        } else {
            finding.help("remove it; in a string with escapes (`\"…\"`) it can be written `\\u{…}`")
        });
    }
}

fn escape(c: char) -> String {
    match c {
        '\t' => "\\t".into(),
        '\r' => "\\r".into(),
        c => format!("\\u{{{:x}}}", u32::from(c)),
    }
}

/// Findings about the inside of a cooked string, quotes included, that begins at `start`. None means that the grammar takes it.
pub fn check_cooked(file: FileId, start: usize, text: &str, findings: &mut Vec<Finding>) {
    if !text.contains(['\\', '$']) {
        return;
    }
    let before = findings.len();
    let mut rest = text.char_indices().peekable();
    while let Some((at, c)) = rest.next() {
        let span = |length: usize| Span::new(file, start + at..start + at + length);
        match c {
            '\\' => {
                let tail = &text[at..];
                match check_escape(tail) {
                    Ok(length) => while rest.next_if(|(next, _)| *next < at + length).is_some() {},
                    Err((length, message)) => {
                        let finding = Finding::new("syntax", Severity::Error, message);
                        findings.push(finding.at(span(length), "here").help(
                            "escapes are `\\\\`, `\\\"`, `\\n`, `\\t`, `\\r`, `\\$` and `\\u{…}`; in `r#\"…\"#` nothing is special",
                        ));
                        while rest.next_if(|(next, _)| *next < at + length).is_some() {}
                    }
                }
            }
            '$' => {
                let next = rest.peek().map(|(_, c)| *c).unwrap_or_default();
                let braced = next == '{' && braced_variable(&text[at..]);
                if !(next.is_ascii_alphabetic() || next == '_' || braced) {
                    findings.push(
                        Finding::new("syntax", Severity::Error, "a `$` that names no variable")
                            .at(span(1), "here")
                            .help("write `\\$` for the character; a variable is written `$name` or `${name}`")
                            .fix(
                                "write `\\$`",
                                vec![Edit { span: span(1), replacement: "\\$".into() }],
                                true,
                            ),
                    );
                }
            }
            _ => {}
        }
    }
    // The grammar has the last word.
    if findings.len() == before && Grammar::parse(Rule::only_cooked, text).is_err() {
        findings.push(
            Finding::new("syntax", Severity::Error, "this text cannot be read")
                .at(Span::new(file, start..start + text.len()), "here"),
        );
    }
}

fn braced_variable(text: &str) -> bool {
    let name = text.strip_prefix("${").and_then(|rest| rest.split_once('}')).map(|(name, _)| name);
    name.is_some_and(|name| {
        name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}

/// The length of the escape that `text` begins with, or how much of it to underline and why.
fn check_escape(text: &str) -> Result<usize, (usize, String)> {
    let second = text.chars().nth(1).unwrap_or_default();
    match second {
        '\\' | '"' | 'n' | 't' | 'r' | '$' => Ok(2),
        'u' => {
            let digits = text[2..]
                .strip_prefix('{')
                .map(|rest| rest.chars().take_while(char::is_ascii_hexdigit).take(7).collect::<String>());
            let Some(digits) = digits else {
                return Err((2, "`\\u` without the number of a character".into()));
            };
            let closed = text[3 + digits.len()..].starts_with('}');
            let length = 3 + digits.len() + usize::from(closed);
            if !closed || digits.is_empty() || digits.len() > 6 {
                return Err((length, "an escape `\\u{…}` holds one to six hexadecimal digits".into()));
            }
            let number = u32::from_str_radix(&digits, 16).unwrap_or(u32::MAX);
            match char::from_u32(number) {
                Some('\0') => Err((length, "no text may hold a NUL".into())),
                Some(_) => Ok(length),
                None => Err((length, format!("`\\u{{{digits}}}` is not a character"))),
            }
        }
        c => Err((1 + c.len_utf8(), format!("unknown escape `\\{c}`"))),
    }
}

/// The text of a `quoted` that [`check_cooked`] has passed. `base` is where the parsed text begins in the file.
pub fn text(file: FileId, base: usize, quoted: Pair<'_, Rule>) -> Text {
    let place = |pair: &Pair<'_, Rule>| {
        let span = pair.as_span();
        Span::new(file, base + span.start()..base + span.end())
    };
    let span = place(&quoted);
    let mut raw = false;
    let mut parts = Vec::new();
    let mut literal = String::new();
    for kind in quoted.into_inner() {
        raw = kind.as_rule() == Rule::raw;
        for part in kind.into_inner() {
            match part.as_rule() {
                Rule::raw_text | Rule::literal => literal.push_str(part.as_str()),
                Rule::escape => literal.extend(unescape(part.as_str())),
                Rule::variable => {
                    if !literal.is_empty() {
                        parts.push(TextPart::Literal(std::mem::take(&mut literal)));
                    }
                    let span = place(&part);
                    let name: String = part.into_inner().map(|word| word.as_str()).collect();
                    parts.push(TextPart::Variable(Word::new(name, span)));
                }
                _ => {}
            }
        }
    }
    if !literal.is_empty() {
        parts.push(TextPart::Literal(literal));
    }
    Text { parts, raw, span }
}

fn unescape(escape: &str) -> Option<char> {
    match escape.chars().nth(1)? {
        'n' => Some('\n'),
        't' => Some('\t'),
        'r' => Some('\r'),
        'u' => {
            let digits = escape.strip_prefix("\\u{")?.strip_suffix('}')?;
            char::from_u32(u32::from_str_radix(digits, 16).ok()?)
        }
        c => Some(c),
    }
}
