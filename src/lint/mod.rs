//! In: every stage's result. Out: findings. A check is one file in `rules/`: its documentation, its declaration, its code.
//!
//! To add one, write the file and put its name into the list in `rules/mod.rs`; everything else follows from there.

#[macro_use]
mod declare;
mod allowances;
mod catalogue;
mod edits;
mod explain;
mod language;
mod neighbours;
mod of_runs;
mod pages;
mod places;
pub mod rules;
#[cfg(test)]
mod testing;

pub use crate::finding::RuleInfo;
pub use allowances::UnusedAllowance;
pub use explain::{Description, describe, explain, rules_table};
pub use of_runs::STALE_BASELINE;
pub use pages::pages;

use crate::bind::Binding;
use crate::finding::{self, Finding};
use crate::host::Host;
use crate::plan::Plan;
use crate::policy::Policy;
use crate::source::Sources;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashMap};

/// What a check may look at.
pub struct Context<'a> {
    pub sources: &'a Sources,
    pub policy: &'a Policy,
    pub host: &'a dyn Host,
    pub binding: &'a Binding,
    pub plan: &'a Plan,
}

/// One check.
pub trait Check: Sync {
    fn info(&self) -> &'static RuleInfo;

    /// Looks at the profile and the machine.
    fn check(&self, _context: &Context<'_>, _findings: &mut Vec<Finding>) {}

    /// Looks at what the allowances left over, once every other check has run.
    fn check_allowances(
        &self,
        _context: &Context<'_>,
        _unused: &[UnusedAllowance<'_>],
        _findings: &mut Vec<Finding>,
    ) {
    }
}

/// Runs every check, applies the profile's allowances, and gives what is left, sorted by place.
pub fn run(context: &Context<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for rule in rules::ALL {
        rule.check(context, &mut findings);
    }
    let unused = allowances::apply(&context.policy.allowances, &mut findings);
    for rule in rules::ALL {
        rule.check_allowances(context, &unused, &mut findings);
    }
    finding::sort(&mut findings);
    bounded(findings)
}

/// How many findings of one rule a report holds.
pub const MAX_OF_ONE_RULE: usize = 100;

/// At most [`MAX_OF_ONE_RULE`] findings of each rule, sorted as they are, and then one that counts the rest, as severe as the worst of them.
fn bounded(findings: Vec<Finding>) -> Vec<Finding> {
    let mut counts: HashMap<&'static str, usize> = HashMap::new();
    let mut beyond: BTreeMap<&'static str, (usize, Finding)> = BTreeMap::new();
    let mut kept = Vec::new();
    for finding in findings {
        let count = counts.entry(finding.rule).or_default();
        *count += 1;
        if *count <= MAX_OF_ONE_RULE {
            kept.push(finding);
            continue;
        }
        match beyond.entry(finding.rule) {
            Entry::Vacant(entry) => {
                entry.insert((1, finding));
            }
            Entry::Occupied(mut entry) => {
                let (number, first) = entry.get_mut();
                *number += 1;
                first.severity = first.severity.max(finding.severity);
            }
        }
    }
    for (rule, (number, first)) in beyond {
        let mut rest = Finding::new(rule, first.severity, remainder(number, rule));
        if let Some(span) = first.span() {
            rest = rest.at(span, "the next one");
        }
        kept.push(rest.help("most of them are likely to have one cause: begin with the first"));
    }
    finding::sort(&mut kept);
    kept
}

fn remainder(number: usize, rule: &str) -> String {
    format!("{number} more findings of `{rule}` are not shown")
}

/// Whether a finding stands for others that nobody has seen.
pub fn is_remainder(finding: &Finding) -> bool {
    let number = finding.message.split(' ').next().and_then(|number| number.parse().ok());
    number.is_some_and(|number| finding.message == remainder(number, finding.rule))
}

/// The names of every check, in the order of the registry.
pub fn names() -> Vec<&'static str> {
    rules::ALL.iter().map(|rule| rule.info().name).collect()
}

/// Every rule there is: those of `check`, then those of `sb check`.
pub fn infos() -> impl Iterator<Item = &'static RuleInfo> {
    infos_of_check().chain(crate::sbpl::lint::ALL.iter().map(|rule| rule.info()))
}

/// Every rule of `check`: those about a profile, then those about a whole run.
pub fn infos_of_check() -> impl Iterator<Item = &'static RuleInfo> {
    rules::ALL.iter().map(|rule| rule.info()).chain(of_runs::ALL)
}

/// The names of findings that come from no check.
pub fn language_names() -> impl Iterator<Item = &'static str> {
    language::ENTRIES.iter().map(|entry| entry.name)
}

/// The rule of that name.
pub fn find_rule(name: &str) -> Option<&'static RuleInfo> {
    infos().find(|info| info.name == name)
}

/// The rule whose name is most like `name`, where one is like it at all.
pub fn nearest_rule(name: &str) -> Option<&'static str> {
    crate::syntax::nearest(name, infos().map(|info| info.name))
}

/// Of everything that [`explain`] knows, the name that is most like `name`.
pub fn nearest_name(name: &str) -> Option<&'static str> {
    let names = infos().map(|info| info.name).chain(language::ENTRIES.iter().map(|entry| entry.name));
    crate::syntax::nearest(name, names)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::Severity;

    #[test]
    fn of_one_rule_so_many_are_shown_and_the_rest_counted() {
        let mut sources = Sources::new();
        let id = sources.add("x", None, "x".repeat(1000));
        let finding = |rule, severity, at: usize| {
            Finding::new(rule, severity, "m").at(crate::source::Span::new(id, at..at + 1), "")
        };
        let many = |count: usize| -> Vec<Finding> {
            let mut findings: Vec<_> = (0..count).map(|at| finding("a", Severity::Warning, at)).collect();
            findings.push(finding("b", Severity::Note, 999));
            findings
        };
        assert_eq!(bounded(many(MAX_OF_ONE_RULE)), many(MAX_OF_ONE_RULE));
        let mut findings = many(MAX_OF_ONE_RULE + 2);
        findings[MAX_OF_ONE_RULE + 1].severity = Severity::Error;
        let left = bounded(findings);
        assert_eq!(left.len(), MAX_OF_ONE_RULE + 2);
        let rest = &left[MAX_OF_ONE_RULE];
        assert_eq!(
            (rest.message.as_str(), rest.severity),
            ("2 more findings of `a` are not shown", Severity::Error)
        );
        assert_eq!(left.iter().filter(|finding| is_remainder(finding)).count(), 1);
        assert!(is_remainder(rest));
        assert_eq!(left[MAX_OF_ONE_RULE + 1].rule, "b");
    }

    #[test]
    fn a_mistyped_rule_has_a_nearest_one_and_nonsense_has_none() {
        assert_eq!(nearest_rule("brod-root"), Some("broad-root"));
        assert_eq!(nearest_rule("hard-linked-denail"), Some("hard-linked-denial"));
        assert_eq!(nearest_rule("xyzzy"), None);
        assert_eq!(nearest_rule(""), None);
    }
}
