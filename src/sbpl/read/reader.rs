//! The reader: one piece after the other, lists put together without recursion.

use super::datum::{Datum, Kind};
use super::grammar::{Grammar, Rule};
use super::strings;
use crate::finding::{Finding, Severity};
use crate::source::{FileId, Sources, Span};
use crate::syntax::shown;
use pest::Parser as _;
use std::sync::Arc;

/// Lists may nest this deep. What people write nests six deep, what programs write a dozen.
pub const MAX_DEPTH: usize = 100;

/// A text may have this many pieces: a profile of 1 MiB, the largest seen in the field, has a fifth.
pub const MAX_PIECES: usize = 1 << 20;

/// At most so many findings about one text.
const MAX_FINDINGS: usize = 64;

/// A text that was read.
#[derive(Debug, Clone)]
pub struct Read {
    pub data: Vec<Datum>,
    /// All are errors.
    pub findings: Vec<Finding>,
}

/// What is open while its end has not come.
enum Open {
    List(Span, Vec<Datum>),
    Quote(Span),
}

struct Reader<'a> {
    file: FileId,
    text: &'a str,
    open: Vec<Open>,
    out: Read,
}

/// Reads a text. Where there are findings, the data are what could be understood, for showing; nothing may be decided with them.
pub fn read(sources: &Sources, file: FileId) -> Read {
    let text = &*sources.file(file).text;
    let mut reader =
        Reader { file, text, open: Vec::new(), out: Read { data: Vec::new(), findings: Vec::new() } };
    reader.run();
    reader.out
}

