use crate::finding::Finding;
use crate::lint::Context;
use crate::lint::edits::{Blocks, remove};
use crate::lint::places::{PlacedRoot, Roots};
use crate::plan::{Decider, Operation};
use std::collections::HashSet;

rule! {
    /// A root inside another root of the same access.
    ///
    /// ## What it does
    ///
    /// Reports a `root` that lies in another one of the same file with the same access, with no root of other
    /// access between them.
    ///
    /// ## Why it is bad
    ///
    /// It grants nothing that is not granted already. Its reader takes it for the place where the access comes
    /// from, and expects that removing it takes the access away.
    ///
    /// ## Example
    ///
    /// ```palisade bad
    /// edition 1
    /// profile "reader" {
    ///     root "$workspace" read-only
    ///     root "$workspace/src" read-only
    /// }
    /// ```
    ///
    /// ```palisade good
    /// edition 1
    /// profile "reader" {
    ///     root "$workspace" read-only
    ///     root "$workspace/target" read-write
    /// }
    /// ```
    ///
    /// Looks alike and is fine: a root in another, of other access.
    ///
    /// ```palisade fine
    /// edition 1
    /// profile "fine" {
    ///     root "$workspace" read-write
    ///     root "$workspace/vendor" read-only
    /// }
    /// ```
    ///
    /// ## What to do
    ///
    /// Remove the inner one; or, if only that was meant to be open, the outer one.
    name: "redundant-root",
    severity: Warning,
    confidence: Certain,
    fix: Either,
    allowable: true,
    check: check,
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let roots = Roots::of(context);
    let mut blocks = Blocks::new(context.sources);
    let other = |root: &&PlacedRoot<'_>| {
        roots.at(root.path()).is_some_and(|first| first.is_writable() != root.is_writable())
    };
    let conflicting: HashSet<_> = roots.iter().filter(other).map(PlacedRoot::path).collect();
    let decider = context.plan.decider();
    for inner in roots.iter() {
        let Some(outer) = roots.around(inner) else { continue };
        // Stated with both accesses, it is an error of its own, and which of the two goes is not told by the outer root.
        if conflicting.contains(inner.path()) {
            continue;
        }
        let (here, there) = (inner.statement, outer.statement);
        if here.access != there.access || here.span.file != there.span.file || is_closed(&decider, inner) {
            continue;
        }
        // A guard inside the inner root is none of the outer one.
        let safe = !inner.is_writable()
            && blocks.is_said_by((here.span, here.path.span), (there.span, there.path.span));
        findings.push(
            INFO.finding(format!(
                "the root `{}` lies in `{}`, which has the same access",
                inner.path(),
                outer.path()
            ))
            .at(here.span, "grants nothing more")
            .at(there.span, "grants it already")
            .help("remove the inner one, or the outer one if only the inner was meant to be open")
            .fix("remove the inner root", remove(context.sources, here.span), safe),
        );
    }
}

/// Whether a denial or a guard keeps the root from being what it says: that has rules of its own.
fn is_closed(decider: &Decider<'_>, root: &PlacedRoot<'_>) -> bool {
    let operation = if root.is_writable() { Operation::Create } else { Operation::Read };
    !decider.decide_below(operation, root.path()).allowed
}

#[cfg(test)]
mod tests {
    use crate::lint::testing::Case;
    use crate::policy::Access::{ReadOnly, ReadWrite};

    #[test]
    fn a_root_that_is_also_stated_with_the_other_access_is_not_called_needless() {
        let mut case = Case::new();
        case.root("/home/dev/project", ReadOnly);
        case.root("/home/dev/project/src", ReadWrite);
        case.root("/home/dev/project/src", ReadOnly);
        assert!(case.found("redundant-root").is_empty());
    }

    #[test]
    fn the_nearest_root_around_it_counts() {
        let mut case = Case::in_workspace();
        case.root("/home/dev/project/vendor", ReadOnly).root("/home/dev/project/src", ReadWrite);
        assert_eq!(
            case.found("redundant-root"),
            ["the root `/home/dev/project/src` lies in `/home/dev/project`, which has the same access\n\
              root \"/home/dev/project/src\" read-write -- grants nothing more\n\
              root \"/home/dev/project\" read-write -- grants it already"]
        );
    }

    #[test]
    fn a_root_that_is_closed_is_not_redundant_but_refused() {
        let mut case = Case::in_workspace();
        case.root("/home/dev/project/secrets", ReadWrite).deny("/home/dev/project/secrets");
        assert!(case.found("redundant-root").is_empty());
    }

    #[test]
    fn a_writable_root_may_be_opened_again_inside_a_protected_one() {
        let mut case = Case::new();
        case.root("/home/dev", ReadWrite)
            .root("/home/dev/project", ReadOnly)
            .root("/home/dev/project/target", ReadWrite);
        assert!(case.found("redundant-root").is_empty());
    }
}
