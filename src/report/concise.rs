//! One line a finding: `path:line:column: severity[rule] message`, as editors and `grep` read it.

use super::terminal::shown;
use crate::finding::Finding;
use crate::source::Sources;

/// Every finding on a line of its own, in the order given. `subject` names the profile where a finding has no place.
pub fn render(sources: &Sources, findings: &[Finding], subject: &str) -> String {
    let mut text = String::new();
    for finding in findings {
        let place = match finding.span() {
            Some(span) => {
                let at = sources.line_column(span);
                format!("{}:{}:{}", shown(&sources.file(span.file).name), at.line, at.column)
            }
            None => shown(subject).into_owned(),
        };
        let (severity, rule, message) = (finding.severity.name(), finding.rule, shown(&finding.message));
        text.push_str(&format!("{place}: {severity}[{rule}] {message}\n"));
    }
    text
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
}
