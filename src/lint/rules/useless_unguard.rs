use crate::finding::Finding;
use crate::lint::Context;
use crate::lint::places::remove;
use std::collections::HashSet;

rule! {
    /// An `unguard` that lifts no guard.
    ///
    /// ## What it does
    ///
    /// Reports an `unguard` whose path is not one that is guarded in any writable root.
    ///
    /// ## Why it is bad
    ///
    /// It does nothing today. Either it is a slip and the guard it was meant for still stands, or the root it
    /// was for is gone; and should that root come back, the guard would be lifted unseen.
    ///
    /// ## Example
    ///
    /// ```palisade bad
    /// edition 1
    /// profile "writer" {
    ///     root "$workspace" read-write
    ///     unguard "$workspace/src" because "the command works there"
    /// }
    /// ```
    ///
    /// ```palisade good
    /// edition 1
    /// profile "writer" {
    ///     root "$workspace" read-write
    ///     unguard "$workspace/.git/hooks" because "this profile maintains the hooks"
    /// }
    /// ```
    ///
    /// ## What to do
    ///
    /// Remove it, or correct its path to that of the guard. `palisade why write PATH` names the guard.
    name: "useless-unguard",
    severity: Warning,
    allowable: true,
    check: check,
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let used: HashSet<_> = context.binding.guards.iter().filter_map(|guard| guard.lifted_by).collect();
    for (at, unguard) in context.policy.unguards.iter().enumerate() {
        if used.contains(&at) {
            continue;
        }
        findings.push(
            INFO.finding(format!("`{}` is not guarded", unguard.path.path))
                .at(unguard.span, "lifts nothing")
                .help("remove it, or correct the path to that of the guard")
                .fix("remove the statement", remove(context.sources, unguard.span), true),
        );
    }
}

#[cfg(test)]
mod tests {
    use crate::bind::Guard;
    use crate::lint::testing::Case;

    #[test]
    fn an_unguard_must_lift_a_guard() {
        let mut case = Case::in_workspace();
        case.unguard("/home/dev/project/.vscode").unguard("/home/dev/project/src");
        case.binding.guards.push(Guard {
            path: "/home/dev/project/.vscode".into(),
            entry: None,
            reason: "tasks that an editor runs",
            own: false,
            keep_absent: false,
            lifted_by: Some(0),
        });
        assert_eq!(
            case.found("useless-unguard"),
            ["`/home/dev/project/src` is not guarded\n\
              unguard \"/home/dev/project/src\" because \"it is ours\" -- lifts nothing"]
        );
    }
}
