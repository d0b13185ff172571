//! What the rules say of themselves, for `palisade explain` and `palisade rules`.

use super::{RuleInfo, find_rule, language, of_runs, rules};
use crate::finding::{Offers, Severity};
use std::fmt::Write;

/// Columns of what is explained, and of the table of rules.
const WIDTH: usize = 80;

/// The documentation of one rule, or of another name that can stand beside a finding, as Markdown in 80 columns; `None` where
/// nothing is called so.
pub fn explain(name: &str) -> Option<String> {
    if let Some(entry) = language::find(name) {
        return Some(filled(&format!(
            "# {}\n\nNot a check; fix: {}; cannot be allowed.\n\n{}",
            entry.name,
            entry.fix.name(),
            entry.text
        )));
    }
    let info = find_rule(name)?;
    let text = format!("# {}\n\n{}\n\n{}", info.name, standing(info), info.markdown());
    Some(filled(text.trim_end()))
}

/// What is said of a name that stands in brackets beside a finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Description {
    /// The first sentence.
    pub summary: &'static str,
    /// The first paragraph after that, on one line; else the summary again.
    pub full: String,
    /// The documentation, as Markdown, without a heading.
    pub markdown: String,
    /// Of a finding, where nothing says otherwise.
    pub severity: Severity,
    pub fix: Offers,
}

/// What is said of one rule, or of another name that can stand beside a finding; `None` where nothing is called so.
pub fn describe(name: &str) -> Option<Description> {
    if let Some(entry) = language::find(name) {
        let (summary, markdown) = (entry.summary(), format!("{}\n", entry.text));
        let full = second_paragraph(&markdown).unwrap_or_else(|| summary.to_owned());
        return Some(Description { summary, full, markdown, severity: Severity::Error, fix: entry.fix });
    }
    let info = find_rule(name)?;
    let (summary, markdown) = (info.summary(), info.markdown());
    let full = second_paragraph(&markdown).unwrap_or_else(|| summary.to_owned());
    Some(Description { summary, full, markdown, severity: info.severity, fix: info.fix })
}

fn second_paragraph(markdown: &str) -> Option<String> {
    let mut paragraphs =
        markdown.split("\n\n").filter(|text| !text.starts_with('#') && !text.starts_with("```"));
    paragraphs.nth(1).map(|text| text.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// Lines end at blanks only: names of rules and what stands in backticks stay whole.
fn options<'a>() -> textwrap::Options<'a> {
    textwrap::Options::new(WIDTH)
        .break_words(false)
        .word_separator(textwrap::WordSeparator::AsciiSpace)
        .word_splitter(textwrap::WordSplitter::NoHyphenation)
}

/// Paragraphs set anew to the width; what stands in a fence is left alone.
fn filled(markdown: &str) -> String {
    let mut text = String::new();
    let mut paragraph: Vec<&str> = Vec::new();
    let mut in_fence = false;
    for line in markdown.lines().chain([""]) {
        let is_fence = line.starts_with("```");
        if in_fence || is_fence || line.is_empty() {
            if !paragraph.is_empty() {
                text.push_str(&textwrap::fill(&paragraph.join(" "), options()));
                text.push('\n');
                paragraph.clear();
            }
            text.push_str(line);
            text.push('\n');
            in_fence ^= is_fence;
        } else {
            paragraph.push(line);
        }
    }
    text.trim_end().to_owned() + "\n"
}

fn standing(info: &RuleInfo) -> String {
    let allowed = if info.allowable {
        format!("can be allowed at a statement with `# palisade: allow({}) REASON`", info.name)
    } else {
        "cannot be allowed".to_owned()
    };
    let (severity, confidence, fix) = (info.severity.name(), info.confidence.name(), info.fix.name());
    format!("Severity: {severity}; confidence: {confidence}; fix: {fix}; {allowed}.")
}

/// Every rule with its severity and what it finds, in 80 columns. A `*` marks those that a comment can allow. The rules of `sb check` stand apart.
pub fn rules_table() -> String {
    let mut table = table(rules::ALL.iter().map(|rule| rule.info()));
    table.push_str("\n* can be allowed at a statement: # palisade: allow(NAME) REASON\n");
    table.push_str("\nOf what `palisade check` was given:\n\n");
    table.push_str(&self::table(of_runs::ALL.into_iter()));
    table.push_str("\nOf `palisade sb check`, about Seatbelt profiles:\n\n");
    table.push_str(&self::table(crate::sbpl::lint::ALL.iter().map(|rule| rule.info())));
    table.push_str("\nOf the language itself, when a text is read, resolved and compiled:\n\n");
    let names = language::ENTRIES.iter().map(|entry| entry.name.len()).max().unwrap_or_default();
    for entry in language::ENTRIES {
        row(&mut table, &format!("{:names$}  ", entry.name), entry.summary());
    }
    table
}

fn table(infos: impl Iterator<Item = &'static RuleInfo> + Clone) -> String {
    let names = infos.clone().map(|info| info.name.len()).max().unwrap_or_default();
    let mut table = String::new();
    for info in infos {
        let mark = if info.allowable { '*' } else { ' ' };
        row(&mut table, &format!("{:names$}  {:7} {mark} ", info.name, info.severity.name()), info.summary());
    }
    table
}

fn row(table: &mut String, start: &str, summary: &str) {
    let rest = " ".repeat(start.len());
    let options = options().initial_indent(start).subsequent_indent(&rest);
    for line in textwrap::wrap(summary.trim_end_matches('.'), options) {
        let _ = writeln!(table, "{}", line.trim_end());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn explains_a_rule_and_no_other_word() {
        let text = explain("missing-root").unwrap();
        assert!(
            text.starts_with(
                "# missing-root\n\nSeverity: error; confidence: certain; fix: unsafe; cannot be allowed.\n"
            ),
            "{text}"
        );
        assert!(text.contains("\n## What to do\n"), "{text}");
        assert!(explain("broad-root").unwrap().contains("allow(broad-root)"));
        assert!(text.lines().all(|line| line.chars().count() <= WIDTH), "{text}");
        assert!(text.contains("    root \"~/othr\" read-only\n}\n```\n"), "{text}");
        assert_eq!(explain("missing-roots"), None);
        let text = explain("unknown-word").unwrap();
        assert!(
            text.starts_with("# unknown-word\n\nNot a check; fix: unsafe; cannot be allowed.\n\n"),
            "{text}"
        );
        assert!(text.lines().all(|line| line.chars().count() <= WIDTH), "{text}");
    }

    #[test]
    fn every_name_is_described_by_whole_sentences() {
        let language = language::ENTRIES.iter().map(|entry| entry.name);
        for name in crate::lint::infos().map(|info| info.name).chain(language) {
            let found = describe(name).unwrap();
            assert!(found.full.ends_with('.') && !found.full.contains('\n'), "{name}");
            assert!(found.summary.ends_with('.') && found.markdown.contains(found.summary), "{name}");
        }
        assert_eq!(describe("missing-roots"), None);
    }

    #[test]
    fn the_table_names_every_rule_within_eighty_columns() {
        let table = rules_table();
        let language = language::ENTRIES.iter().map(|entry| entry.name);
        for name in crate::lint::infos().map(|info| info.name).chain(language) {
            assert!(table.lines().any(|line| line.starts_with(&format!("{name} "))), "{name}");
        }
        assert!(table.lines().all(|line| line.chars().count() <= WIDTH), "{table}");
    }
}
