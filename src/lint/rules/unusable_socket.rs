use crate::finding::Finding;
use crate::lint::Context;
use crate::plan::{Operation, OriginKind};

rule! {
    /// A unix socket that cannot be granted.
    ///
    /// ## What it does
    ///
    /// Reports a `unix` line whose path cannot be followed, leads to something else than a socket, is denied, or lies where
    /// the command may write.
    ///
    /// ## Why it is bad
    ///
    /// The line grants nothing. Where a command may write it could move another socket there, or a link to one, and the
    /// next command would be connected to that.
    ///
    /// ## Example
    ///
    /// ```palisade bad
    /// edition 1
    /// profile "tests" {
    ///     root "$workspace" read-only
    ///     network only { unix "$workspace/src" }
    /// }
    /// ```
    ///
    /// ```palisade good
    /// edition 1
    /// profile "tests" {
    ///     root "$workspace" read-only
    ///     network only { unix "/run/postgresql/.s.PGSQL.5432" }
    /// }
    /// ```
    ///
    /// Looks alike and is fine: the directory of the socket may be read, which says nothing of connecting.
    ///
    /// ```palisade fine
    /// edition 1
    /// profile "fine" {
    ///     root "$workspace" read-only
    ///     root "/run/postgresql" read-only
    ///     network only { unix "/run/postgresql/.s.PGSQL.5432" }
    /// }
    /// ```
    ///
    /// ## What to do
    ///
    /// Name the socket itself, and have its server make it outside of every writable root.
    name: "unusable-socket",
    severity: Error,
    confidence: Certain,
    fix: None,
    allowable: false,
    check: check,
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let decider = context.plan.decider();
    for (bound, line) in context.binding.sockets.iter().zip(&context.policy.unix) {
        let mut report = |message: String, label: &str, help: &str| {
            findings.push(INFO.finding(message).at(line.span, label).help(help));
        };
        let found = match &bound.found {
            Ok(found) => found,
            Err(error) => {
                let message = format!("the socket `{}` cannot be looked up: {error}", bound.asked.path);
                report(message, "grants nothing", "name a path that can be followed");
                continue;
            }
        };
        let path = &found.canonical;
        if found.entry.as_ref().is_some_and(|entry| entry.kind != crate::host::Kind::Socket) {
            report(format!("`{path}` is not a socket"), "grants nothing", "name the socket itself");
            continue;
        }
        let changes = |operation| {
            let decision = decider.decide(operation, path);
            decision.allowed && decision.rule.is_some_and(|rule| rule.origin.kind != OriginKind::Scratch)
        };
        let writable = context.binding.is_writable(context.policy, path)
            || [Operation::Create, Operation::Remove, Operation::Write].into_iter().any(changes)
            || context.binding.is_plantable(context.policy, &found.hops);
        let denied = decider.decide(Operation::Connect, path);
        if writable {
            report(
                format!("the socket `{path}` lies where the command may write"),
                "a command could put another in its place",
                "have its server make it outside of every writable root",
            );
        } else if let Some(rule) = denied.rule.filter(|_| !denied.allowed) {
            let mut finding = INFO
                .finding(format!("the socket `{path}` is denied"))
                .at(line.span, "grants nothing")
                .help("a denial beats every grant: take one of the two out");
            if let Some(span) = rule.origin.span {
                finding = finding.at(span, "denied here");
            }
            findings.push(finding);
        }
    }
}
