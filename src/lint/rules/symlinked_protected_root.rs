use crate::finding::{Edit, Finding};
use crate::lint::Context;
use crate::lint::edits::spelled;
use crate::lint::places::{Roots, own_hop};

rule! {
    /// A read-only root inside a writable one, reached through a symbolic link.
    ///
    /// ## What it does
    ///
    /// Reports a read-only `root` that protects a part of a writable root, where a symbolic link stands on the
    /// way to it that is not also on the way to the writable root itself.
    ///
    /// ## Why it is bad
    ///
    /// The protection is built around the directory the link leads to today. An agent that may write where the
    /// link stands points it elsewhere; the next compile then protects that other place, and what should be
    /// protected is writable.
    ///
    /// ## Example
    ///
    /// ```palisade bad
    /// edition 1
    /// profile "writer" {
    ///     root "$workspace" read-write
    ///     root "$workspace/third-party" read-only     # a link to vendor
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
    /// Looks alike and is fine: the link is on the way to the writable root as well.
    ///
    /// ```palisade fine
    /// edition 1
    /// profile "fine" {
    ///     root "~/work" read-write
    ///     root "~/work/vendor" read-only
    /// }
    /// ```
    ///
    /// ## What to do
    ///
    /// State the directory that the link leads to.
    name: "symlinked-protected-root",
    severity: Error,
    confidence: Certain,
    fix: Unsafe,
    allowable: false,
    check: check,
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let roots = Roots::of(context);
    for inner in roots.iter().filter(|root| !root.is_writable()) {
        let Some(outer) = roots.around(inner).filter(|outer| outer.is_writable()) else { continue };
        let Some(hop) = own_hop(inner.found, Some(outer.found)) else { continue };
        let path = &inner.statement.path;
        let edit = Edit { span: path.span, replacement: spelled(context, inner.path()) };
        findings.push(
            INFO.finding(format!("the read-only root `{}` is reached through a symbolic link", path.path))
                .at(inner.statement.span, format!("`{}` is a link to `{}`", hop.link, hop.target))
                .at(outer.statement.span, "this root is writable")
                .help(format!("state the directory that it leads to: `{}`", inner.path()))
                .fix("state the real directory", vec![edit], false),
        );
    }
}

#[cfg(test)]
mod tests {
    use crate::lint::testing::Case;
    use crate::policy::Access::{ReadOnly, ReadWrite};

    #[test]
    fn a_protected_root_through_a_link_is_refused() {
        let mut case = Case::in_workspace();
        case.root("/home/dev/project/third-party", ReadOnly);
        assert_eq!(
            case.found("symlinked-protected-root"),
            ["the read-only root `/home/dev/project/third-party` is reached through a symbolic link\n\
              root \"/home/dev/project/third-party\" read-only -- `/home/dev/project/third-party` is a link to `vendor`\n\
              root \"/home/dev/project\" read-write -- this root is writable"]
        );
        let fix = case.findings("symlinked-protected-root")[0].fix.clone().unwrap();
        assert_eq!(fix.edits[0].replacement, "\"$workspace/vendor\"");
        case.with(|context| {
            assert_eq!(context.sources.text(fix.edits[0].span), "\"/home/dev/project/third-party\"");
        });
    }

    #[test]
    fn a_link_to_the_writable_root_itself_is_shared() {
        let mut case = Case::new();
        case.root("/home/dev/work", ReadWrite).root("/home/dev/work/vendor", ReadOnly);
        assert!(case.found("symlinked-protected-root").is_empty());
    }

    #[test]
    fn a_link_from_outside_is_refused_too() {
        let mut case = Case::in_workspace();
        case.root("/home/dev/work/vendor", ReadOnly);
        assert_eq!(case.found("symlinked-protected-root").len(), 1);
    }
}
