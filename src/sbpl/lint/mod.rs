//! In: an evaluated profile, its data and its text. Out: findings. A check is one file: its documentation, its declaration, its code.
//!
//! To add one, write the file and put its name into the list below; everything else follows from there.

mod assume;
#[macro_use]
mod declare;
mod witness;

use super::eval::Evaluation;
use super::read::Datum;
use super::{PathCase, Profile};
use crate::finding::{self, Finding, RuleInfo, Severity};
use crate::source::Sources;

/// What a check may look at.
pub struct Context<'a> {
    pub sources: &'a Sources,
    pub data: &'a [Datum],
    pub profile: &'a Profile,
    /// The same with stand-ins for what shows at run time only: good for deciding.
    pub assumed: &'a Profile,
    /// What the stand-ins are.
    pub stand_ins: &'a assume::Assumed,
    /// Whether all of the profile was; otherwise nothing can be said of what it decides.
    pub understood: bool,
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
    ungiven_parameter,
    unknown_name,
    unread_import,
    unread_root,
    unverified_regex,
];

/// Runs every check on what was understood of a profile, beside what kept the rest from being understood. Sorted by place.
pub fn run(sources: &Sources, evaluation: &Evaluation) -> Vec<Finding> {
    let understood = evaluation.findings.iter().all(|finding| finding.severity != Severity::Error);
    let (assumed, stand_ins) = assume::of(&evaluation.profile);
    let context = Context {
        sources,
        data: &evaluation.data,
        profile: &evaluation.profile,
        assumed: &assumed,
        stand_ins: &stand_ins,
        understood,
    };
    let mut findings = evaluation.findings.clone();
    for rule in ALL {
        let mut found = Vec::new();
        rule.check(&context, &mut found);
        let more = found.len().saturating_sub(MAX_FINDINGS);
        found.truncate(MAX_FINDINGS);
        findings.append(&mut found);
        if more > 0 {
            let mut rest =
                rule.info().finding(format!("{more} more of `{}` are not listed", rule.info().name));
            rest.severity = Severity::Note;
            findings.push(rest);
        }
    }
    if !understood {
        let message = "what the profile decides was not checked, because not all of it was understood";
        findings.push(Finding::new("sb-evaluation", Severity::Note, message));
    }
    finding::sort(&mut findings);
    findings
}

/// At most so many findings of one check are listed; the rest is counted.
const MAX_FINDINGS: usize = 200;

/// How many comparisons of a subject with a filter one check may take, about a second's worth.
const MAX_COMPARISONS: usize = 20_000_000;

impl Context<'_> {
    /// Whether the disk takes two spellings of a name for one.
    fn folds_case(&self) -> bool {
        self.profile.case == PathCase::Insensitive
    }

    /// How many decisions one check may take. Profiles that people review need a few hundred.
    fn decisions(&self) -> usize {
        let size =
            |rule: &super::rule::Rule| rule.filters.iter().map(|filter| filter.nodes).sum::<usize>() + 1;
        let whole: usize = self.profile.rules.iter().map(size).sum::<usize>() + self.profile.opaque.len();
        MAX_COMPARISONS / (whole + 1)
    }
}

/// The finding of a check that stopped before its end. No note: what was not looked at is not known to be right.
fn stopped(info: &'static RuleInfo) -> Finding {
    let mut finding = info.finding("the profile is too large for this check to look at all of it");
    finding.severity = Severity::Warning;
    finding
}

#[cfg(test)]
mod tests;
