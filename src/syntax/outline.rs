//! A text cut into lines and pieces, and the pieces grouped into statements and blocks. Accepts every text: what is wrong with the
//! braces is noted, what is wrong with a statement is for later.

use super::grammar::{Grammar, Rule};
use super::words::STATEMENTS;
use pest::Parser;
use std::ops::Range;

/// Blocks nest three deep in the language (`profile`, `on`, `env`); what lies deeper than this is passed over.
const MAX_DEPTH: usize = 8;

/// The longest line that is read, in bytes. Nobody can review a longer one.
pub const MAX_LINE: usize = 64 << 10;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PieceKind {
    Comment,
    Semicolon,
    OpenBrace,
    CloseBrace,
    OpenBracket,
    CloseBracket,
    /// `"…"`.
    Cooked,
    /// `r#"…"#`.
    Raw,
    /// A string that its line does not close.
    OpenCooked,
    OpenRaw,
    /// Anything else without a blank in it.
    Bare,
    EndOfLine,
}

/// A piece of a line, as a byte range of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Piece {
    pub kind: PieceKind,
    pub start: u32,
    pub end: u32,
}

impl Piece {
    pub fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// A statement, whatever it may say: the pieces before its block, and its block.
#[derive(Debug, Default)]
pub struct Item {
    /// Into [`Outline::pieces`]; comments and line ends inside brackets are among them.
    pub pieces: Range<usize>,
    pub block: Option<Block>,
    /// Whether it begins right after a `}` on the same line.
    pub glued: bool,
    /// The `[` that nothing closes.
    pub open_bracket: Option<Piece>,
}

#[derive(Debug)]
pub struct Block {
    pub open: Piece,
    pub close: Option<Piece>,
    pub items: Vec<Item>,
}

#[derive(Debug, Default)]
pub struct Outline {
    pub pieces: Vec<Piece>,
    pub items: Vec<Item>,
    /// A `}` that closes nothing.
    pub stray: Vec<Piece>,
    /// The first brace that is too deep.
    pub too_deep: Option<Piece>,
    /// Lines that are too long to be read, as byte ranges.
    pub long_lines: Vec<Range<usize>>,
}

/// How much text is cut up in one go, in bytes: enough to make the cost of starting the parser small.
const STRETCH: usize = 16 << 10;

/// Cuts a text up. Takes time in proportion to its length.
pub fn outline(text: &str) -> Outline {
    let mut outline = Outline::default();
    let mut start = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let mut end = start;
    for line in text.get(start..).unwrap_or_default().split_inclusive('\n') {
        let body = line.trim_end_matches(['\n', '\r']).len();
        if body > MAX_LINE {
            cut(text, start..end, &mut outline);
            outline.long_lines.push(end..end + body);
            start = end + body;
        }
        end += line.len();
        if end - start >= STRETCH {
            cut(text, start..end, &mut outline);
            start = end;
        }
    }
    cut(text, start..end, &mut outline);
    let Grouping { top, stray, too_deep, .. } = Grouping::new(text, &outline.pieces).run();
    Outline { items: top, stray, too_deep, ..outline }
}

/// Cuts up a stretch of whole lines.
fn cut(text: &str, range: Range<usize>, outline: &mut Outline) {
    let stretch = text.get(range.clone()).unwrap_or_default();
    // The rule accepts every text; were it not to, the stretch would be one piece that no statement accepts.
    match Grammar::parse(Rule::pieces, stretch) {
        Ok(pairs) => {
            for pair in pairs.flat_map(pest::iterators::Pair::into_inner) {
                let Some(kind) = piece_kind(pair.as_rule()) else { continue };
                let span = pair.as_span();
                outline.pieces.push(piece(kind, range.start + span.start()..range.start + span.end()));
            }
        }
        Err(_) => outline.pieces.push(piece(PieceKind::Bare, range)),
    }
}

fn piece(kind: PieceKind, range: Range<usize>) -> Piece {
    let narrow = |offset: usize| u32::try_from(offset).unwrap_or(u32::MAX);
    Piece { kind, start: narrow(range.start), end: narrow(range.end) }
}

fn piece_kind(rule: Rule) -> Option<PieceKind> {
    Some(match rule {
        Rule::comment => PieceKind::Comment,
        Rule::semicolon => PieceKind::Semicolon,
        Rule::open_brace => PieceKind::OpenBrace,
        Rule::close_brace => PieceKind::CloseBrace,
        Rule::open_bracket => PieceKind::OpenBracket,
        Rule::close_bracket => PieceKind::CloseBracket,
        Rule::string => PieceKind::Cooked,
        Rule::raw_string => PieceKind::Raw,
        Rule::open_string => PieceKind::OpenCooked,
        Rule::open_raw_string => PieceKind::OpenRaw,
        Rule::bare => PieceKind::Bare,
        Rule::line_end => PieceKind::EndOfLine,
        _ => return None,
    })
}

/// The grouping of pieces. `open` is the chain of blocks around the place reached.
struct Grouping<'a> {
    text: &'a str,
    pieces: &'a [Piece],
    open: Vec<Item>,
    top: Vec<Item>,
    stray: Vec<Piece>,
    too_deep: Option<Piece>,
    /// Braces beyond [`MAX_DEPTH`].
    passed_over: usize,
    /// First piece of the statement being read.
    first: Option<usize>,
    /// The `[` it stands in, as an index.
    bracket: Option<usize>,
    /// Whether a `}` came before on this line.
    after_block: bool,
}

