use super::denial_outside_roots::glob_head;
use crate::finding::Finding;
use crate::host::resolve;
use crate::lint::Context;
use crate::lint::places::denials;
use crate::policy::DenialKind;

rule! {
    /// A pattern that denies nothing on this machine.
    ///
    /// ## What it does
    ///
    /// Notes a `deny glob` or `deny gitignored` of the profile itself, not of its fragments, that matches no
    /// path today.
    ///
    /// ## Why it is bad
    ///
    /// It may be right: there are no such files yet. It may also be a slip in the pattern, and then the files
    /// it was written for are open.
    ///
    /// ## Example
    ///
    /// ```palisade bad
    /// edition 1
    /// profile "reader" {
    ///     root "$workspace" read-only
    ///     deny glob "$workspace/**/*.pme"
    /// }
    /// ```
    ///
    /// ```palisade good
    /// edition 1
    /// profile "reader" {
    ///     root "$workspace" read-only
    ///     deny glob "$workspace/**/.env"
    /// }
    /// ```
    ///
    /// Looks alike and is fine: a name, which is denied whether it is there or not.
    ///
    /// ```palisade fine
    /// edition 1
    /// profile "fine" {
    ///     root "$workspace" read-only
    ///     deny "$workspace/server.pem"
    /// }
    /// ```
    ///
    /// ## What to do
    ///
    /// Compare the pattern with the names it is meant for.
    name: "unmatched-denial",
    severity: Note,
    confidence: Possible,
    fix: None,
    allowable: true,
    check: check,
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for (denial, bound) in denials(context) {
        // A fragment speaks for many profiles, and need not match something in each.
        if Some(&denial.span.file) != context.policy.files.first() {
            continue;
        }
        // What could not be examined is reported as such.
        if !bound.paths.is_empty() || !bound.unexamined.is_empty() {
            continue;
        }
        let what = match &denial.kind {
            DenialKind::Path(_) => continue,
            DenialKind::Glob(pattern) if !starts_somewhere(context, &pattern.value) => continue,
            DenialKind::Glob(pattern) => format!("the pattern `{}` matches nothing here", pattern.value),
            DenialKind::Gitignored { path, .. } => format!("git ignores nothing in `{}`", path.path),
        };
        findings.push(
            INFO.finding(what).at(denial.span, "denies nothing today").help(
                "compare it with the names it is meant for; if there are none yet, nothing need be done",
            ),
        );
    }
}

/// Whether the part before the first wildcard exists: a rule of its own says where it does not.
fn starts_somewhere(context: &Context<'_>, pattern: &str) -> bool {
    resolve::resolve(context.host, &glob_head(pattern)).is_ok_and(|found| found.exists())
}

#[cfg(test)]
mod tests {
    use crate::lint::testing::Case;

    #[test]
    fn patterns_without_a_match_are_noted() {
        let mut case = Case::in_workspace();
        case.in_fragment().deny_glob("/home/dev/project/*.pen", &[]);
        case.in_profile()
            .deny_glob("/home/dev/project/*.pme", &[])
            .deny_glob("/home/dev/project/none/*.pem", &[])
            .deny_glob("/home/dev/project/.e*", &["/home/dev/project/.env"])
            .deny_gitignored("/home/dev/project", &[])
            .deny("/home/dev/project/later");
        assert_eq!(
            case.found("unmatched-denial"),
            [
                "the pattern `/home/dev/project/*.pme` matches nothing here\n\
                 deny glob \"/home/dev/project/*.pme\" -- denies nothing today",
                "git ignores nothing in `/home/dev/project`\n\
                 deny gitignored \"/home/dev/project\" -- denies nothing today",
            ]
        );
    }
}
