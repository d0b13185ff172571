use super::Context;
use crate::finding::{Finding, Severity};
use crate::sbpl::rule::Test;
use crate::syntax::shown;

sb_rule! {
    /// An expression whose meaning is not known.
    ///
    /// ## What it does
    ///
    /// Reports expressions that use what the dialect does not have, or what nobody has published to work. Where the
    /// system is known to refuse it, it is an error.
    ///
    /// ## Why it is bad
    ///
    /// The dialect is close to POSIX's extended one, with anchors at the two ends only. What comes from other dialects
    /// fails the whole profile or matches something else; here nothing is decided by it.
    ///
    /// ## Example
    ///
    /// ```sbpl bad
    /// (version 1)
    /// (deny default)
    /// (deny file-read* (regex #"(?i)\.pem$"))
    /// ```
    ///
    /// ```sbpl bad
    /// (version 1)
    /// (deny default)
    /// (allow file-read* (literal "/") (regex #"^/opt/\d+$"))
    /// ```
    ///
    /// ```sbpl good
    /// (version 1)
    /// (deny default)
    /// (allow file-read* (literal "/") (regex #"^/opt/[0-9]+$"))
    /// ```
    ///
    /// ## What to do
    ///
    /// Write it with classes, groups and `* + ?` alone.
    name: "unverified-regex",
    severity: Warning,
    confidence: Possible,
    fix: None,
    check: check,
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for filter in context.profile.rules.iter().flat_map(|rule| rule.filters.iter()) {
        filter.walk(false, &mut |filter, _| {
            let Test::Regex { pattern, .. } = &filter.test else { return };
            let Some(obstacle) = pattern.obstacle() else { return };
            let part = pattern.text.bytes().and_then(|bytes| bytes.get(obstacle.range.clone())).unwrap_or_default();
            let part = shown(&String::from_utf8_lossy(part));
            let message = match (obstacle.refused, part.is_empty()) {
                (true, _) => format!("the system refuses `{part}` in this expression: {}", obstacle.what),
                (false, true) => format!("what this expression matches is not known: {}", obstacle.what),
                (false, false) => {
                    format!("what `{part}` matches in this expression is not known: {}", obstacle.what)
                }
            };
            let mut finding = INFO
                .finding(message)
                .at(filter.span, "nothing is decided by it here")
                .help("write it with classes, groups and `* + ?` alone");
            if obstacle.refused {
                finding.severity = Severity::Error;
            }
            findings.push(finding);
        });
    }
}
