//! The edits of fixes: taking out a statement, an entry or a word, and adding a statement, in a text that people have laid out and commented.

use super::Context;
use super::places::quoted;
use crate::finding::Edit;
use crate::policy::System;
use crate::source::{FileId, Sources, Span};
use crate::syntax;
use crate::syntax::ast::StatementKind;
use camino::{Utf8Component, Utf8Path};
use std::collections::HashMap;

/// How a comment that allows findings begins.
const MARK: &str = "palisade:";

/// The line that a place is on, cut at the place: where it begins, what stands before and after, where it ends with its line end.
struct Line<'a> {
    start: usize,
    before: &'a str,
    after: &'a str,
    end: usize,
}

impl<'a> Line<'a> {
    fn of(text: &'a str, start: usize, end: usize) -> Self {
        let line_start = text.get(..start).unwrap_or_default().rfind('\n').map_or(0, |at| at + 1);
        let rest = text.get(end..).unwrap_or_default();
        let line_end = rest.find('\n').map_or(text.len(), |at| end + at + 1);
        Self {
            start: line_start,
            before: text.get(line_start..start).unwrap_or_default(),
            after: text.get(end..line_end).unwrap_or_default(),
            end: line_end,
        }
    }

    fn is_first(&self) -> bool {
        self.before.trim().is_empty()
    }
}

fn is_allowance(text: &str) -> bool {
    let comment = text.trim().strip_prefix('#').map(|rest| rest.trim_start_matches('#').trim_start());
    comment.is_some_and(|comment| {
        comment.get(..MARK.len()).is_some_and(|start| start.eq_ignore_ascii_case(MARK))
    })
}

fn cut(file: FileId, start: usize, end: usize) -> Edit {
    Edit { span: Span::new(file, start..end), replacement: String::new() }
}

/// The edits that take a statement or an entry out: with its line where nothing else stands on it, else with the `;` that parts it from others.
/// Comments that allow findings there go with it, since they would be heard at the next statement. Other comments stay.
pub fn remove(sources: &Sources, statement: Span) -> Vec<Edit> {
    let (file, text) = (statement.file, &*sources.file(statement.file).text);
    let (start, end) = (statement.range().start, statement.range().end);
    let line = Line::of(text, start, end);
    let rest = line.after.trim_start();
    let parted = rest.strip_prefix(';').map(str::trim_start);
    let following = parted.unwrap_or(rest).trim_end();
    let is_alone = line.is_first() && (following.is_empty() || is_allowance(following));
    let mut edits = allowances_above(text, &line, file);
    if is_alone {
        edits.push(cut(file, line.start, line.end));
        return edits;
    }
    let has_more = !following.is_empty() && !following.starts_with(['#', '}']);
    let (from, to) = if parted.is_some() && has_more {
        (start, line.end - parted.map_or(0, str::len))
    } else {
        let before = line.before.trim_end();
        let kept = before.strip_suffix(';').unwrap_or(before);
        // What is left of the line keeps its indent.
        (if line.is_first() { start } else { line.start + kept.len() }, end)
    };
    edits.push(cut(file, from, to));
    // At the end of a line a comment is heard at the first statement on it.
    if let Some(at) = line.after.rfind('#').filter(|_| line.is_first() && has_more)
        && line.after.get(at..).is_some_and(is_allowance)
    {
        let head = line.after.get(..at).unwrap_or_default().trim_end();
        let tail = line.after.trim_end().len();
        edits.push(cut(file, end + head.len(), end + tail));
    }
    edits
}

/// The comments that allow findings in the stack of comments directly above a line, where the statement is the first on it.
fn allowances_above(text: &str, line: &Line<'_>, file: FileId) -> Vec<Edit> {
    let mut edits = Vec::new();
    let mut end = line.start;
    while line.is_first() && end > 0 {
        let above = Line::of(text, end - 1, end - 1);
        if !above.before.trim_start().starts_with('#') {
            break;
        }
        if is_allowance(above.before) {
            edits.push(cut(file, above.start, end));
        }
        end = above.start;
    }
    edits.reverse();
    edits
}

/// The edits that take a comment out, with its line where it has one to itself.
pub fn remove_comment(sources: &Sources, comment: Span) -> Vec<Edit> {
    let text = &*sources.file(comment.file).text;
    let line = Line::of(text, comment.range().start, comment.range().end);
    let kept = line.before.trim_end().len();
    vec![if kept == 0 {
        cut(comment.file, line.start, line.end)
    } else {
        cut(comment.file, line.start + kept, comment.range().end)
    }]
}

