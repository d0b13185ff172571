use crate::finding::Finding;
use crate::lint::Context;
use crate::lint::places::Roots;

rule! {
    /// A root given through a symbolic link.
    ///
    /// ## What it does
    ///
    /// Notes the real place of a `root` whose path goes through a symbolic link.
    ///
    /// ## Why it is bad
    ///
    /// It need not be: `/tmp` is a link on a Mac, and the walls are built around the real directory. But a
    /// reader of the profile should know which directory that is, and whoever can change the link decides what
    /// the next compile opens.
    ///
    /// ## Example
    ///
    /// ```palisade bad
    /// edition 1
    /// profile "reader" {
    ///     root "~/work" read-only          # a link to ~/project
    ///     working-directory "~/work"
    /// }
    /// ```
    ///
    /// ```palisade good
    /// edition 1
    /// profile "reader" {
    ///     root "~/project" read-only
    ///     working-directory "~/project"
    /// }
    /// ```
    ///
    /// ## What to do
    ///
    /// Nothing, or write the real path.
    name: "symlinked-root",
    severity: Note,
    allowable: true,
    check: check,
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for root in Roots::of(context).iter() {
        if let Some(hop) = root.found.hops.first() {
            findings.push(
                INFO.finding(format!("the root `{}` is `{}`", root.statement.path.path, root.path()))
                    .at(root.statement.span, format!("`{}` is a symbolic link to `{}`", hop.link, hop.target))
                    .help("nothing need be done: the walls are built around the real directory"),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::lint::testing::Case;
    use crate::policy::Access;

    #[test]
    fn notes_the_real_place() {
        let mut case = Case::new();
        case.root("/home/dev/work", Access::ReadWrite);
        assert_eq!(
            case.found("symlinked-root"),
            ["the root `/home/dev/work` is `/home/dev/project`\nroot \"/home/dev/work\" read-write -- \
              `/home/dev/work` is a symbolic link to `project`"]
        );
        assert!(Case::in_workspace().found("symlinked-root").is_empty());
    }
}
