use super::Context;
use crate::finding::{Finding, Severity};
use crate::sbpl::vocabulary::Builtin;
use crate::sbpl::{Decider, Operation, Verdict};

sb_rule! {
    /// Operations that stay open under `(deny default)`.
    ///
    /// ## What it does
    ///
    /// Reports profiles that deny by default, in words or by saying nothing, and leave open what the kernel allows of
    /// itself. Only a rule without a filter closes such an operation, or one for each operation below it. Those that
    /// hardly any program can do without are a note.
    ///
    /// ## Why it is bad
    ///
    /// Some thirty operations never ask `default`: hard links and clones, mapping code, asking about other processes,
    /// firmware variables and more. Apple's own profiles and Firefox's deny them one by one.
    ///
    /// ## Example
    ///
    /// ```sbpl bad
    /// (version 1)
    /// (deny default)
    /// (allow process-exec)
    /// ```
    ///
    /// ```sbpl good
    /// (version 1)
    /// (deny default)
    /// (deny file-link file-clone file-map-executable file-test-existence file-lock)
    /// (deny process-info* process-info-codesignature nvram* fs-quota* fs-snapshot-mount)
    /// (deny iokit-get-properties iokit-open-service mach-cross-domain-lookup mach-derive-port)
    /// (deny mach-task-special-port* necp-client-open system-necp-client-action system-memorystatus-control)
    /// (deny darwin-notification-post dynamic-code-generation socket-ioctl system-privilege)
    /// (deny mach-bootstrap mach-kernel-endpoint process-codesigning process-exec-update-label)
    /// (deny socket-option-get socket-option-set system-fcntl system-mac-syscall xpc-message-send)
    /// (deny syscall-unix syscall-mach syscall-mig)
    /// ```
    ///
    /// ## What to do
    ///
    /// Deny each that the program can do without, then allow in part what it needs.
    name: "open-operations",
    severity: Warning,
    confidence: Certain,
    fix: None,
    check: check,
}

/// Those that hardly any program runs without, or that can be closed only together with a list of what is needed of them.
const HARD: [(&str, &str); 12] = [
    ("mach-bootstrap", "asking for services, of which `mach-lookup` decides"),
    ("mach-kernel-endpoint", "a process's own end to the kernel"),
    ("process-codesigning", "what a program asks of its own signature as it starts"),
    ("process-exec-update-label", "a part of starting a program, of which `process-exec` decides"),
    ("socket-option-get", "options of sockets that the process has"),
    ("socket-option-set", "options of sockets that the process has"),
    ("syscall-mach", "calls of the kernel, of which few programs need a known list"),
    ("syscall-mig", "calls of the kernel, of which few programs need a known list"),
    ("syscall-unix", "calls of the kernel, of which few programs need a known list"),
    ("system-fcntl", "settings of files that the process has open"),
    ("system-mac-syscall", "what the loader asks the sandbox about itself"),
    ("xpc-message-send", "messages over connections that `mach-lookup` allowed"),
];

/// What is known of an operation that the kernel allows of itself.
#[derive(PartialEq)]
enum State {
    Open,
    PerhapsOpen,
    /// Closed, or allowed in so many words.
    Stated,
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    if !context.understood {
        return;
    }
    let profile = context.profile;
    let Some(default) = Operation::named("default") else { return };
    let fallback = profile.fallback(default);
    if fallback.verdict == Verdict::Allow {
        return;
    }
    let place = match fallback.certain {
        Some(Decider::Rule { index, .. }) => profile.rules.get(index).map(|rule| rule.span),
        _ => context.data.first().map(|form| form.span),
    };
    let state = |operation: Operation| {
        let decision = profile.fallback(operation);
        let by_kernel = matches!(decision.certain, Some(Decider::Builtin { builtin: Builtin::Allow, .. }));
        match decision.verdict {
            Verdict::Allow if by_kernel => State::Open,
            Verdict::Unknown if by_kernel => State::PerhapsOpen,
            _ => State::Stated,
        }
    };
    for (hard, wanted) in
        [(false, State::Open), (false, State::PerhapsOpen), (true, State::Open), (true, State::PerhapsOpen)]
    {
        let builtin = Operation::all().filter(|operation| operation.builtin() == Builtin::Allow);
        let mut names = Vec::new();
        for operation in builtin.filter(|operation| is_hard(*operation) == hard) {
            let checked: Vec<Operation> = operation.checked().collect();
            let found: Vec<Operation> = checked.iter().copied().filter(|checked| state(*checked) == wanted).collect();
            if found.len() == checked.len() {
                names.push(operation);
            } else {
                names.extend(found);
            }
        }
        let Some(finding) = finding(&names, &wanted, hard) else { continue };
        let mut finding = match place {
            Some(span) => finding.at(span, "does not reach them"),
            None => finding,
        };
        if hard || !profile.opaque.is_empty() || fallback.verdict == Verdict::Unknown {
            finding.severity = Severity::Note;
        }
        if !profile.opaque.is_empty() {
            finding = finding.help("an import that was not read may deny them; read it with `--import-dir DIR`");
        }
        findings.push(finding);
    }
}

fn is_hard(operation: Operation) -> bool {
    HARD.iter().any(|(name, _)| *name == operation.name())
}

fn finding(names: &[Operation], state: &State, hard: bool) -> Option<Finding> {
    if names.is_empty() {
        return None;
    }
    let quoted: Vec<String> = names.iter().map(|operation| format!("`{}`", operation.name())).collect();
    let message = match state {
        State::Open => format!("{} stay open, whatever `default` says", list(&quoted)),
        _ => format!("{} perhaps stay open: what would close them hangs on what is not known", list(&quoted)),
    };
    let help = if hard {
        let mut meanings: Vec<(String, Vec<&str>)> = Vec::new();
        for (name, meaning) in HARD.iter().filter(|(name, _)| names.iter().any(|operation| operation.name() == *name)) {
            match meanings.iter_mut().find(|(known, _)| known == meaning) {
                Some((_, names)) => names.push(name),
                None => meanings.push((meaning.to_string(), vec![name])),
            }
        }
        let meanings: Vec<String> =
            meanings.into_iter().map(|(meaning, names)| format!("{}: {meaning}", names.join(", "))).collect();
        format!("hardly any program runs without them. {}", meanings.join("; "))
    } else {
        "deny each that the program can do without, without a filter, then allow in part what it needs".to_owned()
    };
    Some(INFO.finding(message).help(help))
}

/// Joined for a message, the last with "and".
fn list(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [init @ .., last] => format!("{} and {last}", init.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_hard_to_close_is_open_of_itself() {
        for (name, _) in HARD {
            assert_eq!(Operation::named(name).map(Operation::builtin), Some(Builtin::Allow), "{name}");
        }
    }
}
