//! The lines of a source that a report shows: those with a place to point at and their neighbours, fit to be put on a terminal.
//!
//! A hostile profile may hold escape sequences, or one line of a megabyte: hidden characters are written out and long lines are cut around the place
//! that is pointed at, so what is drawn is a text of its own, and places are carried over into it.

use super::terminal::{escape, is_hidden, shown};
use crate::finding::Label;
use crate::source::{FileId, Sources, Span};
use miette::{LabeledSpan, MietteError, MietteSpanContents, SourceCode, SourceSpan, SpanContents};
use std::collections::BTreeMap;
use std::ops::Range;

/// A label over more lines than this is drawn at its first line only.
const MOST_LINES: usize = 8;

/// Columns of a line that the frame, the line number and the cut marks take.
const FRAME: usize = 12;

/// Fewest columns a label's text is wrapped to.
const LEAST_LABEL: usize = 30;

#[derive(Debug)]
pub struct Snippet {
    name: String,
    text: String,
    lines: Vec<Line>,
    marks: Vec<Mark>,
}

#[derive(Debug)]
struct Line {
    /// Bytes in the snippet's text, with the line end.
    range: Range<usize>,
    /// In the source, from 0.
    number: usize,
}

#[derive(Debug)]
struct Mark {
    /// Bytes in the snippet's text.
    range: Range<usize>,
    text: String,
    /// In the source, from 0.
    line: usize,
    column: usize,
}

impl Snippet {
    /// The lines of `file` around `labels`, all of which are in it; the first is the main one. `width` is in columns.
    pub fn new(sources: &Sources, file: FileId, labels: &[&Label], width: usize, unicode: bool) -> Self {
        let source = &*sources.file(file).text;
        let fit = width.saturating_sub(FRAME).max(LEAST_LABEL);
        let cut = if unicode { "…" } else { "..." };
        let spans: Vec<_> = labels.iter().map(|label| bounded(sources, label.span)).collect();

        // Line number to the line's bytes and the place in it that must be seen.
        let mut wanted: BTreeMap<usize, (Range<usize>, Option<usize>)> = BTreeMap::new();
        // Line number to the places in it that have a text below them, and its columns.
        let mut below: BTreeMap<usize, Vec<(Range<usize>, usize)>> = BTreeMap::new();
        for (label, (span, first)) in labels.iter().zip(&spans) {
            if span.end <= line_at(source, span.start).end {
                // In a narrow report a line that is seen is worth more.
                let is_wide = fit >= 2 * LEAST_LABEL;
                let need = if is_wide { columns(&shown(&label.text)).min(LEAST_LABEL) } else { 0 };
                below.entry(*first).or_default().push((span.clone(), need));
            }
        }
        for (span, first) in &spans {
            let mut at = line_at(source, span.start);
            let mut number = *first;
            if let Some(before) = at.start.checked_sub(1).filter(|_| number > 0) {
                wanted.entry(number - 1).or_insert((line_at(source, before), None));
            }
            let focus = |line: &Range<usize>| Some(span.start.max(line.start));
            loop {
                let entry = wanted.entry(number).or_insert((at.clone(), None));
                let is_covered = at.start < span.end || number == *first;
                if is_covered && entry.1.is_none() {
                    entry.1 = focus(&at);
                }
                if !is_covered || at.end >= source.len() {
                    break;
                }
                at = line_at(source, at.end + 1);
                number += 1;
            }
        }

        let mut snippet = Self {
            name: shown(&sources.file(file).name).into_owned(),
            text: String::new(),
            lines: Vec::new(),
            marks: Vec::new(),
        };
        let mut maps: Vec<Vec<(usize, usize)>> = Vec::new();
        for (number, (range, focus)) in wanted {
            let start = snippet.text.len();
            let labels = below.get(&number).map_or(&[][..], Vec::as_slice);
            let window = Window::of(source, &range, focus.unwrap_or(range.start), fit, labels);
            maps.push(draw(source, &range, window, cut, &mut snippet.text));
            // Each line has its end, the last one too: there a place at the end of the file is pointed at.
            snippet.text.push('\n');
            snippet.lines.push(Line { range: start..snippet.text.len(), number });
        }
        let map: Vec<(usize, usize)> = maps.into_iter().flatten().collect();
        for (label, (span, line)) in labels.iter().zip(spans) {
            let range = carried(&map, span.start)..carried(&map, span.end);
            let range = range.start..range.end.max(range.start);
            let line_start = snippet.text[..range.start].rfind('\n').map_or(0, |at| at + 1);
            let before = columns(snippet.text.get(line_start..range.start).unwrap_or_default());
            let marked = columns(snippet.text.get(range.clone()).unwrap_or_default());
            let middle = before + marked.min(fit) / 2;
            let room = width.saturating_sub(FRAME + middle).max(LEAST_LABEL);
            let column = sources.line_column(label.span).column.saturating_sub(1);
            snippet.marks.push(Mark { range, text: wrapped(&label.text, room), line, column });
        }
        snippet
    }

