//! Workflow commands of GitHub Actions, one a finding, which GitHub shows at the lines of a pull request:
//! `::error file=…,line=…,endLine=…,col=…,endColumn=…,title=…::message`.

use super::origin::Origin;
use super::position::{Unit, region};
use super::run::{Found, Problem, ProblemKind, Run};
use super::terminal::{escape, is_hidden, shown};
use crate::finding::Severity;
use crate::source::Span;

/// A line for each finding, and one for each input that could not be read. Notes are annotations too where `notes` says so: GitHub shows ten
/// of a kind for each step.
pub fn run(run: &Run, notes: bool) -> String {
    let problems = run.problems.iter().map(|it| problem(run, it));
    let findings = run.findings.iter().filter(|found| notes || found.finding.severity > Severity::Note);
    problems.chain(findings.map(|found| finding(run, found))).collect()
}

fn problem(run: &Run, problem: &Problem) -> String {
    let mut properties = Vec::new();
    if problem.kind == ProblemKind::Profile || problem.span().is_some() {
        properties.extend(problem.origin.as_ref().and_then(file));
    }
    properties.extend(problem.span().into_iter().flat_map(|span| lines(run, span)));
    properties.push(("title", "unreadable input".to_owned()));
    let help = problem.help.as_deref().map(|help| format!("\nhelp: {}", shown(help))).unwrap_or_default();
    command("error", &properties, &format!("{}{help}", shown(&problem.message)))
}

fn finding(run: &Run, found: &Found) -> String {
    let finding = &found.finding;
    let mut properties = Vec::new();
    let mut message = vec![shown(&finding.message).into_owned()];
    let profile = run.profiles_of(found).first().copied();
    match finding.span() {
        Some(span) if run.origin(span.file).is_file() => {
            properties.extend(file(run.origin(span.file)));
            properties.extend(lines(run, span));
        }
        Some(span) => {
            // Nobody can open that text, so the annotation stands at the profile that uses it.
            properties.extend(profile.and_then(|profile| file(run.origin(profile))));
            message.push(format!("in {}", shown(&run.sources.place(span))));
        }
        None => properties.extend(profile.and_then(|profile| file(run.origin(profile)))),
    }
    properties.push(("title", finding.rule.to_owned()));
    let label = finding.labels.first().map(|label| label.text.as_str()).filter(|text| !text.is_empty());
    message.extend(label.map(|text| shown(text).into_owned()));
    for other in finding.labels.iter().skip(1) {
        message.push(format!("{}: {}", shown(&run.sources.place(other.span)), shown(&other.text)));
    }
    message.extend(finding.help.as_deref().map(|help| format!("help: {}", shown(help))));
    let hosts = run.only_on(found);
    if !hosts.is_empty() {
        message.push(format!("only on {}", shown(&hosts.join(", "))));
    }
    let kind = match finding.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "notice",
    };
    command(kind, &properties, &message.join("\n"))
}

fn file(origin: &Origin) -> Option<(&'static str, String)> {
    origin.path().map(|path| ("file", path.to_string_lossy().into_owned()))
}

/// Columns count characters, and stand only where one line is meant: GitHub takes them for no other.
fn lines(run: &Run, span: Span) -> Vec<(&'static str, String)> {
    let region = region(&run.sources, span, Unit::Characters);
    // A region that ends where a line begins ends on the line before.
    let ends_before = region.end.column == 1 && region.end.line > region.start.line;
    let last = if ends_before { region.end.line - 1 } else { region.end.line };
    let mut lines = vec![("line", region.start.line.to_string()), ("endLine", last.to_string())];
    if region.start.line == region.end.line {
        lines.push(("col", region.start.column.to_string()));
        lines.push(("endColumn", region.end.column.to_string()));
    }
    lines
}

fn command(kind: &str, properties: &[(&str, String)], message: &str) -> String {
    let properties: Vec<String> =
        properties.iter().map(|(name, value)| format!("{name}={}", property(value))).collect();
    format!("::{kind} {}::{}\n", properties.join(","), data(message))
}

/// What the runner gives back unchanged as the message of a command (`ActionCommand` of actions/runner), but for characters that would act on a log.
fn data(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '%' => escaped.push_str("%25"),
            '\r' => escaped.push_str("%0D"),
            '\n' => escaped.push_str("%0A"),
            _ if is_hidden(character) => escaped.push_str(&escape(character)),
            _ => escaped.push(character),
        }
    }
    escaped
}

/// The same for the value of a property, where `:` and `,` mean something too.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// As the runner reads a line: name, properties, message.
    fn read(line: &str) -> (String, Vec<(String, String)>, String) {
        let decoded = |text: &str| {
            let text = text.replace("%0D", "\r").replace("%0A", "\n");
            text.replace("%3A", ":").replace("%2C", ",").replace("%25", "%")
        };
        let (head, message) = line.strip_prefix("::").unwrap().split_once("::").unwrap();
        let (name, properties) = head.split_once(' ').unwrap();
        let properties = properties.split(',').map(|pair| {
            let (name, value) = pair.split_once('=').unwrap();
            (name.to_owned(), decoded(value))
        });
        let message = message.strip_suffix('\n').unwrap();
        let message = message.replace("%0D", "\r").replace("%0A", "\n").replace("%25", "%");
        (name.to_owned(), properties.collect(), message)
    }

    proptest! {
        /// Whatever stands in a name or a message, it is one line, one command, and what the runner reads out of it is what was put in.
        #[test]
        fn a_command_is_one_line_and_leads_back(
            file in "([ -~é😀]|\n|\r|::|%0A|,|\u{1b}|\u{202e}){1,30}",
            message in "([ -~é😀]|\n|\r|::|%25|\u{7}){0,30}",
        ) {
            let line = command("error", &[("file", file.clone()), ("title", "x".into())], &message);
            prop_assert_eq!(line.matches('\n').count(), 1);
            prop_assert!(!line.trim_end_matches('\n').contains(char::is_control), "{}", line);
            let written_out = |text: &str| -> String {
                let hidden = |c: char| is_hidden(c) && c != '\n' && c != '\r';
                text.chars().map(|c| if hidden(c) { escape(c) } else { c.to_string() }).collect()
            };
            let (name, properties, read_message) = read(&line);
            prop_assert_eq!(name, "error");
            prop_assert_eq!(properties, vec![
                ("file".to_owned(), written_out(&file)),
                ("title".to_owned(), "x".to_owned()),
            ]);
            prop_assert_eq!(read_message, written_out(&message));
        }
    }
}
