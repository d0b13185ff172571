use super::{Context, stopped, witness};
use crate::finding::Finding;
use crate::sbpl::decide::{Match, match_rule};
use crate::sbpl::rule::{Effect, Rule as SbRule};
use crate::sbpl::{Engine, Operation, Verdict};

sb_rule! {
    /// An allowance that a later denial of a wider operation does not take back.
    ///
    /// ## What it does
    ///
    /// Reports every `allow` on an operation for which a later `deny` on a wildcard above it, matching the same
    /// subject, changes nothing.
    ///
    /// ## Why it is bad
    ///
    /// Rules are looked up operation by operation: those written for exactly the operation asked decide before
    /// those of its wildcard, whatever their order and however precise their paths. The denial reads as if it
    /// held, and it does not.
    ///
    /// ## Example
    ///
    /// ```sbpl bad
    /// (version 1)
    /// (deny default)
    /// (allow file-read-data (subpath "/"))
    /// (deny file-read* (literal "/Users/dev/.env"))
    /// ```
    ///
    /// ```sbpl good
    /// (version 1)
    /// (deny default)
    /// (allow file-read-data (subpath "/"))
    /// (deny file-read* file-read-data (literal "/Users/dev/.env"))
    /// ```
    ///
    /// ## What to do
    ///
    /// Name the operation itself in the denial, beside the wildcard.
    name: "leaf-beats-wildcard",
    severity: Error,
    confidence: Certain,
    fix: None,
    check: check,
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let profile = context.assumed;
    if !context.understood {
        return;
    }
    let mut left = context.decisions();
    for (at, denial) in profile.rules.iter().enumerate().filter(|(_, rule)| rule.effect == Effect::Deny) {
        let wide = denial.operations.iter().filter(|operation| operation.parent().is_some() && !operation.is_leaf());
        for (wide, below) in wide.flat_map(|wide| {
            Operation::all().filter(|below| below.is_below(*wide)).map(move |below| (*wide, below))
        }) {
            for &earlier in profile.rules_for(below).iter().take_while(|earlier| **earlier < at) {
                let Some(allowance) = profile.rules.get(earlier).filter(|rule| rule.effect == Effect::Allow) else {
                    continue;
                };
                let subjects = witness::subjects(denial, allowance, profile.case);
                let Some(rest) = left.checked_sub(2 * subjects.len() + 1) else {
                    return findings.push(stopped(&INFO));
                };
                left = rest;
                let holds = subjects.into_iter().any(|subject| {
                    match_rule(denial, &subject, profile.case) == Match::Yes
                        && profile.decide(below, &subject, Engine::PerOperation).rule() == Some(earlier)
                        && profile.decide(below, &subject, Engine::LastMatch).verdict == Verdict::Deny
                });
                if holds {
                    findings.push(finding(denial, allowance, wide, below));
                }
            }
        }
    }
}

fn finding(denial: &SbRule, allowance: &SbRule, wide: Operation, below: Operation) -> Finding {
    let (wide, below) = (wide.name(), below.name());
    INFO.finding(format!("`{below}` stays allowed: a denial of `{wide}` does not take it back"))
        .at(denial.span, format!("denies `{wide}`"))
        .at(allowance.span, format!("allows `{below}`, and decides"))
        .help(format!("name the operation in the denial: `(deny {wide} {below} …)`"))
}
