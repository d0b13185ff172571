//! In: an evaluated profile, its data and its text. Out: findings. A check is one file: its documentation, its declaration, its code.
//!
//! To add one, write the file and put its name into the list below; everything else follows from there.

#[macro_use]
mod declare;
mod witness;

use super::eval::Evaluation;
use super::read::Datum;
use super::{PathCase, Profile};
use crate::finding::{self, Finding, RuleInfo};
use crate::source::Sources;

/// What a check may look at.
pub struct Context<'a> {
    pub sources: &'a Sources,
    pub data: &'a [Datum],
    pub profile: &'a Profile,
}

/// One check.
pub trait Check: Sync {
    fn info(&self) -> &'static RuleInfo;

    fn check(&self, context: &Context<'_>, findings: &mut Vec<Finding>);
}

/// Makes the modules and the registry.
macro_rules! rules {
    ($($module:ident),+ $(,)?) => {
        $(pub mod $module;)+

        /// Every rule, sorted by name.
        pub static ALL: &[&dyn Check] = &[$(&$module::Rule),+];
    };
}

rules![
    case_sensitive_denial,
    dead_operation,
    dead_path,
    doubled_backslash,
    inapplicable_filter,
    leaf_beats_wildcard,
    movable_denial,
    no_sandbox,
    open_operations,
    oversized_rule,
    quote_in_raw_text,
    remote_host,
    socket_denied_as_file,
    unfiltered_override,
    unknown_name,
    unread_import,
    unread_root,
    unverified_regex,
];

/// Runs every check on what was understood of a profile, beside what kept the rest from being understood. Sorted by place.
pub fn run(sources: &Sources, evaluation: &Evaluation) -> Vec<Finding> {
    let context = Context { sources, data: &evaluation.data, profile: &evaluation.profile };
    let mut findings = evaluation.findings.clone();
    for rule in ALL {
        rule.check(&context, &mut findings);
    }
    finding::sort(&mut findings);
    findings
}

impl Context<'_> {
    /// Whether the disk takes two spellings of a name for one.
    fn folds_case(&self) -> bool {
        self.profile.case == PathCase::Insensitive
    }
}

#[cfg(test)]
mod tests;
