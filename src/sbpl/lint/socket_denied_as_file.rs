use super::witness::Witness;
use super::{Context, stopped};
use crate::finding::Finding;
use crate::sbpl::decide::Fact;
use crate::sbpl::rule::{Effect, Rule as SbRule, Test};
use crate::sbpl::{Engine, Operation, Subject, Verdict};

sb_rule! {
    /// A socket that is denied as a file, and can be connected to.
    ///
    /// ## What it does
    ///
    /// Reports file operations that are denied on what looks like a unix socket (`….sock`, `….socket`, `…/Listeners`, an
    /// agent's), on a directory where such are, or on the vnode type `SOCKET`, where `network-outbound` allows
    /// connecting there.
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
    confidence: Certain,
    fix: None,
    check: check,
}

/// How the names of sockets end, in lower case.
const ENDS: [&str; 7] =
    [".sock", ".socket", "/listeners", "/s.gpg-agent", "/ssh-agent", "/agent", "/mdnsresponder"];

/// Directories that hold sockets with authority behind them, in lower case: those at the root, and those in a home.
const DIRECTORIES: [&str; 1] = ["/private/var/run"];
const IN_HOMES: [&str; 7] =
    ["/.docker/run", "/.colima", "/.lima", "/.orbstack", "/.rd", "/.gnupg", "/.ssh/agent"];

fn is_telling(path: &[u8]) -> bool {
    let lower = String::from_utf8_lossy(path).to_lowercase();
    ENDS.iter().any(|end| lower.ends_with(end))
        || DIRECTORIES.contains(&lower.as_str())
        || IN_HOMES.iter().any(|end| lower.ends_with(end))
}

fn names_sockets(rule: &SbRule) -> bool {
    let mut found = false;
    for filter in rule.filters.iter() {
        filter.walk(false, &mut |filter, negated| {
            let Test::Word { attribute, value } = &filter.test else { return };
            found |= attribute.name == "vnode-type" && &**value == "SOCKET" && (rule.effect == Effect::Deny) != negated;
        });
    }
    found
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    if !context.understood {
        return;
    }
    let profile = context.assumed;
    let mut left = context.decisions();
    let (Some(connect), Some(read), Some(write)) = (
        Operation::named("network-outbound"),
        Operation::named("file-read-data"),
        Operation::named("file-write-data"),
    ) else {
        return;
    };
    let decided = |operation, subject: &Subject| profile.decide(operation, subject, Engine::PerOperation).verdict;
    for rule in &profile.rules {
        if !rule.operations.iter().any(|operation| operation.name().starts_with("file")) {
            continue;
        }
        let mut kept_out = Witness::new(profile.case);
        kept_out.add_kept_out(rule);
        let of_sockets = names_sockets(rule);
        let mut paths: Vec<Vec<u8>> = kept_out.paths().into_iter().filter(|path| of_sockets || is_telling(path)).collect();
        if of_sockets && paths.is_empty() {
            paths.push(b"/private/var/run/x.sock".to_vec());
        }
        let mut open = None;
        for path in paths {
            let Some(rest) = left.checked_sub(3) else {
                return findings.push(stopped(&INFO));
            };
            left = rest;
            let subject = Subject::path(path.as_slice()).with("vnode-type", Fact::Is(b"SOCKET".to_vec()));
            let is_denied = [read, write].into_iter().any(|operation| decided(operation, &subject) == Verdict::Deny);
            if (is_denied || rule.effect == Effect::Deny) && decided(connect, &subject) == Verdict::Allow {
                open = Some(path);
                break;
            }
        }
        let Some(path) = open else { continue };
        let said = context.stand_ins.shown(&path);
        let is_directory = {
            let lower = String::from_utf8_lossy(&path).to_lowercase();
            DIRECTORIES.contains(&lower.as_str()) || IN_HOMES.iter().any(|end| lower.ends_with(end))
        };
        let (message, filter) = match (of_sockets, is_directory) {
            (true, _) => ("sockets are denied as files, and can be connected to".to_owned(), "(vnode-type SOCKET)".to_owned()),
            (_, true) => (
                format!("sockets in `{said}` are denied as files, and can be connected to"),
                format!("(subpath {})", context.stand_ins.written(&path)),
            ),
            _ => (
                format!("the socket `{said}` is denied as a file, and can be connected to"),
                format!("(literal {})", context.stand_ins.written(&path)),
            ),
        };
        findings.push(
            INFO.finding(message)
                .at(rule.span, "connecting asks for no file operation")
                .help(format!("deny it as well: `(deny network-outbound {filter})`")),
        );
    }
}