/// The edits that take a word out of a list.
pub fn remove_word(sources: &Sources, word: Span) -> Vec<Edit> {
    let text = &*sources.file(word.file).text;
    let (start, end) = (word.range().start, word.range().end);
    let line = Line::of(text, start, end);
    if line.is_first() && line.after.trim().is_empty() {
        return vec![cut(word.file, line.start, line.end)];
    }
    let kept = line.before.trim_end().len();
    vec![cut(word.file, if kept == 0 { start } else { line.start + kept }, end)]
}

/// The edits that take the name of a tool out of its list, and the list with its last name; `None` for what a group or a path stands for.
pub fn remove_tool(context: &Context<'_>, name: Span) -> Option<Vec<Edit>> {
    let lists = context.policy.tools.iter().chain(&context.policy.optional_tools);
    let asked = lists.clone().find(|tool| tool.span == name && tool.group.is_none())?;
    let is_alone = lists.filter(|tool| tool.statement == asked.statement).all(|tool| tool.span == name);
    Some(if is_alone { remove(context.sources, asked.statement) } else { remove_word(context.sources, name) })
}

/// The edits that take a name, as in `allow(a, b)`, out of a list with commas.
pub fn remove_from_commas(sources: &Sources, name: Span) -> Vec<Edit> {
    let text = &*sources.file(name.file).text;
    let (start, end) = (name.range().start, name.range().end);
    let line = Line::of(text, start, end);
    let after = line.after.trim_start();
    if let Some(rest) = after.strip_prefix(',') {
        return vec![cut(name.file, start, line.end - rest.trim_start().len())];
    }
    let kept = line.before.trim_end();
    vec![cut(name.file, line.start + kept.strip_suffix(',').unwrap_or(kept).len(), end)]
}

/// The edit that adds statements after another one: on lines of their own, indented as it is, where nothing but a comment follows it, else on the
/// same line.
pub fn add_after(sources: &Sources, statement: Span, added: &[String]) -> Edit {
    let text = &*sources.file(statement.file).text;
    let (start, end) = (statement.range().start, statement.range().end);
    // The indent is that of the line on which it begins.
    let indent = Line::of(text, start, start).before;
    let line = Line::of(text, end, end);
    let rest = line.after.trim_start();
    let rest = rest.strip_prefix(';').unwrap_or(rest).trim();
    let (at, separator) = if indent.trim().is_empty() && (rest.is_empty() || rest.starts_with('#')) {
        (end + line.after.trim_end_matches(['\n', '\r']).len(), format!("\n{indent}"))
    } else {
        (end, "; ".to_owned())
    };
    let replacement = added.iter().map(|statement| format!("{separator}{statement}")).collect();
    Edit { span: Span::new(statement.file, at..at), replacement }
}

/// A canonical path as it is best written in a profile: from the workspace or the home where it lies there, so that it is right on every machine.
pub fn spelled(context: &Context<'_>, path: &Utf8Path) -> String {
    let policy = context.policy;
    let below = |place: &Utf8Path, name: &str| {
        let rest = path.strip_prefix(place).ok().filter(|_| place != "/")?;
        let written = if rest.as_str().is_empty() { name.to_owned() } else { format!("{name}/") };
        let rest = quoted(rest);
        Some(format!("\"{written}{}", rest.strip_prefix('"')?))
    };
    below(&policy.workspace, "$workspace")
        .or_else(|| below(&policy.home, "$home"))
        .map_or_else(|| quoted(path), |written| written.replacen("\"$home/", "\"~/", 1))
}

/// A path below another as it is written in the profile; `None` where that is a raw text.
pub fn below(sources: &Sources, written: Span, rest: &Utf8Path) -> Option<String> {
    let start = sources.text(written).strip_prefix('"')?.strip_suffix('"')?.trim_end_matches('/');
    Some(format!("\"{start}/{}", quoted(rest).strip_prefix('"')?))
}

/// The `on` blocks that statements stand in. A file is read again once, and only where it is asked about.
pub struct Blocks<'a> {
    sources: &'a Sources,
    by_file: HashMap<FileId, Vec<(System, Span)>>,
}

