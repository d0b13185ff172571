use crate::finding::Finding;
use crate::lint::Context;
use crate::lint::edits::{Blocks, remove};
use crate::lint::places::Roots;

rule! {
    /// The same root stated twice with the same access.
    ///
    /// ## What it does
    ///
    /// Reports a `root` that leads to the same directory, with the same access, as an earlier one in the same
    /// file. Two spellings of one directory count as the same.
    ///
    /// ## Why it is bad
    ///
    /// A reviewer who tightens one of the two believes the directory closed, while the other keeps it open.
    ///
    /// ## Example
    ///
    /// ```palisade bad
    /// edition 1
    /// profile "writer" {
    ///     root "$workspace" read-write
    ///     root "~/project" read-write
    /// }
    /// ```
    ///
    /// ```palisade good
    /// edition 1
    /// profile "writer" {
    ///     root "$workspace" read-write
    ///     root "~/src" read-only
    /// }
    /// ```
    ///
    /// Looks alike and is fine: two directories of one name.
    ///
    /// ```palisade fine
    /// edition 1
    /// profile "fine" {
    ///     root "$workspace/src" read-only
    ///     root "~/src" read-only
    ///     working-directory "$workspace/src"
    /// }
    /// ```
    ///
    /// ## What to do
    ///
    /// Keep one of them.
    name: "repeated-root",
    severity: Warning,
    confidence: Certain,
    fix: Either,
    allowable: true,
    check: check,
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let roots = Roots::of(context);
    let mut blocks = Blocks::new(context.sources);
    for root in roots.iter() {
        let Some(first) = roots.at(root.path()).filter(|first| first.statement.span != root.statement.span)
        else {
            continue;
        };
        let (here, there) = (root.statement, first.statement);
        if here.access != there.access || here.span.file != there.span.file {
            continue;
        }
        let safe = blocks.is_said_by((here.span, here.path.span), (there.span, there.path.span));
        findings.push(
            INFO.finding(format!("the root `{}` is stated twice", root.path()))
                .at(here.span, "again")
                .at(there.span, "stated here already")
                .help("keep one of them")
                .fix("remove the repetition", remove(context.sources, here.span), safe),
        );
    }
}

#[cfg(test)]
mod tests {
    use crate::lint::testing::Case;
    use crate::policy::Access;

    #[test]
    fn two_spellings_of_one_directory_are_one_root() {
        let mut case = Case::in_workspace();
        case.root("/home/dev/work", Access::ReadWrite);
        assert_eq!(
            case.found("repeated-root"),
            ["the root `/home/dev/project` is stated twice\n\
              root \"/home/dev/work\" read-write -- again\n\
              root \"/home/dev/project\" read-write -- stated here already"]
        );
        assert!(case.found("conflicting-roots").is_empty());
    }

    #[test]
    fn a_fragment_may_state_what_the_profile_states() {
        let mut case = Case::in_workspace();
        case.in_fragment().root("/home/dev/project", Access::ReadWrite);
        assert!(case.found("repeated-root").is_empty());
    }
}
