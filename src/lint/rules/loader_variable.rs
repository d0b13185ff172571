use crate::finding::Finding;
use crate::lint::Context;
use crate::lint::places::remove;

rule! {
    /// A variable that makes programs load or run other code.
    ///
    /// ## What it does
    ///
    /// Reports variables under `env`, passed or set, that a loader, a shell, an interpreter or git takes code or commands from: `LD_PRELOAD`,
    /// `BASH_ENV`, `PYTHONSTARTUP`, `NODE_OPTIONS`, `GIT_SSH_COMMAND` and their like.
    ///
    /// ## Why it is bad
    ///
    /// The list of tools no longer says what runs. Passed, the caller's environment decides it, unseen by the reviewer; set to a path in
    /// a writable root, the command decides it for the next one.
    ///
    /// ## Example
    ///
    /// ```palisade bad
    /// edition 1
    /// profile "reader" {
    ///     root "$workspace" read-only
    ///     env { pass LD_PRELOAD }
    /// }
    /// ```
    ///
    /// ```palisade good
    /// edition 1
    /// profile "reader" {
    ///     root "$workspace" read-only
    ///     env { set LANG "C.UTF-8" }
    /// }
    /// ```
    ///
    /// ## What to do
    ///
    /// Leave it out. Where a tool needs its libraries or modules named, set the variable to a path that nobody behind the walls can write, and allow this finding with
    /// the reason.
    name: "loader-variable",
    severity: Warning,
    allowable: true,
    check: check,
}

/// Name, or the beginning of one where it ends in `_`, and what takes code from it. From ld.so(8), dyld(1), bash(1), git(1) and the interpreters' own manuals.
const VARIABLES: [(&str, &str); 36] = [
    ("LD_", "the loader takes libraries from it"),
    ("DYLD_", "the loader takes libraries from it"),
    ("GCONV_PATH", "the C library takes modules from it"),
    ("GLIBC_TUNABLES", "it changes the C library"),
    ("BASH_ENV", "bash runs the file it names"),
    ("BASH_FUNC_", "bash takes functions from it"),
    ("ENV", "sh runs the file it names"),
    ("ZDOTDIR", "zsh runs the files below it"),
    ("PROMPT_COMMAND", "bash runs it"),
    ("PS4", "bash expands commands in it"),
    ("SHELLOPTS", "it changes how bash runs"),
    ("IFS", "it changes how shells read commands"),
    ("PYTHONHOME", "python takes its library from it"),
    ("PYTHONINSPECT", "it changes how python ends"),
    ("PYTHONPATH", "python takes modules from it"),
    ("PYTHONSTARTUP", "python runs the file it names"),
    ("PYTHONUSERBASE", "python takes modules from it"),
    ("PYTHONBREAKPOINT", "python calls what it names"),
    ("NODE_OPTIONS", "node takes options from it, --require among them"),
    ("NODE_PATH", "node takes modules from it"),
    ("PERL5LIB", "perl takes modules from it"),
    ("PERL5OPT", "perl takes options from it, -M among them"),
    ("PERL5DB", "perl runs it"),
    ("RUBYLIB", "ruby takes modules from it"),
    ("RUBYOPT", "ruby takes options from it, -r among them"),
    ("JAVA_TOOL_OPTIONS", "java takes options from it, agents among them"),
    ("_JAVA_OPTIONS", "java takes options from it, agents among them"),
    ("CLASSPATH", "java takes classes from it"),
    ("GIT_", "git takes commands and configuration from variables of this kind"),
    ("EDITOR", "programs run it"),
    ("VISUAL", "programs run it"),
    ("PAGER", "programs run it"),
    ("LESSOPEN", "less runs it"),
    ("SSH_ASKPASS", "ssh runs it"),
    ("RUSTC_WRAPPER", "cargo runs it"),
    ("MAKEFLAGS", "make takes options from it, --eval among them"),
];

/// Variables of git that only name people and dates.
const HARMLESS: [&str; 6] = [
    "GIT_AUTHOR_DATE",
    "GIT_AUTHOR_EMAIL",
    "GIT_AUTHOR_NAME",
    "GIT_COMMITTER_DATE",
    "GIT_COMMITTER_EMAIL",
    "GIT_COMMITTER_NAME",
];

fn effect(name: &str) -> Option<&'static str> {
    if HARMLESS.contains(&name) {
        return None;
    }
    let named = |variable: &str| name == variable || (variable.ends_with('_') && name.starts_with(variable));
    VARIABLES.iter().find(|(variable, _)| named(variable)).map(|&(_, effect)| effect)
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for entry in &context.policy.env {
        // An empty value takes the variable's effect away.
        let Some(effect) = effect(&entry.name).filter(|_| entry.value.as_deref() != Some("")) else { continue };
        findings.push(
            INFO.finding(format!("`{}` decides what code runs", entry.name))
                .at(entry.span, effect)
                .help("leave it out, or set it to what nobody behind the walls can write and allow this finding with the reason")
                .fix("remove the variable", remove(context.sources, entry.span), false),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::effect;
    use crate::lint::testing::Case;

    #[test]
    fn knows_whole_names_and_families() {
        for name in ["LD_PRELOAD", "LD_AUDIT", "DYLD_INSERT_LIBRARIES", "GIT_SSH_COMMAND", "GIT_CONFIG_COUNT", "ENV", "NODE_OPTIONS"] {
            assert!(effect(name).is_some(), "{name}");
        }
        for name in ["LDFLAGS", "ENVIRONMENT", "GIT_AUTHOR_NAME", "TERM", "NODE_ENV", "PYTHONDONTWRITEBYTECODE"] {
            assert_eq!(effect(name), None, "{name}");
        }
    }

    #[test]
    fn says_what_takes_code_from_it() {
        let mut case = Case::in_workspace();
        case.env("BASH_ENV", None).env("LD_PRELOAD", Some("")).env("TERM", None);
        assert_eq!(
            case.found("loader-variable"),
            ["`BASH_ENV` decides what code runs\npass BASH_ENV -- bash runs the file it names"]
        );
    }
}