impl<'a> Blocks<'a> {
    pub fn new(sources: &'a Sources) -> Self {
        Self { sources, by_file: HashMap::new() }
    }

    /// The system that a statement is for, where it stands in an `on` block or is one.
    pub fn system(&mut self, statement: Span) -> Option<System> {
        let sources = self.sources;
        let blocks = self.by_file.entry(statement.file).or_insert_with(|| {
            let statements = syntax::parse(sources, statement.file).file.map(|file| file.statements);
            let blocks = statements.into_iter().flatten().filter_map(|on| match on.kind {
                StatementKind::On { system, .. } => Some((system.value, on.span)),
                _ => None,
            });
            blocks.collect()
        });
        let holds = |on: &Span| on.start <= statement.start && statement.end <= on.end;
        blocks.iter().find(|(_, on)| holds(on)).map(|(system, _)| *system)
    }

    /// Whether one of two statements about paths, each with the place of its path, says nothing more than the other on whatever machine: its path is
    /// written below the other's, and the other holds wherever it does. What is so only where the one leads on this machine may be otherwise on the next.
    pub fn is_said_by(&mut self, inner: (Span, Span), outer: (Span, Span)) -> bool {
        let sources = self.sources;
        let written = |(_, path): (Span, Span)| {
            let text = sources.text(path).strip_prefix('"')?.strip_suffix('"')?;
            Some(Utf8Path::new(text))
                .filter(|path| path.components().all(|it| it != Utf8Component::ParentDir))
        };
        let is_below = match (written(inner), written(outer)) {
            (Some(inner), Some(outer)) => inner.starts_with(outer),
            _ => sources.text(inner.1) == sources.text(outer.1),
        };
        is_below && self.system(outer.0).is_none_or(|outer| self.system(inner.0) == Some(outer))
    }
}

/// A statement of one path, from the place of the path: what stands before it on its line must be the word.
pub fn statement_of(sources: &Sources, path: Span, word: &str) -> Option<Span> {
    let text = sources.file(path.file).text.get(..path.range().start)?;
    let start = text.trim_end_matches([' ', '\t']).strip_suffix(word)?.len();
    Some(Span::new(path.file, start..path.range().end))
}

