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
    /// The repository to whose pages the names of rules are links (OSC 8), if any.
    pub links: Option<&'static str>,
}

impl Default for Style {
    /// For a pipe or a log: 80 columns, no colours, no links, everything shown.
    fn default() -> Self {
        Self { unicode: true, color: false, width: 80, notes: true, links: None }
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
            .with_links(self.links.is_some())
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
    for found in &run.findings {
        if style.notes || found.finding.severity > Severity::Note {
            text.push_str(&drawn(&run.sources, &found.finding, &run.asides(found), style));
            text.push('\n');
        }
    }
    let summary = summary(|severity| run.count(severity), &subject(run), style.notes);
    let lost = match run.problems.len() {
        0 => String::new(),
        1 => "; 1 input could not be read".to_owned(),
        many => format!("; {many} inputs could not be read"),
    };
    text + &summary + &lost + "\n"
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
    drawn(sources, finding, &[], style)
}

/// One finding with its source, and lines that are said beside it.
fn drawn(sources: &Sources, finding: &Finding, asides: &[String], style: Style) -> String {
    let handler = style.handler();
    let mut text = String::new();
    for part in parts(sources, finding, asides, style) {
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

fn parts(sources: &Sources, finding: &Finding, asides: &[String], style: Style) -> Vec<Part> {
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
        url: style.links.map(|repository| pages::below(repository, finding.rule)),
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
mod tests {
    use super::*;
    use crate::finding::Edit;
    use crate::source::Span;

    const PROFILE: &str = r#"edition 1

profile "pr-review" {
    use "std/secrets"
    root "$workspace"         read-write
    root "$workspace/vendor"  read-only   # readable, write-protected
    root "~"                  read-only

    deny "$workspace/link-to-env"
    tools @inspection gti
    expect {
        read "$workspace/.env" denied
    }
}
"#;

    fn sources() -> (Sources, FileId, FileId) {
        let mut sources = Sources::new();
        let profile = sources.add("pr-review.palisade", None, PROFILE);
        let fragment = sources.add(
            "std/secrets",
            None,
            "fragment \"secrets\" {\n    root \"/home/dev\" read-write\n}\n",
        );
        (sources, profile, fragment)
    }

    fn span(sources: &Sources, file: FileId, text: &str) -> Span {
        let at = sources.file(file).text.find(text).expect("a text of the source");
        Span::new(file, at..at + text.len())
    }

    fn findings(sources: &Sources, profile: FileId, fragment: FileId) -> Vec<Finding> {
        let at = |text| span(sources, profile, text);
        let denial = at("deny \"$workspace/link-to-env\"");
        let edit = Edit { span: denial, replacement: String::new() };
        vec![
            Finding::new("conflicting-roots", Severity::Error, "the root `/home/dev` is both read-only and read-write")
                .at(at("root \"~\"                  read-only"), "read-only here")
                .at(span(sources, fragment, "root \"/home/dev\" read-write"), "read-write here")
                .help("remove the one that is not meant; order decides nothing"),
            Finding::new("broad-root", Severity::Warning, "the root `/home/dev` is very broad")
                .at(at("root \"~\"                  read-only"), "the whole home directory, with every credential in it, may be read")
                .help("state the few directories that the work needs"),
            Finding::new("symlinked-denial", Severity::Error, "the denied path `/home/dev/project/link-to-env` is a symbolic link to what can be read")
                .at(denial, "`/home/dev/project/link-to-env` is a link to `.env`")
                .help("deny the real path: `/home/dev/project/.env`")
                .fix("deny the real path", vec![edit], false),
            Finding::new("missing-tool", Severity::Error, "the tool `gti` is not installed")
                .at(at("gti"), "required here")
                .help("`git` is installed; otherwise install `gti`, or move it to `optional-tools`"),
            Finding::new("skipped-tool", Severity::Note, "`file`, `patch` are not available here")
                .at(at("@inspection"), "granted nothing")
                .help("nothing need be done; name a tool under `tools` where the work cannot do without"),
            Finding::new("failed-expectation", Severity::Error, "`read /home/dev/project/.env` is allowed, not denied")
                .at(at("read \"$workspace/.env\" denied"), "expected to be denied")
                .at(at("root \"$workspace\"         read-write"), "allowed by this")
                .help("decided by pr-review.palisade:5 root \"$workspace\" read-write; change that, or the expectation"),
        ]
    }

    fn snapshot(name: &str, text: &str) {
        insta::with_settings!({ snapshot_path => "../../snapshots", prepend_module_to_snapshot => false, omit_expression => true }, {
            insta::assert_snapshot!(name, text);
        });
    }

    fn report(style: Style) -> String {
        let (sources, profile, fragment) = sources();
        render(&sources, &findings(&sources, profile, fragment), "pr-review.palisade", style)
    }

    #[test]
    fn a_report_in_eighty_columns() {
        let text = report(Style::default());
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        snapshot("human-unicode", &text);
    }

    #[test]
    fn a_report_in_ascii_without_notes() {
        let text = report(Style { unicode: false, notes: false, ..Style::default() });
        assert!(text.is_ascii(), "{text}");
        assert!(!text.contains("skipped-tool"));
        snapshot("human-ascii", &text);
    }

    #[test]
    fn colours_only_when_asked() {
        assert!(!report(Style::default()).contains('\u{1b}'));
        snapshot("human-color", &report(Style { color: true, ..Style::default() }).replace('\u{1b}', "ESC"));
    }

    #[test]
    fn rules_are_links_only_when_asked() {
        let style = Style { links: Some("https://example.com/palisade"), ..Style::default() };
        let text = report(style);
        let page = pages::below("https://example.com/palisade", "broad-root");
        let link = format!("\u{1b}]8;;{page}\u{1b}\\warning[broad-root] \u{1b}]8;;\u{1b}\\");
        assert!(text.contains(&link), "{text:?}");
        // Nothing else is another text.
        let links = regex::Regex::new("\u{1b}]8;;[^\u{1b}]*\u{1b}\\\\").unwrap();
        let plain = links.replace_all(&text, "").replace("] \n", "]\n");
        assert_eq!(plain, report(Style::default()));
    }

    #[test]
    fn a_report_in_forty_columns() {
        snapshot("human-narrow", &report(Style { width: 40, ..Style::default() }));
    }

    #[test]
    fn hostile_text_is_written_out_and_long_lines_are_cut() {
        let mut sources = Sources::new();
        let filler = "x".repeat(2000);
        let text = format!(
            "root \"\u{1b}]0;owned\u{7}\u{202e}gnp.exe\" read-only\r\n{filler} deny\t\"here\" {filler}\nroot \"\u{9b}31m日本\"\n"
        );
        let id = sources.add("evil\u{1b}[2J.palisade", None, text);
        let findings = [
            Finding::new("missing-root", Severity::Error, "the root `\u{1b}[31m\n` does not exist").at(
                span(&sources, id, "root \"\u{1b}]0;owned\u{7}\u{202e}gnp.exe\" read-only"),
                "nothing\u{8} is there",
            ),
            Finding::new("unexamined", Severity::Error, "far to the right")
                .at(span(&sources, id, "deny\t\"here\""), "here")
                .help("a help\u{1b}[1m"),
            Finding::new("missing-root", Severity::Error, "no place"),
        ];
        let text = render(&sources, &findings, "evil\u{7}", Style::default());
        assert!(
            !text.chars().any(|character| character != '\n' && super::super::terminal::is_hidden(character))
        );
        snapshot("human-hostile", &text);
    }

    #[test]
    fn wide_letters_take_two_columns() {
        let mut sources = Sources::new();
        let long = "日本語".repeat(40);
        let text =
            format!("root \"/{long}\" read-only deny \"/{long}/x\" read-only\nroot \"/日本\" read-only\n");
        let id = sources.add("wide.palisade", None, text);
        for place in [format!("\"/{long}\""), format!("\"/{long}/x\""), "\"/日本\"".to_owned()] {
            let finding = Finding::new("x", Severity::Error, "m").at(span(&sources, id, &place), "here");
            let report = one(&sources, &finding, Style::default());
            let width = report.lines().map(textwrap::core::display_width).max().unwrap_or_default();
            assert!(width <= 80, "{width}\n{report}");
            assert!(report.contains("here"), "{report}");
        }
    }

    #[test]
    fn the_summary_counts() {
        let (sources, ..) = sources();
        assert_eq!(render(&sources, &[], "a.palisade", Style::default()), "no findings in a.palisade\n");
        let note = [Finding::new("x", Severity::Note, "m")];
        let style = Style { notes: false, ..Style::default() };
        assert_eq!(
            render(&sources, &note, "a.palisade", style),
            "no findings in a.palisade (1 note not shown)\n"
        );
    }

    proptest::proptest! {
        /// Whatever the text and wherever the places, a report is drawn and none of the source's hidden characters are in it.
        #[test]
        fn any_place_in_any_text_can_be_drawn(
            text in "[ -~\n\t\r\u{1b}äé日\u{202e}]{0,300}",
            ends in proptest::collection::vec((0usize..320, 0usize..320), 1..4),
            width in 1usize..120,
        ) {
            let mut sources = Sources::new();
            let id = sources.add("p", None, text.clone());
            let mut finding = Finding::new("x", Severity::Error, "m");
            for (a, b) in ends {
                let clip = |at: usize| (0..=at.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
                let (a, b) = (clip(a), clip(b));
                finding = finding.at(Span::new(id, a.min(b)..a.max(b)), "here");
            }
            let report = render(&sources, &[finding], "p", Style { width, ..Style::default() });
            proptest::prop_assert!(report.contains("here"), "{}", report);
            proptest::prop_assert!(!report.chars().any(|c| c != '\n' && super::super::terminal::is_hidden(c)));
            proptest::prop_assert!(!report.contains("Failed to read"), "{}", report);
        }
    }
}
