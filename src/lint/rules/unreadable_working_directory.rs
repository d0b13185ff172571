use crate::finding::Finding;
use crate::lint::Context;
use crate::plan::Operation;

rule! {
    /// A working directory that the command may not read.
    ///
    /// ## What it does
    ///
    /// Reports a working directory outside every root, or one that is denied.
    ///
    /// ## Why it is bad
    ///
    /// The command starts where it can see nothing; programs fail on their first look around in ways that say
    /// nothing of the cause.
    ///
    /// ## Example
    ///
    /// ```palisade bad
    /// edition 1
    /// profile "reader" {
    ///     root "$workspace" read-only
    ///     working-directory "~/other"
    /// }
    /// ```
    ///
    /// ```palisade good
    /// edition 1
    /// profile "reader" {
    ///     root "$workspace" read-only
    ///     working-directory "$workspace/src"
    /// }
    /// ```
    ///
    /// Looks alike and is fine: beside what is denied.
    ///
    /// ```palisade fine
    /// edition 1
    /// profile "fine" {
    ///     root "$workspace" read-only
    ///     deny "$workspace/secrets"
    ///     working-directory "$workspace/vendor"
    /// }
    /// ```
    ///
    /// ## What to do
    ///
    /// State one inside a root.
    name: "unreadable-working-directory",
    severity: Error,
    confidence: Certain,
    fix: None,
    allowable: false,
    check: check,
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let Some(bound) = &context.binding.working_directory else { return };
    let Some(path) = bound.canonical() else { return };
    let decision = context.plan.decider().decide(Operation::Read, path);
    if decision.allowed {
        return;
    }
    let mut finding = INFO
        .finding(format!("the working directory `{path}` cannot be read"))
        .at(bound.asked.span, "commands are to start here");
    finding = match decision.rule.and_then(|rule| rule.origin.span) {
        Some(span) => finding.at(span, "denied by this"),
        None => finding,
    };
    findings.push(finding.help("state a directory inside a root"));
}

#[cfg(test)]
mod tests {
    use crate::lint::testing::Case;

    #[test]
    fn a_command_must_see_where_it_starts() {
        let mut case = Case::in_workspace();
        case.deny("/home/dev/project/secrets").working_directory("/home/dev/project/secrets");
        assert_eq!(
            case.found("unreadable-working-directory"),
            ["the working directory `/home/dev/project/secrets` cannot be read\n\
              \"/home/dev/project/secrets\" -- commands are to start here\n\
              deny \"/home/dev/project/secrets\" -- denied by this"]
        );
        case.working_directory("/home/dev/other");
        assert_eq!(case.found("unreadable-working-directory").len(), 1);
        case.working_directory("/home/dev/project/src");
        assert!(case.found("unreadable-working-directory").is_empty());
    }
}
