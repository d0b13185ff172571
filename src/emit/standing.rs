//! The operations that `(deny default)` does not reach: each is closed here, or left open for a reason that stands beside it.
//!
//! Which they are is known from published operation tables of 10.15 and 14.4.1; what is closed follows the profiles that Apple ships
//! with its own programs, Firefox's and WebKit's, which spell the same denials out.

/// Closed; what a program needs of them is allowed in part further on.
pub const CLOSED: [(&str, &str); 22] = [
    ("darwin-notification-post", "notifications to other programs"),
    ("file-clone", "allowed by path below"),
    ("file-link", "allowed by path below"),
    ("file-lock", "allowed by path below"),
    ("file-map-executable", "allowed by path below"),
    ("file-test-existence", "allowed by path below"),
    ("file-write-setugid", "set-id bits"),
    ("fs-quota*", "quotas"),
    ("fs-snapshot-mount", "snapshots hold what is denied"),
    ("iokit-get-properties", "serial numbers and other marks of the machine"),
    ("iokit-open-service", "drivers"),
    ("job-creation", "jobs of launchd run outside"),
    ("mach-cross-domain-lookup", "services of other sessions"),
    ("mach-derive-port", "ports made of others"),
    ("mach-task-special-port*", "what children take for their services; reading one's own stays open"),
    ("necp-client-open", "network, where that is open"),
    ("nvram*", "firmware variables"),
    ("process-info*", "other processes; allowed in part below"),
    ("process-info-codesignature", "other processes; allowed in part below"),
    ("system-memorystatus-control", "memory limits of other processes"),
    ("system-necp-client-action", "network, where that is open"),
    ("system-privilege", "what only root may do"),
];

/// Left open, and why.
pub const OPEN: [(&str, &str); 15] = [
    ("dynamic-code-generation", "just-in-time compilers; what code may do is decided by the rest"),
    ("mach-bootstrap", "where services are asked for; which is decided by mach-lookup"),
    ("mach-kernel-endpoint", "a process's own end to the kernel"),
    ("mach-task-special-port-get", "how a program finds where to ask for services"),
    ("process-codesigning", "every program asks for its own signature as it starts"),
    ("process-exec-update-label", "part of starting a program; which is decided by process-exec"),
    ("socket-ioctl", "runtimes set their own sockets to non-blocking with it"),
    ("socket-option-get", "options of sockets that the process has"),
    ("socket-option-set", "options of sockets that the process has"),
    ("syscall-mach", "no list of calls fits every program; what they reach is decided by the rest"),
    ("syscall-mig", "no list of calls fits every program; what they reach is decided by the rest"),
    ("syscall-unix", "no list of calls fits every program; what they reach is decided by the rest"),
    ("system-fcntl", "settings of files that the process has open"),
    ("system-mac-syscall", "the loader asks the sandbox about itself"),
    ("xpc-message-send", "messages over connections that mach-lookup allowed"),
];

/// Decided by the kernel's own graphs, which are not published: a process on itself, and filters of messages within connections that
/// other rules allowed. Nothing is stated for them.
pub const KERNEL: [&str; 7] = [
    "default-message-filter",
    "iokit-async-external-method",
    "iokit-external-method",
    "iokit-external-trap",
    "mach-message-send",
    "mach-task-inspect",
    "mach-task-read",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sbpl::Operation;
    use crate::sbpl::vocabulary::Builtin;

    fn named(list: &[(&str, &str)], operation: Operation) -> bool {
        operation.ancestry().any(|node| list.iter().any(|(name, _)| *name == node.name()))
    }

    #[test]
    fn what_is_open_by_itself_is_closed_or_open_for_a_reason() {
        for operation in Operation::all().filter(|operation| operation.is_leaf()) {
            // What decides where no rule does.
            let builtin = operation.ancestry().map(Operation::builtin).find(|it| *it != Builtin::Inherit);
            let open = OPEN.iter().any(|(name, _)| *name == operation.name());
            let answers = [named(&CLOSED, operation) && !open, open, KERNEL.contains(&operation.name())];
            let stated = answers.iter().filter(|answer| **answer).count();
            match builtin {
                Some(Builtin::Allow | Builtin::Graph) => assert_eq!(stated, 1, "{operation:?}"),
                _ => assert!(!answers[1] && !answers[2], "{operation:?}"),
            }
        }
    }

    #[test]
    fn lists_name_operations_in_order() {
        for list in [&CLOSED[..], &OPEN[..]] {
            assert!(list.windows(2).all(|pair| pair[0].0 < pair[1].0));
            assert!(list.iter().all(|(name, _)| Operation::named(name).is_some()));
        }
    }
}
