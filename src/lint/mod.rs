//! In: every stage's result. Out: findings. A check is one file in `rules/`: its documentation, its declaration, its code.
//!
//! To add one, write the file and put its name into the list in `rules/mod.rs`; everything else follows from there.

#[macro_use]
mod declare;
mod allowances;
mod explain;
mod places;
pub mod rules;
#[cfg(test)]
mod testing;

pub use crate::finding::RuleInfo;
pub use allowances::UnusedAllowance;
pub use explain::{explain, rules_table};

use crate::bind::Binding;
use crate::finding::{self, Finding};
use crate::host::Host;
use crate::plan::Plan;
use crate::policy::Policy;
use crate::source::Sources;

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
    findings
}

/// The names of every check, in the order of the registry.
pub fn names() -> Vec<&'static str> {
    rules::ALL.iter().map(|rule| rule.info().name).collect()
}

/// Every rule there is: those of `check`, then those of `sb check`.
pub fn infos() -> impl Iterator<Item = &'static RuleInfo> {
    rules::ALL.iter().map(|rule| rule.info()).chain(crate::sbpl::lint::ALL.iter().map(|rule| rule.info()))
}

/// The rule of that name.
pub fn find_rule(name: &str) -> Option<&'static RuleInfo> {
    infos().find(|info| info.name == name)
}

/// The rule whose name is most like `name`, where one is like it at all.
pub fn nearest_rule(name: &str) -> Option<&'static str> {
    crate::syntax::nearest(name, infos().map(|info| info.name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistyped_rule_has_a_nearest_one_and_nonsense_has_none() {
        assert_eq!(nearest_rule("brod-root"), Some("broad-root"));
        assert_eq!(nearest_rule("hard-linked-denail"), Some("hard-linked-denial"));
        assert_eq!(nearest_rule("xyzzy"), None);
        assert_eq!(nearest_rule(""), None);
    }
}
