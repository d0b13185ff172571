use crate::finding::Finding;
use crate::lint::Context;
use crate::lint::places::is_readable;

rule! {
    /// An `executable` path that cannot be read.
    ///
    /// ## What it does
    ///
    /// Reports an `executable` outside every root, or one that is denied.
    ///
    /// ## Why it is bad
    ///
    /// A program that cannot be read does not run, so the statement does nothing; the day a root is added
    /// around it, it opens more than its reader sees.
    ///
    /// ## Example
    ///
    /// ```palisade bad
    /// edition 1
    /// profile "builder" {
    ///     root "$workspace" read-only
    ///     executable "~/other"
    /// }
    /// ```
    ///
    /// ```palisade good
    /// edition 1
    /// profile "builder" {
    ///     root "$workspace" read-only
    ///     executable "$workspace/target"
    /// }
    /// ```
    ///
    /// ## What to do
    ///
    /// Remove it, add the root that holds it, or name a single program with `tool "PATH"`.
    name: "useless-executable",
    severity: Warning,
    allowable: true,
    check: check,
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let decider = context.plan.decider();
    for bound in &context.binding.executables {
        let Some(path) = bound.canonical() else { continue };
        if is_readable(&decider, path) {
            continue;
        }
        findings.push(
            INFO.finding(format!("the executable path `{path}` cannot be read"))
                .at(bound.asked.span, "nothing can run there")
                .help("remove it, add the root that holds it, or name a single program with `tool \"PATH\"`"),
        );
    }
}

#[cfg(test)]
mod tests {
    use crate::lint::testing::Case;

    #[test]
    fn what_is_to_run_must_be_readable() {
        let mut case = Case::in_workspace();
        case.deny("/home/dev/project/secrets")
            .executable("/home/dev/other")
            .executable("/home/dev/project/secrets")
            .executable("/home/dev/project/target");
        assert_eq!(
            case.found("useless-executable"),
            [
                "the executable path `/home/dev/other` cannot be read\n\
                 \"/home/dev/other\" -- nothing can run there",
                "the executable path `/home/dev/project/secrets` cannot be read\n\
                 \"/home/dev/project/secrets\" -- nothing can run there",
            ]
        );
    }
}
