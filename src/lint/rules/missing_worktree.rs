use super::tool_in_writable_root::tools;
use crate::bind::Worktree;
use crate::bind::worktree;
use crate::finding::Finding;
use crate::host::Kind;
use crate::lint::Context;
use crate::lint::edits::add_after;
use crate::lint::places::{Roots, is_readable};

rule! {
    /// A linked worktree of git whose repository the command cannot reach.
    ///
    /// ## What it does
    ///
    /// Reports a root that is a linked worktree (`git worktree add`), where `git` is a tool, no `git-worktree` names it and
    /// no other root holds the repository that it belongs to.
    ///
    /// ## Why it is bad
    ///
    /// There `.git` is a file that names a directory elsewhere. Behind the walls git does not find it and says `not a git
    /// repository`, or cannot commit, and an agent makes a new repository over the work.
    ///
    /// ## Example
    ///
    /// ```palisade bad
    /// edition 1
    /// profile "committer" {
    ///     root "~/linked" read-write           # made by `git worktree add`
    ///     working-directory "~/linked"
    ///     tools git
    /// }
    /// ```
    ///
    /// ```palisade good
    /// edition 1
    /// profile "committer" {
    ///     root "~/linked" read-write
    ///     git-worktree "~/linked"
    ///     working-directory "~/linked"
    ///     tools git
    /// }
    /// ```
    ///
    /// Looks alike and is fine: a repository of its own, which lies in the root.
    ///
    /// ```palisade fine
    /// edition 1
    /// profile "fine" {
    ///     root "$workspace" read-write
    ///     tools git
    /// }
    /// ```
    ///
    /// ## What to do
    ///
    /// State `git-worktree` with the path of the root: it grants what git needs of that repository and no more.
    name: "missing-worktree",
    severity: Warning,
    confidence: Likely,
    fix: Unsafe,
    allowable: true,
    check: check,
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    if !tools(context).any(|(tool, _)| tool.name == "git") {
        return;
    }
    let decider = context.plan.decider();
    for root in Roots::of(context).iter() {
        let dot_git = context.host.lstat(&root.path().join(".git"));
        if !matches!(dot_git, Ok(Some(entry)) if entry.kind == Kind::File) {
            continue;
        }
        // What is no worktree, or a planted one, no statement grants anything.
        let Worktree::Linked { git_dir, common_dir } = worktree::find(context.host, root.path()) else {
            continue;
        };
        if is_readable(&decider, &common_dir.join("objects")) {
            continue;
        }
        let statement = format!("git-worktree {}", context.sources.text(root.statement.path.span));
        let edit = add_after(context.sources, root.statement.span, std::slice::from_ref(&statement));
        findings.push(
            INFO.finding(format!("git cannot reach the repository of the worktree `{}`", root.path()))
                .at(root.statement.span, format!("its repository is `{git_dir}`"))
                .help(format!("state `{statement}`"))
                .fix("grant what git needs of it", vec![edit], false),
        );
    }
}
