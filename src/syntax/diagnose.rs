//! Why a statement does not parse, in words for the person who wrote it.

use super::grammar::{self, Rule};
use super::outline::{Piece, PieceKind};
use super::words::{STATEMENTS, Vocabulary, either};
use crate::finding::{Edit, Finding, Severity};
use crate::source::{FileId, Span};

/// A statement that the grammar refused.
pub struct Refused<'a> {
    pub file: FileId,
    pub text: &'a str,
    /// Without comments and line ends.
    pub pieces: &'a [Piece],
    /// The word the statement begins with, or what kind of entry it is.
    pub statement: &'a str,
    /// Where the grammar got to, as an offset into the file, and what it would have taken there.
    pub at: usize,
    pub expected: &'a [Rule],
}

/// At most this much of the user's text is repeated in a message.
const SHOWN: usize = 60;

/// Text for a message: one line, not too long.
pub fn shown(text: &str) -> String {
    let mut short: String =
        text.chars().take(SHOWN).map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect();
    if short.len() < text.len() && text.chars().nth(SHOWN).is_some() {
        short.push('…');
    }
    short
}

impl Refused<'_> {
    pub(super) fn span(&self, piece: Piece) -> Span {
        Span::new(self.file, piece.range())
    }

    pub(super) fn str(&self, piece: Piece) -> &str {
        self.text.get(piece.range()).unwrap_or_default()
    }

    pub(super) fn error(&self, message: String) -> Finding {
        Finding::new("syntax", Severity::Error, message)
    }

    pub(super) fn expects(&self, rules: &[Rule]) -> bool {
        self.expected.iter().any(|rule| rules.contains(rule))
    }

    fn expects_quoted(&self) -> bool {
        self.expects(&[Rule::quoted, Rule::raw, Rule::cooked, Rule::quoted_list])
    }

    fn expects_member(&self) -> bool {
        self.expects(&[Rule::members, Rule::member, Rule::group_name])
    }

    pub fn finding(&self) -> Finding {
        let index = self.pieces.iter().position(|piece| self.at < piece.end as usize);
        let before = match index {
            Some(index) => index.checked_sub(1).and_then(|index| self.pieces.get(index)),
            None => self.pieces.last(),
        };
        match index.and_then(|index| self.pieces.get(index)) {
            Some(found) => {
                let next = index.and_then(|index| self.pieces.get(index + 1)).copied();
                self.unexpected(*found, before.copied(), next)
            }
            None => self.unfinished(before.copied()),
        }
    }

    /// What would have been right, in words.
    fn wanted(&self, before: Option<Piece>) -> String {
        let context = match before.map(|piece| self.str(piece)) {
            Some(word @ ("because" | "glob" | "except" | "paths" | "for")) => word,
            _ => self.statement,
        };
        let mut wanted: Vec<String> = Vec::new();
        for rule in self.expected {
            // That a bracket could begin here helps nobody who forgot a name.
            if matches!(rule, Rule::open_bracket) {
                continue;
            }
            let words = grammar::describe(*rule, context);
            if !words.is_empty() && !wanted.contains(&words) {
                wanted.push(words);
            }
        }
        if wanted.len() > 1 {
            wanted.retain(|words| words != "the end of the statement");
        }
        if wanted.is_empty() { "something else".into() } else { either(&wanted) }
    }

    /// The statement stops too early.
    fn unfinished(&self, last: Option<Piece>) -> Finding {
        let wanted = self.wanted(last);
        let Some(last) = last else {
            return self.error(format!("expected {wanted}"));
        };
        let finding = self
            .error(format!("expected {wanted} after `{}`", shown(self.str(last))))
            .at(self.span(last), format!("{wanted} is missing after this"));
        match self.statement {
            "root" if self.expects(&[Rule::access]) => {
                let path = shown(self.str(last));
                finding.help(format!(
                    "say what may be done there: `root {path} read-only` or `root {path} read-write`"
                ))
            }
            "tools" | "optional-tools" | "group" if self.expects_member() => {
                finding.help(format!("an empty list is written `{} [ ]`", self.statement))
            }
            "network" => finding.help(
                "`network off` reaches no host, `network all` every one, `network only { allow \"HOST\" }` those named",
            ),
            "needs" => finding.help("an empty list is written `needs [ ]`"),
            "unguard" | "seatbelt" if self.expects(&[Rule::kw_because]) => {
                finding.help("a reason is required: `because \"…\"`")
            }
            "expectation" if self.expects(&[Rule::verdict]) => {
                finding.help("say what must be the answer: `allowed` or `denied`")
            }
            "allow" | "mask" => self.unfinished_request(finding),
            _ => finding,
        }
    }

    /// Something else stands where the statement should go on or end.
    fn unexpected(&self, found: Piece, before: Option<Piece>, next: Option<Piece>) -> Finding {
        let span = self.span(found);
        let text = self.str(found);
        let quote = shown(text);
        let wanted = self.wanted(before);
        let plain = || {
            self.error(format!("expected {wanted}, found `{quote}`")).at(span, format!("expected {wanted}"))
        };
        if matches!(self.statement, "allow" | "inspect" | "deny-host" | "set" | "pass" | "mask")
            && let Some(finding) = self.unexpected_request(found, before, plain)
        {
            return finding;
        }
        if self.expected.iter().all(|rule| *rule == Rule::EOI) {
            return self.left_over(found);
        }
        if matches!(text, "=" | ":" | "=>" | "->") {
            let edit = Edit { span, replacement: String::new() };
            return plain().help("parts of a statement are parted by blanks only").fix(
                "remove it",
                vec![edit],
                true,
            );
        }
        if let Some(inner) = in_single_quotes(text).filter(|_| self.expects_quoted()) {
            let edit = Edit { span, replacement: quoted(inner) };
            return plain().help(format!("texts stand in double quotes: `{}`", shown(&quoted(inner)))).fix(
                "write double quotes",
                vec![edit],
                true,
            );
        }
        if self.statement == "localhost"
            && let Some(port) = port_in(text)
        {
            let edit = Edit { span, replacement: port.to_owned() };
            return plain().help(format!("write `localhost {port}`")).fix(
                format!("write `{port}`"),
                vec![edit],
                true,
            );
        }
        if found.kind != PieceKind::Bare {
            return self.unexpected_punctuation(found, plain());
        }
        if self.statement == "root" && self.expects_quoted() && Vocabulary::Access.meant(text).is_some() {
            return self.access_first(found, next);
        }
        if let Some((vocabulary, words)) = self.vocabulary()
            && let Some(meant) = vocabulary.meant(text)
            && (words || !self.expects_quoted())
        {
            return self
                .error(format!("unknown word `{quote}`"))
                .at(span, format!("expected {wanted}"))
                .help(format!("did you mean `{meant}`?"))
                .fix(format!("write `{meant}`"), vec![Edit { span, replacement: meant.into() }], false);
        }
        if self.statement == "deny"
            && self.expects(&[Rule::deny_glob, Rule::kw_glob])
            && let Some(meant) = super::words::nearest(text, ["glob", "gitignored"])
        {
            let edit = Edit { span, replacement: meant.into() };
            return plain().help(format!("did you mean `{meant}`?")).fix(
                format!("write `{meant}`"),
                vec![edit],
                false,
            );
        }
        if self.expects_member() || self.expects(&[Rule::names]) {
            return self.wrong_name(found, plain());
        }
        let is_quoted = |piece: Piece| matches!(piece.kind, PieceKind::Cooked | PieceKind::Raw);
        if self.expects_quoted() && next.is_some_and(is_quoted) {
            // In quotes it would be one text too many.
            return plain().help(match (self.statement, text) {
                ("unix", "glob") => "a pattern cannot be a socket: name each one, `unix \"PATH\"`".to_owned(),
                (_, "glob") => "only `deny` takes a pattern: name each path".to_owned(),
                _ => format!("the quoted text stands here: take `{quote}` out"),
            });
        }
        if self.expects_quoted() {
            let adjacent = next.is_some_and(|next| next.start == found.end);
            let finding = plain().help(format!("texts are quoted: `{}`", shown(&quoted(text))));
            return if adjacent {
                finding
            } else {
                finding.fix("put it in quotes", vec![Edit { span, replacement: quoted(text) }], true)
            };
        }
        if self.expects(&[Rule::name, Rule::variable_name])
            && matches!(self.statement, "set" | "pass")
            && let Some((name, value)) = text.split_once('=')
        {
            let right =
                if self.statement == "set" { format!("{name} {}", quoted(value)) } else { name.to_owned() };
            return plain().help(format!("write `{} {}`", self.statement, shown(&right))).fix(
                format!("write `{}`", shown(&right)),
                vec![Edit { span, replacement: right }],
                false,
            );
        }
        if self.expects(&[Rule::name]) && self.statement == "param" {
            return plain().help("a name is made of letters, digits and `_`");
        }
        plain()
    }

    /// The words that could stand here, and whether they are likelier than a quoted text.
    fn vocabulary(&self) -> Option<(Vocabulary, bool)> {
        Some(match self.statement {
            _ if self.expects(&[Rule::access]) => (Vocabulary::Access, true),
            "network" => (Vocabulary::Network, true),
            "ipc" => (Vocabulary::Ipc, true),
            "on" => (Vocabulary::System, true),
            _ if self.expects(&[Rule::verdict]) => (Vocabulary::Verdict, true),
            "allow" if self.expects(&[Rule::kw_methods, Rule::kw_paths]) => (Vocabulary::Request, true),
            _ => return None,
        })
    }

    fn access_first(&self, access: Piece, next: Option<Piece>) -> Finding {
        let finding = self.error("the path comes before what may be done with it".into());
        let finding = finding.at(self.span(access), "expected a quoted path");
        let word = Vocabulary::Access.meant(self.str(access)).unwrap_or("read-only");
        match next.filter(|next| matches!(next.kind, PieceKind::Cooked | PieceKind::Raw)) {
            Some(path) => {
                let right = format!("{} {word}", self.str(path));
                let edit = Edit { span: self.span(access).to(self.span(path)), replacement: right.clone() };
                finding.help(format!("write `root {}`", shown(&right))).fix("swap the two", vec![edit], true)
            }
            None => finding.help(format!("write `root \"PATH\" {word}`")),
        }
    }

    fn left_over(&self, found: Piece) -> Finding {
        let span = self.span(found);
        let text = self.str(found);
        if found.kind == PieceKind::Bare && STATEMENTS.contains(&text) {
            let at = Span { end: span.start, ..span };
            return self
                .error("two statements on one line".into())
                .at(span, "the second begins here")
                .help("put them on lines of their own, or a `;` between them")
                .fix("put a `;` between them", vec![Edit { span: at, replacement: "; ".into() }], true);
        }
        let finding = self
            .error(format!("unexpected `{}` after the end of the statement", shown(text)))
            .at(span, "nothing may follow here");
        match (found.kind, self.statement) {
            (PieceKind::Cooked | PieceKind::Raw, "inspect" | "deny-host") => {
                finding.help("write one host a line")
            }
            (PieceKind::Cooked | PieceKind::Raw, "unix") => finding.help("write one socket a line"),
            (PieceKind::Bare, "localhost") => finding.help("write one port a line"),
            (PieceKind::Cooked | PieceKind::Raw, word) => {
                finding.help(format!("`{word}` takes one text; write the statement again for another"))
            }
            (PieceKind::Bare, "deny" | "executable" | "tool" | "git-worktree")
                if Vocabulary::Access.meant(text).is_some() =>
            {
                finding.help("only `root` says what may be done")
            }
            _ => finding.help("a statement ends with its line or a `;`"),
        }
    }

    fn unexpected_punctuation(&self, found: Piece, plain: Finding) -> Finding {
        match found.kind {
            PieceKind::Cooked | PieceKind::Raw if self.expects(&[Rule::name, Rule::names]) => {
                let text = self.str(found);
                let inner = text.trim_start_matches('r').trim_matches('#').trim_matches('"');
                let is_name = !inner.is_empty()
                    && inner.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_');
                let finding = plain.help("a name is written without quotes");
                if !is_name {
                    return finding;
                }
                let edit = Edit { span: self.span(found), replacement: inner.into() };
                finding.fix("remove the quotes", vec![edit], true)
            }
            PieceKind::OpenBracket => plain.help("only lists of names are written in brackets"),
            PieceKind::CloseBracket => plain.help("this `]` closes nothing"),
            _ => plain,
        }
    }

    fn wrong_name(&self, found: Piece, plain: Finding) -> Finding {
        let text = self.str(found);
        let span = self.span(found);
        if text.contains(',') {
            let edit =
                Edit { span, replacement: text.split(',').collect::<Vec<_>>().join(" ").trim().to_owned() };
            return plain.help("the names of a list are parted by blanks").fix(
                "remove the commas",
                vec![edit],
                true,
            );
        }
        let name = text.rsplit('/').next().filter(|_| text.starts_with('/') && self.expects_member());
        if let Some(name) = name
            .filter(|name| !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-'))
        {
            return plain
                .help(format!(
                    "a tool is named, not placed: `{name}`; a program outside the known places is stated by `tool {}`",
                    shown(&quoted(text))
                ))
                .fix(format!("write `{name}`"), vec![Edit { span, replacement: name.to_owned() }], false);
        }
        if text.contains('/') && self.expects_member() {
            return plain.help(format!(
                "a tool is named, not placed; for a program outside the known places write `tool {}`",
                shown(&quoted(text))
            ));
        }
        if self.expects_member() && !text.starts_with('@') {
            let edit = Edit { span, replacement: quoted(text) };
            return plain
                .help(format!("a word that does not read as a name is quoted: `{}`", shown(&quoted(text))))
                .fix("put it in quotes", vec![edit], true);
        }
        plain
    }
}

/// The digits of a port that is written as a text or behind a colon.
pub(super) fn port_in(text: &str) -> Option<&str> {
    let inner = text.trim_start_matches('r').trim_matches('#');
    let inner = inner.trim_matches(|c| matches!(c, '"' | '\'')).trim_start_matches(':');
    let is_port = inner.parse::<u16>().is_ok_and(|port| port > 0);
    Some(inner).filter(|digits| is_port && digits.starts_with(|first: char| matches!(first, '1'..='9')))
}

/// What stands in single quotes, where a text is in them.
fn in_single_quotes(text: &str) -> Option<&str> {
    text.strip_prefix('\'')?.strip_suffix('\'').filter(|inner| !inner.contains('\''))
}

/// A bare piece of text as a cooked string; what reads as a variable stays one.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '\\' => out.push_str("\\\\"),
            '$' if !rest.peek().is_some_and(|next| next.is_ascii_alphabetic() || *next == '_') => {
                out.push_str("\\$")
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
