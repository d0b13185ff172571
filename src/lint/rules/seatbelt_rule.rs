use crate::finding::Finding;
use crate::lint::Context;
use crate::plan::Scope;
use crate::sbpl::rule::Effect;

rule! {
    /// A `seatbelt` rule that opens something.
    ///
    /// ## What it does
    ///
    /// Reports every `allow` in a `seatbelt` statement and says what it opens on a Mac. Statements that only deny are
    /// not reported.
    ///
    /// ## Why it is bad
    ///
    /// It is written in Seatbelt's own language, which few reviewers read, and nothing in the rest of the profile
    /// says that it is open.
    ///
    /// ## Example
    ///
    /// ```palisade bad
    /// edition 1
    /// profile "agent" {
    ///     root "$workspace" read-only
    ///     on macos { seatbelt "(allow mach-lookup (global-name \"org.example.agent\"))" because "it talks to our agent" }
    /// }
    /// ```
    ///
    /// ```palisade good
    /// edition 1
    /// profile "agent" {
    ///     root "$workspace" read-only
    ///     # palisade: allow(seatbelt-rule) the agent takes no orders, it only counts
    ///     on macos { seatbelt "(allow mach-lookup (global-name \"org.example.agent\"))" because "it talks to our agent" }
    /// }
    /// ```
    ///
    /// Looks alike and is fine: it only denies.
    ///
    /// ```palisade fine
    /// edition 1
    /// profile "fine" {
    ///     root "$workspace" read-only
    ///     on macos { seatbelt "(deny mach-lookup (global-name \"org.example.agent\"))" because "it takes no orders" }
    /// }
    /// ```
    ///
    /// ## What to do
    ///
    /// Look whether a statement of the language or one of `needs` opens it. Where none does, allow the finding at the
    /// statement and say why.
    name: "seatbelt-rule",
    severity: Warning,
    confidence: Certain,
    fix: None,
    allowable: true,
    check: check,
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for (statement, read) in context.policy.seatbelt.iter().zip(&context.binding.seatbelt) {
        let Ok(rules) = read else { continue };
        let opened: Vec<String> = rules
            .iter()
            .filter(|rule| rule.effect == Effect::Allow)
            .map(|rule| {
                let paths = rule.paths.iter().map(|(scope, path)| match scope {
                    Scope::Literal => format!("`{path}`"),
                    Scope::Subtree => format!("`{path}` and below"),
                });
                match paths.collect::<Vec<_>>().join(", ") {
                    none if none.is_empty() => format!("`{}`", rule.text),
                    paths => format!("{} of {paths}", rule.operations.join(", ")),
                }
            })
            .collect();
        if !opened.is_empty() {
            findings.push(
                INFO.finding(format!("this opens {}", opened.join("; ")))
                    .at(statement.span, "beyond what the rest of the profile says")
                    .help("look whether `needs` names it; else allow the finding here, with the reason"),
            );
        }
    }
}
