use super::Context;
use crate::finding::{Finding, Severity};
use crate::sbpl::rule::Effect;
use crate::sbpl::{Operation, Profile};

sb_rule! {
    /// An unfiltered rule behind filtered ones of the opposite effect.
    ///
    /// ## What it does
    ///
    /// Reports a rule without a filter that stands behind filtered rules for the same operation, or for one below it,
    /// which say the opposite. Where it denies, it is only a note.
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
    confidence: Certain,
    fix: None,
    check: check,
}

/// The first filtered rule of one effect for an operation, whether it hangs on a condition or not.
#[derive(Clone, Copy, Default)]
struct First {
    any: Option<usize>,
    unconditional: Option<usize>,
}

fn firsts(profile: &Profile, effect: Effect) -> Vec<First> {
    let mut firsts = vec![First::default(); Operation::COUNT];
    for operation in Operation::all() {
        let rules = profile.rules_for(operation).iter().filter_map(|at| Some((*at, profile.rules.get(*at)?)));
        let filtered = rules.filter(|(_, rule)| rule.effect == effect && !rule.filters.is_empty());
        let Some(first) = firsts.get_mut(operation.index()) else { continue };
        for (at, rule) in filtered {
            first.any.get_or_insert(at);
            if rule.condition.is_none() {
                first.unconditional.get_or_insert(at);
                break;
            }
        }
    }
    firsts
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let profile = context.profile;
    let (allowed, denied) = (firsts(profile, Effect::Allow), firsts(profile, Effect::Deny));
    for (at, rule) in profile.rules.iter().enumerate().filter(|(_, rule)| rule.filters.is_empty()) {
        let against = if rule.effect == Effect::Allow { &denied } else { &allowed };
        for operation in rule.operations.iter() {
            let reached = Operation::all().filter(|below| below == operation || below.is_below(*operation));
            let first = reached.filter_map(|below| {
                let first = against.get(below.index())?;
                // Of two rules that hang on a condition, perhaps never both are there.
                let first = if rule.condition.is_none() { first.any } else { first.unconditional };
                first.filter(|first| *first < at)
            });
            let Some(other) = first.min().and_then(|first| profile.rules.get(first)) else { continue };
            let name = operation.name();
            let mut finding = INFO
                .finding(format!("this rule for `{name}` has no filter, and overrides none that has one"))
                .at(rule.span, "only a fallback, wherever it stands")
                .at(other.span, "still decides where it matches")
                .help("put it before the filtered rules, where it reads as the fallback it is");
            if rule.effect == Effect::Deny {
                finding.severity = Severity::Note;
            }
            findings.push(finding);
            break;
        }
    }
}
