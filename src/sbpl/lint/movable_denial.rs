use super::witness::{self, Witness};
use super::{Context, stopped};
use crate::finding::Finding;
use crate::sbpl::decide::Fact;
use crate::sbpl::rule::{Effect, Rule as SbRule};
use crate::sbpl::{Engine, Operation, Subject, Verdict};

sb_rule! {
    /// A denied path that can be moved out of its denial.
    ///
    /// ## What it does
    ///
    /// Reports denials of reading, and exceptions from what may be read, for paths that may be renamed, or that lie in
    /// directories which may be.
    ///
    /// ## Why it is bad
    ///
    /// Rules go by the path in use. Who may rename a file, or a directory above it, reads it under its new name:
    /// renaming asks for `file-write-unlink` where it was and `file-write-create` where it goes, and for no right
    /// to read.
    ///
    /// ## Example
    ///
    /// ```sbpl bad
    /// (version 1)
    /// (deny default)
    /// (allow file-read* file-write* (subpath "/Users/dev/work"))
    /// (deny file-read* (subpath "/Users/dev/work/secrets"))
    /// ```
    ///
    /// ```sbpl good
    /// (version 1)
    /// (deny default)
    /// (allow file-read* file-write* (subpath "/Users/dev/work"))
    /// (deny file-read* file-write* (subpath "/Users/dev/work/secrets"))
    /// (deny file-write-unlink (literal "/Users/dev/work") (subpath "/Users/dev/work/secrets"))
    /// ```
    ///
    /// ## What to do
    ///
    /// Deny `file-write*` and `file-write-unlink` there too, and `file-write-unlink` on each directory above it that
    /// can be written.
    name: "movable-denial",
    severity: Warning,
    confidence: Likely,
    fix: None,
    check: check,
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    if !context.understood {
        return;
    }
    let profile = context.assumed;
    let (Some(read), Some(unlink)) = (Operation::named("file-read-data"), Operation::named("file-write-unlink"))
    else {
        return;
    };
    let covers = |rule: &SbRule, operation: Operation| {
        rule.operations.iter().any(|written| *written == operation || operation.is_below(*written))
    };
    let may_move = |subject: &Subject| profile.decide(unlink, subject, Engine::PerOperation).verdict == Verdict::Allow;
    // Where an expression may find something that can be moved.
    let mut writable = Witness::new(profile.case);
    for rule in profile.rules.iter().filter(|rule| rule.effect == Effect::Allow && covers(rule, unlink)) {
        writable.add_bases(rule);
    }
    let mut left = context.decisions();
    for (at, rule) in profile.rules.iter().enumerate().filter(|(_, rule)| covers(rule, read)) {
        let mut kept_out = writable.bases_only();
        kept_out.add_kept_out(rule);
        for path in kept_out.paths() {
            let above = path.iter().filter(|byte| **byte == b'/').count();
            let subjects = kept_out.with_facts(Subject::path(path.as_slice()));
            let Some(rest) = left.checked_sub(subjects.len() * 2 + above) else {
                return findings.push(stopped(&INFO));
            };
            left = rest;
            // What is below a denied directory moves with it.
            let is_denied = |subject: &&Subject| {
                let decision = profile.decide(read, subject, Engine::PerOperation);
                let is_own = rule.effect == Effect::Allow || decision.rule() == Some(at);
                decision.verdict == Verdict::Deny && is_own
            };
            let Some(denied) = subjects.iter().find(is_denied) else { continue };
            let directory = |place: &[u8]| Subject::path(place).with("vnode-type", Fact::Is(b"DIRECTORY".to_vec()));
            let moved = match may_move(denied) {
                true => Some(path.as_slice()),
                false => witness::ancestors(&path).find(|place| may_move(&directory(place))),
            };
            let Some(moved) = moved else { continue };
            let what = if moved == path { "it" } else { "a directory above it" };
            let kept = if rule.effect == Effect::Deny { "denied here" } else { "excepted here" };
            let written = context.stand_ins.written(moved);
            findings.push(
                INFO.finding(format!("what is {kept} can be read once {what} is renamed"))
                    .at(rule.span, format!("`{}` can be renamed", context.stand_ins.shown(moved)))
                    .help(format!("deny it as well: `(deny file-write-unlink (literal {written}))`")),
            );
            break;
        }
    }
}
