//! The one layout of a profile. Only blanks, blank lines, columns and needless `;` change: every word and comment stays, in its order and
//! on its line, so what the text means cannot.

use super::outline::{Piece, PieceKind, outline};
use super::parser::parse;
use crate::finding::Severity;
use crate::source::{FileId, Sources};

const INDENT: &str = "    ";

/// Lines that are aligned with their neighbours of the same kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Columns {
    /// As it comes.
    None,
    /// An entry of `env`, `limits`, `expect` or `network only`.
    Entry,
    Root,
    /// `tools` and `optional-tools`: the word, and what follows.
    Tools,
    /// `network`, `ipc` and `needs`: the same.
    Modes,
}

#[derive(Debug)]
struct Line {
    depth: usize,
    cells: Vec<String>,
    comment: Option<String>,
    columns: Columns,
}

impl Line {
    fn is_blank(&self) -> bool {
        self.cells.is_empty() && self.comment.is_none()
    }
}

/// The text in the one layout. A text that does not parse is given back as it is. Formatting twice changes nothing more.
pub fn format(sources: &Sources, id: FileId) -> String {
    let text = &*sources.file(id).text;
    if !is_sound(sources, id) {
        return text.to_owned();
    }
    let mut lines = lines(text);
    align(&mut lines);
    write(&lines)
}

/// Whether a text parses, so that it can be laid out.
pub fn is_sound(sources: &Sources, id: FileId) -> bool {
    parse(sources, id).findings.iter().all(|finding| finding.severity != Severity::Error)
}

fn lines(text: &str) -> Vec<Line> {
    let pieces = outline(text).pieces;
    let mut lines = Vec::new();
    // The word of each open block; an empty one for a bracket.
    let mut open: Vec<String> = Vec::new();
    for row in pieces.split(|piece| piece.kind == PieceKind::EndOfLine) {
        lines.push(line(text, row, &mut open));
    }
    lines
}

fn line(text: &str, row: &[Piece], open: &mut Vec<String>) -> Line {
    let str = |piece: &Piece| text.get(piece.range()).unwrap_or_default();
    // What stands before a brace that closes is needless.
    let said = row.iter().filter(|piece| piece.kind != PieceKind::Semicolon);
    let closing = said.take_while(|piece| is_closing(piece.kind)).count();
    let depth = open.len().saturating_sub(closing);
    let block = open.last().cloned().unwrap_or_default();
    let mut comment = None;
    let mut words: Vec<&Piece> = Vec::new();
    let mut plain = true;
    let mut first_of_statement = String::new();
    for (at, piece) in row.iter().enumerate() {
        match piece.kind {
            PieceKind::Comment => comment = Some(str(piece).trim_end().to_owned()),
            PieceKind::Semicolon => {
                let before = words.last().map(|piece| piece.kind);
                let after = row.get(at + 1).map(|piece| piece.kind);
                let needless = matches!(before, None | Some(PieceKind::OpenBrace | PieceKind::Semicolon))
                    || matches!(
                        after,
                        None | Some(PieceKind::CloseBrace | PieceKind::Semicolon | PieceKind::Comment)
                    );
                if !needless {
                    plain = false;
                    words.push(piece);
                }
                first_of_statement.clear();
            }
            kind => {
                plain &= !matches!(
                    kind,
                    PieceKind::OpenBrace
                        | PieceKind::CloseBrace
                        | PieceKind::OpenBracket
                        | PieceKind::CloseBracket
                );
                match kind {
                    PieceKind::OpenBrace => open.push(std::mem::take(&mut first_of_statement)),
                    PieceKind::OpenBracket => open.push(String::new()),
                    _ if is_closing(kind) => {
                        open.pop();
                    }
                    _ if first_of_statement.is_empty() => first_of_statement = str(piece).to_owned(),
                    _ => {}
                }
                words.push(piece);
            }
        }
    }
    let columns = match (words.first().map(|piece| str(piece)), block.as_str()) {
        _ if !plain => Columns::None,
        (Some(_), "env" | "limits" | "expect" | "network") => Columns::Entry,
        (Some("root"), _) => Columns::Root,
        (Some("tools" | "optional-tools"), _) => Columns::Tools,
        (Some("network" | "ipc" | "needs"), _) => Columns::Modes,
        _ => Columns::None,
    };
    let joined = |words: &[&Piece]| {
        let mut out = String::new();
        for piece in words {
            if !out.is_empty() && piece.kind != PieceKind::Semicolon {
                out.push(' ');
            }
            out.push_str(str(piece));
        }
        out
    };
    let cells = match (columns, words.split_first()) {
        (_, None) => Vec::new(),
        (Columns::None, _) => vec![joined(&words)],
        // Two words of a line of a block, and what is said of them.
        (Columns::Entry | Columns::Root, _) => {
            let (heads, rest) = words.split_at(words.len().min(2));
            let mut cells: Vec<String> = heads.iter().map(|piece| str(piece).to_owned()).collect();
            if !rest.is_empty() {
                cells.push(joined(rest));
            }
            cells
        }
        (Columns::Tools | Columns::Modes, Some((first, rest))) => vec![str(first).to_owned(), joined(rest)],
    };
    Line { depth, cells, comment, columns }
}

