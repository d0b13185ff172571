use crate::finding::Finding;
use crate::lint::Context;
use crate::lint::places::Roots;

rule! {
    /// A root that is not a directory.
    ///
    /// ## What it does
    ///
    /// Reports every `root` that leads to a file, a socket or a device.
    ///
    /// ## Why it is bad
    ///
    /// A wall around one file does not hold: most programs save by writing a new file and renaming it into
    /// place, which leaves the wall around the old one. A socket or a device is somebody else's authority, not
    /// data.
    ///
    /// ## Example
    ///
    /// ```palisade bad
    /// edition 1
    /// profile "reader" {
    ///     root "$workspace" read-only
    ///     root "~/other/.env" read-only
    /// }
    /// ```
    ///
    /// ```palisade good
    /// edition 1
    /// profile "reader" {
    ///     root "$workspace" read-only
    ///     root "~/other" read-only
    /// }
    /// ```
    ///
    /// Looks alike and is fine: a link to a directory is one.
    ///
    /// ```palisade fine
    /// edition 1
    /// profile "fine" {
    ///     root "~/work" read-only
    /// }
    /// ```
    ///
    /// ## What to do
    ///
    /// State the directory that holds it, and deny what else is in there.
    name: "root-not-a-directory",
    severity: Error,
    confidence: Certain,
    fix: None,
    allowable: false,
    check: check,
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for root in Roots::of(context).iter() {
        if root.found.entry.as_ref().is_some_and(|entry| !entry.is_directory()) {
            let mut finding = INFO
                .finding(format!("the root `{}` is not a directory", root.path()))
                .at(root.statement.span, "a root must be a directory");
            if let Some(parent) = root.path().parent() {
                finding = finding.help(format!(
                    "state the directory that holds it, `{parent}`, and deny what else is in there"
                ));
            }
            findings.push(finding);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::lint::testing::Case;
    use crate::policy::Access;

    #[test]
    fn a_file_is_no_root_and_a_directory_is() {
        let mut case = Case::in_workspace();
        case.root("/home/dev/other/.env", Access::ReadOnly);
        let found = case.found("root-not-a-directory");
        assert_eq!(found.len(), 1);
        assert!(found[0].starts_with(
            "the root `/home/dev/other/.env` is not a directory\nroot \"/home/dev/other/.env\""
        ));
    }
}
