use super::read_only_in_writable::below_outer;
use crate::finding::Finding;
use crate::lint::Context;
use crate::lint::places::{PlacedRoot, Roots};

rule! {
    /// A writable root inside a read-only one, where that is hidden or undoes a protection.
    ///
    /// ## What it does
    ///
    /// Reports a writable `root` that lies in a read-only one, where the read-only root itself protects a part
    /// of a writable one, or where the path as written does not begin with the other's. A plain `root
    /// "$workspace" read-only` with `root "$workspace/target" read-write` is not reported: both lines say what
    /// holds.
    ///
    /// ## Why it is bad
    ///
    /// The longest root decides, so the directory is writable whatever the reader of the outer statement
    /// believes. An agent that may write inside a protected tree can put there what others trust because it is
    /// protected: vendored code, a shared configuration.
    ///
    /// ## Example
    ///
    /// ```palisade bad
    /// edition 1
    /// profile "writer" {
    ///     root "$workspace" read-only
    ///     root "~/other/../project/target" read-write
    /// }
    /// ```
    ///
    /// ```palisade good
    /// edition 1
    /// profile "writer" {
    ///     root "$workspace" read-only
    ///     root "$workspace/target" read-write
    /// }
    /// ```
    ///
    /// Looks alike and is fine: a relative path begins at the workspace.
    ///
    /// ```palisade fine
    /// edition 1
    /// profile "fine" {
    ///     root "$workspace" read-only
    ///     root "target" read-write
    /// }
    /// ```
    ///
    /// ## What to do
    ///
    /// Move what must be written out of the protected tree, or allow it here with the reason.
    name: "writable-in-read-only",
    severity: Warning,
    confidence: Likely,
    fix: Unsafe,
    allowable: true,
    check: check,
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let roots = Roots::of(context);
    for inner in roots.iter().filter(|root| root.is_writable()) {
        let Some(outer) = roots.around(inner).filter(|outer| !outer.is_writable()) else { continue };
        let is_protection = writable_around(&roots, outer);
        if !is_protection && inner.statement.path.path.starts_with(&outer.statement.path.path) {
            continue;
        }
        let role = if is_protection { "read-only inside a writable root" } else { "read-only, and holds it" };
        let finding =
            INFO.finding(format!("`{}` stays writable inside the read-only root `{}`", inner.path(), outer.path()))
                .at(inner.statement.span, "writable: the longest root decides")
                .at(outer.statement.span, role)
                .help("move what must be written out of the read-only tree, or write the inner root so that it begins with the outer one");
        // What is protected is not made plainer by another spelling.
        findings.push(match below_outer(context, inner, outer).filter(|_| !is_protection) {
            Some(edit) => finding.fix("write it below the outer one", vec![edit], false),
            None => finding,
        });
    }
}

/// Whether a root lies in a writable one.
fn writable_around(roots: &Roots<'_>, root: &PlacedRoot<'_>) -> bool {
    roots.around(root).is_some_and(PlacedRoot::is_writable)
}

#[cfg(test)]
mod tests {
    use crate::lint::testing::Case;
    use crate::policy::Access::{ReadOnly, ReadWrite};

    #[test]
    fn an_open_part_of_a_read_only_root_is_fine() {
        let mut case = Case::new();
        case.root("/home/dev/project", ReadOnly).root("/home/dev/project/target", ReadWrite);
        assert!(case.found("writable-in-read-only").is_empty());
    }

    #[test]
    fn opening_a_protected_part_is_reported() {
        let mut case = Case::new();
        case.root("/home/dev", ReadWrite)
            .root("/home/dev/project", ReadOnly)
            .root("/home/dev/project/target", ReadWrite);
        assert_eq!(
            case.found("writable-in-read-only"),
            ["`/home/dev/project/target` stays writable inside the read-only root `/home/dev/project`\n\
              root \"/home/dev/project/target\" read-write -- writable: the longest root decides\n\
              root \"/home/dev/project\" read-only -- read-only inside a writable root"]
        );
    }

    #[test]
    fn hidden_nesting_is_reported() {
        let mut case = Case::new();
        case.root("/home/dev/project", ReadOnly).root("/home/dev/work/target", ReadWrite);
        assert_eq!(case.found("writable-in-read-only").len(), 1);
    }
}
