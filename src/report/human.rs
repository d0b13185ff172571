//! Findings as people read them in a terminal: the statement, what is wrong with it, what to do.
//!
//! The drawing is miette's. Everything that miette would guess (colours, width, links, characters) is stated by the caller.

use super::pages;
use super::run::Run;
use super::snippet::Snippet;
use super::terminal::shown;
use crate::finding::{Finding, Label, Severity};
use crate::source::{FileId, Sources};
use miette::{
    Diagnostic, GraphicalReportHandler, GraphicalTheme, LabeledSpan, SourceCode, ThemeCharacters, ThemeStyles,
};
use std::fmt;

/// Fewest columns a report is set in.
const LEAST_WIDTH: usize = 30;

/// How a report looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    /// Draw with box characters, else with ASCII.
    pub unicode: bool,
    /// ANSI colours. The caller looks at the terminal and at `NO_COLOR`.
    pub color: bool,
    /// Columns.
    pub width: usize,
    /// Whether notes are shown, or only counted.
    pub notes: bool,
    /// Whether the names of rules are links (OSC 8) to their pages, where a run knows of those.
    pub links: bool,
}

impl Default for Style {
    /// For a pipe or a log: 80 columns, no colours, no links, everything shown.
    fn default() -> Self {
        Self { unicode: true, color: false, width: 80, notes: true, links: false }
    }
}

impl Style {
    fn handler(self) -> GraphicalReportHandler {
        let theme = GraphicalTheme {
            characters: if self.unicode { ThemeCharacters::unicode() } else { ThemeCharacters::ascii() },
            styles: if self.color { ThemeStyles::ansi() } else { ThemeStyles::none() },
        };
        GraphicalReportHandler::new_themed(theme)
            .with_width(self.width.max(LEAST_WIDTH))
            // Paths and names of rules are broken nowhere but at blanks, so that they can be copied.
            .with_word_separator(textwrap::WordSeparator::AsciiSpace)
            .with_break_words(false)
            .with_word_splitter(textwrap::WordSplitter::NoHyphenation)
            .with_links(self.links)
            .with_link_display_text("")
            .with_context_lines(1)
            .without_syntax_highlighting()
    }
}

/// Every finding of a run with its source, and a line that counts them. Empty where no profile could be read: of what was not read nothing is said.
pub fn run(run: &Run, style: Style) -> String {
    let mut text = String::new();
    if run.profiles.is_empty() {
        return text;
    }
    let pages = run.pages().filter(|_| style.links);
    for found in &run.findings {
        if style.notes || found.finding.severity > Severity::Note {
            text.push_str(&drawn(&run.sources, &found.finding, &run.asides(found), pages.as_deref(), style));
            text.push('\n');
        }
    }
    let summary = summary(|severity| run.count(severity), &subject(run), style.notes);
    let lost = match run.problems.len() {
        0 => String::new(),
        1 => "; 1 input could not be read".to_owned(),
        many => format!("; {many} inputs could not be read"),
    };
    let told: String = run.told.asides().iter().map(|aside| format!("; {}", shown(aside))).collect();
    text + &summary + &lost + &told + "\n"
}

/// Every finding with its source, in the order given, and a line that counts them. `subject` is the name of what was checked.
pub fn render(sources: &Sources, findings: &[Finding], subject: &str, style: Style) -> String {
    let mut text = String::new();
    for finding in findings.iter().filter(|finding| style.notes || finding.severity > Severity::Note) {
        text.push_str(&one(sources, finding, style));
        text.push('\n');
    }
    let count = |severity| findings.iter().filter(|finding| finding.severity == severity).count();
    text + &summary(count, subject, style.notes) + "\n"
}

/// One finding with its source.
pub fn one(sources: &Sources, finding: &Finding, style: Style) -> String {
    drawn(sources, finding, &[], None, style)
}

/// One finding with its source, and lines that are said beside it.
fn drawn(
    sources: &Sources,
    finding: &Finding,
    asides: &[String],
    pages: Option<&str>,
    style: Style,
) -> String {
    let handler = style.handler();
    let mut text = String::new();
    for part in parts(sources, finding, asides, pages, style) {
        // Writing to a string fails only where miette cannot read a span, and these spans were made here.
        if handler.render_report(&mut text, &part).is_err() {
            text.push_str(&format!("{}\n", part.message));
        }
    }
    text
}

