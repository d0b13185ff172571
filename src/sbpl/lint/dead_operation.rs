use super::Context;
use crate::finding::Finding;
use crate::source::Span;
use crate::syntax::shown;

sb_rule! {
    /// An operation that is none any more.
    ///
    /// ## What it does
    ///
    /// Reports names of operations that the library still takes and that do nothing.
    ///
    /// ## Why it is bad
    ///
    /// A rule for such an operation grants and denies nothing. What it was written for goes by another name now.
    ///
    /// ## Example
    ///
    /// ```sbpl bad
    /// (version 1)
    /// (deny default)
    /// (allow mach-per-user-lookup)
    /// ```
    ///
    /// ```sbpl good
    /// (version 1)
    /// (deny default)
    /// (allow mach-lookup (global-name "com.apple.trustd"))
    /// ```
    ///
    /// ## What to do
    ///
    /// Remove it; name the operation that took its place, where there is one.
    name: "dead-operation",
    severity: Warning,
    confidence: Certain,
    fix: None,
    check: check,
}

/// The finding about one name. The evaluator makes it, because the rule leaves no trace in the profile.
pub fn finding(name: &str, span: Span) -> Finding {
    INFO.finding(format!("`{}` is no operation any more, and does nothing", shown(name)))
        .at(span, "accepted and ignored")
        .help("remove it")
}

/// The evaluator has told of them all.
fn check(_context: &Context<'_>, _findings: &mut Vec<Finding>) {}
