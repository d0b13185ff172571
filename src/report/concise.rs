//! One line a finding: `path:line:column: severity[rule] message`, as editors and `grep` read it.

use super::run::{Found, Run};
use super::terminal::shown;
use crate::finding::Finding;
use crate::source::Sources;

/// Every finding of a run on a line of its own.
pub fn run(run: &Run) -> String {
    let line = |found: &Found| {
        let profile = run.profiles_of(found).first().map(|profile| run.name(*profile)).unwrap_or_default();
        let hosts = run.only_on(found);
        let aside = if hosts.is_empty() { String::new() } else { format!(" (only on {})", hosts.join(", ")) };
        line(&run.sources, &found.finding, profile, &aside)
    };
    run.findings.iter().map(line).collect()
}

/// Every finding on a line of its own, in the order given. `subject` names the profile where a finding has no place.
pub fn render(sources: &Sources, findings: &[Finding], subject: &str) -> String {
    findings.iter().map(|finding| line(sources, finding, subject, "")).collect()
}

/// `aside` is said behind the message.
fn line(sources: &Sources, finding: &Finding, subject: &str, aside: &str) -> String {
    let place = match finding.span() {
        Some(span) => {
            let at = sources.line_column(span);
            format!("{}:{}:{}", file(&sources.file(span.file).name), at.line, at.column)
        }
        None => file(subject),
    };
    let (severity, rule, message) = (finding.severity.name(), finding.rule, shown(&finding.message));
    format!("{place}: {severity}[{rule}] {message}{}\n", shown(aside))
}

/// A file's name as it can begin a line: with `::` or `##` in front a build log would take the line for a command, so such a name is written with the
/// directory that it is in.
fn file(name: &str) -> String {
    let name = shown(name);
    let looks_like_a_command = name.trim_start().starts_with([':', '#']);
    if looks_like_a_command { format!("./{name}") } else { name.into_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::Severity;
    use crate::source::Span;

    #[test]
    fn one_line_a_finding_whatever_is_in_it() {
        let mut sources = Sources::new();
        let id = sources.add("a\nb.palisade", None, "one\n  two\n");
        let findings = [
            Finding::new("broad-root", Severity::Warning, "`x\ny` is broad").at(Span::new(id, 6..9), "here"),
            Finding::new("missing-tool", Severity::Error, "no shell"),
        ];
        assert_eq!(
            render(&sources, &findings, "p.palisade"),
            "a\\nb.palisade:2:3: warning[broad-root] `x\\ny` is broad\np.palisade: error[missing-tool] no shell\n"
        );
    }

    #[test]
    fn no_name_of_a_file_is_a_command_of_a_build_log() {
        let mut sources = Sources::new();
        let id = sources.add("::add-mask::x.palisade", None, "x");
        let finding = [Finding::new("r", Severity::Error, "m").at(Span::new(id, 0..1), "")];
        assert_eq!(render(&sources, &finding, ""), "./::add-mask::x.palisade:1:1: error[r] m\n");
        assert_eq!(
            render(&sources, &[Finding::new("r", Severity::Error, "m")], " ##[x]"),
            "./ ##[x]: error[r] m\n"
        );
    }
}
