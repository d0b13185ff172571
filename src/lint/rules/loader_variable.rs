use crate::finding::Finding;
use crate::lint::Context;
use crate::lint::edits::remove;

rule! {
    /// A variable that makes programs load or run other code.
    ///
    /// ## What it does
    ///
    /// Reports variables under `env`, passed or set, that a loader, a shell, an interpreter or git takes code
    /// or commands from: `LD_PRELOAD`, `BASH_ENV`, `PYTHONSTARTUP`, `NODE_OPTIONS`, `GIT_SSH_COMMAND` and their
    /// like.
    ///
    /// ## Why it is bad
    ///
    /// The list of tools no longer says what runs. Passed, the caller's environment decides it, unseen by the
    /// reviewer; set to a path in a writable root, the command decides it for the next one.
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
    /// Looks alike and is fine: the bare name of a tool: only granted tools run.
    ///
    /// ```palisade fine
    /// edition 1
    /// profile "fine" {
    ///     root "$workspace" read-only
    ///     env { set GIT_PAGER "cat" }
    /// }
    /// ```
    ///
    /// ## What to do
    ///
    /// Leave it out. Where a tool needs its libraries or modules named, set the variable to a path that nobody
    /// behind the walls can write, and allow this finding with the reason.
    name: "loader-variable",
    severity: Warning,
    confidence: Likely,
    fix: Unsafe,
    allowable: true,
    check: check,
}

/// Name, or the beginning of one where it ends in `_`, and what takes code from it. From ld.so(8), dyld(1), bash(1), git(1) and the interpreters' own manuals.
const LOADED: &[(&str, &str)] = &[
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
    ("PYTHONEXECUTABLE", "python takes its library from beside it"),
    ("PYTHONPLATLIBDIR", "python takes its library from it"),
    ("PYTHONWARNINGS", "python imports the modules it names"),
    ("PYTHONINSPECT", "it changes how python ends"),
    ("PYTHONPATH", "python takes modules from it"),
    ("PYTHONSTARTUP", "python runs the file it names"),
    ("PYTHONUSERBASE", "python takes modules from it"),
    ("PYTHONBREAKPOINT", "python calls what it names"),
    ("NODE_OPTIONS", "node takes options from it, --require among them"),
    ("NODE_PATH", "node takes modules from it"),
    ("PERL5LIB", "perl takes modules from it"),
    ("PERLLIB", "perl takes modules from it"),
    ("PERL5OPT", "perl takes options from it, -M among them"),
    ("PERL5DB", "perl runs it"),
    ("RUBYLIB", "ruby takes modules from it"),
    ("RUBYOPT", "ruby takes options from it, -r among them"),
    ("RUBYSHELL", "ruby runs it as its shell"),
    ("BUNDLE_GEMFILE", "bundler runs the file it names"),
    ("GEM_HOME", "ruby takes modules from it"),
    ("GEM_PATH", "ruby takes modules from it"),
    ("JAVA_OPTS", "programs hand it to java, agents among it"),
    ("JDK_JAVA_OPTIONS", "java takes options from it, agents among them"),
    ("MAVEN_OPTS", "maven hands it to java, agents among it"),
    ("GRADLE_OPTS", "gradle hands it to java, agents among it"),
    ("JAVA_TOOL_OPTIONS", "java takes options from it, agents among them"),
    ("_JAVA_OPTIONS", "java takes options from it, agents among them"),
    ("CLASSPATH", "java takes classes from it"),
    ("GIT_COMMON_DIR", "git takes configuration, commands in it, from there"),
    ("GIT_CONFIG", "git takes configuration, commands in it, from there"),
    ("GIT_CONFIG_", "git takes configuration, commands in it, from there"),
    ("GIT_DIR", "git takes configuration, commands in it, from there"),
    ("GIT_EXEC_PATH", "git takes its programs from there"),
    ("GIT_TEMPLATE_DIR", "git takes hooks from there"),
    ("LUA_INIT", "lua runs it"),
    ("LUA_INIT_", "lua runs it"),
    ("LUA_PATH", "lua takes modules from it"),
    ("LUA_CPATH", "lua takes libraries from it"),
    ("LUA_PATH_", "lua takes modules from it"),
    ("LUA_CPATH_", "lua takes libraries from it"),
    ("PHPRC", "php takes its settings, code among them, from it"),
    ("PHP_INI_SCAN_DIR", "php takes its settings, code among them, from it"),
    ("R_PROFILE", "R runs the file it names"),
    ("R_PROFILE_USER", "R runs the file it names"),
    ("JULIA_LOAD_PATH", "julia takes modules from it"),
    ("DOTNET_STARTUP_HOOKS", "dotnet runs the assemblies it names"),
    ("EMACSLOADPATH", "emacs takes code from it"),
    ("VIMINIT", "vim runs it"),
    ("EXINIT", "vi runs it"),
    ("OPENSSL_CONF", "openssl takes its settings, modules among them, from it"),
    ("OPENSSL_ENGINES", "openssl takes modules from it"),
    ("OPENSSL_MODULES", "openssl takes modules from it"),
    ("GTK_MODULES", "gtk takes modules from it"),
    ("GIO_EXTRA_MODULES", "glib takes modules from it"),
    ("RUSTFLAGS", "cargo hands it to rustc, a linker among it"),
    ("MAKEFILES", "make reads the files it names"),
    ("MAKEFLAGS", "make takes options from it, --eval among them"),
];