fn is_closing(kind: PieceKind) -> bool {
    matches!(kind, PieceKind::CloseBrace | PieceKind::CloseBracket)
}

/// Widens the cells of neighbouring lines to columns, and the ends of lines to where their comments begin.
fn align(lines: &mut [Line]) {
    for run in lines.chunk_by_mut(|a, b| a.columns == b.columns && a.depth == b.depth) {
        if run.first().is_none_or(|line| line.columns == Columns::None) {
            continue;
        }
        let count = run.iter().map(|line| line.cells.len()).max().unwrap_or_default();
        for column in 0..count {
            // The last cell of a line needs no blanks after it.
            let wide = run.iter().filter(|line| column + 1 < line.cells.len());
            let width = wide.filter_map(|line| line.cells.get(column)).map(|cell| cell.chars().count()).max();
            for line in run.iter_mut().filter(|line| column + 1 < line.cells.len()) {
                if let (Some(cell), Some(width)) = (line.cells.get_mut(column), width) {
                    let missing = width.saturating_sub(cell.chars().count());
                    cell.extend(std::iter::repeat_n(' ', missing));
                }
            }
        }
    }
    let ends = |line: &Line| line.comment.is_some() && !line.cells.is_empty();
    for run in lines.chunk_by_mut(|a, b| ends(a) && ends(b) && a.depth == b.depth) {
        let width = |line: &Line| line.cells.join(" ").chars().count();
        let widest = run.iter().filter(|line| ends(line)).map(width).max().unwrap_or_default();
        for line in run.iter_mut().filter(|line| ends(line)) {
            let missing = widest - width(line);
            if let Some(last) = line.cells.last_mut() {
                last.extend(std::iter::repeat_n(' ', missing));
            }
        }
    }
}

fn write(lines: &[Line]) -> String {
    let mut out = String::new();
    let mut blank = false;
    let mut opens = true;
    for line in lines {
        if line.is_blank() {
            blank = true;
            continue;
        }
        let closes = line.cells.first().is_some_and(|cell| cell.starts_with(['}', ']']));
        if std::mem::take(&mut blank) && !opens && !closes {
            out.push('\n');
        }
        out.push_str(&INDENT.repeat(line.depth));
        out.push_str(&line.cells.join(" "));
        if let Some(comment) = &line.comment {
            if !line.cells.is_empty() {
                out.push_str("  ");
            }
            out.push_str(comment);
        }
        out.push('\n');
        // A comment may end in such a sign, too.
        opens = line.comment.is_none() && line.cells.last().is_some_and(|cell| cell.ends_with(['{', '[']));
    }
    out
}
