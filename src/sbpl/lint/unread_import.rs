use super::Context;
use crate::finding::Finding;
use crate::syntax::shown;

sb_rule! {
    /// An import that was not read.
    ///
    /// ## What it does
    ///
    /// Notes every `import` of a file that is not in the directories given, and every call of what such a file may define.
    ///
    /// ## Why it is bad
    ///
    /// It may hold any rule, and a rule for a single operation in it beats what this profile says of a wildcard. What
    /// hangs on it is neither allowed nor denied here, but unknown.
    ///
    /// ## Example
    ///
    /// ```sbpl bad
    /// (version 1)
    /// (import "system.sb")
    /// (deny default)
    /// ```
    ///
    /// ```sbpl good
    /// (version 1)
    /// (deny default)
    /// ```
    ///
    /// ## What to do
    ///
    /// Copy the file from a Mac (`/System/Library/Sandbox/Profiles`) and name its directory: `--import-dir DIR`.
    name: "unread-import",
    severity: Note,
    confidence: Certain,
    fix: None,
    check: check,
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for import in &context.profile.opaque {
        if let Some(call) = &import.call {
            let (call, name) = (shown(call), shown(&import.name));
            findings.push(
                INFO.finding(format!("what `{call}` does is not known: `{name}`, which may define it, was not read"))
                    .at(import.span, "may make any rule")
                    .help("give the directory that holds the import: `--import-dir DIR`"),
            );
            continue;
        }
        findings.push(
            INFO.finding(format!("`{}` was not read: what hangs on it is not known", shown(&import.name)))
                .at(import.span, "may hold any rule")
                .help("give the directory that holds it: `--import-dir DIR`"),
        );
    }
}
