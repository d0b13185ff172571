use super::{Context, witness};
use crate::finding::{Finding, Severity};
use crate::sbpl::vocabulary::Form;

sb_rule! {
    /// A program that is let out of the sandbox.
    ///
    /// ## What it does
    ///
    /// Reports allowances with the modifier `no-sandbox` (or `no-profile`).
    ///
    /// ## Why it is bad
    ///
    /// What is started so runs without any of these rules, and so does all that it starts. It is an error where the
    /// rule does not name single programs.
    ///
    /// ## Example
    ///
    /// ```sbpl bad
    /// (version 1)
    /// (deny default)
    /// (allow process-exec (literal "/bin/ps") (with no-sandbox))
    /// ```
    ///
    /// ```sbpl good
    /// (version 1)
    /// (deny default)
    /// (allow process-exec (literal "/bin/ls"))
    /// ```
    ///
    /// ## What to do
    ///
    /// Leave the modifier out. Where a program with the set-user-id bit needs it (`/bin/ps`), name that program alone.
    name: "no-sandbox",
    severity: Warning,
    confidence: Certain,
    fix: None,
    check: check,
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for rule in context.profile.rules.iter().filter(|rule| rule.has_modifier("no-sandbox")) {
        let mut single = !rule.filters.is_empty();
        for filter in rule.filters.iter() {
            filter.walk(false, &mut |filter, negated| {
                single &= !negated && matches!(witness::path_of(filter), Some((Form::Whole, _)));
            });
        }
        let message = if single { "this program runs outside of the sandbox" } else { "whatever matches here runs outside of the sandbox" };
        let mut finding = INFO
            .finding(message)
            .at(rule.span, "none of the rules holds for it, nor for what it starts")
            .help("leave `no-sandbox` out, or name single programs that cannot be made to run others");
        if !single {
            finding.severity = Severity::Error;
        }
        findings.push(finding);
    }
}