impl Reader<'_> {
    fn run(&mut self) {
        let mut at = 0;
        let mut pieces = 0;
        while at < self.text.len() {
            pieces += 1;
            let too_deep = self.open.len() > MAX_DEPTH;
            if too_deep || pieces > MAX_PIECES {
                let message = if too_deep {
                    format!("lists nest more than {MAX_DEPTH} deep")
                } else {
                    format!("the text has more than {MAX_PIECES} words and brackets")
                };
                return self.refuse(at..at + self.char_at(at), message, "the rest was not read", None);
            }
            if self.out.findings.len() >= MAX_FINDINGS {
                return;
            }
            at = self.piece(at).max(at + 1);
        }
        while let Some(open) = self.open.pop() {
            let (Open::List(span, _) | Open::Quote(span)) = open;
            self.refuse(span.range(), "this bracket is never closed".into(), "opened here", None);
        }
    }

    fn char_at(&self, at: usize) -> usize {
        self.text.get(at..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8)
    }

    /// Reads the piece at `at`, and gives its end.
    fn piece(&mut self, at: usize) -> usize {
        let rest = self.text.get(at..).unwrap_or_default();
        let Some(pair) = Grammar::parse(Rule::piece, rest).ok().and_then(|mut pairs| pairs.next()) else {
            // The grammar takes every character, so this is only the way out of a fault in it.
            let length = self.char_at(at);
            self.refuse(at..at + length, "this cannot be read".into(), "here", None);
            return at + length;
        };
        let piece = pair.as_str();
        let end = at + piece.len();
        let span = Span::new(self.file, at..end);
        match pair.as_rule() {
            Rule::open => self.open.push(Open::List(span, Vec::new())),
            Rule::quote => self.open.push(Open::Quote(span)),
            Rule::close => self.close(span),
            Rule::symbol => self.push(span, Kind::Symbol(piece.into())),
            Rule::boolean => self.push(span, Kind::Boolean(piece == "#t")),
            Rule::number => self.number(span, piece, 10),
            Rule::based => {
                let radix = match piece.as_bytes().get(1) {
                    Some(b'x') => 16,
                    Some(b'o') => 8,
                    Some(b'b') => 2,
                    _ => 10,
                };
                self.number(span, piece.get(2..).unwrap_or_default(), radix);
            }
            Rule::raw => return self.raw(at, end),
            Rule::cooked => self.cooked(span, piece),
            Rule::unclosed => {
                let length = if piece.starts_with('#') { 2 } else { 1 };
                self.refuse(at..at + length, "this text is never closed".into(), "opened here", None);
                // What is inside it says nothing about the brackets around it.
                self.open.clear();
                self.push(span, Kind::Broken);
            }
            Rule::other => {
                self.other(span, piece);
                if piece.starts_with("#|") {
                    // What was meant as a comment says nothing of its own.
                    let body = self.text.get(at..).unwrap_or_default();
                    return at + body.find("|#").map_or(body.len(), |end| end + 2);
                }
            }
            _ => {}
        }
        end
    }

    fn push(&mut self, mut span: Span, mut kind: Kind) {
        loop {
            match self.open.pop() {
                Some(Open::Quote(quote)) => {
                    kind = Kind::Quote(Arc::new(Datum { span, kind }));
                    span = quote.to(span);
                }
                Some(Open::List(open, mut items)) => {
                    items.push(Datum { span, kind });
                    self.open.push(Open::List(open, items));
                    return;
                }
                None => {
                    self.out.data.push(Datum { span, kind });
                    return;
                }
            }
        }
    }

    fn close(&mut self, span: Span) {
        match self.open.pop() {
            Some(Open::List(open, items)) => self.push(open.to(span), Kind::List(items.into())),
            Some(Open::Quote(quote)) => {
                self.refuse(quote.range(), "nothing stands behind this quote".into(), "here", None);
                self.close(span);
            }
            None => self.refuse(span.range(), "this bracket closes nothing".into(), "here", None),
        }
    }

    fn number(&mut self, span: Span, digits: &str, radix: u32) {
        match i64::from_str_radix(digits, radix) {
            Ok(number) => self.push(span, Kind::Number(number)),
            Err(_) => {
                self.refuse(span.range(), format!("`{}` is too large a number", shown(digits)), "here", None);
                self.push(span, Kind::Broken);
            }
        }
    }

    /// Whether a text holds a NUL, where the library's own reader would end; it is told of.
    fn has_nul(&mut self, span: Span) -> bool {
        let at = self.text.get(span.range()).and_then(|text| text.find('\0'));
        if let Some(at) = at {
            let start = span.range().start + at;
            self.refuse(start..start + 1, strings::NUL.into(), "here", None);
            self.push(span, Kind::Broken);
        }
        at.is_some()
    }

    fn cooked(&mut self, span: Span, piece: &str) {
        if self.has_nul(span) {
            return;
        }
        match strings::decode(piece.get(1..piece.len() - 1).unwrap_or_default()) {
            Ok(bytes) => self.push(span, Kind::Cooked(bytes.into())),
            Err(bad) => {
                let start = span.range().start + 1;
                let range = start + bad.range.start..start + bad.range.end;
                self.refuse(range, "this escape means nothing".into(), bad.why, None);
                self.push(span, Kind::Broken);
            }
        }
    }

    /// A raw text ends at the first quote. Where a backslash stands before it and a word goes on behind it, that quote was meant to be
    /// part of the text; it is then read as it was meant, and marked.
    fn raw(&mut self, at: usize, mut end: usize) -> usize {
        let bytes = self.text.as_bytes();
        let is_torn = |end: usize| {
            let before = end.checked_sub(2).and_then(|at| bytes.get(at));
            let goes_on = bytes.get(end).is_some_and(|byte| !byte.is_ascii_whitespace() && *byte != b')');
            before == Some(&b'\\') && goes_on
        };
        let mut torn = false;
        while is_torn(end) {
            let Some(next) = bytes.get(end..).and_then(|rest| rest.iter().position(|byte| *byte == b'"'))
            else {
                break;
            };
            torn = true;
            end += next + 1;
        }
        let inner: Arc<[u8]> = bytes.get(at + 2..end - 1).unwrap_or_default().into();
        let kind = if torn { Kind::Torn(inner) } else { Kind::Raw(inner) };
        let span = Span::new(self.file, at..end);
        if !self.has_nul(span) {
            self.push(span, kind);
        }
        end
    }

    fn other(&mut self, span: Span, piece: &str) {
        let (message, help) = match piece {
            _ if piece.starts_with("#|") => (
                "`#|` begins no comment in this language".to_owned(),
                Some("begin every line of the comment with `;`"),
            ),
            "." => ("pairs are not understood".into(), None),
            _ if piece.starts_with('`') || piece.starts_with(',') => {
                ("templates (quasiquote) are not understood".into(), None)
            }
            "#" => ("vectors are not understood".into(), None),
            _ if piece.starts_with("#\\") => ("characters are not understood".into(), None),
            _ => (format!("`{}` cannot be read", shown(piece)), None),
        };
        self.refuse(span.range(), message, "here", help);
        self.push(span, Kind::Broken);
    }

    fn refuse(&mut self, range: std::ops::Range<usize>, message: String, label: &str, help: Option<&str>) {
        if self.out.findings.len() >= MAX_FINDINGS {
            return;
        }
        let finding =
            Finding::new("sb-syntax", Severity::Error, message).at(Span::new(self.file, range), label);
        self.out.findings.push(match help {
            Some(help) => finding.help(help),
            None => finding,
        });
    }
}
