use crate::finding::Finding;
use crate::lint::Context;
use crate::lint::places::Roots;

rule! {
    /// The same root stated both read-only and read-write.
    ///
    /// ## What it does
    ///
    /// Reports two `root` statements, wherever they stand, that lead to the same directory with different
    /// access.
    ///
    /// ## Why it is bad
    ///
    /// Statements are a set; neither of the two comes first. One of them does not hold, and its reader relies
    /// on it.
    ///
    /// ## Example
    ///
    /// ```palisade bad
    /// edition 1
    /// profile "reader" {
    ///     root "$workspace" read-only
    ///     root "~/project" read-write
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
    /// Looks alike and is fine: two directories, one in the other.
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
    /// Decide which is meant, and remove the other. To open a part of a read-only root for writing, state that
    /// part.
    name: "conflicting-roots",
    severity: Error,
    confidence: Certain,
    fix: None,
    allowable: false,
    check: check,
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let roots = Roots::of(context);
    for root in roots.iter() {
        let Some(first) = roots.at(root.path()) else { continue };
        if root.statement.access == first.statement.access {
            continue;
        }
        let word = |writable: bool| if writable { "read-write here" } else { "read-only here" };
        findings.push(
            INFO.finding(format!("the root `{}` is both read-only and read-write", root.path()))
                .at(root.statement.span, word(root.is_writable()))
                .at(first.statement.span, word(first.is_writable()))
                .help("remove the one that is not meant; order decides nothing"),
        );
    }
}

#[cfg(test)]
mod tests {
    use crate::lint::testing::Case;
    use crate::policy::Access;

    #[test]
    fn one_directory_has_one_access_across_files() {
        let mut case = Case::in_workspace();
        case.in_fragment().root("/home/dev/work", Access::ReadOnly);
        assert_eq!(
            case.found("conflicting-roots"),
            ["the root `/home/dev/project` is both read-only and read-write\n\
              root \"/home/dev/work\" read-only -- read-only here\n\
              root \"/home/dev/project\" read-write -- read-write here"]
        );
    }
}
