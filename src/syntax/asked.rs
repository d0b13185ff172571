//! Why a line about what may be asked of a host, or about a masked variable, does not parse.

use super::diagnose::{Refused, shown};
use super::grammar::Rule;
use super::outline::{Piece, PieceKind};
use crate::finding::{Edit, Finding};
use crate::source::Span;

/// Words that people put where `for` stands.
const NOT_FOR: [&str; 6] = ["at", "from", "in", "on", "only", "to"];

impl Refused<'_> {
    /// What is said of such a line where it stops too early.
    pub(super) fn unfinished_request(&self, finding: Finding) -> Finding {
        let last = self.pieces.last().map_or("", |piece| self.str(*piece));
        match last {
            "methods" => {
                finding.help("write `methods GET HEAD`; where `methods` is left out, every one is allowed")
            }
            "paths" => {
                finding.help("write `paths \"/repos/**\"`; where `paths` is left out, every one is allowed")
            }
            _ if self.statement == "mask" && self.expects(&[Rule::kw_for]) => {
                let name = if last == "for" { "NAME" } else { last };
                finding.help(format!(
                    "say which hosts get the value: `mask {} for \"api.example.com\"`",
                    shown(name)
                ))
            }
            "for" => finding.help("name the hosts that get the value: `for \"api.example.com\"`"),
            _ => finding,
        }
    }

    /// What is said of such a line where something else stands; nothing where what is said of every statement will do.
    pub(super) fn unexpected_request(
        &self,
        found: Piece,
        before: Option<Piece>,
        plain: impl Fn() -> Finding,
    ) -> Option<Finding> {
        let edit = |span: Span, replacement: String| vec![Edit { span, replacement }];
        let (text, span) = (self.str(found), self.span(found));
        let after = before.map_or("", |before| self.str(before));
        match (self.statement, text) {
            ("deny-host", "methods" | "method" | "paths" | "path") => {
                return Some(
                    self.error(format!("`{text}` after a denial"))
                        .at(span, "a denial is of all that could be asked")
                        .help("say what may be asked: `allow \"HOST\" methods GET HEAD`; the rest is denied then"),
                );
            }
            ("inspect", "methods" | "method" | "paths" | "path") => {
                let finding = self.error(format!("`{text}` after `inspect`"));
                let finding = finding.at(span, "what is inspected may be asked anything");
                let word = self.pieces.first().map(|piece| self.span(*piece))?;
                return Some(
                    finding
                        .help("write `allow`: connections to a host of which not everything may be asked are read, too")
                        .fix("write `allow`", edit(word, "allow".into()), true),
                );
            }
            ("allow", "methods")
                if self.pieces.iter().any(|piece| piece.end < found.start && self.str(*piece) == "paths") =>
            {
                return Some(self.swapped(found));
            }
            _ => {}
        }
        if found.kind == PieceKind::CloseBracket {
            let (what, help) = match self
                .pieces
                .get(self.pieces.iter().position(|piece| *piece == found)?.checked_sub(2)?)
            {
                Some(word) if self.str(*word) == "methods" => {
                    ("methods", "nothing could be asked then: take the line out, or `methods` for every one")
                }
                Some(word) if self.str(*word) == "paths" => {
                    ("paths", "nothing could be asked then: take the line out, or `paths` for every one")
                }
                Some(word) if self.str(*word) == "for" => {
                    ("hosts", "nobody would get the value: name a host")
                }
                _ => return None,
            };
            return Some(self.error(format!("an empty list of {what}")).at(span, "expected one").help(help));
        }
        if self.expects(&[Rule::method, Rule::methods])
            && let Some(finding) = self.wrong_method(found, &plain)
        {
            return Some(finding);
        }
        if self.expects(&[Rule::kw_methods, Rule::kw_paths]) {
            if found.kind == PieceKind::Bare && is_method(text) {
                let at = Span { end: span.start, ..span };
                return Some(
                    self.error(format!("`methods` is missing before `{}`", shown(text)))
                        .at(span, "a method of requests")
                        .help(format!("write `methods {}`", shown(text)))
                        .fix("put `methods` before it", edit(at, "methods ".into()), true),
                );
            }
            if matches!(found.kind, PieceKind::Cooked | PieceKind::Raw) {
                return Some(if text.trim_start_matches(['r', '#', '"']).starts_with('/') {
                    let at = Span { end: span.start, ..span };
                    self.error(format!("`paths` is missing before `{}`", shown(text)))
                        .at(span, "a path of requests")
                        .help(format!("write `paths {}`", shown(text)))
                        .fix("put `paths` before it", edit(at, "paths ".into()), true)
                } else {
                    self.error(format!("unexpected `{}` after the host", shown(text)))
                        .at(span, "a second one")
                        .help("write one host a line")
                });
            }
        }
        if self.statement == "mask" && self.expects(&[Rule::kw_for]) {
            return Some(self.no_for(found, after, &plain));
        }
        let names = self.expects(&[Rule::name, Rule::variable_name]);
        if matches!(self.statement, "set" | "pass" | "mask") && names {
            let bare = text.trim_start_matches('$');
            if text.starts_with('$') && !bare.is_empty() {
                let finding = plain().help("a variable is named here, not read: its name stands without `$`");
                return Some(finding.fix(format!("write `{}`", shown(bare)), edit(span, bare.into()), true));
            }
            if self.statement == "mask" && text.contains('=') {
                let help = "its value is the caller's, and stands in no profile: `mask NAME for \"HOST\"`";
                return Some(plain().help(help));
            }
        }
        None
    }

    fn no_for(&self, found: Piece, after: &str, plain: impl Fn() -> Finding) -> Finding {
        let (text, span) = (self.str(found), self.span(found));
        if after == "for" {
            // It was taken for the name.
            let finding = self.error(format!("expected a variable's name, found `{after}`"));
            let at = self.pieces.get(1).map_or(span, |piece| self.span(*piece));
            return finding.at(at, "a name is missing before this").help("write `mask NAME for \"HOST\"`");
        }
        if matches!(found.kind, PieceKind::Cooked | PieceKind::Raw | PieceKind::OpenBracket) {
            let edit = Edit { span: Span { end: span.start, ..span }, replacement: "for ".into() };
            return plain().help("the hosts that get the value stand after `for`").fix(
                "put `for` before it",
                vec![edit],
                true,
            );
        }
        if NOT_FOR.contains(&text) || super::words::nearest(text, ["for"]).is_some() {
            let edit = Edit { span, replacement: "for".into() };
            return plain().help("did you mean `for`?").fix("write `for`", vec![edit], false);
        }
        plain().help("one variable a line: `mask NAME for \"HOST\"`")
    }

    /// A method that is not written as one.
    fn wrong_method(&self, found: Piece, plain: impl Fn() -> Finding) -> Option<Finding> {
        let (text, span) = (self.str(found), self.span(found));
        let fix = |finding: Finding, message: &str, right: String| {
            finding.fix(message, vec![Edit { span, replacement: right }], true)
        };
        if matches!(found.kind, PieceKind::Cooked | PieceKind::Raw) {
            let inner = text.trim_start_matches('r').trim_matches('#').trim_matches('"');
            if !is_method(&inner.to_ascii_uppercase()) || inner.starts_with('/') {
                return None;
            }
            return Some(fix(
                plain().help("a method is written without quotes"),
                "remove the quotes",
                inner.to_ascii_uppercase(),
            ));
        }
        if found.kind != PieceKind::Bare {
            return None;
        }
        if text == "*" {
            return Some(plain().help(
                "every method is allowed where `methods` is left out; `inspect \"HOST\"` reads connections all the same",
            ));
        }
        if matches!(super::words::Vocabulary::Request.meant(text), Some("paths")) && text != "paths" {
            return None;
        }
        if text.contains([',', '|', '/']) && !text.starts_with('/') {
            let right: Vec<&str> = text.split([',', '|', '/']).filter(|method| !method.is_empty()).collect();
            if !right.is_empty() && right.iter().all(|method| is_method(&method.to_ascii_uppercase())) {
                let finding = plain().help("methods are parted by blanks");
                return Some(fix(finding, "part them by blanks", right.join(" ").to_ascii_uppercase()));
            }
        }
        let upper = text.to_ascii_uppercase();
        if upper != text && is_method(&upper) {
            let finding = plain().help("methods are told apart by their case, and written in upper case");
            return Some(fix(finding, "write it in upper case", upper));
        }
        None
    }

    /// `paths` before `methods`.
    fn swapped(&self, methods: Piece) -> Finding {
        let span = self.span(methods);
        let finding = self
            .error("`methods` after `paths`".into())
            .at(span, "this comes first")
            .help("write `allow \"HOST\" methods GET paths \"/a/**\"`");
        let paths = self.pieces.iter().find(|piece| self.str(**piece) == "paths").copied();
        let (Some(paths), Some(last)) = (paths, self.pieces.last().copied()) else { return finding };
        let text = |from: u32, to: u32| self.text.get(from as usize..to as usize).unwrap_or_default().trim();
        let (first, second) = (text(paths.start, methods.start), text(methods.start, last.end));
        // A comment between them would end up elsewhere.
        if first.contains(['\n', '#']) || second.contains(['\n', '#']) {
            return finding;
        }
        let edit =
            Edit { span: self.span(paths).to(self.span(last)), replacement: format!("{second} {first}") };
        finding.fix("swap the two", vec![edit], true)
    }
}

/// Whether a word reads as a method, as the grammar has it.
fn is_method(text: &str) -> bool {
    text.len() > 1
        && text.starts_with(|first: char| first.is_ascii_uppercase())
        && text
            .bytes()
            .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || b"-_".contains(&byte))
}

/// Where a word of these lines stands, for whoever writes it as a statement.
pub(super) fn home_of(word: &str, block: Option<&str>) -> Option<&'static str> {
    match word {
        "mask" => Some("`mask NAME for \"HOST\"` stands in `env { … }`"),
        "inspect" => Some("`inspect \"HOST\"` stands in `network only { … }`"),
        "methods" | "paths" if block == Some("network") => {
            Some("it stands on the line of its `allow`; a list in brackets may go over several lines")
        }
        _ => None,
    }
}
