//! Places as machines count them: lines and columns from 1, the end behind the last character.
//!
//! Lines end at `\n`; a `\r` before it belongs to the line end, so a place never ends between the two. A tab is one column, and a byte-order mark none.

use crate::source::{FileId, Sources, Span};

/// What a column counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Unicode scalar values.
    Characters,
    /// What `utf16CodeUnits` means in SARIF (section 3.14.27).
    Utf16,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct At {
    pub line: usize,
    pub column: usize,
}

/// A stretch of text; empty where nothing but a place between two characters is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Region {
    pub start: At,
    pub end: At,
}

/// The region of a span.
pub fn region(sources: &Sources, span: Span, unit: Unit) -> Region {
    let at = |offset| at(sources, span.file, offset, unit);
    Region { start: at(span.start), end: at(span.end.max(span.start)) }
}

fn at(sources: &Sources, file: FileId, offset: u32, unit: Unit) -> At {
    let (line, mut before) = sources.line_before(file, offset);
    let in_line_end = sources.file(file).text.as_bytes().get(offset as usize) == Some(&b'\n');
    if in_line_end {
        before = before.strip_suffix('\r').unwrap_or(before);
    }
    let columns = match unit {
        Unit::Characters => before.chars().count(),
        Unit::Utf16 => before.encode_utf16().count(),
    };
    At { line, column: columns + 1 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn places(text: &str, range: std::ops::Range<usize>, unit: Unit) -> ((usize, usize), (usize, usize)) {
        let mut sources = Sources::new();
        let id = sources.add("x", None, text);
        let region = region(&sources, Span::new(id, range), unit);
        ((region.start.line, region.start.column), (region.end.line, region.end.column))
    }

    #[test]
    fn counts_in_the_unit_asked_for() {
        let text = "\u{feff}é😀\tx\r\ny";
        let x = text.find('x').unwrap();
        assert_eq!(places(text, x..x + 1, Unit::Characters), ((1, 4), (1, 5)));
        assert_eq!(places(text, x..x + 1, Unit::Utf16), ((1, 5), (1, 6)));
        // Behind the `\r` is no place; behind the line end is the next line.
        assert_eq!(places(text, x..x + 2, Unit::Utf16), ((1, 5), (1, 6)));
        assert_eq!(places(text, x..x + 3, Unit::Utf16), ((1, 5), (2, 1)));
        assert_eq!(places(text, text.len()..text.len(), Unit::Utf16), ((2, 2), (2, 2)));
        assert_eq!(places("", 0..0, Unit::Utf16), ((1, 1), (1, 1)));
    }

    proptest! {
        /// Counting back from line and column, as an editor would, gives the offset again.
        #[test]
        fn a_place_is_found_again(text in "[a-z\n\té😀\r]{0,40}", at in 0usize..60) {
            let at = (0..=at.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
            prop_assume!(!(text[..at].ends_with('\r') && text[at..].starts_with('\n')));
            let ((line, column), _) = places(&text, at..at, Unit::Utf16);
            let start: usize = text.split_inclusive('\n').take(line - 1).map(str::len).sum();
            let mut units = 0;
            let found = text[start..].char_indices().find_map(|(offset, character)| {
                if units == column - 1 { return Some(start + offset) }
                units += character.len_utf16();
                None
            });
            prop_assert_eq!(found.unwrap_or(text.len()), at);
        }
    }
}
