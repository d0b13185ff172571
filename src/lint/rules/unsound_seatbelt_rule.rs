use crate::finding::Finding;
use crate::lint::Context;
use crate::plan::{Effect, OriginKind, Rule as Planned, Scope};

rule! {
    /// A `seatbelt` rule that cannot be taken.
    ///
    /// ## What it does
    ///
    /// Reports a `seatbelt` statement that is not understood, that says what cannot be checked (`with no-sandbox`,
    /// expressions over paths, imports), or that would lift what a read-only root or a root's own place denies.
    ///
    /// ## Why it is bad
    ///
    /// Whatever stands in the profile is counted when it is asked what is allowed. A rule that cannot be counted makes
    /// every such answer wrong.
    ///
    /// ## Example
    ///
    /// ```palisade bad
    /// edition 1
    /// profile "agent" {
    ///     root "$workspace" read-only
    ///     on macos { seatbelt "(allow file-read*)" because "it reads" }
    /// }
    /// ```
    ///
    /// ```palisade good
    /// edition 1
    /// profile "agent" {
    ///     root "$workspace" read-only
    ///     # palisade: allow(seatbelt-rule) the keyboard layouts are the system's own
    ///     on macos { seatbelt "(allow file-read* (subpath \"/Library/Keyboard Layouts\"))" because "it shows layouts" }
    /// }
    /// ```
    ///
    /// ## What to do
    ///
    /// Name operations and paths by `literal` and `subpath`, absolute and without links. To write below a read-only
    /// root, state a `root` there.
    name: "unsound-seatbelt-rule",
    severity: Error,
    allowable: false,
    check: check,
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for (statement, read) in context.policy.seatbelt.iter().zip(&context.binding.seatbelt) {
        for problem in read.as_ref().err().into_iter().flatten() {
            findings.push(
                INFO.finding(format!("this seatbelt rule is not taken: {problem}"))
                    .at(statement.span, "nothing of it is compiled")
                    .help("write `(allow OPERATION (literal \"/path\"))`, or leave it to the other statements"),
            );
        }
    }
    let denials: Vec<&Planned> = context
        .plan
        .rules
        .iter()
        .filter(|rule| rule.effect == Effect::Deny && rule.origin.kind < OriginKind::Seatbelt)
        .collect();
    for rule in context.plan.rules.iter().filter(|rule| rule.origin.kind == OriginKind::Seatbelt) {
        let lifted = denials.iter().find(|denial| overlap(rule, denial));
        if let (Effect::Allow, Some(denial), Some(span)) = (rule.effect, lifted, rule.origin.span) {
            let operations = rule.operations.intersection(denial.operations);
            findings.push(
                INFO.finding(format!("this would lift what denies {operations} at `{}`", denial.path))
                    .at(span, format!("speaks of `{}`", rule.path))
                    .help("state a `root` where the command is to write"),
            );
        }
    }
}

/// Whether two rules speak of one operation on one path.
fn overlap(rule: &Planned, denial: &Planned) -> bool {
    let holds = |outer: &Planned, inner: &Planned| {
        outer.path == inner.path || (outer.scope == Scope::Subtree && inner.path.starts_with(&outer.path))
    };
    !rule.operations.intersection(denial.operations).is_empty() && (holds(rule, denial) || holds(denial, rule))
}
