use super::Context;
use crate::finding::Finding;
use crate::sbpl::rule::Test;

sb_rule! {
    /// A filter on something the operation does not have.
    ///
    /// ## What it does
    ///
    /// Reports filters that, by the published tables, do not apply to an operation of their rule.
    ///
    /// ## Why it is bad
    ///
    /// Depending on the release, the profile fails or the rule never matches. Either way it does not say what it seems
    /// to.
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
    check: check,
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for rule in &context.profile.rules {
        for filter in rule.filters.iter() {
            filter.walk(false, &mut |filter, _| {
                let attribute = match &filter.test {
                    Test::Text { attribute, .. }
                    | Test::Regex { attribute, .. }
                    | Test::Word { attribute, .. }
                    | Test::Number { attribute, .. }
                    | Test::Network { attribute, .. } => attribute,
                    Test::Opaque { .. } | Test::All(_) | Test::Any(_) | Test::Not(_) => return,
                };
                // A wildcard stands for all below it; for `default` that is everything.
                let unfit = rule.operations.iter().find(|operation| {
                    operation.is_leaf()
                        && operation.filters().is_some_and(|kinds| !attribute.kind.is_empty() && !kinds.contains(&attribute.kind))
                });
                if let Some(operation) = unfit {
                    findings.push(
                        INFO.finding(format!("`{}` has no `{}` to compare", operation.name(), attribute.name))
                            .at(filter.span, "does not apply")
                            .help("use a filter on what the operation works on"),
                    );
                }
            });
        }
    }
}
