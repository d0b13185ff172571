//! The whole of a file: its edition, its one profile or fragment, and what is wrong around them.

use super::ast::{Comment, File};
use super::build::Builder;
use super::diagnose::{Refused, shown};
use super::grammar::{Grammar, Rule};
use super::outline::{Item, MAX_LINE, Outline, Piece, PieceKind, outline};
use super::{repeats, strings};
use crate::finding::{self, Edit, Finding, Label, Severity};
use crate::source::{FileId, Sources, Span};
use pest::Parser as _;
use pest::error::{ErrorVariant, InputLocation};
use pest::iterators::Pair;

/// The most findings one file gives; a last one says how many there were beyond.
pub const MAX_FINDINGS: usize = 100;

/// What parsing gives. With an error among the findings, the tree lacks what is wrong.
#[derive(Debug, Clone)]
pub struct Parsed {
    /// None where the file holds no profile and no fragment.
    pub file: Option<File>,
    pub findings: Vec<Finding>,
}

/// Parses one file. Every wrong statement is a finding, and never a failure; time grows with the length of the text.
pub fn parse(sources: &Sources, id: FileId) -> Parsed {
    let text = &*sources.file(id).text;
    let outline = outline(text);
    let mut parser =
        Parser { text, file: id, pieces: &outline.pieces, findings: Vec::new(), beyond: 0, misplaced: false };
    let comments = parser.survey();
    let mut file = parser.file(&outline);
    parser.braces(&outline);
    if let Some(file) = &mut file {
        repeats::check(&file.statements, &mut parser.findings);
        file.comments = comments;
    }
    Parsed { file, findings: parser.finish(sources) }
}

/// The state of parsing one file.
pub(super) struct Parser<'a> {
    pub text: &'a str,
    pub file: FileId,
    pub pieces: &'a [Piece],
    pub findings: Vec<Finding>,
    /// Wrong statements that were counted and not described.
    beyond: usize,
    /// Whether a statement was met in a block of another kind: then a missing brace has been told of.
    pub misplaced: bool,
}

impl<'a> Parser<'a> {
    /// Describes what is wrong, unless enough has been: then it only counts.
    pub fn report(&mut self, describe: impl FnOnce(&Self) -> Finding) {
        if self.findings.len() >= MAX_FINDINGS {
            self.beyond += 1;
        } else {
            let finding = describe(self);
            self.findings.push(finding);
        }
    }

    pub fn span(&self, piece: Piece) -> Span {
        Span::new(self.file, piece.range())
    }