impl<'a> Grouping<'a> {
    fn new(text: &'a str, pieces: &'a [Piece]) -> Self {
        Self {
            text,
            pieces,
            open: Vec::new(),
            top: Vec::new(),
            stray: Vec::new(),
            too_deep: None,
            passed_over: 0,
            first: None,
            bracket: None,
            after_block: false,
        }
    }

    fn run(mut self) -> Self {
        let mut at = 0;
        loop {
            let Some(piece) = self.pieces.get(at).copied() else {
                match self.bracket {
                    // Back to the line that the bracket should have ended with.
                    Some(bracket) => {
                        at = self.give_up_bracket(bracket, at);
                        continue;
                    }
                    None => break,
                }
            };
            at = self.step(piece, at);
        }
        self.end_statement(self.pieces.len(), None);
        while !self.open.is_empty() {
            self.close(None);
        }
        self
    }

    /// Takes one piece, and gives the index to go on at.
    fn step(&mut self, piece: Piece, at: usize) -> usize {
        use PieceKind as Kind;
        if let Some(bracket) = self.bracket {
            match piece.kind {
                Kind::CloseBracket => self.bracket = None,
                Kind::OpenBrace | Kind::CloseBrace | Kind::Semicolon | Kind::OpenBracket => {
                    return self.give_up_bracket(bracket, at);
                }
                _ => {}
            }
            return at + 1;
        }
        match piece.kind {
            Kind::Comment => self.end_statement(at, None),
            Kind::Semicolon | Kind::EndOfLine => {
                self.end_statement(at, None);
                self.after_block = false;
            }
            Kind::OpenBrace => self.open_block(piece, at),
            Kind::CloseBrace => {
                self.end_statement(at, None);
                if self.passed_over > 0 {
                    self.passed_over -= 1;
                } else if self.open.is_empty() {
                    self.stray.push(piece);
                } else {
                    self.close(Some(piece));
                }
                self.after_block = true;
            }
            Kind::OpenCooked | Kind::OpenRaw => {
                self.first.get_or_insert(at);
                // A forgotten quote must not cost the block its brace.
                if self.text.get(piece.range()).is_some_and(|text| text.trim_end().ends_with('{')) {
                    self.open_block(piece, at + 1);
                }
            }
            Kind::OpenBracket => {
                self.first.get_or_insert(at);
                self.bracket = Some(at);
            }
            Kind::CloseBracket | Kind::Cooked | Kind::Raw | Kind::Bare => {
                self.first.get_or_insert(at);
            }
        }
        at + 1
    }

