//! Allowances: comments that allow a finding at one statement.

use super::find_rule;
use crate::finding::{Finding, Severity};
use crate::policy::Allowance;
use crate::source::{FileId, Spanned};
use std::collections::BTreeMap;

/// A rule named in an allowance that had nothing to allow there.
#[derive(Debug, Clone, Copy)]
pub struct UnusedAllowance<'a> {
    pub allowance: &'a Allowance,
    pub rule: &'a Spanned<String>,
}

/// Whether an allowance may allow anything at all: one without a reason may not.
pub fn has_reason(allowance: &Allowance) -> bool {
    allowance.reason.chars().any(char::is_alphanumeric)
}

/// Takes out the findings that are allowed where they stand, and gives the allowances that allowed nothing.
///
/// Allowances that cannot work (no reason, an unknown rule, one that cannot be allowed) are not among the unused:
/// they have rules of their own.
pub fn apply<'a>(allowances: &'a [Allowance], findings: &mut Vec<Finding>) -> Vec<UnusedAllowance<'a>> {
    let mut by_place: BTreeMap<(&'static str, FileId, u32), Vec<usize>> = BTreeMap::new();
    for (at, finding) in findings.iter().enumerate() {
        if let Some(span) = finding.span() {
            by_place.entry((finding.rule, span.file, span.start)).or_default().push(at);
        }
    }
    let mut allowed = vec![false; findings.len()];
    let errors: Vec<usize> = (0..findings.len())
        .filter(|&at| findings.get(at).is_some_and(|it| it.severity == Severity::Error))
        .collect();
    let mut unused = Vec::new();
    for allowance in allowances.iter().filter(|allowance| has_reason(allowance)) {
        for rule in &allowance.rules {
            let Some(info) = find_rule(&rule.value).filter(|info| info.allowable) else { continue };
            let reach = allowance.reach;
            let here = (info.name, reach.file, reach.start)..=(info.name, reach.file, reach.end);
            let mut used = false;
            for &at in by_place.range(here).flat_map(|(_, at)| at) {
                if findings.get(at).is_some_and(|finding| stands_at(finding, allowance)) && !allowed[at] {
                    (allowed[at], used) = (true, true);
                }
            }
            // What else would be found at a statement with an error is not known.
            let is_broken =
                || errors.iter().any(|&at| findings.get(at).is_some_and(|it| stands_at(it, allowance)));
            if !used && !is_broken() {
                unused.push(UnusedAllowance { allowance, rule });
            }
        }
    }
    let mut allowed = allowed.into_iter();
    findings.retain(|_| !allowed.next().unwrap_or_default());
    unused
}

/// Whether a finding is about the statement of an allowance, and begins where that reaches.
fn stands_at(finding: &Finding, allowance: &Allowance) -> bool {
    let Allowance { statement, reach, .. } = allowance;
    finding.span().is_some_and(|span| {
        span.file == statement.file
            && reach.start <= span.start
            && (span.start < reach.end || span.start == reach.start)
            && span.end <= statement.end
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::{Sources, Span};

    fn setting() -> (Span, Span, Span) {
        let mut sources = Sources::new();
        let id = sources.add("x", None, "# palisade: allow(broad-root) why\nroot a\nroot b\n");
        (Span::new(id, 0..33), Span::new(id, 34..40), Span::new(id, 41..47))
    }

    fn allowance(rule: &str, reason: &str) -> Allowance {
        let (comment, statement, _) = setting();
        Allowance {
            rules: vec![Spanned::new(rule.to_owned(), comment)],
            reason: reason.to_owned(),
            span: comment,
            statement,
            reach: statement,
        }
    }

    fn left(allowance: &Allowance, rule: &'static str, span: Span) -> (usize, usize) {
        let mut findings = vec![Finding::new(rule, Severity::Warning, "m").at(span, "")];
        let unused = apply(std::slice::from_ref(allowance), &mut findings).len();
        (findings.len(), unused)
    }

    #[test]
    fn takes_out_what_it_names_at_its_statement_only() {
        let (_, here, there) = setting();
        assert_eq!(left(&allowance("broad-root", "public tree"), "broad-root", here), (0, 0));
        assert_eq!(left(&allowance("broad-root", "public tree"), "broad-root", there), (1, 1));
        assert_eq!(left(&allowance("broad-root", "public tree"), "redundant-root", here), (1, 1));
    }

    #[test]
    fn an_allowance_at_a_statement_with_an_error_is_not_called_unused() {
        let (_, here, there) = setting();
        for (span, expected) in [(here, 0), (there, 1)] {
            let mut findings = vec![Finding::new("unsound-seatbelt-rule", Severity::Error, "m").at(span, "")];
            assert_eq!(apply(&[allowance("broad-root", "public tree")], &mut findings).len(), expected);
            assert_eq!(findings.len(), 1);
        }
    }

    #[test]
    fn allows_nothing_without_a_reason_or_against_a_rule_that_cannot_be_allowed() {
        let (_, here, _) = setting();
        assert_eq!(left(&allowance("broad-root", " - "), "broad-root", here), (1, 0));
        assert_eq!(left(&allowance("missing-root", "made later"), "missing-root", here), (1, 0));
        assert_eq!(left(&allowance("no-such-rule", "why"), "broad-root", here), (1, 0));
    }
}
