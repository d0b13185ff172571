use super::Context;
use crate::finding::{Finding, Severity};
use crate::sbpl::rule::Test;

sb_rule! {
    /// A rule with more paths than is safe.
    ///
    /// ## What it does
    ///
    /// Reports rules whose paths and expressions have more than 16 KiB together. Above 65,535 bytes it is an error.
    ///
    /// ## Why it is bad
    ///
    /// The paths of one rule are compiled into one pattern of at most 65,535 bytes; a longer one makes the whole
    /// profile fail. How much a path takes in it is not published, so a quarter is kept to.
    ///
    /// ## Example
    ///
    /// ```sbpl bad
    /// (version 1)
    /// (deny default)
    /// (define (d x) (string-append x x x x x x x x x x x x x x x x x x x x))
    /// (allow file-read* (literal "/") (subpath (d (d (d "/ab")))))
    /// ```
    ///
    /// ```sbpl good
    /// (version 1)
    /// (deny default)
    /// (allow file-read* (literal "/") (subpath "/usr/lib"))
    /// (allow file-read* (subpath "/usr/share"))
    /// ```
    ///
    /// ## What to do
    ///
    /// Write several rules of the same effect and operations: together they mean the same.
    name: "oversized-rule",
    severity: Warning,
    confidence: Certain,
    fix: None,
    check: check,
}

/// Bytes of text in one rule (the size at which a fix in the field splits rules), and where profiles are known to fail.
const SAFE: usize = 16 << 10;
const FATAL: usize = 65_535;

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for rule in &context.profile.rules {
        let mut bytes = 0;
        for filter in rule.filters.iter() {
            filter.walk(false, &mut |filter, _| match &filter.test {
                Test::Text { value, .. } => bytes += value.len(),
                Test::Regex { pattern, .. } => bytes += pattern.text.len(),
                _ => {}
            });
        }
        if bytes <= SAFE {
            continue;
        }
        let mut finding = INFO
            .finding(format!("the paths of this rule have {bytes} bytes together, and {SAFE} are known to be safe"))
            .at(rule.span, "compiled into one pattern of at most 65535 bytes")
            .help("write several rules of the same effect and operations");
        if bytes > FATAL {
            finding.severity = Severity::Error;
        }
        findings.push(finding);
    }
}