/// Variables that hold a command. Set to the bare name of a tool they are harmless: only granted tools run.
const RUN: &[&str] = &[
    "BROWSER",
    "EDITOR",
    "GIT_ASKPASS",
    "GIT_EDITOR",
    "GIT_EXTERNAL_DIFF",
    "GIT_PAGER",
    "GIT_PROXY_COMMAND",
    "GIT_SEQUENCE_EDITOR",
    "GIT_SSH",
    "GIT_SSH_COMMAND",
    "LESSCLOSE",
    "LESSOPEN",
    "MANPAGER",
    "PAGER",
    "RUSTC",
    "RUSTC_WORKSPACE_WRAPPER",
    "RUSTC_WRAPPER",
    "SHELL",
    "SSH_ASKPASS",
    "VISUAL",
];

/// What the variable does to the choice of code; `value` is `None` where the caller's is passed.
pub(super) fn effect(name: &str, value: Option<&str>) -> Option<&'static str> {
    // An empty value takes the variable's effect away, and so does `:`, which is no program anywhere (git-var(1), `GIT_EDITOR`).
    if matches!(value, Some("" | ":")) {
        return None;
    }
    if RUN.contains(&name) {
        let is_bare = |value: &str| {
            value
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'+'))
        };
        return if value.is_some_and(is_bare) { None } else { Some("programs run the command in it") };
    }
    let named = |variable: &str| name == variable || (variable.ends_with('_') && name.starts_with(variable));
    LOADED.iter().find(|(variable, _)| named(variable)).map(|&(_, effect)| effect)
}

fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for entry in &context.policy.env {
        let Some(effect) = effect(&entry.name, entry.value.as_deref()) else { continue };
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
        for name in [
            "LD_PRELOAD",
            "LD_AUDIT",
            "DYLD_INSERT_LIBRARIES",
            "GIT_SSH_COMMAND",
            "GIT_CONFIG_COUNT",
            "ENV",
            "NODE_OPTIONS",
            "JDK_JAVA_OPTIONS",
            "JAVA_TOOL_OPTIONS",
            "_JAVA_OPTIONS",
            "LUA_INIT",
            "LUA_INIT_5_4",
            "GIT_EXTERNAL_DIFF",
            "PERL5LIB",
            "RUBYOPT",
            "PYTHONPATH",
            "NODE_PATH",
        ] {
            assert!(effect(name, None).is_some(), "{name}");
            assert!(effect(name, Some("/w/x y")).is_some(), "{name}");
            assert_eq!(effect(name, Some("")), None, "{name}");
        }
        for name in
            ["LDFLAGS", "ENVIRONMENT", "GIT_AUTHOR_NAME", "TERM", "NODE_ENV", "PYTHONDONTWRITEBYTECODE"]
        {
            assert_eq!(effect(name, None), None, "{name}");
        }
    }

    #[test]
    fn a_command_may_be_the_bare_name_of_a_tool() {
        assert_eq!(effect("GIT_PAGER", Some("cat")), None);
        assert_eq!(effect("GIT_EDITOR", Some(":")), None);
        assert_eq!(effect("GIT_TERMINAL_PROMPT", Some("0")), None);
        for value in [None, Some("./x"), Some("sh -c x"), Some("/usr/bin/x")] {
            assert!(effect("GIT_PAGER", value).is_some(), "{value:?}");
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
