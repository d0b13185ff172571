//! The lines of `env`, `limits`, `expect` and `network only`.

use super::amount::amount;
use super::ast::*;
use super::blocks::Outer;
use super::diagnose::port_in;
use super::grammar::Rule;
use super::outline::{Item, Piece, PieceKind};
use super::parser::Parser;
use super::words::{STATEMENTS, Vocabulary};
use crate::finding::{Edit, Finding, Severity};
use pest::iterators::Pair;

impl<'a> Parser<'a> {
    pub fn env_entries(&mut self, outer: &mut Outer<'_>) -> Vec<EnvItem> {
        let mut entries = Vec::new();
        for item in &outer.block.items {
            let Some(word) = self.entry(item, outer, Vocabulary::Env) else { continue };
            if let Some(taken) = self.take(Rule::only_variable, item, word) {
                entries.extend(self.build(taken, |builder, pair| builder.variable_rule(pair)));
            }
        }
        entries
    }

    pub fn network_entries(&mut self, outer: &mut Outer<'_>) -> Vec<NetworkItem> {
        let mut entries = Vec::new();
        for item in &outer.block.items {
            let Some(word) = self.entry(item, outer, Vocabulary::Host) else { continue };
            let word = if word == "deny" { "deny-host" } else { word };
            if let Some(taken) = self.take(Rule::only_host_rule, item, word) {
                entries.extend(self.build(taken, |builder, pair| builder.host_rule(pair)));
            }
        }
        entries
    }

    pub fn limit_entries(&mut self, outer: &mut Outer<'_>) -> Vec<Limit> {
        let mut entries = Vec::new();
        for item in &outer.block.items {
            let Some(word) = self.entry(item, outer, Vocabulary::Limit) else { continue };
            if let Some((pair, base)) = self.take(Rule::only_limit, item, word) {
                entries.extend(self.limit(word, pair, base));
            }
        }
        entries
    }

    fn limit(&mut self, word: &str, pair: Pair<'a, Rule>, base: usize) -> Option<Limit> {
        let span = self.builder(base).span(&pair);
        let written = pair.into_inner().find(|pair| pair.as_rule() == Rule::amount)?;
        let kind = LimitKind::ALL.into_iter().find(|kind| kind.name() == word)?;
        match amount(kind, written.as_str()) {
            Ok(amount) => Some(Limit { kind, amount, span }),
            Err(error) => {
                let span = self.builder(base).span(&written);
                self.report(|_| {
                    let finding =
                        Finding::new("limit-amount", Severity::Error, error.message).at(span, "here");
                    match error.replacement {
                        Some(right) => finding.help(format!("did you mean `{right}`? {}", error.help)).fix(
                            format!("write `{right}`"),
                            vec![Edit { span, replacement: right }],
                            false,
                        ),
                        None => finding.help(error.help),
                    }
                });
                None
            }
        }
    }

    pub fn expect_entries(&mut self, outer: &mut Outer<'_>) -> Vec<Expectation> {
        let mut entries = Vec::new();
        for item in &outer.block.items {
            let Some(first) = self.first(item, outer) else { continue };
            // Which operations there are is for the resolver to say: `exec` and the like are no words of the grammar.
            if self.is_misplaced(item, first, outer) || !self.sound(item) {
                continue;
            }
            self.no_inner_block(item, outer.word);
            if let Some(taken) = self.take(Rule::only_expectation, item, "expectation") {
                entries.extend(self.build(taken, |builder, pair| builder.expectation(pair)));
            }
        }
        entries
    }

    fn first(&mut self, item: &Item, outer: &Outer<'_>) -> Option<Piece> {
        let first = self.words(item).first().copied();
        if first.is_none() {
            self.sound(item);
            self.no_inner_block(item, outer.word);
        }
        first
    }

    /// The word an entry begins with, where it is one of these and its texts are sound.
    fn entry(&mut self, item: &Item, outer: &mut Outer<'_>, vocabulary: Vocabulary) -> Option<&'a str> {
        let first = self.first(item, outer)?;
        let word = self.str(first);
        if !vocabulary.words().contains(&word) {
            if !self.is_misplaced(item, first, outer)
                && self.sound(item)
                && !(vocabulary == Vocabulary::Host && self.is_glued(item, first))
            {
                self.unknown(first, word, &vocabulary, Some(outer.word));
            }
            return None;
        }
        self.no_inner_block(item, outer.word);
        self.sound(item).then_some(word)
    }

    /// Whether an entry is `localhost:PORT` or `unix:PATH`, as other programs write them. Told of.
    fn is_glued(&mut self, item: &Item, first: Piece) -> bool {
        let word = self.str(first);
        let plain = |path: &&str| {
            path.starts_with(['/', '~', '.'])
                && path.bytes().all(|byte| byte.is_ascii_graphic() && !b"\"\\$`".contains(&byte))
        };
        let (message, right) = if let Some(port) = word.strip_prefix("localhost:").and_then(port_in) {
            ("`:` before a port", format!("localhost {port}"))
        } else if let Some(path) = word.strip_prefix("unix:") {
            let path = path.strip_prefix("//").unwrap_or(path);
            let Some(path) = Some(path).filter(plain) else { return false };
            ("`unix:` before the path of a socket", format!("unix \"{path}\""))
        } else {
            return false;
        };
        let alone = self.words(item).len() == 1;
        self.report(|parser| {
            let span = parser.span(first);
            let finding = Finding::new("syntax", Severity::Error, message).at(span, "here");
            let finding = finding.help(format!("write `{right}`"));
            if !alone {
                return finding;
            }
            let edit = Edit { span, replacement: right.clone() };
            finding.fix(format!("write `{right}`"), vec![edit], true)
        });
        true
    }

    /// Whether an entry is a statement of the block around this one: most likely a `}` was forgotten above it. Told of once, and the
    /// statement is read as one of the outer block.
    fn is_misplaced(&mut self, item: &Item, first: Piece, outer: &mut Outer<'_>) -> bool {
        let word = self.str(first);
        if first.kind != PieceKind::Bare || !STATEMENTS.contains(&word) {
            return false;
        }
        if !outer.told {
            outer.told = true;
            self.misplaced = true;
            let (open, name) = (outer.block.open, outer.word);
            self.report(|parser| {
                Finding::new("syntax", Severity::Error, format!("`{word}` cannot stand in `{name}`"))
                    .at(parser.span(first), "a statement of the profile")
                    .at(parser.span(open), "this block is still open")
                    .help(format!("close `{name}` with a `}}` before it"))
            });
        }
        let mut escaped = Vec::new();
        self.statement(item, item.block.as_ref(), outer.place, &mut escaped);
        outer.statements.append(&mut escaped);
        true
    }

    fn no_inner_block(&mut self, item: &Item, word: &str) {
        if let Some(block) = &item.block {
            self.report(|parser| {
                Finding::new("syntax", Severity::Error, format!("a block cannot stand in `{word}`"))
                    .at(parser.span(block.open), "opened here")
                    .help("one entry ends with its line or a `;`")
            });
        }
    }
}
