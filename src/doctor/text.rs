//! The report for people: a table of 80 columns, and the verdict below.

use super::report::{Line, Report, Status};
use crate::report::shown;
use std::fmt::Write as _;

const WIDTH: usize = 80;
/// Where the third column begins.
const INDENT: usize = 29;

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
    let first = format!("{:<19} {:<8} ", about.title, line.status.name());
    let indent = " ".repeat(INDENT);
    push_wrapped(text, &first, &indent, &shown(&line.seen));
    for lost in &line.lost {
        push_wrapped(text, &format!("{indent}lost: "), &format!("{indent}      "), &shown(lost));
    }
    if let Some(advice) = &line.advice
        && line.status != Status::Ok
    {
        push_wrapped(text, &format!("{indent}do:   "), &format!("{indent}      "), &shown(advice));
    }
}

fn push_wrapped(text: &mut String, first: &str, rest: &str, said: &str) {
    let options = textwrap::Options::new(WIDTH)
        .initial_indent(first)
        .subsequent_indent(rest)
        .break_words(false)
        .word_splitter(textwrap::WordSplitter::NoHyphenation);
    let _ = writeln!(text, "{}", textwrap::fill(said, options));
}
