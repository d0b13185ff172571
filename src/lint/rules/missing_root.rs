use crate::finding::Finding;
use crate::lint::Context;
use crate::lint::edits::respell;
use crate::lint::neighbours::Neighbours;

rule! {
    /// A root that does not exist.
    ///
    /// ## What it does
    ///
    /// Reports every `root` whose path leads nowhere on the machine that the profile is compiled for.
    ///
    /// ## Why it is bad
    ///
    /// Walls stand on what is there. A root that is made later may be made by somebody else, as a symbolic link
    /// to a place nobody reviewed; and a mistyped root means that the denials written for it protect nothing.
    ///
    /// ## Example
    ///
    /// ```palisade bad
    /// edition 1
    /// profile "reader" {
    ///     root "$workspace" read-only
    ///     root "~/othr" read-only
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
    /// Looks alike and is fine: a link to a directory that is there.
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
    /// Correct the path, or make the directory before compiling.
    name: "missing-root",
    severity: Error,
    confidence: Certain,
    fix: Unsafe,
    allowable: false,
    check: check,
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let mut neighbours = Neighbours::new(context.host);
    for (root, bound) in context.policy.roots.iter().zip(&context.binding.roots) {
        let Ok(found) = &bound.found else { continue };
        if found.exists() {
            continue;
        }
        let missing = found.canonical.strip_prefix(&found.existing).ok().and_then(|rest| rest.iter().next());
        let near = missing.and_then(|name| Some((name, neighbours.nearest(name, &[&found.existing])?)));
        let help = match near {
            Some((_, near)) => {
                format!("correct the path (`{}` is there), or make the directory", found.existing.join(near))
            }
            None => format!(
                "correct the path, or make the directory; `{}` is the last part that exists",
                found.existing
            ),
        };
        let finding = INFO
            .finding(format!("the root `{}` does not exist", found.canonical))
            .at(root.span, "nothing is there")
            .help(help);
        let edit = near.and_then(|(wrong, near)| respell(context.sources, root.path.span, wrong, near));
        findings.push(match (edit, near) {
            (Some(edit), Some((_, near))) => finding.fix(format!("write `{near}`"), vec![edit], false),
            _ => finding,
        });
    }
}

#[cfg(test)]
mod tests {
    use crate::lint::testing::Case;
    use crate::policy::Access;

    #[test]
    fn a_missing_root_is_named_with_its_nearest_neighbour() {
        let mut case = Case::in_workspace();
        case.root("/home/dev/othr", Access::ReadOnly);
        assert_eq!(
            case.found("missing-root"),
            [
                "the root `/home/dev/othr` does not exist\nroot \"/home/dev/othr\" read-only -- nothing is there"
            ]
        );
        let help = case.findings("missing-root")[0].help.clone();
        assert_eq!(help.unwrap(), "correct the path (`/home/dev/other` is there), or make the directory");
    }
}
