use crate::finding::Finding;
use crate::lint::Context;
use crate::lint::places::is_readable;

rule! {
    /// An `executable` path at which nothing can run.
    ///
    /// ## What it does
    ///
    /// Reports an `executable` outside every root, one that is denied, and one that goes through a symbolic link in
    /// a writable root.
    ///
    /// ## Why it is bad
    ///
    /// A program that cannot be read does not run, so the statement does nothing; the day a root is added
    /// around it, it opens more than its reader sees. A link in a writable root may have been put there by a command
    /// of an earlier run: it must not choose what the next one may run.
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
    /// Remove it, state the real path, add the root that holds it, or name a single program with `tool "PATH"`.
    name: "useless-executable",
    severity: Warning,
    allowable: true,
    check: check,
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let decider = context.plan.decider();
    for bound in &context.binding.executables {
        let Ok(found) = &bound.found else { continue };
        let path = &found.canonical;
        if let Some(hop) = found.hops.iter().find(|hop| context.binding.is_writable(context.policy, &hop.link)) {
            findings.push(
                INFO.finding(format!("the executable path `{}` goes through a link that a command may replace", bound.asked.path))
                    .at(bound.asked.span, format!("`{}` is a link to `{}`", hop.link, hop.target))
                    .help(format!("nothing can run there: state the real path, `{path}`, if that is what is meant")),
            );
            continue;
        }
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