    /// For miette: in the snippet's own bytes, the main one marked as such.
    pub fn labels(&self) -> impl Iterator<Item = LabeledSpan> + '_ {
        self.marks.iter().enumerate().map(|(at, mark)| {
            let text = (!mark.text.is_empty()).then(|| mark.text.clone());
            let span = (mark.range.start, mark.range.len());
            if at == 0 {
                LabeledSpan::new_primary_with_span(text, span)
            } else {
                LabeledSpan::new_with_span(text, span)
            }
        })
    }

    fn line_holding(&self, offset: usize) -> usize {
        self.lines.partition_point(|line| line.range.start <= offset).saturating_sub(1)
    }
}

impl SourceCode for Snippet {
    fn read_span<'a>(
        &'a self,
        span: &SourceSpan,
        before: usize,
        after: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        let (start, end) = (span.offset(), span.offset() + span.len());
        let place = self.marks.iter().find(|mark| mark.range.start == start && mark.range.end == end);
        // Without context, the question is where a label stands: that is answered by the source.
        if let (0, 0, Some(mark)) = (before, after, place) {
            let data = self.text.get(mark.range.clone()).ok_or(MietteError::OutOfBounds)?;
            return Ok(self.contents(data, (start, end - start).into(), mark.line, mark.column, 1));
        }
        let first = self.line_holding(start).saturating_sub(before);
        let last = (self.line_holding(end.saturating_sub(1).max(start)) + after)
            .min(self.lines.len().saturating_sub(1));
        let (Some(from), Some(to)) = (self.lines.get(first), self.lines.get(last)) else {
            return Err(MietteError::OutOfBounds);
        };
        let data = self.text.get(from.range.start..to.range.end).ok_or(MietteError::OutOfBounds)?;
        Ok(self.contents(data, (from.range.start, data.len()).into(), from.number, 0, last - first + 1))
    }
}

impl Snippet {
    fn contents<'a>(
        &'a self,
        data: &'a str,
        span: SourceSpan,
        line: usize,
        column: usize,
        lines: usize,
    ) -> Box<dyn SpanContents<'a> + 'a> {
        Box::new(MietteSpanContents::new_named(self.name.clone(), data.as_bytes(), span, line, column, lines))
    }
}

/// A span's bytes, cut to its first line where it is too tall to be drawn, and the number of that line from 0.
fn bounded(sources: &Sources, span: Span) -> (Range<usize>, usize) {
    let source = &*sources.file(span.file).text;
    let start = (span.start as usize).min(source.len());
    let end = (span.end as usize).clamp(start, source.len());
    let is_tall = source.get(start..end).unwrap_or_default().bytes().filter(|&byte| byte == b'\n').count()
        >= MOST_LINES;
    let end = if is_tall { line_at(source, start).end.max(start) } else { end };
    (start..end, sources.line_column(span).line.saturating_sub(1))
}

