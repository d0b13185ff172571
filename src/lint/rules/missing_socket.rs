use crate::finding::Finding;
use crate::lint::Context;

rule! {
    /// A unix socket that does not exist.
    ///
    /// ## What it does
    ///
    /// Notes a `unix` line at whose path nothing is on this machine.
    ///
    /// ## Why it is bad
    ///
    /// A server that is not up yet makes its socket when it starts, and the command can connect to it from then on. It
    /// connects to whatever socket is made there, by whomever: in a directory that everybody may write to, such as
    /// `/tmp`, that may be anybody. Or the path is a slip.
    ///
    /// ## Example
    ///
    /// ```palisade bad
    /// edition 1
    /// profile "tests" {
    ///     root "$workspace" read-only
    ///     network only { unix "/run/postgresql/.s.PGSQL.5433" }
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
    /// Looks alike and is fine: a port of this machine, which nobody looks at.
    ///
    /// ```palisade fine
    /// edition 1
    /// profile "fine" {
    ///     root "$workspace" read-only
    ///     network only { localhost 5433 }
    ///     limits { time 10m }
    /// }
    /// ```
    ///
    /// ## What to do
    ///
    /// Correct the path, or start the server first.
    name: "missing-socket",
    severity: Note,
    confidence: Likely,
    fix: None,
    allowable: true,
    check: check,
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for (bound, line) in context.binding.sockets.iter().zip(&context.policy.unix) {
        let Ok(found) = &bound.found else { continue };
        if !found.exists() {
            findings.push(
                INFO.finding(format!("the socket `{}` does not exist", found.canonical))
                    .at(line.span, "connected to once it is there")
                    .help("correct the path, or start the server first"),
            );
        }
    }
}
