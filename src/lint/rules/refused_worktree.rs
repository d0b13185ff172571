use crate::bind::Worktree;
use crate::finding::Finding;
use crate::lint::Context;
use crate::lint::edits::{remove, statement_of};

rule! {
    /// A `git-worktree` whose repository is not granted.
    ///
    /// ## What it does
    ///
    /// Reports a `git-worktree` where there is no `.git`, where it cannot be read, or where the repository that
    /// it names does not point back at this worktree.
    ///
    /// ## Why it is bad
    ///
    /// The `.git` file of a linked worktree is text in a directory that agents write. Were it believed, a
    /// planted one would open any directory of the machine. Only a repository that names this worktree in its
    /// own files is believed.
    ///
    /// ## Example
    ///
    /// ```palisade bad
    /// edition 1
    /// profile "committer" {
    ///     root "$workspace" read-write
    ///     root "~/other" read-write
    ///     git-worktree "~/other"
    /// }
    /// ```
    ///
    /// ```palisade good
    /// edition 1
    /// profile "committer" {
    ///     root "$workspace" read-write
    ///     git-worktree "$workspace"
    /// }
    /// ```
    ///
    /// Looks alike and is fine: a directory without a repository that is no worktree either.
    ///
    /// ```palisade fine
    /// edition 1
    /// profile "fine" {
    ///     root "$workspace" read-write
    ///     root "~/other" read-write
    ///     git-worktree "$workspace"
    /// }
    /// ```
    ///
    /// ## What to do
    ///
    /// Repair the link with `git worktree repair`, run from the repository; or remove the statement.
    name: "refused-worktree",
    severity: Error,
    confidence: Certain,
    fix: Unsafe,
    allowable: false,
    check: check,
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for bound in &context.binding.worktrees {
        let Worktree::Refused(reason) = &bound.worktree else { continue };
        let finding =
            INFO.finding(format!("the repository of the worktree `{}` is not granted: {reason}", bound.asked.path))
                .at(bound.asked.span, "not a worktree that can be trusted")
                .help("repair the link with `git worktree repair`, run from the repository, or remove the statement");
        findings.push(match statement_of(context.sources, bound.asked.span, "git-worktree") {
            Some(statement) => finding.fix("remove the statement", remove(context.sources, statement), false),
            None => finding,
        });
    }
}

#[cfg(test)]
mod tests {
    use crate::bind::Worktree;
    use crate::lint::testing::Case;

    #[test]
    fn says_why_a_worktree_is_refused() {
        let mut case = Case::in_workspace();
        case.worktree("/home/dev/project", Worktree::Own)
            .worktree("/home/dev/other", Worktree::Refused("there is no `.git`".into()));
        assert_eq!(
            case.found("refused-worktree"),
            ["the repository of the worktree `/home/dev/other` is not granted: there is no `.git`\n\
              \"/home/dev/other\" -- not a worktree that can be trusted"]
        );
    }
}
