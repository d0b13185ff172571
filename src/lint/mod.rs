//! In: every stage's result. Out: findings. A check is one file in `rules/`: its documentation, its declaration, its code.

use crate::bind::Binding;
use crate::finding::{Finding, Severity};
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
    /// The doc comment of the rule's file, Markdown.
    pub documentation: &'static str,
}

/// One check.
pub trait Check: Sync {
    fn info(&self) -> &RuleInfo;
    fn check(&self, context: &Context<'_>, findings: &mut Vec<Finding>);
}
