use super::Context;
use crate::finding::{Finding, Severity};
use crate::sbpl::rule::Effect;

sb_rule! {
    /// An unfiltered rule behind filtered ones of the opposite effect.
    ///
    /// ## What it does
    ///
    /// Reports a rule without a filter that stands behind filtered rules for the same operation which say the
    /// opposite. Where it denies, it is only a note.
    ///
    /// ## Why it is bad
    ///
    /// A rule without a filter is a fallback: it decides where no filtered rule matches, wherever it stands. It
    /// overrides nothing. Who reads the last line as the last word reads the profile wrong.
    ///
    /// ## Example
    ///
    /// ```sbpl bad
    /// (version 1)
    /// (deny default)
    /// (deny network-outbound (subpath "/private/var/run"))
    /// (allow network-outbound)
    /// ```
    ///
    /// ```sbpl good
    /// (version 1)
    /// (deny default)
    /// (allow network-outbound)
    /// (deny network-outbound (subpath "/private/var/run"))
    /// ```
    ///
    /// ## What to do
    ///
    /// Put the fallback in front of the exceptions, where everybody reads it as one; to override a rule, remove it.
    name: "unfiltered-override",
    severity: Warning,
    check: check,
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let profile = context.profile;
    for (at, rule) in profile.rules.iter().enumerate().filter(|(_, rule)| rule.filters.is_empty()) {
        for operation in rule.operations.iter().filter(|operation| operation.parent().is_some()) {
            let earlier = profile.rules_for(*operation).iter().take_while(|earlier| **earlier < at);
            let against = earlier
                .filter_map(|earlier| profile.rules.get(*earlier))
                .find(|other| {
                    // Of two rules that hang on a condition, perhaps never both are there.
                    let may_meet = other.condition.is_none() || rule.condition.is_none();
                    may_meet && !other.filters.is_empty() && other.effect != rule.effect
                });
            let Some(against) = against else { continue };
            let name = operation.name();
            let mut finding = INFO
                .finding(format!("this rule for `{name}` has no filter, and overrides none that has one"))
                .at(rule.span, "only a fallback, wherever it stands")
                .at(against.span, "still decides where it matches")
                .help("put it before the filtered rules, where it reads as the fallback it is");
            if rule.effect == Effect::Deny {
                finding.severity = Severity::Note;
            }
            findings.push(finding);
            break;
        }
    }
}
