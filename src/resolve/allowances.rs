//! Comments that allow findings: `# palisade: allow(rule, rule) reason`, at the end of a statement or directly above it.

use crate::finding::{Edit, Finding, Severity};
use crate::policy::Allowance;
use crate::source::{Sources, Span, Spanned};
use crate::syntax::ast::{Comment, File, Statement, StatementKind};
use crate::syntax::shown;
use std::collections::BTreeMap;

/// What every such comment begins with.
const MARK: &str = "palisade:";

/// Reads the allowances of a file into `out`. Whether a rule of that name exists, and whether it finds anything there, is for lint.
pub fn attach(sources: &Sources, file: &File, out: &mut Vec<Allowance>, findings: &mut Vec<Finding>) {
    let marked = |comment: &&Comment| comment.text.trim_start().to_ascii_lowercase().starts_with(MARK);
    if !file.comments.iter().any(|comment| marked(&comment)) {
        return;
    }
    let lines = Lines::of(sources, file);
    let below = below_stacks(sources, &file.comments);
    for (index, comment) in file.comments.iter().enumerate().filter(|(_, comment)| marked(comment)) {
        let (rules, reason) = match read(comment) {
            Ok(read) => read,
            Err(finding) => {
                findings.push(*finding);
                continue;
            }
        };
        let line = sources.line_column(comment.span).line;
        let statement = if comment.own_line {
            lines.first_on(below.get(index).copied().unwrap_or(line + 1))
        } else {
            lines.last_on(line).or_else(|| lines.last_ending_on(line))
        };
        match statement {
            Some(Place { statement, reach }) => {
                out.push(Allowance { rules, reason, span: comment.span, statement, reach })
            }
            None => findings.push(
                malformed("an allowance that stands at no statement", comment.span)
                    .help("write it at the end of the statement, or on the line directly above"),
            ),
        }
    }
}

/// For each comment the line below the stack of comments that it is in.
fn below_stacks(sources: &Sources, comments: &[Comment]) -> Vec<usize> {
    let mut below = vec![0; comments.len()];
    let mut next: Option<(usize, usize)> = None;
    for (index, comment) in comments.iter().enumerate().rev() {
        let line = sources.line_column(comment.span).line;
        let end = match next {
            Some((next, end)) if next == line + 1 => end,
            _ => line + 1,
        };
        if let Some(slot) = below.get_mut(index) {
            *slot = end;
        }
        next = comment.own_line.then_some((line, end));
    }
    below
}

fn malformed(message: impl Into<String>, span: Span) -> Finding {
    Finding::new("malformed-allowance", Severity::Error, message).at(span, "here")
}

/// The rules and the reason of a comment.
fn read(comment: &Comment) -> Result<(Vec<Spanned<String>>, String), Box<Finding>> {
    let usage = "write `# palisade: allow(RULE, RULE) REASON`";
    let wrong = |message: &str| Box::new(malformed(message, comment.span).help(usage));
    let text = comment.text.trim_start().get(MARK.len()..).unwrap_or_default().trim_start();
    let word: &str =
        text.split(|c: char| !c.is_ascii_alphanumeric() && c != '-' && c != '_').next().unwrap_or_default();
    if word != "allow" {
        let mut finding =
            malformed(format!("`{}` is no allowance", shown(&comment.text)), comment.span).help(usage);
        if let Some(at) = comment_offset(comment, word).filter(|_| !word.is_empty())
            && (matches!(word, "ignore" | "disable" | "noqa" | "accept")
                || crate::syntax::nearest(word, ["allow"]).is_some())
        {
            finding = finding.help("did you mean `allow`?").fix(
                "write `allow`",
                vec![Edit { span: at, replacement: "allow".into() }],
                false,
            );
        }
        return Err(Box::new(finding));
    }
    let Some((list, reason)) =
        text["allow".len()..].trim_start().strip_prefix('(').and_then(|rest| rest.split_once(')'))
    else {
        return Err(wrong("an allowance that names no rule"));
    };
    let mut rules = Vec::new();
    for name in list.split(',').map(str::trim) {
        if name.is_empty() {
            return Err(wrong("an allowance that names no rule"));
        }
        let span = comment_offset(comment, name).unwrap_or(comment.span);
        rules.push(Spanned::new(name.to_owned(), span));
    }
    let reason = reason.trim().trim_start_matches([':', '-', '\u{2014}']).trim();
    Ok((rules, reason.to_owned()))
}

