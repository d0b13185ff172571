use super::Context;
use crate::finding::{Finding, Severity};
use crate::sbpl::rule::{Effect, Test};

sb_rule! {
    /// A filter on something the operation does not have.
    ///
    /// ## What it does
    ///
    /// Reports filters that, by the published tables, do not apply to an operation of their rule, nor to any below it.
    /// Where such a filter is to keep something out, it is an error.
    ///
    /// ## Why it is bad
    ///
    /// One filter that the system does not take fails the whole profile, and nothing runs; on a release that takes it, the
    /// rule never matches. The tables are those of 10.15 and 14.4.1: a newer release may know more, which is why an
    /// allowance is only warned of.
    ///
    /// ## Example
    ///
    /// ```sbpl bad
    /// (version 1)
    /// (deny default)
    /// (allow mach-lookup (subpath "/usr/lib"))
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
    /// Use a filter on what the operation works on, or name another operation.
    name: "inapplicable-filter",
    severity: Warning,
    confidence: Certain,
    fix: None,
    check: check,
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for rule in &context.profile.rules {
        for filter in rule.filters.iter() {
            filter.walk(false, &mut |filter, negated| {
                let attribute = match &filter.test {
                    Test::Text { attribute, .. }
                    | Test::Regex { attribute, .. }
                    | Test::Word { attribute, .. }
                    | Test::Number { attribute, .. }
                    | Test::Network { attribute, .. } => attribute,
                    Test::Opaque { .. } | Test::All(_) | Test::Any(_) | Test::Not(_) => return,
                };
                // A wildcard takes what anything below it takes.
                let unfit = rule.operations.iter().find(|operation| operation.takes(attribute.kind) == Some(false));
                let Some(operation) = unfit else { return };
                let mut finding = INFO
                    .finding(format!("`{}` has no `{}` to compare", operation.name(), attribute.name))
                    .at(filter.span, "does not apply")
                    .help("use a filter on what the operation works on");
                if (rule.effect == Effect::Deny) != negated {
                    finding.severity = Severity::Error;
                }
                findings.push(finding);
            });
        }
    }
}
