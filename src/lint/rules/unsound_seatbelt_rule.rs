use crate::bind::seatbelt::UNCOUNTED;
use crate::finding::Finding;
use crate::host::fold;
use crate::lint::Context;
use crate::plan::{Effect, Operation, OriginKind, Rule as Planned, Scope};
use crate::sbpl;
use camino::Utf8Path;

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
    /// Looks alike and is fine: a denial of a path that a root does not hold.
    ///
    /// ```palisade fine
    /// edition 1
    /// profile "fine" {
    ///     root "$workspace" read-only
    ///     on macos { seatbelt "(deny file-read-data file-read-xattr file-lock (subpath \"/Library/Fonts\"))" because "it draws nothing" }
    /// }
    /// ```
    ///
    /// ## What to do
    ///
    /// Name operations and paths by `literal` and `subpath`, absolute and without links. To write below a read-only
    /// root, state a `root` there.
    name: "unsound-seatbelt-rule",
    severity: Error,
    confidence: Certain,
    fix: None,
    allowable: false,
    check: check,
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for (statement, read) in context.policy.seatbelt.iter().zip(&context.binding.seatbelt) {
        for problem in read.as_ref().err().into_iter().flatten() {
            findings.push(
                INFO.finding(format!("this seatbelt rule is not taken: {problem}"))
                    .at(statement.span, "nothing of it is compiled")
                    .help(
                        "write `(allow OPERATION (literal \"/path\"))`, or leave it to the other statements",
                    ),
            );
        }
    }
    uncounted(context, findings);
    let denials: Vec<&Planned> = context
        .plan
        .rules
        .iter()
        .filter(|rule| rule.effect == Effect::Deny && rule.origin.kind < OriginKind::Seatbelt)
        .filter(|rule| rule.origin.kind != OriginKind::Scratch)
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

/// Some operations on paths are none of a plan's, so that no denial takes them back: they are opened where nothing is denied or not at all.
fn uncounted(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let denials: Vec<&Planned> = context
        .plan
        .rules
        .iter()
        .filter(|rule| rule.effect == Effect::Deny && rule.operations.contains(Operation::Create))
        // The private directory's place is not known here.
        .filter(|rule| rule.origin.kind != OriginKind::Scratch)
        .collect();
    for (statement, read) in context.policy.seatbelt.iter().zip(&context.binding.seatbelt) {
        let allowed = read.iter().flatten().filter(|rule| rule.effect == sbpl::rule::Effect::Allow);
        for rule in allowed {
            let Some(name) = rule.operations.iter().find(|name| UNCOUNTED.contains(name)) else { continue };
            for (scope, path) in &rule.paths {
                let denied = |denial: &&&Planned| meet((*scope, path), (denial.scope, &denial.path));
                let Some(denial) = denials.iter().find(denied) else { continue };
                let message =
                    format!("this would open `{name}` at `{}`, where writing is denied", denial.path);
                findings.push(INFO.finding(message).at(statement.span, format!("speaks of `{path}`")).help(
                    "name the path of the socket or device itself, away from what is denied or guarded",
                ));
            }
        }
    }
}

/// Whether two regions have a path in common, however it is spelled.
fn meet(one: (Scope, &Utf8Path), other: (Scope, &Utf8Path)) -> bool {
    let (first, second) = (fold(one.1), fold(other.1));
    let (one, other) = ((one.0, first.as_path()), (other.0, second.as_path()));
    let holds = |outer: (Scope, &Utf8Path), inner: &Utf8Path| {
        outer.1 == inner || (outer.0 == Scope::Subtree && inner.starts_with(outer.1))
    };
    holds(one, other.1) || holds(other, one.1)
}

/// Whether two rules speak of one operation on one path.
fn overlap(rule: &Planned, denial: &Planned) -> bool {
    !rule.operations.intersection(denial.operations).is_empty()
        && meet((rule.scope, &rule.path), (denial.scope, &denial.path))
}
