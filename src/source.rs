//! Source texts and places in them. Every stage speaks of a place as a [`Span`]: a file and a byte range,
//! `Copy`, resolved to lines and columns only where something is shown to a person.

use camino::{Utf8Path, Utf8PathBuf};
use std::ops::Range;
use std::sync::Arc;

/// A file known to a [`Sources`]. Meaningless beside another `Sources`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileId(u32);

impl FileId {
    /// Which one it is of [`Sources::files`], from 0.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A byte range in one source file. The ends lie on UTF-8 character boundaries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    pub file: FileId,
    pub start: u32,
    pub end: u32,
}

impl Span {
    /// The bytes `range` of `file`. Files are at most [`MAX_BYTES`] long, so the ends fit.
    pub fn new(file: FileId, range: Range<usize>) -> Self {
        let narrow = |offset: usize| u32::try_from(offset).unwrap_or(u32::MAX);
        Self { file, start: narrow(range.start), end: narrow(range.end) }
    }

    /// The smallest span that holds both; `self` where the files differ.
    pub fn to(self, other: Self) -> Self {
        if self.file != other.file {
            return self;
        }
        Self { file: self.file, start: self.start.min(other.start), end: self.end.max(other.end) }
    }

    pub fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// A value and the place it was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Spanned<T> {
    pub value: T,
    pub span: Span,
}

impl<T> Spanned<T> {
    pub fn new(value: T, span: Span) -> Self {
        Self { value, span }
    }
}

/// The largest source file that is read, in bytes. A profile is reviewed by people; one of 4 MiB is not.
pub const MAX_BYTES: usize = 4 << 20;

/// One source text.
#[derive(Debug, Clone)]
pub struct SourceFile {
    /// As shown to the user: the path as given, or `std/git` for what ships with the program.
    pub name: String,
    /// Where it was read from; `None` for standard input and for what ships with the program.
    pub path: Option<Utf8PathBuf>,
    pub text: Arc<str>,
    line_starts: Vec<u32>,
}

/// All texts of one run.
#[derive(Debug, Clone, Default)]
pub struct Sources {
    files: Vec<SourceFile>,
}

/// A place as people count it: both from 1, columns in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LineColumn {
    pub line: usize,
    pub column: usize,
}

impl Sources {
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a text and gives its id.
    pub fn add(
        &mut self,
        name: impl Into<String>,
        path: Option<&Utf8Path>,
        text: impl Into<Arc<str>>,
    ) -> FileId {
        let text: Arc<str> = text.into();
        let line_starts =
            std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at as u32 + 1)).collect();
        let id = FileId(self.files.len() as u32);
        self.files.push(SourceFile {
            name: name.into(),
            path: path.map(Utf8Path::to_path_buf),
            text,
            line_starts,
        });
        id
    }

    /// Adds a file of another `Sources` and gives the id that it has here.
    pub fn adopt(&mut self, file: &SourceFile) -> FileId {
        let id = FileId(self.files.len() as u32);
        self.files.push(file.clone());
        id
    }

    pub fn file(&self, id: FileId) -> &SourceFile {
        &self.files[id.0 as usize]
    }

    /// Every file, in the order in which they were read.
    pub fn files(&self) -> impl Iterator<Item = (FileId, &SourceFile)> {
        self.files.iter().enumerate().map(|(at, file)| (FileId(at as u32), file))
    }

    /// The text a span covers.
    pub fn text(&self, span: Span) -> &str {
        self.file(span.file).text.get(span.range()).unwrap_or_default()
    }

    /// The line and column of a span's start.
    pub fn line_column(&self, span: Span) -> LineColumn {
        let (line, before) = self.line_before(span.file, span.start);
        LineColumn { line, column: before.chars().count() + 1 }
    }

    /// The line of an offset, from 1, and what stands before the offset on that line. A byte-order mark at the start of the file is
    /// none of it: no editor counts it.
    pub fn line_before(&self, id: FileId, offset: u32) -> (usize, &str) {
        let file = self.file(id);
        let line = file.line_starts.partition_point(|&start| start <= offset).max(1);
        let line_start = file.line_starts[line - 1] as usize;
        let before = file.text.get(line_start..offset as usize).unwrap_or_default();
        (line, if line == 1 { before.strip_prefix('\u{feff}').unwrap_or(before) } else { before })
    }

    /// `name:line`, as artifacts name the statement behind a rule.
    pub fn place(&self, span: Span) -> String {
        format!("{}:{}", self.file(span.file).name, self.line_column(span).line)
    }

    /// `name:line:column`, as editors open it.
    pub fn file_line_column(&self, span: Span) -> String {
        let at = self.line_column(span);
        format!("{}:{}:{}", self.file(span.file).name, at.line, at.column)
    }

    /// What artifacts call a file: as seen from the directory of `base`, the profile, so that it does not matter where the compiler was
    /// called from.
    pub fn stable_name(&self, base: FileId, id: FileId) -> String {
        let file = self.file(id);
        let Some(path) = &file.path else { return file.name.clone() };
        let beside = self.file(base).path.as_deref().and_then(Utf8Path::parent);
        beside.and_then(|beside| path.strip_prefix(beside).ok()).unwrap_or(path).to_string()
    }

    /// `name:line` with [`Sources::stable_name`].
    pub fn stable_place(&self, base: FileId, span: Span) -> String {
        format!("{}:{}", self.stable_name(base, span.file), self.line_column(span).line)
    }

    /// The whole of a file as a span.
    pub fn whole(&self, id: FileId) -> Span {
        Span::new(id, 0..self.file(id).text.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_lines_and_characters_from_one() {
        let mut sources = Sources::new();
        let id = sources.add("x", None, "ä\nbü c\n");
        let at = sources.file(id).text.find('c').unwrap();
        let span = Span::new(id, at..at + 1);
        assert_eq!(sources.line_column(span), LineColumn { line: 2, column: 4 });
        assert_eq!(sources.text(span), "c");
        assert_eq!(sources.place(span), "x:2");
    }

    #[test]
    fn a_span_at_the_very_end_has_a_line() {
        let mut sources = Sources::new();
        let id = sources.add("x", None, "a\n");
        assert_eq!(sources.line_column(Span::new(id, 2..2)).line, 2);
        let empty = sources.add("y", None, "");
        assert_eq!(sources.line_column(Span::new(empty, 0..0)), LineColumn { line: 1, column: 1 });
    }

    #[test]
    fn a_byte_order_mark_has_no_column() {
        let mut sources = Sources::new();
        let id = sources.add("x", None, "\u{feff}ab");
        assert_eq!(sources.line_column(Span::new(id, 4..5)), LineColumn { line: 1, column: 2 });
        let mut others = Sources::new();
        others.add("y", None, "");
        let adopted = others.adopt(sources.file(id));
        assert_eq!((adopted.index(), others.line_column(Span::new(adopted, 4..5)).column), (1, 2));
    }
}
