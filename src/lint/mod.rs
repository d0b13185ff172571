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

pub use allowances::UnusedAllowance;
pub use explain::{explain, rules_table};

use crate::bind::Binding;
use crate::finding::{self, Finding, Severity};
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

/// What a rule says of itself.
#[derive(Debug, Clone, Copy)]
pub struct RuleInfo {
    /// Reads well after "allow": `broad-root`.
    pub name: &'static str,
    pub severity: Severity,
    /// Whether a comment at the statement can allow it. What cannot be compiled cannot be allowed.
    pub allowable: bool,
    /// The doc comment of the rule's file, as it stands there: Markdown, each line behind one blank.
    pub documentation: &'static str,
}

impl RuleInfo {
    /// A finding of this rule, at its own severity.
    pub fn finding(&self, message: impl Into<String>) -> Finding {
        Finding::new(self.name, self.severity, message)
    }

    /// The documentation, as Markdown.
    pub fn markdown(&self) -> String {
        let line = |line: &'static str| line.strip_prefix(' ').unwrap_or(line);
        self.documentation.lines().map(|text| format!("{}\n", line(text))).collect()
    }

    /// The first sentence of the documentation.
    pub fn summary(&self) -> &'static str {
        self.documentation.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default()
    }
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

/// The rule of that name.
pub fn find_rule(name: &str) -> Option<&'static RuleInfo> {
    rules::ALL.iter().map(|rule| rule.info()).find(|info| info.name == name)
}

/// The rule whose name is most like `name`, where one is like it at all.
pub fn nearest_rule(name: &str) -> Option<&'static str> {
    crate::syntax::nearest(name, rules::ALL.iter().map(|rule| rule.info().name))
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
