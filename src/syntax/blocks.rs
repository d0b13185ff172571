//! Statements, and the blocks they stand in.

use super::ast::*;
use super::diagnose::shown;
use super::grammar::Rule;
use super::outline::{Block, Item, Piece};
use super::parser::Parser;
use super::words::{STATEMENTS, Vocabulary, either_word};
use crate::finding::{Edit, Finding, Severity};
use crate::source::Span;
use crate::source::Spanned;

/// What statements stand in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    File(FileKind),
    On(System),
}

/// Statements that have a block: always, or in one of their forms.
const WITH_BLOCK: [&str; 4] = ["env", "limits", "expect", "on"];

impl<'a> Parser<'a> {
    /// Parses the statements of a block into `out`; those that are wrong are told of and left out.
    pub fn statements(&mut self, items: &[Item], place: Place, out: &mut Vec<Statement>) {
        let mut items = items.iter().peekable();
        while let Some(item) = items.next() {
            if item.pieces.is_empty() {
                self.nameless(item);
                continue;
            }
            let wants = item.block.is_none() && self.wants_block(item);
            let below = items.next_if(|next| wants && next.pieces.is_empty() && next.block.is_some());
            if let Some(block) = below.and_then(|below| below.block.as_ref()) {
                self.brace_below(item, block.open);
                self.statement(item, Some(block), place, out);
            } else {
                self.statement(item, item.block.as_ref(), place, out);
            }
        }
    }

    fn wants_block(&self, item: &Item) -> bool {
        let words = self.words(item);
        let word = |at: usize| words.get(at).map_or("", |piece| self.str(*piece));
        WITH_BLOCK.contains(&word(0)) || (word(0) == "network" && word(1) == "only")
    }

    pub fn statement(&mut self, item: &Item, block: Option<&Block>, place: Place, out: &mut Vec<Statement>) {
        let Some(first) = self.words(item).first().copied() else { return };
        let word = self.str(first);
        let sound = self.sound(item);
        if !STATEMENTS.contains(&word) {
            if sound {
                self.unknown(first, word, &Vocabulary::Statement, None);
            }
            // What stands in its block may be wrong as well.
            if let Some(block) = block {
                let meant = Vocabulary::Statement.meant(word).unwrap_or_default();
                self.block(meant, item, block, place, false, &mut Vec::new());
            }
            return;
        }
        let allowed_here = self.allowed_here(first, word, place);
        let (own, mut escaped) = (&mut Vec::new(), Vec::new());
        match block {
            Some(block) if WITH_BLOCK.contains(&word) || word == "network" => {
                let kind = self.block(word, item, block, place, sound, &mut escaped);
                let close = block.close.unwrap_or(block.open);
                let span = self.span(first).to(self.span(close));
                own.extend(kind.map(|kind| Statement { kind, span }));
            }
            Some(block) => {
                self.report(|parser| {
                    Finding::new("syntax", Severity::Error, format!("`{word}` takes no block"))
                        .at(parser.span(block.open), "here")
                        .help("a statement ends with its line or a `;`")
                });
            }
            None if sound && self.wants_block(item) => {
                let head = self.take(Rule::only_block_head, item, word);
                if head.is_some() {
                    self.no_block(item);
                }
            }
            None if sound => {
                if let Some(taken) = self.take(Rule::only_statement, item, word) {
                    own.extend(self.build(taken, |builder, pair| {
                        let span = builder.span(&pair);
                        builder.statement(pair).map(|kind| Statement { kind, span })
                    }));
                }
            }
            None => {}
        }
        if allowed_here {
            out.append(own);
        }
        out.append(&mut escaped);
    }

    /// Parses a statement with a block. Statements that stand in the block by mistake go to `escaped`.
    fn block(
        &mut self,
        word: &str,
        item: &Item,
        block: &Block,
        place: Place,
        sound: bool,
        escaped: &mut Vec<Statement>,
    ) -> Option<StatementKind> {
        let head = if sound { self.block_head(word, item, block) } else { None };
        let mut outer = Outer { word, block, place, statements: escaped, told: false };
        let kind = match word {
            "env" => StatementKind::Env(self.env_entries(&mut outer)),
            "limits" => StatementKind::Limits(self.limit_entries(&mut outer)),
            "expect" => StatementKind::Expect(self.expect_entries(&mut outer)),
            "network" => {
                let rules = self.network_entries(&mut outer);
                let (pair, base) = head.as_ref()?;
                let only = pair.clone().into_inner().find(|pair| pair.as_rule() == Rule::kw_only)?;
                let span = self.builder(*base).span(&only);
                StatementKind::Network(Spanned::new(Network::Only(rules), span))
            }
            "on" => {
                let system = head.as_ref().and_then(|(pair, base)| {
                    let system = pair.clone().into_inner().find(|pair| pair.as_rule() == Rule::system)?;
                    let value = if system.as_str() == "macos" { System::Macos } else { System::Linux };
                    Some(Spanned::new(value, self.builder(*base).span(&system)))
                });
                let mut statements = Vec::new();
                let inside = Place::On(system.map_or(System::Macos, |system| system.value));
                match place {
                    Place::File(_) => self.statements(&block.items, inside, &mut statements),
                    // Told of already: `on` does not stand in `on`.
                    Place::On(_) => {}
                }
                StatementKind::On { system: system?, statements }
            }
            _ => return None,
        };
        head.map(|_| kind)
    }

