use super::{Context, stopped, witness};
use crate::finding::Finding;
use crate::sbpl::decide::Fact;
use crate::sbpl::rule::Effect;
use crate::sbpl::{Engine, Operation, Subject, Verdict};
use crate::syntax::shown;

sb_rule! {
    /// A socket that is denied as a file, and can be connected to.
    ///
    /// ## What it does
    ///
    /// Reports denials of file operations for paths that look like unix sockets (`….sock`, `….socket`, `…/Listeners`,
    /// an agent's), where `network-outbound` allows connecting to them.
    ///
    /// ## Why it is bad
    ///
    /// Connecting to a unix socket asks for `network-outbound` with its path, and for no file operation. Behind
    /// such sockets sit programs with more authority than the sandbox: docker, agents for keys, launchd.
    ///
    /// ## Example
    ///
    /// ```sbpl bad
    /// (version 1)
    /// (allow default)
    /// (deny file-read* file-write* (literal "/private/var/run/docker.sock"))
    /// ```
    ///
    /// ```sbpl good
    /// (version 1)
    /// (allow default)
    /// (deny file-read* file-write* network-outbound (literal "/private/var/run/docker.sock"))
    /// ```
    ///
    /// ## What to do
    ///
    /// Deny `network-outbound` with the same path.
    name: "socket-denied-as-file",
    severity: Warning,
    check: check,
}

/// How the names of sockets end, in lower case.
const ENDS: [&str; 6] = [".sock", ".socket", "/listeners", "/s.gpg-agent", "/ssh-agent", "/agent"];

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    if !context.understood {
        return;
    }
    let profile = context.profile;
    let mut left = context.decisions();
    let Some(connect) = Operation::named("network-outbound") else { return };
    for rule in profile.rules.iter().filter(|rule| rule.effect == Effect::Deny) {
        if !rule.operations.iter().any(|operation| operation.name().starts_with("file-")) {
            continue;
        }
        let named = witness::paths(rule).into_iter().filter(|path| {
            let lower = String::from_utf8_lossy(path).to_lowercase();
            ENDS.iter().any(|end| lower.ends_with(end))
        });
        let mut open = None;
        for path in named {
            let Some(rest) = left.checked_sub(1) else {
                return findings.push(stopped(&INFO));
            };
            left = rest;
            let subject = Subject::path(path.as_slice()).with("vnode-type", Fact::Is(b"SOCKET".to_vec()));
            if profile.decide(connect, &subject, Engine::PerOperation).verdict == Verdict::Allow {
                open = Some(path);
                break;
            }
        }
        if let Some(path) = open {
            let said = shown(&String::from_utf8_lossy(&path));
            findings.push(
                INFO.finding(format!("the socket `{said}` is denied as a file, and can be connected to"))
                    .at(rule.span, "connecting asks for no file operation")
                    .help(format!("deny it as well: `(deny network-outbound (literal \"{said}\"))`")),
            );
        }
    }
}
