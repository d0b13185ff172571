use crate::finding::Finding;
use crate::lint::Context;
use crate::lint::places::is_readable;

rule! {
    /// An `executable` path at which nothing can run.
    ///
    /// ## What it does
    ///
    /// Reports an `executable` that is denied, and one that goes through a symbolic link in a writable root.
    ///
    /// ## Why it is bad
    ///
    /// A program that cannot be read does not run, so the statement does nothing; the day the denial goes, it
    /// opens more than its reader sees. A link in a writable root may have been put there by a command
    /// of an earlier run: it must not choose what the next one may run.
    ///
    /// ## Example
    ///
    /// ```palisade bad
    /// edition 1
    /// profile "builder" {
    ///     root "$workspace" read-only
    ///     deny "$workspace/secrets"
    ///     executable "$workspace/secrets"
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
    /// Looks alike and is fine: a part of it is denied, and the rest runs.
    ///
    /// ```palisade fine
    /// edition 1
    /// profile "fine" {
    ///     root "$workspace" read-only
    ///     executable "$workspace/target"
    ///     deny glob "$workspace/target/**/*.key"
    /// }
    /// ```
    ///
    /// ## What to do
    ///
    /// Remove it, state the real path, or remove the denial.
    name: "useless-executable",
    severity: Warning,
    confidence: Certain,
    fix: None,
    allowable: true,
    check: check,
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let decider = context.plan.decider();
    let places = context.binding.executable_places();
    for bound in &context.binding.executables {
        let Ok(found) = &bound.found else { continue };
        let path = &found.canonical;
        if let Some(hop) =
            found.hops.iter().find(|hop| context.binding.is_writable(context.policy, &hop.link))
        {
            findings.push(
                INFO.finding(format!(
                    "the executable path `{}` goes through a link that a command may replace",
                    bound.asked.path
                ))
                .at(bound.asked.span, format!("`{}` is a link to `{}`", hop.link, hop.target))
                .help(format!(
                    "nothing can run there: state the real path, `{path}`, if that is what is meant"
                )),
            );
            continue;
        }
        // Outside every root is an error of its own.
        if !places.hold(path) || is_readable(&decider, path) {
            continue;
        }
        findings.push(
            INFO.finding(format!("the executable path `{path}` cannot be read"))
                .at(bound.asked.span, "nothing can run there")
                .help("remove it, or the denial that it lies in"),
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
            ["the executable path `/home/dev/project/secrets` cannot be read\n\
                 \"/home/dev/project/secrets\" -- nothing can run there",]
        );
    }
}