    fn block_head(
        &mut self,
        word: &str,
        item: &Item,
        block: &Block,
    ) -> Option<(pest::iterators::Pair<'a, Rule>, usize)> {
        let words = self.words(item);
        let second = words.get(1).copied();
        if word == "network"
            && let Some(mode) = second.filter(|second| matches!(self.str(*second), "off" | "all"))
        {
            let mode = self.str(mode);
            self.report(|parser| {
                Finding::new("syntax", Severity::Error, format!("`network {mode}` takes no block"))
                    .at(parser.span(block.open), "here")
                    .help("a list of hosts is written `network only { … }`")
            });
            return None;
        }
        self.take(Rule::only_block_head, item, word)
    }

    /// Whether a statement may stand in a place; where not, says so.
    fn allowed_here(&mut self, first: Piece, word: &str, place: Place) -> bool {
        let (message, help) = match (place, word) {
            (Place::File(FileKind::Fragment), "working-directory") => (
                "a fragment has no working directory".to_owned(),
                "say `working-directory` in the profile that uses the fragment",
            ),
            (Place::File(_), "seatbelt") => (
                "`seatbelt` stands outside `on macos`".to_owned(),
                "write `on macos { seatbelt \"(allow …)\" because \"…\" }`",
            ),
            (Place::On(System::Linux), "seatbelt") => {
                ("there is no Seatbelt on Linux".to_owned(), "`seatbelt` stands in `on macos { … }`")
            }
            (Place::On(_), "description" | "use" | "param" | "group" | "on") => (
                format!("`{word}` cannot stand in an `on` block"),
                "move it out of the block: it holds for every system",
            ),
            _ => return true,
        };
        self.report(|parser| {
            Finding::new("syntax", Severity::Error, message).at(parser.span(first), "not here").help(help)
        });
        false
    }

    fn nameless(&mut self, item: &Item) {
        self.sound(item);
        let Some(block) = &item.block else { return };
        self.report(|parser| {
            Finding::new("syntax", Severity::Error, "a block that belongs to no statement")
                .at(parser.span(block.open), "opened here")
                .help("the `{` of a block stands on the line of its statement: `env {`")
        });
    }

    pub fn brace_below(&mut self, item: &Item, brace: Piece) {
        let last = self.words(item).last().copied().unwrap_or(brace);
        self.report(|parser| {
            let edit = Edit {
                span: parser.span(last).to(parser.span(brace)),
                replacement: format!("{} {{", parser.str(last)),
            };
            Finding::new("syntax", Severity::Error, "the `{` is not on the line of its statement")
                .at(parser.span(brace), "this belongs on the line above")
                .help("a statement ends with its line")
                .fix("move it up", vec![edit], false)
        });
    }

    pub fn no_block(&mut self, item: &Item) {
        let words = self.words(item);
        let (Some(first), Some(last)) = (words.first().copied(), words.last().copied()) else { return };
        self.report(|parser| {
            let span = parser.span(first).to(parser.span(last));
            let text = shown(parser.text.get(span.range()).unwrap_or_default());
            Finding::new("syntax", Severity::Error, format!("expected `{{` after `{text}`"))
                .at(span, "a block is missing after this")
                .help(format!("write `{text} {{ … }}`"))
        });
    }

    /// A word that means nothing where it stands. `block` is the block of entries it stands in.
    pub fn unknown(&mut self, first: Piece, word: &str, vocabulary: &Vocabulary, block: Option<&str>) {
        self.report(|parser| {
            let span = parser.span(first);
            let words = vocabulary.words();
            let expected = match block {
                Some(_) => format!("expected {}", either_word(words.iter().copied())),
                None => "not a statement".into(),
            };
            let what = match first.kind {
                super::outline::PieceKind::Bare => format!("unknown word `{}`", shown(word)),
                _ => format!("expected a word, found `{}`", shown(word)),
            };
            let finding = Finding::new("unknown-word", Severity::Error, what).at(span, expected);
            if let Some(end) = comment_mark(word) {
                let edit = Edit { span: Span { end: span.start + end, ..span }, replacement: "#".into() };
                return finding.help("a comment begins with `#`").fix("write `#`", vec![edit], true);
            }
            if let Some(home) = super::asked::home_of(word, block) {
                return finding.help(home);
            }
            match vocabulary.meant(word) {
                Some(meant) => finding.help(format!("did you mean `{meant}`?")).fix(
                    format!("write `{meant}`"),
                    vec![Edit { span, replacement: meant.into() }],
                    false,
                ),
                None => match block {
                    Some("env") => {
                        let name = shown(word.split('=').next().unwrap_or_default());
                        finding.help(format!("write `set {name} \"VALUE\"`, or `pass {name}` for the value that the caller has"))
                    }
                    Some(block) => {
                        finding.help(format!("`{block}` takes {}", either_word(words.iter().copied())))
                    }
                    None => {
                        finding.help(format!("statements begin with {}", either_word(words.iter().copied())))
                    }
                },
            }
        });
    }
}

/// The block that entries stand in, and the statements around it.
pub struct Outer<'o> {
    pub word: &'o str,
    pub block: &'o Block,
    pub place: Place,
    /// Statements that a forgotten `}` has put into the block.
    pub statements: &'o mut Vec<Statement>,
    pub told: bool,
}

/// How long the mark of another language is that a comment begins with.
fn comment_mark(word: &str) -> Option<u32> {
    ["//", "--"].iter().find(|mark| word.starts_with(**mark)).map(|mark| mark.len() as u32)
}
