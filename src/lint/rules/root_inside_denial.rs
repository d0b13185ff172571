use crate::finding::Finding;
use crate::lint::Context;
use crate::lint::edits::remove;
use crate::lint::places::{Roots, denials};
use std::collections::HashMap;

rule! {
    /// A root that a denial closes.
    ///
    /// ## What it does
    ///
    /// Reports a `root` at or below a path that is denied, by whatever kind of `deny`.
    ///
    /// ## Why it is bad
    ///
    /// A denial beats every root at and below it, so the root grants nothing. One of the two statements is not
    /// meant; guessing which would either leak what is denied or break what is granted.
    ///
    /// ## Example
    ///
    /// ```palisade bad
    /// edition 1
    /// profile "reader" {
    ///     root "$workspace" read-only
    ///     root "$workspace/secrets" read-write
    ///     deny "$workspace/secrets"
    /// }
    /// ```
    ///
    /// ```palisade good
    /// edition 1
    /// profile "reader" {
    ///     root "$workspace" read-only
    ///     deny "$workspace/secrets"
    /// }
    /// ```
    ///
    /// Looks alike and is fine: the denial lies in the root, not around it.
    ///
    /// ```palisade fine
    /// edition 1
    /// profile "fine" {
    ///     root "$workspace" read-only
    ///     root "$workspace/target" read-write
    ///     deny "$workspace/target/debug"
    /// }
    /// ```
    ///
    /// ## What to do
    ///
    /// Remove the root, or deny only what must stay closed inside it.
    name: "root-inside-denial",
    severity: Error,
    confidence: Certain,
    fix: Unsafe,
    allowable: false,
    check: check,
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let mut denied = HashMap::new();
    for (denial, bound) in denials(context) {
        for path in &bound.paths {
            denied.entry(path.path.as_path()).or_insert(denial);
        }
    }
    for root in Roots::of(context).iter() {
        let Some((path, denial)) =
            root.path().ancestors().find_map(|path| denied.get(path).map(|denial| (path, denial)))
        else {
            continue;
        };
        findings.push(
            INFO.finding(format!("the root `{}` is denied", root.path()))
                .at(root.statement.span, "grants nothing")
                .at(denial.span, format!("denies `{path}` and all below it"))
                .help("a denial beats every root, in whatever order they stand: remove the root, or deny only what must stay closed inside it")
                .fix("remove the root", remove(context.sources, root.statement.span), false),
        );
    }
}

#[cfg(test)]
mod tests {
    use crate::lint::testing::Case;
    use crate::policy::Access::ReadOnly;

    #[test]
    fn a_root_at_or_below_a_denied_path_is_refused_and_one_above_is_not() {
        let mut case = Case::in_workspace();
        case.root("/home/dev/project/target", ReadOnly)
            .deny_gitignored("/home/dev/project", &["/home/dev/project/target"]);
        assert_eq!(
            case.found("root-inside-denial"),
            ["the root `/home/dev/project/target` is denied\n\
              root \"/home/dev/project/target\" read-only -- grants nothing\n\
              deny gitignored \"/home/dev/project\" -- denies `/home/dev/project/target` and all below it"]
        );
        let mut case = Case::in_workspace();
        case.deny("/home/dev/project/target").deny("/home/dev/projec");
        assert!(case.found("root-inside-denial").is_empty());
    }
}
