use crate::finding::{Edit, Finding};
use crate::lint::Context;
use crate::lint::edits::below;
use crate::lint::places::{PlacedRoot, Roots, own_hop};

rule! {
    /// A read-only root inside a writable one, where the paths do not show it.
    ///
    /// ## What it does
    ///
    /// Reports a read-only `root` that on this machine lies in a writable one, although its path as written
    /// does not begin with the other's. Nesting that can be seen (`"$workspace"` and `"$workspace/vendor"`) is
    /// the ordinary way to protect a part of a root, and is not reported.
    ///
    /// ## Why it is bad
    ///
    /// The reader of the profile sees two separate trees. Everything on the way from the writable root to the
    /// read-only one is open to change, and the protection rests on a link or on `..` that the next machine may
    /// not have: there the read-only root is some other directory, and this one is writable.
    ///
    /// ## Example
    ///
    /// ```palisade bad
    /// edition 1
    /// profile "writer" {
    ///     root "$workspace" read-write
    ///     root "~/other/../project/vendor" read-only
    /// }
    /// ```
    ///
    /// ```palisade good
    /// edition 1
    /// profile "writer" {
    ///     root "$workspace" read-write
    ///     root "$workspace/vendor" read-only
    /// }
    /// ```
    ///
    /// Looks alike and is fine: a relative path begins at the workspace.
    ///
    /// ```palisade fine
    /// edition 1
    /// profile "fine" {
    ///     root "$workspace" read-write
    ///     root "vendor" read-only
    /// }
    /// ```
    ///
    /// ## What to do
    ///
    /// Write the inner root so that it begins with the outer one.
    name: "read-only-in-writable",
    severity: Warning,
    confidence: Likely,
    fix: Unsafe,
    allowable: true,
    check: check,
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let roots = Roots::of(context);
    for inner in roots.iter().filter(|root| !root.is_writable()) {
        let Some(outer) = roots.around(inner).filter(|outer| outer.is_writable()) else { continue };
        let is_shown = inner.statement.path.path.starts_with(&outer.statement.path.path);
        // Its own link is worse, and has a rule of its own.
        if is_shown || own_hop(inner.found, Some(outer.found)).is_some() {
            continue;
        }
        let finding = INFO
            .finding(format!("`{}` lies in the writable root `{}`", inner.statement.path.path, outer.path()))
            .at(inner.statement.span, format!("is `{}` here", inner.path()))
            .at(outer.statement.span, "writable, and holds it")
            .help("write the inner root so that it begins with the outer one");
        findings.push(match below_outer(context, inner, outer) {
            Some(edit) => finding.fix("write it below the outer one", vec![edit], false),
            None => finding,
        });
    }
}

/// The edit that writes a root so that it begins with the one it lies in.
pub(super) fn below_outer(
    context: &Context<'_>,
    inner: &PlacedRoot<'_>,
    outer: &PlacedRoot<'_>,
) -> Option<Edit> {
    // Through a link it would not be plainer, and `symlinked-root` would have the link taken out again.
    if !outer.found.hops.is_empty() {
        return None;
    }
    let rest = inner.path().strip_prefix(outer.path()).ok()?;
    let replacement = below(context.sources, outer.statement.path.span, rest)?;
    Some(Edit { span: inner.statement.path.span, replacement })
}

#[cfg(test)]
mod tests {
    use crate::lint::testing::Case;
    use crate::policy::Access::{ReadOnly, ReadWrite};

    #[test]
    fn nesting_that_can_be_seen_is_fine_and_hidden_nesting_is_not() {
        let mut case = Case::in_workspace();
        case.root("/home/dev/project/vendor", ReadOnly);
        assert!(case.found("read-only-in-writable").is_empty());

        let mut case = Case::new();
        case.root("/home/dev/work", ReadWrite).root("/home/dev/project/vendor", ReadOnly);
        assert_eq!(
            case.found("read-only-in-writable"),
            ["`/home/dev/project/vendor` lies in the writable root `/home/dev/project`\n\
              root \"/home/dev/project/vendor\" read-only -- is `/home/dev/project/vendor` here\n\
              root \"/home/dev/work\" read-write -- writable, and holds it"]
        );
    }

    #[test]
    fn a_link_that_both_share_hides_nothing() {
        let mut case = Case::new();
        case.root("/home/dev/work", ReadWrite).root("/home/dev/work/vendor", ReadOnly);
        assert!(case.found("read-only-in-writable").is_empty());
    }
}
