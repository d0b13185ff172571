//! The report for people: a table of 80 columns, and the verdict below.

use super::report::{Line, Report};
use crate::report::shown;
use std::fmt::Write as _;

const WIDTH: usize = 80;
/// Where the second column begins, and the third.
const STATUS: usize = 20;
const SEEN: usize = 29;

impl Report {
    /// As text. No line is longer than 80 columns unless a word is.
    pub fn text(&self) -> String {
        let mut text = String::new();
        let complete = self.is_complete();
        for setting in self.surroundings.iter().filter(|setting| setting.always || !complete) {
            let said = format!("note: {} ({})", shown(&setting.meaning), shown(&setting.fact));
            push_wrapped(&mut text, "", "      ", &said);
        }
        if !text.is_empty() {
            text.push('\n');
        }
        for line in &self.lines {
            push_line(&mut text, line);
        }
        text.push('\n');
        push_wrapped(&mut text, "", "", &self.sentence());
        text
    }
}

fn push_line(text: &mut String, line: &Line) {
    let about = line.wall.about();
    let first = format!("{:<width$}{:<8} ", about.title, line.status.name(), width = STATUS);
    push_wrapped(text, &first, &" ".repeat(SEEN), &shown(&line.seen));
    let lost = line.lost.iter().map(|lost| ("lost:", lost));
    for (name, said) in lost.chain(line.advice.iter().map(|advice| ("do:", advice))) {
        let (first, rest) = (format!("{:STATUS$}{name:<6}", ""), " ".repeat(STATUS + 6));
        push_wrapped(text, &first, &rest, &shown(said));
    }
}

fn push_wrapped(text: &mut String, first: &str, rest: &str, said: &str) {
    let options = textwrap::Options::new(WIDTH)
        .initial_indent(first)
        .subsequent_indent(rest)
        .break_words(false)
        .word_separator(textwrap::WordSeparator::AsciiSpace)
        .word_splitter(textwrap::WordSplitter::NoHyphenation);
    let _ = writeln!(text, "{}", textwrap::fill(said, options));
}
