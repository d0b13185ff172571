use crate::finding::Finding;
use crate::lint::Context;
use crate::lint::places::Roots;
use crate::plan::{Effect, Operation, Operations};
use camino::Utf8Path;
use std::collections::BTreeSet;

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
    /// Looks alike and is fine: it writes beside what may run.
    ///
    /// ```palisade fine
    /// edition 1
    /// profile "fine" {
    ///     root "$workspace" read-only
    ///     root "$workspace/src" read-write
    ///     executable "$workspace/target"
    /// }
    /// ```
    ///
    /// ## What to do
    ///
    /// A build that runs what it builds needs this: allow it there, with the reason. Otherwise protect the path
    /// with a read-only root, or name a directory that holds no writable root.
    name: "writable-executable",
    severity: Warning,
    confidence: Certain,
    fix: None,
    allowable: true,
    check: check,
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let roots = Roots::of(context);
    let places = context.binding.executable_places();
    let decider = context.plan.decider();
    // Sorted by components, so what lies below a path follows it.
    let opened: BTreeSet<&Utf8Path> = decider
        .rules()
        .iter()
        .filter(|rule| {
            rule.effect == Effect::Allow && !rule.operations.intersection(Operations::WRITING).is_empty()
        })
        .map(|rule| rule.path.as_path())
        .collect();
    let is_open = |path: &Utf8Path| {
        decider.decide(Operation::Write, path).allowed
            || decider.decide_below(Operation::Create, path).allowed
    };
    for bound in &context.binding.executables {
        let Some(path) = bound.canonical().filter(|path| places.hold(path)) else { continue };
        let below =
            || opened.range(path..).take_while(|open| open.starts_with(path)).find(|open| is_open(open));
        let Some(open) = (if is_open(path) { Some(path) } else { below().copied() }) else { continue };
        let message = if open == path {
            format!("`{path}` may be both written and executed")
        } else {
            format!("`{open}` may be both written and executed, as `{path}` holds it")
        };
        let mut finding = INFO.finding(message).at(bound.asked.span, "executable");
        if let Some(root) = roots.holding(open).filter(|root| root.is_writable()) {
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

    #[test]
    fn a_writable_root_below_a_path_in_a_read_only_one_counts() {
        let mut case = Case::new();
        case.root("/home/dev", Access::ReadOnly)
            .root("/home/dev/project/target", Access::ReadWrite)
            .executable("/home/dev/project")
            .executable("/home/dev/project/vendor")
            .executable("/home/dev/other");
        assert_eq!(
            case.found("writable-executable"),
            [
                "`/home/dev/project/target` may be both written and executed, as `/home/dev/project` holds it\n\
              \"/home/dev/project\" -- executable\n\
              root \"/home/dev/project/target\" read-write -- writable"
            ]
        );
        case.deny("/home/dev/project/target");
        assert!(case.found("writable-executable").is_empty(), "what is denied neither runs nor is written");
    }
}
