use super::{Context, stopped, witness};
use crate::finding::Finding;
use crate::sbpl::rule::Effect;
use crate::sbpl::{Engine, Operation, Subject, Verdict};
use crate::syntax::shown;

sb_rule! {
    /// A denied path that can be moved out of its denial.
    ///
    /// ## What it does
    ///
    /// Reports denials of reading for paths that may be renamed, or that lie in directories which may be.
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
    check: check,
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    if !context.understood {
        return;
    }
    let profile = context.profile;
    let (Some(read), Some(unlink)) = (Operation::named("file-read-data"), Operation::named("file-write-unlink"))
    else {
        return;
    };
    let may_move = |path: &[u8]| {
        profile.decide(unlink, &Subject::path(path), Engine::PerOperation).verdict == Verdict::Allow
    };
    let mut left = context.decisions();
    for (at, rule) in profile.rules.iter().enumerate().filter(|(_, rule)| rule.effect == Effect::Deny) {
        for path in witness::paths(rule) {
            let above = path.iter().filter(|byte| **byte == b'/').count();
            let Some(rest) = left.checked_sub(above + 2) else {
                return findings.push(stopped(&INFO));
            };
            left = rest;
            // What is below a denied directory moves with it.
            let decision = profile.decide(read, &Subject::path(path.as_slice()), Engine::PerOperation);
            if decision.rule() != Some(at) {
                continue;
            }
            let way = std::iter::once(path.as_slice()).chain(witness::ancestors(&path));
            let Some(moved) = way.into_iter().find(|place| may_move(place)) else { continue };
            let said = shown(&String::from_utf8_lossy(moved));
            let what = if moved == path { "it" } else { "a directory above it" };
            findings.push(
                INFO.finding(format!("what is denied here can be read once {what} is renamed"))
                    .at(rule.span, format!("`{said}` can be renamed"))
                    .help(format!("deny it as well: `(deny file-write-unlink (literal \"{said}\"))`")),
            );
            break;
        }
    }
}
