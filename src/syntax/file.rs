//! The top of a file: its edition and its one profile or fragment.

use super::ast::{File, FileKind, Word};
use super::blocks::Place;
use super::diagnose::shown;
use super::grammar::Rule;
use super::outline::{Item, Outline, Piece};
use super::parser::Parser;
use super::words::{STATEMENTS, TOP, Vocabulary, either_word};
use crate::finding::{Edit, Finding, Severity};
use crate::source::{Span, Spanned};

/// The only edition of the language there is.
pub const EDITION: u32 = 1;

impl Parser<'_> {
    pub fn file(&mut self, outline: &Outline) -> Option<File> {
        let mut edition = None;
        let mut head: Option<(File, Span)> = None;
        let mut outside = false;
        let mut items = outline.items.iter().peekable();
        while let Some(item) = items.next() {
            let first = self.words(item).first().copied();
            let word = first.map_or("", |piece| self.str(piece));
            match word {
                "edition" => self.edition(item, &mut edition),
                "profile" | "fragment" => {
                    // A brace on the next line is told of and taken.
                    let below = items.next_if(|next| item.block.is_none() && next.pieces.is_empty());
                    let found = self.head(item, below, word == "profile");
                    match (&head, found) {
                        (Some((_, first)), _) => {
                            let (first, span) = (*first, self.item_span(item));
                            self.report(|parser| {
                                let words = parser.words(item);
                                let here = words
                                    .first()
                                    .zip(words.last())
                                    .map_or(span, |(a, b)| parser.span(*a).to(parser.span(*b)));
                                Finding::new(
                                    "syntax",
                                    Severity::Error,
                                    "a second profile or fragment in one file",
                                )
                                .at(here, "the second")
                                .at(first, "the first")
                                .help("one file holds one profile; move this one to a file of its own")
                            });
                        }
                        (None, Some(found)) => head = Some(found),
                        (None, None) => outside = true,
                    }
                }
                _ => {
                    let told = std::mem::replace(&mut outside, true);
                    let after = head.is_some();
                    if !told || after {
                        self.stranger(item, first, word, after);
                    }
                }
            }
        }
        if head.is_none() && !outside {
            self.report(|parser| {
                let end = parser.text.trim_end().len();
                let finding = Finding::new("syntax", Severity::Error, "the file holds no profile");
                finding
                    .at(Span::new(parser.file, end..end), "expected `profile \"NAME\" { … }`")
                    .help("`palisade init` writes one to start from")
            });
        }
        let (mut file, _) = head?;
        if edition.is_none()
            && !outline
                .items
                .iter()
                .any(|item| self.words(item).first().is_some_and(|p| self.str(*p) == "edition"))
        {
            self.report(|parser| {
                let start = if parser.text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
                let at = Span::new(parser.file, start..start);
                Finding::new("edition", Severity::Error, "the file does not say its edition")
                    .at(file.head, "expected `edition 1` above")
                    .help("begin the file with `edition 1`: it keeps its meaning when the language changes")
                    .fix(
                        "write `edition 1` at the top",
                        vec![Edit { span: at, replacement: "edition 1\n\n".into() }],
                        true,
                    )
            });
        }
        file.edition = edition;
        Some(file)
    }

    fn edition(&mut self, item: &Item, edition: &mut Option<Spanned<u32>>) {
        if !self.sound(item) {
            return;
        }
        if let Some(block) = &item.block {
            self.report(|parser| {
                Finding::new("syntax", Severity::Error, "`edition` takes no block")
                    .at(parser.span(block.open), "here")
            });
        }
        let Some((pair, base)) = self.take(Rule::only_edition, item, "edition") else { return };
        let statement = self.builder(base).span(&pair);
        let Some(number) = pair.into_inner().find(|pair| pair.as_rule() == Rule::number) else { return };
        let span = self.builder(base).span(&number);
        if number.as_str() != "1" {
            self.report(|_| {
                Finding::new(
                    "edition",
                    Severity::Error,
                    format!("unknown edition `{}`", shown(number.as_str())),
                )
                .at(span, "not an edition of the language")
                .help("this version knows `edition 1`; a later version may know more")
            });
        }
        if let Some(first) = edition {
            let first = first.span;
            self.report(|_| {
                Finding::new("repeated-statement", Severity::Error, "`edition` is stated twice")
                    .at(statement, "again here")
                    .at(first, "first here")
            });
        } else {
            *edition = Some(Spanned::new(EDITION, statement));
        }
    }

    fn head(&mut self, item: &Item, below: Option<&Item>, profile: bool) -> Option<(File, Span)> {
        let word = if profile { "profile" } else { "fragment" };
        let kind = if profile { FileKind::Profile } else { FileKind::Fragment };
        let parsed = if self.sound(item) { self.take(Rule::only_file_head, item, word) } else { None };
        let block = item.block.as_ref().or(below.and_then(|item| item.block.as_ref()));
        match (&item.block, block) {
            (None, Some(block)) => self.brace_below(item, block.open),
            (_, None) if parsed.is_some() => self.no_block(item),
            _ => {}
        }
        let mut statements = Vec::new();
        if let Some(block) = block {
            self.statements(&block.items, Place::File(kind), &mut statements);
        }
        let (pair, base) = parsed?;
        let head = self.builder(base).span(&pair);
        let quoted = pair.into_inner().find(|pair| pair.as_rule() == Rule::quoted)?;
        let name = self.builder(base).word(quoted)?;
        if name.value.trim().is_empty() {
            let span = name.span;
            self.report(|_| {
                Finding::new("syntax", Severity::Error, format!("a {word} without a name")).at(span, "empty")
            });
        }
        let name = Word::new(name.value, name.span);
        let (id, comments) = (self.file, Vec::new());
        Some((File { id, edition: None, kind, name, head, statements, comments }, head))
    }

    /// Something at the top of a file that does not belong there.
    fn stranger(&mut self, item: &Item, first: Option<Piece>, word: &str, after: bool) {
        self.report(|parser| {
            let span = first.map_or(parser.item_span(item), |piece| parser.span(piece));
            let quote = shown(word);
            if after {
                return Finding::new(
                    "syntax",
                    Severity::Error,
                    format!("`{quote}` stands outside the profile"),
                )
                .at(span, "after the closing brace")
                .help("nothing may follow the profile; look for a `}` too many above");
            }
            if STATEMENTS.contains(&word) {
                return Finding::new(
                    "syntax",
                    Severity::Error,
                    format!("`{quote}` stands outside a profile"),
                )
                .at(span, "expected `profile \"NAME\" {` before this")
                .help("statements stand in `profile \"NAME\" { … }`");
            }
            let what = if first.is_some() {
                format!("unknown word `{quote}`")
            } else {
                "a block without a name".into()
            };
            let finding = Finding::new("unknown-word", Severity::Error, what)
                .at(span, format!("expected {}", either_word(TOP.iter().copied())));
            match Vocabulary::Top.meant(word) {
                Some(meant) => finding.help(format!("did you mean `{meant}`?")).fix(
                    format!("write `{meant}`"),
                    vec![Edit { span, replacement: meant.into() }],
                    false,
                ),
                None => finding.help("a file begins with `edition 1` and holds one `profile \"NAME\" { … }`"),
            }
        });
    }
}