    pub fn str(&self, piece: Piece) -> &'a str {
        self.text.get(piece.range()).unwrap_or_default()
    }

    /// The pieces of a statement that mean something.
    pub fn words(&self, item: &Item) -> Vec<Piece> {
        let pieces = self.pieces.get(item.pieces.clone()).unwrap_or_default();
        let meant =
            pieces.iter().filter(|piece| !matches!(piece.kind, PieceKind::Comment | PieceKind::EndOfLine));
        meant.copied().collect()
    }

    /// The whole of a statement, its block included.
    pub fn item_span(&self, item: &Item) -> Span {
        let words = self.words(item);
        let open = item.block.as_ref().map(|block| block.open);
        let first = words.first().copied().or(open);
        let close = item.block.as_ref().and_then(|block| block.close);
        let last = close.or(open).or(words.last().copied());
        match (first, last) {
            (Some(first), Some(last)) => self.span(first).to(self.span(last)),
            _ => Span::new(self.file, 0..0),
        }
    }

    /// Comments, and what must not stand anywhere: characters that cannot be seen, lines that are too long.
    fn survey(&mut self) -> Vec<Comment> {
        let mut comments = Vec::new();
        let mut fresh_line = true;
        for &piece in self.pieces {
            let text = self.str(piece);
            if self.findings.len() < MAX_FINDINGS {
                let comment = piece.kind == PieceKind::Comment;
                let cooked = matches!(piece.kind, PieceKind::Cooked | PieceKind::OpenCooked);
                if piece.kind != PieceKind::EndOfLine {
                    strings::hidden(
                        self.file,
                        piece.start as usize,
                        text,
                        comment,
                        cooked,
                        &mut self.findings,
                    );
                }
            }
            if piece.kind == PieceKind::Comment {
                let body = text.trim_start_matches('#').trim_start();
                let lead = u32::try_from(text.len() - body.len()).unwrap_or_default();
                let text = body.trim_end().to_owned();
                comments.push(Comment { span: self.span(piece), text, lead, own_line: fresh_line });
            }
            fresh_line = match piece.kind {
                PieceKind::EndOfLine => true,
                // Where nothing stands before it, it ends nothing.
                PieceKind::Semicolon => fresh_line,
                _ => false,
            };
        }
        comments
    }

    /// What is wrong with the braces, and lines too long to be read.
    fn braces(&mut self, outline: &Outline) {
        for range in &outline.long_lines {
            self.report(|parser| {
                let head: String =
                    parser.text.get(range.clone()).unwrap_or_default().chars().take(40).collect();
                let span = Span::new(parser.file, range.start..range.start + head.len());
                Finding::new("syntax", Severity::Error, format!("a line of {} bytes", range.len()))
                    .at(span, "begins here")
                    .help(format!("a line may have {MAX_LINE} bytes; the whole of it was passed over"))
            });
        }
        if let Some(brace) = outline.too_deep {
            self.report(|parser| {
                Finding::new("syntax", Severity::Error, "blocks nest too deeply")
                    .at(parser.span(brace), "what follows here was passed over")
                    .help("no block of the language stands more than two deep in a profile")
            });
        }
        for brace in &outline.stray {
            self.report(|parser| {
                let span = parser.span(*brace);
                Finding::new("syntax", Severity::Error, "a `}` that closes nothing")
                    .at(span, "no block is open here")
                    .help("remove it, or look for a `{` missing above")
            });
        }
        if !self.misplaced && outline.too_deep.is_none() {
            self.unclosed(&outline.items);
        }
    }

    /// Where a block is not closed, the `}` is often missing further up: at the first block in it whose `}` is not indented as its first line is.
    fn suspect(&mut self, items: &[Item]) {
        let indent = |piece: Piece| {
            let before = self.text.get(..piece.start as usize).unwrap_or_default();
            let line = before.rsplit('\n').next().unwrap_or_default();
            (before.len() - line.len(), line.len() - line.trim_start().len())
        };
        let closed = items.iter().filter_map(|item| {
            let block = item.block.as_ref()?;
            Some((self.words(item).first().copied()?, block.open, block.close?))
        });
        let found = closed.into_iter().find(|(_, open, close)| {
            let ((open_line, open_indent), (close_line, close_indent)) = (indent(*open), indent(*close));
            open_line != close_line && open_indent != close_indent
        });
        let Some((word, open, close)) = found else { return };
        let (word, open, close) = (shown(self.str(word)), self.span(open), self.span(close));
        if let Some(finding) =
            self.findings.last_mut().filter(|finding| finding.message.starts_with("the block of"))
        {
            let mut labels = std::mem::take(&mut finding.labels);
            labels.truncate(1);
            labels.push(Label { span: open, text: format!("the block of `{word}`") });
            labels.push(Label {
                span: close,
                text: format!("closes the block of `{word}`, by its place another was meant"),
            });
            finding.labels = labels;
            finding.help = Some(format!("write the `}}` of `{word}` where that block ends"));
        }
    }

    fn unclosed(&mut self, items: &[Item]) {
        for item in items {
            let Some(block) = &item.block else { continue };
            if block.close.is_none() {
                let words = self.words(item);
                let name = words.first().map_or("{", |piece| self.str(*piece));
                self.report(|parser| {
                    let end = parser.text.trim_end().len();
                    let last = parser.text.get(..end).and_then(|text| text.chars().next_back());
                    let begin = end - last.map_or(0, char::len_utf8);
                    Finding::new(
                        "syntax",
                        Severity::Error,
                        format!("the block of `{}` is not closed", shown(name)),
                    )
                    .at(parser.span(block.open), "opened here")
                    .at(Span::new(parser.file, begin..end), "a `}` is missing after this")
                    .help("close it with `}`")
                });
                self.suspect(&block.items);
            }
            self.unclosed(&block.items);
        }
    }

    /// The strings of a statement; a wrong one is told of here, and the statement is not looked at further.
    pub fn sound(&mut self, item: &Item) -> bool {
        let mut sound = true;
        for piece in self.words(item) {
            let text = self.str(piece);
            match piece.kind {
                PieceKind::OpenCooked | PieceKind::OpenRaw => {
                    sound = false;
                    self.report(|parser| {
                        let closing = text.find('"').map_or("\"".into(), |at| {
                            if piece.kind == PieceKind::OpenRaw {
                                format!("\"{}", &text[1..at])
                            } else {
                                "\"".into()
                            }
                        });
                        let span = parser.span(piece);
                        let finding = Finding::new("syntax", Severity::Error, "a text that is not closed")
                            .at(span, "opened here, and its line ends")
                            .help(format!("close it with `{}` on the same line", shown(&closing)));
                        // Else where it ends is a guess.
                        if text.contains([' ', '\t', ';', '#', '{', '}', '\\']) {
                            return finding;
                        }
                        let edit = Edit { span: Span { start: span.end, ..span }, replacement: closing };
                        finding.fix("close it where the line ends", vec![edit], false)
                    });
                }
                PieceKind::Cooked => {
                    let mut wrong = Vec::new();
                    strings::check_cooked(self.file, piece.start as usize, text, &mut wrong);
                    sound &= wrong.is_empty();
                    for finding in wrong {
                        self.report(|_| finding);
                    }
                }
                _ => {}
            }
            // Told of by the survey.
            sound &= text.is_ascii() || !text.contains(strings::is_hidden);
        }
        if let Some(bracket) = item.open_bracket {
            sound = false;
            self.report(|parser| {
                Finding::new("syntax", Severity::Error, "a list that is not closed")
                    .at(parser.span(bracket), "opened here")
                    .help("close it with `]`")
            });
        }
        if item.glued {
            let words = self.words(item);
            let first = words.first().copied().or(item.block.as_ref().map(|block| block.open));
            self.report(|parser| {
                let span = first.map_or(parser.item_span(item), |first| parser.span(first));
                let at = Span { end: span.start, ..span };
                Finding::new("syntax", Severity::Error, "text after the closing brace")
                    .at(span, "expected the end of the line or a `;`")
                    .help("begin the next statement on its own line")
                    .fix("put a `;` before it", vec![Edit { span: at, replacement: "; ".into() }], true)
            });
        }
        sound
    }

    /// Parses the words of a statement as `rule`, and gives what is in it with the place where it begins.
    pub fn take(&mut self, rule: Rule, item: &Item, statement: &str) -> Option<(Pair<'a, Rule>, usize)> {
        let words = self.words(item);
        let (first, last) = (words.first()?, words.last()?);
        let base = first.start as usize;
        let text = self.text.get(base..last.end as usize)?;
        match Grammar::parse(rule, text) {
            Ok(mut pairs) => pairs.next()?.into_inner().next().map(|pair| (pair, base)),
            Err(error) => {
                self.report(|parser| {
                    let offset = match error.location {
                        InputLocation::Pos(at) | InputLocation::Span((at, _)) => at,
                    };
                    let expected = match &error.variant {
                        ErrorVariant::ParsingError { positives, .. } => positives.as_slice(),
                        ErrorVariant::CustomError { .. } => &[],
                    };
                    let (file, text) = (parser.file, parser.text);
                    Refused { file, text, pieces: &words, statement, at: base + offset, expected }.finding()
                });
                None
            }
        }
    }

    pub fn builder(&mut self, base: usize) -> Builder<'_> {
        Builder { file: self.file, base, findings: &mut self.findings }
    }

    /// The tree of what the grammar took. Where there is none, there is a finding: no statement may be lost without a word.
    pub fn build<T>(
        &mut self,
        (pair, base): (Pair<'a, Rule>, usize),
        build: impl FnOnce(&mut Builder<'_>, Pair<'a, Rule>) -> Option<T>,
    ) -> Option<T> {
        let told = self.findings.len() + self.beyond;
        let mut builder = self.builder(base);
        let span = builder.span(&pair);
        let built = build(&mut builder, pair);
        if built.is_none() && told == self.findings.len() + self.beyond {
            self.report(|_| {
                Finding::new("syntax", Severity::Error, "this statement cannot be read").at(span, "here")
            });
        }
        built
    }

    fn finish(mut self, sources: &Sources) -> Vec<Finding> {
        finding::sort(&mut self.findings);
        let beyond = self.beyond + self.findings.len().saturating_sub(MAX_FINDINGS);
        self.findings.truncate(MAX_FINDINGS);
        if beyond > 0 {
            let message = format!("{beyond} more errors in `{}` are not shown", sources.file(self.file).name);
            let end = self.text.len();
            let last = Finding::new("syntax", Severity::Error, message)
                .at(Span::new(self.file, end..end), "to here");
            self.findings.push(last.help("most of them are likely to have one cause: begin with the first"));
        }
        self.findings
    }
}
