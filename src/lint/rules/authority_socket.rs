use crate::finding::{Finding, Severity};
use crate::host::{Kind, resolve};
use crate::lint::Context;
use crate::lint::catalogue::authority::{SOCKETS, usual_name};
use crate::lint::edits::{add_after, spelled};
use crate::lint::places::{Roots, home};
use crate::plan::{Operation, OriginKind};
use camino::Utf8Path;

rule! {
    /// A socket of another program's authority that a command can reach or replace.
    ///
    /// ## What it does
    ///
    /// Reports the sockets of container engines, of agents for keys, of the session's and the system's bus and their
    /// like that stand where a command may write, or that a `seatbelt` rule lets it connect to. Where a `unix` line names one,
    /// also by a name that is usual for such a socket somewhere else, it is an error.
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
    ///     root "$workspace/target" read-write
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
    /// Narrow the root so that the socket is not in it, or deny the socket. Of a `unix` line: leave it out, or have something
    /// between that passes on only what the command needs.
    name: "authority-socket",
    severity: Warning,
    confidence: Certain,
    fix: Unsafe,
    allowable: true,
    check: check,
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    stated(context, findings);
    replaceable(context, findings);
}

/// Those that `unix` lines name.
fn stated(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let (home, uid) = home(context);
    for (bound, line) in context.binding.sockets.iter().zip(&context.policy.unix) {
        let canonical = |path: &Utf8Path| resolve::resolve(context.host, path).ok().map(|it| it.canonical);
        let asked = &bound.asked.path;
        let path = bound.canonical().unwrap_or(asked);
        let known = SOCKETS.iter().find(|socket| {
            let place = socket.on(&home, uid);
            place == *asked || place == path || canonical(&place).is_some_and(|place| place == path)
        });
        let named = || usual_name(asked).or_else(|| usual_name(path));
        let Some(what) = known.map(|socket| socket.what).or_else(named) else { continue };
        let mut finding = INFO
            .finding(format!("the socket `{path}` can be connected to"))
            .at(line.span, what)
            .help("leave it out: behind it, what the command says is done with somebody else's rights");
        finding.severity = Severity::Error;
        findings.push(finding);
    }
}

fn replaceable(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let roots = Roots::of(context);
    let decider = context.plan.decider();
    let (home, uid) = home(context);
    for socket in SOCKETS {
        let stated = socket.on(&home, uid);
        // What is writable without a root is the private directory, and what is connected to a service of the system base.
        let Some(root) = roots.holding(&stated) else { continue };
        let Ok(found) = resolve::resolve(context.host, &stated) else { continue };
        let path = found.canonical;
        let decide = |operation| decider.decide(operation, &path);
        let connect = decide(Operation::Connect);
        if connect.rule.is_some_and(|rule| rule.origin.kind == OriginKind::Socket) {
            continue;
        }
        let is_open =
            connect.allowed || decide(Operation::Remove).allowed || decide(Operation::Create).allowed;
        if !is_open || found.entry.is_none_or(|entry| entry.kind != Kind::Socket) {
            continue;
        }
        let verb = if connect.allowed { "connected to" } else { "replaced" };
        let opened = connect.rule.filter(|_| connect.allowed).and_then(|rule| rule.origin.span);
        let denial = format!("deny {}", spelled(context, &path));
        let finding = INFO
            .finding(format!("the socket `{path}` can be {verb}"))
            .at(opened.unwrap_or(root.statement.span), socket.what)
            .help(format!("narrow the root, or `{denial}`"));
        // What a `seatbelt` rule opens, a denial does not close.
        findings.push(if opened.is_none() {
            let edit = add_after(context.sources, root.statement.span, &[denial]);
            finding.fix("deny the socket", vec![edit], false)
        } else {
            finding
        });
    }
}