/// The edit that corrects one name in a path as it is written; `None` where the name does not stand there exactly once.
pub fn respell(sources: &Sources, path: Span, wrong: &str, right: &str) -> Option<Edit> {
    let text = sources.text(path);
    let is_whole = |at: &usize| {
        let (before, after) = (text.get(..*at), text.get(at + wrong.len()..));
        before.is_some_and(|it| it.ends_with(['/', '"']))
            && after.is_some_and(|it| it.starts_with(['/', '"']))
    };
    let mut places = text.match_indices(wrong).map(|(at, _)| at).filter(is_whole);
    let (Some(at), None) = (places.next(), places.next()) else { return None };
    let start = path.range().start + at;
    let right = quoted(right.into());
    let right = right.strip_prefix('"')?.strip_suffix('"')?.to_owned();
    Some(Edit { span: Span::new(path.file, start..start + wrong.len()), replacement: right })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(text: &str, place: &str, edits: impl Fn(&Sources, Span) -> Vec<Edit>) -> String {
        let mut sources = Sources::new();
        let id = sources.add("x", None, text);
        let at = text.find(place).unwrap();
        let mut edits = edits(&sources, Span::new(id, at..at + place.len()));
        edits.sort_by_key(|edit| std::cmp::Reverse(edit.span));
        let mut text = text.to_owned();
        for edit in edits {
            text.replace_range(edit.span.range(), &edit.replacement);
        }
        text
    }

    #[test]
    fn a_statement_goes_with_its_line_or_with_what_parts_it_from_others() {
        for (text, left) in [
            ("a\n  b;\nc\n", "a\nc\n"),
            ("a\r\n  b\r\nc\r\n", "a\r\nc\r\n"),
            ("a; b\nc\n", "a\nc\n"),
            ("  b; a\nc\n", "  a\nc\n"),
            ("a; b; c\n", "a; c\n"),
            ("a; b;\n", "a;\n"),
            ("e { b }\n", "e { }\n"),
            ("e { a; b }\n", "e { a }\n"),
            ("e { b; a }\n", "e { a }\n"),
            ("e {\n  b }\n", "e {\n   }\n"),
            ("a\nb # why\n", "a\n # why\n"),
            ("a\nb", "a\n"),
        ] {
            assert_eq!(made(text, "b", remove), left, "{text:?}");
        }
    }

    #[test]
    fn what_allows_findings_goes_with_its_statement_and_other_comments_stay() {
        for (text, left) in [
            ("x\n# why\n# palisade: allow(y) z\n  # note\nroot\nc\n", "x\n# why\n  # note\nc\n"),
            ("root # palisade: allow(y) z\nc\n", "c\n"),
            ("root; c # Palisade: allow(y) z\n", "c\n"),
            ("c; root # palisade: allow(y) z\n", "c # palisade: allow(y) z\n"),
            ("# palisade: allow(y) z\nc; root\n", "# palisade: allow(y) z\nc\n"),
            ("# palisade: allow(y) z\n\nroot\n", "# palisade: allow(y) z\n\n"),
        ] {
            assert_eq!(made(text, "root", remove), left, "{text:?}");
        }
    }

    #[test]
    fn words_and_comments_go_with_the_blanks_before_them() {
        assert_eq!(made("t a b c\n", "b", remove_word), "t a c\n");
        assert_eq!(made("t [\n  a\n  b\n]\n", "b", remove_word), "t [\n  a\n]\n");
        assert_eq!(made("t [ b c ]\n", "b", remove_word), "t [ c ]\n");
        assert_eq!(made("a  # b\n", "# b", remove_comment), "a\n");
        assert_eq!(made("a\n  # b\nc", "# b", remove_comment), "a\nc");
        assert_eq!(made("# x: allow(b, c) d", "b", remove_from_commas), "# x: allow(c) d");
        assert_eq!(made("# x: allow(c, b) d", "b", remove_from_commas), "# x: allow(c) d");
    }

    #[test]
    fn what_is_added_stands_below_and_leaves_comments_where_they_are() {
        let add = |sources: &Sources, span: Span| vec![add_after(sources, span, &["x".into(), "y".into()])];
        assert_eq!(made("  b # why\nc\n", "b", add), "  b # why\n  x\n  y\nc\n");
        assert_eq!(made("  b;\nc\n", "b", add), "  b;\n  x\n  y\nc\n");
        assert_eq!(made("{ b }\n", "b", add), "{ b; x; y }\n");
        assert_eq!(made("b; c\n", "b", add), "b; x; y; c\n");
        assert_eq!(made("b", "b", add), "b\nx\ny");
    }

    #[test]
    fn a_statement_says_no_more_where_its_path_is_written_below_and_the_other_holds_too() {
        let said = |inner: &str, outer: &str, block: bool| {
            let (open, close) = if block { ("on linux {\n", "\n}") } else { ("", "") };
            let text = format!("edition 1\nprofile \"x\" {{\ndeny {inner}\n{open}deny {outer}{close}\n}}\n");
            let mut sources = Sources::new();
            let id = sources.add("x", None, text.as_str());
            let places = |path: &str, last: bool| {
                let statement = format!("deny {path}");
                let at = if last { text.rfind(&statement) } else { text.find(&statement) }.unwrap();
                (Span::new(id, at..at + statement.len()), Span::new(id, at + 5..at + statement.len()))
            };
            let (inner, outer) = (places(inner, false), places(outer, true));
            let mut blocks = Blocks::new(&sources);
            (blocks.is_said_by(inner, outer), blocks.is_said_by(outer, inner))
        };
        assert_eq!(said("\"~/a/b\"", "\"~/a\"", false), (true, false));
        assert_eq!(said("\"~/ab\"", "\"~/a\"", false), (false, false));
        assert_eq!(said("\"~/a/../b\"", "\"~/a\"", false), (false, false));
        assert_eq!(said("\"~/a\"", "\"$workspace\"", false), (false, false));
        // On another system only one of them is there.
        assert_eq!(said("\"~/a\"", "\"~/a\"", true), (false, true));
    }

    #[test]
    fn a_name_is_corrected_where_it_stands_once() {
        let respelled = |text: &str| {
            let mut sources = Sources::new();
            let id = sources.add("x", None, text);
            respell(&sources, sources.whole(id), "othr", "o$r")
                .map(|edit| (edit.span.start, edit.replacement))
        };
        assert_eq!(respelled("\"~/othr\""), Some((3, "o\\$r".into())));
        assert_eq!(respelled("\"~/othr/othr\""), None);
        assert_eq!(respelled("\"~/othr2\""), None);
    }
}
