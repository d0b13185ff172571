use crate::finding::Finding;
use crate::lint::Context;
use crate::lint::edits::remove;
use crate::lint::places::{Roots, quoted};
use std::collections::HashMap;

rule! {
    /// A writable root that a guard keeps read-only.
    ///
    /// ## What it does
    ///
    /// Reports a writable `root` at or below a path that is guarded in another writable root: `.git/hooks`,
    /// `.vscode`, an agent's own configuration.
    ///
    /// ## Why it is bad
    ///
    /// A guard beats the writable root, so the statement does not hold. If it did, the command could write what
    /// runs later with its user's full rights.
    ///
    /// ## Example
    ///
    /// ```palisade bad
    /// edition 1
    /// profile "writer" {
    ///     root "$workspace" read-write
    ///     root "$workspace/.git/hooks" read-write
    /// }
    /// ```
    ///
    /// ```palisade good
    /// edition 1
    /// profile "writer" {
    ///     root "$workspace" read-write
    /// }
    /// ```
    ///
    /// Looks alike and is fine: it says what the guard does anyway.
    ///
    /// ```palisade fine
    /// edition 1
    /// profile "fine" {
    ///     root "$workspace" read-write
    ///     root "$workspace/.git/hooks" read-only
    /// }
    /// ```
    ///
    /// ## What to do
    ///
    /// Remove the root. Where the command really is to write there, lift the guard: `unguard "PATH" because
    /// "…"`.
    name: "guarded-root",
    severity: Error,
    confidence: Certain,
    fix: Unsafe,
    allowable: false,
    check: check,
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let guards: HashMap<_, _> = context
        .binding
        .guards
        .iter()
        .filter(|guard| guard.lifted_by.is_none())
        .map(|guard| (guard.path.as_path(), guard.reason))
        .collect();
    for root in Roots::of(context).iter().filter(|root| root.is_writable()) {
        let guard = root.path().ancestors().find_map(|path| guards.get(path).map(|reason| (path, reason)));
        let Some((path, reason)) = guard else { continue };
        findings.push(
            INFO.finding(format!("the root `{}` is guarded and stays read-only", root.path()))
                .at(root.statement.span, format!("guarded: {reason}"))
                .help(format!("remove the root, or lift the guard: `unguard {} because \"…\"`", quoted(path)))
                .fix("remove the root", remove(context.sources, root.statement.span), false),
        );
    }
}

#[cfg(test)]
mod tests {
    use crate::bind::Guard;
    use crate::lint::testing::Case;
    use crate::policy::Access;

    #[test]
    fn a_guard_beats_a_root_until_it_is_lifted() {
        let mut case = Case::in_workspace();
        case.root("/home/dev/project/.git/hooks", Access::ReadWrite);
        case.binding.guards.push(Guard {
            path: "/home/dev/project/.git/hooks".into(),
            entry: None,
            reason: "commands that git runs",
            own: false,
            keep_absent: false,
            lifted_by: None,
        });
        assert_eq!(
            case.found("guarded-root"),
            ["the root `/home/dev/project/.git/hooks` is guarded and stays read-only\n\
              root \"/home/dev/project/.git/hooks\" read-write -- guarded: commands that git runs"]
        );
        case.binding.guards[0].lifted_by = Some(0);
        assert!(case.found("guarded-root").is_empty());
    }
}
