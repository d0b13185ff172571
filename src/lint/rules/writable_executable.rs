use crate::finding::Finding;
use crate::lint::Context;
use crate::lint::places::Roots;
use crate::plan::Operation;

rule! {
    /// A path that may be both written and executed.
    ///
    /// ## What it does
    ///
    /// Reports an `executable` whose path, or what lies below it, may also be written.
    ///
    /// ## Why it is bad
    ///
    /// The list of tools no longer bounds what runs: a command writes a program there and starts it. The other
    /// walls still hold, for that program as well.
    ///
    /// ## Example
    ///
    /// ```palisade bad
    /// edition 1
    /// profile "builder" {
    ///     root "$workspace" read-write
    ///     executable "$workspace/target"
    /// }
    /// ```
    ///
    /// ```palisade good
    /// edition 1
    /// profile "builder" {
    ///     root "$workspace" read-write
    ///     # palisade: allow(writable-executable) tests are built and run here
    ///     executable "$workspace/target"
    /// }
    /// ```
    ///
    /// ## What to do
    ///
    /// A build that runs what it builds needs this: allow it there, with the reason. Otherwise protect the path
    /// with a read-only root.
    name: "writable-executable",
    severity: Warning,
    allowable: true,
    check: check,
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let roots = Roots::of(context);
    let decider = context.plan.decider();
    for bound in &context.binding.executables {
        let Some(path) = bound.canonical() else { continue };
        let at = decider.decide(Operation::Write, path);
        let below = decider.decide_below(Operation::Create, path);
        if !at.allowed && !below.allowed {
            continue;
        }
        let mut finding = INFO
            .finding(format!("`{path}` may be both written and executed"))
            .at(bound.asked.span, "executable");
        if let Some(root) = roots.holding(path) {
            finding = finding.at(root.statement.span, "writable");
        }
        findings.push(finding.help(
            "allow it here with the reason where what is built must run; otherwise protect it with a read-only root",
        ));
    }
}

#[cfg(test)]
mod tests {
    use crate::lint::testing::Case;
    use crate::policy::Access;

    #[test]
    fn what_can_be_written_should_not_run() {
        let mut case = Case::in_workspace();
        case.root("/home/dev/project/vendor", Access::ReadOnly)
            .executable("/home/dev/project/target")
            .executable("/home/dev/project/vendor");
        assert_eq!(
            case.found("writable-executable"),
            ["`/home/dev/project/target` may be both written and executed\n\
              \"/home/dev/project/target\" -- executable\n\
              root \"/home/dev/project\" read-write -- writable"]
        );
    }
}