    /// Ends the statement at a `[` that nothing closes: before the first line that begins as a statement does, else at its own line.
    fn give_up_bracket(&mut self, bracket: usize, reached: usize) -> usize {
        let after = self.pieces.get(bracket..reached).unwrap_or_default();
        let ends = after.iter().enumerate().filter(|(_, piece)| piece.kind == PieceKind::EndOfLine);
        let mut first_end = None;
        let mut cut = None;
        for (offset, _) in ends {
            first_end.get_or_insert(offset);
            let next = after.get(offset + 1).filter(|piece| piece.kind == PieceKind::Bare);
            let word = next.and_then(|piece| self.text.get(piece.range())).unwrap_or_default();
            if STATEMENTS.contains(&word) {
                cut = Some(offset);
                break;
            }
        }
        let end = cut.or(first_end).map_or(reached, |offset| bracket + offset);
        let open = self.pieces.get(bracket).copied();
        self.bracket = None;
        self.end_statement(end, open);
        end
    }

    fn open_block(&mut self, brace: Piece, at: usize) {
        let pieces = self.first.take().map_or(at..at, |first| first..at);
        if self.passed_over > 0 || self.open.len() >= MAX_DEPTH {
            self.too_deep.get_or_insert(brace);
            self.passed_over += 1;
            return;
        }
        let block = Some(Block { open: brace, close: None, items: Vec::new() });
        self.open.push(Item {
            pieces,
            block,
            glued: std::mem::take(&mut self.after_block),
            open_bracket: None,
        });
    }

    fn end_statement(&mut self, at: usize, open_bracket: Option<Piece>) {
        if let Some(first) = self.first.take()
            && self.passed_over == 0
        {
            let glued = std::mem::take(&mut self.after_block);
            self.add(Item { pieces: first..at, block: None, glued, open_bracket });
        }
    }

    fn close(&mut self, brace: Option<Piece>) {
        if let Some(mut item) = self.open.pop() {
            if let Some(block) = &mut item.block {
                block.close = brace;
            }
            self.add(item);
        }
    }

    fn add(&mut self, item: Item) {
        match self.open.last_mut().and_then(|parent| parent.block.as_mut()) {
            Some(block) => block.items.push(item),
            None => self.top.push(item),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<PieceKind> {
        outline(text).pieces.into_iter().map(|piece| piece.kind).collect()
    }

    #[test]
    fn tells_strings_from_comments() {
        use PieceKind::*;
        assert_eq!(kinds("a \"#x\" # c"), [Bare, Cooked, Comment]);
        assert_eq!(kinds("r##\"a\"#b\"## r\"\\\" x"), [Raw, Raw, Bare]);
        assert_eq!(kinds("\"a\\\" b"), [OpenCooked]);
        assert_eq!(kinds("r#\"a\""), [OpenRaw]);
        assert_eq!(kinds("for\"x\""), [Bare, Cooked]);
    }

    #[test]
    fn every_byte_that_is_not_blank_lies_in_one_piece() {
        let text = "\u{feff}a{b \"c\" [d]} ; \u{1} é # f\r\nr#\"x";
        let outline = outline(text);
        let covered: String = outline.pieces.iter().map(|piece| &text[piece.range()]).collect();
        assert_eq!(covered, "a{b\"c\"[d]};\u{1}é# f\r\nr#\"x");
    }

    #[test]
    fn an_open_bracket_loses_only_its_own_statement() {
        let outline = outline("tools [ a\nb\nroot \"x\" read-only\n}");
        assert_eq!(outline.items.len(), 2);
        assert!(outline.items[0].open_bracket.is_some());
        assert_eq!(outline.stray.len(), 1);
    }

    #[test]
    fn depth_is_bounded() {
        let outline = outline(&"a {\n".repeat(1000));
        assert!(outline.too_deep.is_some());
    }
}