/// The bytes of the line that `offset` is on, without its line end.
fn line_at(source: &str, offset: usize) -> Range<usize> {
    let bytes = source.as_bytes();
    let offset = offset.min(bytes.len());
    let start = bytes[..offset].iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
    let end = bytes[offset..].iter().position(|&byte| byte == b'\n').map_or(bytes.len(), |at| offset + at);
    start..end
}

/// The part of a line that is shown, in columns.
#[derive(Debug, Clone, Copy)]
struct Window {
    left_out: usize,
    fit: usize,
}

impl Window {
    /// So that `focus` is seen within `fit` columns or so, and that below the middle of each label there is room for the columns that its text needs.
    fn of(
        source: &str,
        line: &Range<usize>,
        focus: usize,
        fit: usize,
        labels: &[(Range<usize>, usize)],
    ) -> Self {
        let end = end_of(source, line);
        let until =
            |at: usize| columns(source.get(line.start..at.clamp(line.start, end)).unwrap_or_default());
        let (before, all) = (until(focus), until(end));
        // Keep the end of the line in view rather than room after it.
        let usual = match before > fit / 2 && all > fit {
            true => (before - fit / 3).min(all.saturating_sub(fit)),
            false => 0,
        };
        let middle = |span: &Range<usize>| {
            let start = until(span.start);
            start + until(span.end).saturating_sub(start).min(fit) / 2
        };
        let too_far = labels.iter().map(|(span, need)| (middle(span) + need).saturating_sub(fit));
        // No label is worth not seeing the place.
        let left_out = too_far.max().unwrap_or_default().min(before).max(usual);
        // What stands behind the cut is pointed at there.
        let late = labels.iter().filter(|(span, need)| middle(span).saturating_sub(left_out) + need > fit);
        let fit = late.map(|(_, need)| fit - need).min().unwrap_or(fit);
        Self { left_out, fit }
    }
}

/// The end of a line without its carriage return.
fn end_of(source: &str, line: &Range<usize>) -> usize {
    if source[..line.end].ends_with('\r') { (line.end - 1).max(line.start) } else { line.end }
}

/// Writes the part of a line that is to be shown, and gives where each shown byte offset of the source came to stand.
fn draw(
    source: &str,
    line: &Range<usize>,
    window: Window,
    cut: &str,
    text: &mut String,
) -> Vec<(usize, usize)> {
    let Window { left_out, fit } = window;
    let end = end_of(source, line);
    let mut start = line.start;
    let mut passed = 0;
    for (at, character) in source[line.start..end].char_indices() {
        if passed >= left_out {
            start = line.start + at;
            break;
        }
        passed += columns(character.encode_utf8(&mut [0; 4]));
    }
    let mut map = Vec::new();
    if start > line.start {
        map.push((line.start, text.len()));
        text.push_str(cut);
    }
    let mut taken = 0;
    for (at, character) in source[start..end].char_indices() {
        map.push((start + at, text.len()));
        if taken >= fit && end - (start + at) > cut.len() {
            text.push_str(cut);
            break;
        }
        let before = text.len();
        match character {
            '\t' => text.push_str("    "),
            _ if is_hidden(character) => text.push_str(&escape(character)),
            _ => text.push(character),
        }
        taken += columns(&text[before..]);
    }
    map.push((line.end, text.len()));
    map
}

/// How many columns a terminal gives a text.
fn columns(text: &str) -> usize {
    textwrap::core::display_width(text)
}

/// Where a byte offset of the source came to stand: at the last shown one that is not behind it.
fn carried(map: &[(usize, usize)], offset: usize) -> usize {
    let at = map.partition_point(|&(from, _)| from <= offset);
    map.get(at.saturating_sub(1)).map_or(0, |&(_, to)| to)
}

fn wrapped(text: &str, room: usize) -> String {
    let options = textwrap::Options::new(room)
        .break_words(false)
        .word_separator(textwrap::WordSeparator::AsciiSpace)
        .word_splitter(textwrap::WordSplitter::NoHyphenation);
    textwrap::wrap(&shown(text), options).join("\n")
}