/// Where `part`, which is a piece of the comment's text, stands in the file.
fn comment_offset(comment: &Comment, part: &str) -> Option<Span> {
    // The text ends where the comment does, but for blanks; counted from its first character after the `#`s.
    let text = comment.text.as_str();
    let within = (part.as_ptr() as usize)
        .checked_sub(text.as_ptr() as usize)
        .filter(|at| at + part.len() <= text.len());
    let at = within.or_else(|| text.find(part))?;
    let hashes = comment.lead as usize;
    let start = comment.span.start as usize + hashes + at;
    Some(Span::new(comment.span.file, start..start + part.len()))
}

/// A statement, or an entry of one, and the part of it at which an allowance is heard.
#[derive(Clone, Copy)]
struct Place {
    statement: Span,
    reach: Span,
}

/// The statements of a file and the entries of their blocks, by the line they begin and end on.
struct Lines<'a> {
    sources: &'a Sources,
    /// The outermost that begins on a line, the first of them.
    first: BTreeMap<usize, Place>,
    /// The outermost that begins on a line, the last of them: what a comment at the end of the line is at.
    last_begun: BTreeMap<usize, Place>,
    last: BTreeMap<usize, Place>,
}

impl<'a> Lines<'a> {
    fn of(sources: &'a Sources, file: &File) -> Self {
        let mut lines =
            Self { sources, first: BTreeMap::new(), last_begun: BTreeMap::new(), last: BTreeMap::new() };
        lines.add(file.head, None);
        if let Some(edition) = file.edition {
            lines.add(edition.span, None);
        }
        lines.statements(&file.statements);
        lines
    }

    fn statements(&mut self, statements: &[Statement]) {
        for statement in statements {
            self.add(statement.span, first_entry(statement));
            if let StatementKind::On { statements, .. } = &statement.kind {
                self.statements(statements);
            }
            for entry in statement.entries() {
                self.add(entry, None);
            }
        }
    }

    /// Adds a statement whose first entry, at the innermost, is `entry`.
    fn add(&mut self, span: Span, entry: Option<Span>) {
        let line = |at: u32| self.sources.line_column(Span { start: at, ..span }).line;
        let (begin, end) = (line(span.start), line(span.end));
        let reach = match entry {
            None => span,
            Some(entry) if line(entry.start) == begin => Span { end: entry.end, ..span },
            Some(entry) => Span { end: entry.start, ..span },
        };
        let place = Place { statement: span, reach };
        self.first.entry(begin).or_insert(place);
        // What lies in another comes after it.
        let begun = self.last_begun.entry(begin).or_insert(place);
        if begun.statement.end <= span.start {
            *begun = place;
        }
        self.last.entry(end).or_insert(place);
    }

    fn first_on(&self, line: usize) -> Option<Place> {
        self.first.get(&line).copied()
    }

    fn last_on(&self, line: usize) -> Option<Place> {
        self.last_begun.get(&line).copied()
    }

    fn last_ending_on(&self, line: usize) -> Option<Place> {
        self.last.get(&line).copied()
    }
}

/// The first entry of a block, and of the first block in that.
fn first_entry(statement: &Statement) -> Option<Span> {
    match &statement.kind {
        StatementKind::On { statements, .. } => {
            let first = statements.first()?;
            Some(first_entry(first).unwrap_or(first.span))
        }
        _ => statement.entries().first().copied(),
    }
}
