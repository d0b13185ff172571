use crate::finding::Finding;
use crate::host::Kind;
use crate::lint::Context;
use crate::lint::catalogue::authority::SOCKETS;
use crate::lint::places::{Roots, home, quoted};
use crate::plan::Operation;

rule! {
    /// A socket of another program's authority that a command can reach or replace.
    ///
    /// ## What it does
    ///
    /// Reports the sockets of container engines, of agents for keys, of the session's and the system's bus and their
    /// like that stand where a command may write, or that a `seatbelt` rule lets it connect to.
    ///
    /// ## Why it is bad
    ///
    /// Behind such a socket a program does what it is told with its own rights: docker starts a container with the
    /// whole disk in it, an agent signs, a program of the session opens a terminal. Where the socket's directory
    /// can be written, the command takes it away and puts its own there, and answers in that program's
    /// place.
    ///
    /// ## Example
    ///
    /// ```palisade bad
    /// edition 1
    /// profile "writer" {
    ///     root "$workspace" read-only
    ///     root "~/.docker/run" read-write
    /// }
    /// ```
    ///
    /// ```palisade good
    /// edition 1
    /// profile "writer" {
    ///     root "$workspace" read-only
    ///     root "~/other" read-write
    /// }
    /// ```
    ///
    /// Looks alike and is fine: the walls let nobody connect to a socket below a root, and here none can be replaced.
    ///
    /// ```palisade fine
    /// edition 1
    /// profile "fine" {
    ///     root "$workspace" read-only
    ///     root "~/.docker/run" read-only
    /// }
    /// ```
    ///
    /// ## What to do
    ///
    /// Narrow the root so that the socket is not in it, or deny the socket.
    name: "authority-socket",
    severity: Warning,
    confidence: Certain,
    allowable: true,
    check: check,
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let roots = Roots::of(context);
    let decider = context.plan.decider();
    let (home, uid) = home(context);
    for socket in SOCKETS {
        let path = socket.on(&home, uid);
        let decide = |operation| decider.decide(operation, &path);
        let connect = decide(Operation::Connect);
        let is_open = connect.allowed || decide(Operation::Remove).allowed || decide(Operation::Create).allowed;
        // Cheap first: most are in no root.
        if !is_open {
            continue;
        }
        let Ok(Some(entry)) = context.host.lstat(&path) else { continue };
        if entry.kind != Kind::Socket {
            continue;
        }
        let verb = if connect.allowed { "connected to" } else { "replaced" };
        let mut finding = INFO
            .finding(format!("the socket `{path}` can be {verb}"))
            .help(format!("narrow the root, or `deny {}`", quoted(&path)));
        let stated = connect.rule.filter(|_| connect.allowed).and_then(|rule| rule.origin.span);
        if let Some(span) = stated.or(roots.holding(&path).map(|root| root.statement.span)) {
            finding = finding.at(span, socket.what);
        }
        findings.push(finding);
    }
}