/// What was checked: `pr-review.palisade`, `3 profiles on 2 hosts`.
fn subject(run: &Run) -> String {
    let mut subject = match run.profiles.as_slice() {
        [only] => run.name(*only).to_owned(),
        several => format!("{} profiles", several.len()),
    };
    if run.hosts.len() > 1 {
        subject.push_str(&format!(" on {} hosts", run.hosts.len()));
    }
    subject
}

/// `2 errors, 1 warning in pr-review.palisade`.
fn summary(count: impl Fn(Severity) -> usize, subject: &str, notes: bool) -> String {
    let counted = |severity: Severity| match count(severity) {
        0 => None,
        1 => Some(format!("1 {}", severity.name())),
        many => Some(format!("{many} {}s", severity.name())),
    };
    let mut counts: Vec<_> = [Severity::Error, Severity::Warning].into_iter().filter_map(counted).collect();
    let mut hidden = String::new();
    if let Some(count) = counted(Severity::Note) {
        if notes {
            counts.push(count);
        } else {
            hidden = format!(" ({count} not shown)");
        }
    }
    let counts = if counts.is_empty() { "no findings".to_owned() } else { counts.join(", ") };
    format!("{counts} in {}{hidden}", shown(subject))
}

/// What miette draws in one piece: places in one file. A finding about two files is drawn in two.
#[derive(Debug)]
struct Part {
    code: Option<String>,
    /// The page of the rule.
    url: Option<String>,
    message: String,
    severity: miette::Severity,
    help: Option<String>,
    snippet: Option<Snippet>,
}

fn parts(
    sources: &Sources,
    finding: &Finding,
    asides: &[String],
    pages: Option<&str>,
    style: Style,
) -> Vec<Part> {
    let mut files: Vec<(FileId, Vec<&Label>)> = Vec::new();
    for label in &finding.labels {
        match files.iter_mut().find(|(file, _)| *file == label.span.file) {
            Some((_, labels)) => labels.push(label),
            None => files.push((label.span.file, vec![label])),
        }
    }
    let mut snippets = files.iter().map(|(file, labels)| {
        (
            shown(&sources.file(*file).name).into_owned(),
            Snippet::new(sources, *file, labels, style.width, style.unicode),
        )
    });
    let mut parts = vec![Part {
        code: Some(format!("{}[{}]", finding.severity.name(), finding.rule)),
        url: pages.map(|pages| pages::of(pages, finding.rule)),
        message: shown(&finding.message).into_owned(),
        severity: match finding.severity {
            Severity::Error => miette::Severity::Error,
            Severity::Warning => miette::Severity::Warning,
            Severity::Note => miette::Severity::Advice,
        },
        help: None,
        snippet: snippets.next().map(|(_, snippet)| snippet),
    }];
    parts.extend(snippets.map(|(name, snippet)| Part {
        code: None,
        url: None,
        message: format!("and in {name}"),
        severity: miette::Severity::Advice,
        help: None,
        snippet: Some(snippet),
    }));
    if let Some(last) = parts.last_mut() {
        last.help = help(finding, asides);
    }
    parts
}

fn help(finding: &Finding, asides: &[String]) -> Option<String> {
    let fix = finding.fix.as_ref().map(|fix| {
        let care = if fix.safe { "" } else { " (changes what the profile means)" };
        format!("fix: {}{care}", shown(&fix.title))
    });
    let help = finding.help.as_deref().map(|help| shown(help).into_owned());
    let asides = asides.iter().map(|aside| shown(aside).into_owned());
    let lines: Vec<_> = help.into_iter().chain(fix).chain(asides).collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Part {}

impl Diagnostic for Part {
    fn code<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.code.as_ref().map(|code| Box::new(code) as Box<dyn fmt::Display>)
    }

    fn url<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.url.as_ref().map(|url| Box::new(url) as Box<dyn fmt::Display>)
    }

    fn severity(&self) -> Option<miette::Severity> {
        Some(self.severity)
    }

    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.help.as_ref().map(|help| Box::new(help) as Box<dyn fmt::Display>)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.snippet.as_ref().map(|snippet| snippet as &dyn SourceCode)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        self.snippet
            .as_ref()
            .map(|snippet| Box::new(snippet.labels()) as Box<dyn Iterator<Item = LabeledSpan>>)
    }
}

#[cfg(test)]
mod tests;
