use crate::finding::{Edit, Finding, Severity};
use crate::lint::Context;
use crate::lint::edits::spelled;
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
    /// the next compile opens. A link in the workspace that leads out of it may have been put there by a command,
    /// to have the next one see what no profile names: that is an error.
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
    /// Looks alike and is fine: `..` is no link.
    ///
    /// ```palisade fine
    /// edition 1
    /// profile "fine" {
    ///     root "~/other/../project" read-only
    /// }
    /// ```
    ///
    /// ## What to do
    ///
    /// Nothing, or write the real path.
    name: "symlinked-root",
    severity: Note,
    confidence: Certain,
    fix: Unsafe,
    allowable: true,
    check: check,
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let workspace = &context.policy.workspace;
    for root in Roots::of(context).iter() {
        let edit = Edit { span: root.statement.path.span, replacement: spelled(context, root.path()) };
        let title = "state the real path";
        let mut inside = root.found.hops.iter().filter(|hop| hop.link.starts_with(workspace));
        if let Some(hop) = inside.next().filter(|_| !root.path().starts_with(workspace)) {
            let mut finding = INFO
                .finding(format!("the root `{}` leads out of the workspace", root.statement.path.path))
                .at(root.statement.span, format!("`{}` is a symbolic link to `{}`", hop.link, hop.target))
                .help(format!("state the real path, `{}`, if it is meant", root.path()))
                .fix(title, vec![edit], false);
            finding.severity = Severity::Error;
            findings.push(finding);
        } else if let Some(hop) = root.found.hops.first() {
            findings.push(
                INFO.finding(format!("the root `{}` is `{}`", root.statement.path.path, root.path()))
                    .at(root.statement.span, format!("`{}` is a symbolic link to `{}`", hop.link, hop.target))
                    .help("nothing need be done: the walls are built around the real directory")
                    .fix(title, vec![edit], false),
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

    #[test]
    fn a_link_in_the_workspace_that_leads_out_of_it_is_an_error() {
        let mut case = Case::in_workspace();
        case.root("/home/dev/project/out", Access::ReadOnly);
        let found = case.found("symlinked-root");
        assert!(
            found[0].starts_with("the root `/home/dev/project/out` leads out of the workspace\n"),
            "{found:?}"
        );
    }
}
