use super::Context;
use crate::finding::{Finding, Severity};
use crate::sbpl::Operation;
use crate::sbpl::rule::Effect;

sb_rule! {
    /// Operations that stay open under `(deny default)`.
    ///
    /// ## What it does
    ///
    /// Reports profiles that deny by default and say nothing about operations that the kernel allows of itself.
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
    /// (deny process-info* nvram* iokit-get-properties mach-task-special-port*)
    /// (deny darwin-notification-post dynamic-code-generation socket-ioctl system-privilege)
    /// ```
    ///
    /// ## What to do
    ///
    /// Deny each that the program can do without, then allow in part what it needs.
    name: "open-operations",
    severity: Warning,
    check: check,
}

/// Those that matter most: what leads out of the walls, to other processes, or into the machine. The rest no program runs without, or
/// no published profile denies.
const TELLING: [&str; 13] = [
    "darwin-notification-post",
    "dynamic-code-generation",
    "file-clone",
    "file-link",
    "file-lock",
    "file-map-executable",
    "file-test-existence",
    "iokit-get-properties",
    "mach-task-special-port*",
    "nvram*",
    "process-info*",
    "socket-ioctl",
    "system-privilege",
];

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    if !context.understood {
        return;
    }
    let profile = context.profile;
    let Some(default) = Operation::named("default") else { return };
    let fallback = profile.rules_for(default).iter().filter_map(|at| profile.rules.get(*at)).rfind(|rule| rule.filters.is_empty());
    let Some(fallback) = fallback.filter(|rule| rule.effect == Effect::Deny) else { return };
    let open: Vec<String> = TELLING
        .iter()
        .filter(|name| Operation::named(name).is_some_and(|operation| profile.rules_for(operation).is_empty()))
        .map(|name| format!("`{name}`"))
        .collect();
    if open.is_empty() {
        return;
    }
    let mut finding = INFO
        .finding(format!("{} stay open, whatever `default` says", list(&open)))
        .at(fallback.span, "does not reach them")
        .help("deny each that the program can do without, then allow in part what it needs");
    if !profile.opaque.is_empty() {
        finding.severity = Severity::Note;
        finding = finding.help("an import that was not read may deny them; read it with `--import-dir DIR`");
    }
    findings.push(finding);
}

/// Joined for a message, the last with "and".
fn list(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [init @ .., last] => format!("{} and {last}", init.join(", ")),
    }
}
