//! The words of the language, what people write instead of them, and the nearest one to a typo.

/// Words that begin a statement of a profile or fragment.
pub const STATEMENTS: [&str; 21] = [
    "description",
    "use",
    "param",
    "root",
    "deny",
    "git-worktree",
    "executable",
    "unguard",
    "network",
    "ipc",
    "needs",
    "tools",
    "optional-tools",
    "tool",
    "group",
    "env",
    "limits",
    "working-directory",
    "on",
    "seatbelt",
    "expect",
];

/// Words that begin something at the top of a file.
pub const TOP: [&str; 3] = ["edition", "profile", "fragment"];

/// What other tools call a thing, and what it is called here. Statements first, then the words inside statements.
const STATEMENT_GUESSES: &[(&[&str], &str)] = &[
    (
        &[
            "allow",
            "allow-read",
            "allow-write",
            "bind",
            "dir",
            "directory",
            "filesystem",
            "folder",
            "fs",
            "grant",
            "mount",
            "path",
            "paths",
            "permit",
            "read",
            "read-only",
            "read-write",
            "readonly",
            "readwrite",
            "ro",
            "rw",
            "volume",
            "workspace",
            "write",
        ],
        "root",
    ),
    (&["extend", "extends", "from", "import", "include", "inherit", "inherits", "source"], "use"),
    (&["block", "deny-read", "deny-write", "exclude", "forbid", "hide", "ignore"], "deny"),
    (&["bin", "binaries", "binary", "command", "commands", "programs", "run"], "tools"),
    (&["program"], "tool"),
    (&["exec", "allow-exec"], "executable"),
    (&["chdir", "cwd", "pwd", "workdir", "working-dir"], "working-directory"),
    (&["environ", "environment", "environments", "envs", "setenv", "vars"], "env"),
    (&["limit", "resources", "rlimit", "rlimits", "timeout", "ulimit"], "limits"),
    (&["domains", "hosts", "internet", "net", "networking"], "network"),
    (&["capabilities", "capability", "entitlements", "features", "permissions"], "needs"),
    (&["assert", "check", "checks", "test", "tests"], "expect"),
    (&["arg", "argument", "const", "let", "parameter", "var", "variable"], "param"),
    (&["optional", "optional-tool"], "optional-tools"),
    (&["sandbox", "sbpl"], "seatbelt"),
    (&["git", "worktree"], "git-worktree"),
    (&["about", "comment", "doc", "name", "summary"], "description"),
    (&["if", "linux", "macos", "os", "platform", "system", "when"], "on"),
];

const TOP_GUESSES: &[(&[&str], &str)] = &[
    (&["version", "language", "palisade"], "edition"),
    (&["policy", "sandbox", "agent", "jail"], "profile"),
    (&["include", "library", "module", "mixin"], "fragment"),
];

const ACCESS_GUESSES: &[(&[&str], &str)] = &[
    (&["r", "read", "read_only", "readable", "readonly", "ro"], "read-only"),
    (&["all", "full", "r/w", "read_write", "readwrite", "rw", "w", "writable", "write", "wr"], "read-write"),
];

const NETWORK_GUESSES: &[(&[&str], &str)] = &[
    (&["block", "blocked", "closed", "deny", "disabled", "false", "no", "none", "offline"], "off"),
    (&["allow", "any", "enabled", "full", "on", "open", "true", "unrestricted", "yes"], "all"),
    (&["allowlist", "hosts", "list", "limited", "restricted"], "only"),
];

const IPC_GUESSES: &[(&[&str], &str)] = &[
    (&["deny", "false", "no", "none"], "off"),
    (&["all", "on", "shm", "sharedmemory", "shared_memory", "true"], "shared-memory"),
];

const VERDICT_GUESSES: &[(&[&str], &str)] = &[
    (&["allow", "ok", "permitted", "true", "yes"], "allowed"),
    (&["blocked", "deny", "false", "forbidden", "no", "refused"], "denied"),
];

const ENV_GUESSES: &[(&[&str], &str)] = &[
    (&["define", "export", "let", "var"], "set"),
    (&["allow", "forward", "inherit", "keep", "passthrough"], "pass"),
    (&["conceal", "credential", "hide", "inject", "placeholder", "redact", "secret", "secrets"], "mask"),
];

const HOST_GUESSES: &[(&[&str], &str)] = &[
    (&["accept", "host", "permit"], "allow"),
    (&["block", "except", "forbid", "reject"], "deny"),
    (&["bump", "decrypt", "intercept", "mitm", "terminate", "tls"], "inspect"),
    (&["loopback", "local", "port", "ports", "forward"], "localhost"),
    (&["sock", "socket", "unix-socket"], "unix"),
];

const REQUEST_GUESSES: &[(&[&str], &str)] = &[
    (&["action", "actions", "request", "requests", "verb", "verbs"], "methods"),
    (&["endpoint", "endpoints", "route", "routes", "uri", "uris", "url", "urls"], "paths"),
];

const LIMIT_GUESSES: &[(&[&str], &str)] = &[
    (&["duration", "timeout", "wall", "wall-time", "walltime"], "time"),
    (&["cpu-seconds", "cpu-time", "cputime"], "cpu"),
    (&["out", "output-size", "stderr", "stdout"], "output"),
    (&["fds", "files", "nofile"], "open-files"),
    (&["nproc", "pids", "procs", "threads"], "processes"),
    (&["disk", "scratch", "temp", "tmp", "tmpdir", "tmpfs"], "temporary-space"),
    (&["fsize"], "file-size"),
];

const SYSTEM_GUESSES: &[(&[&str], &str)] =
    &[(&["apple", "darwin", "mac", "osx"], "macos"), (&["debian", "gnu", "ubuntu", "unix"], "linux")];

/// A kind of word, for looking up what was meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Vocabulary {
    Statement,
    Top,
    Access,
    Network,
    Ipc,
    Verdict,
    Env,
    Host,
    Request,
    Limit,
    System,
}

impl Vocabulary {
    /// The right words.
    pub fn words(self) -> &'static [&'static str] {
        match self {
            Self::Statement => &STATEMENTS,
            Self::Top => &TOP,
            Self::Access => &["read-only", "read-write"],
            Self::Network => &["off", "all", "only"],
            Self::Ipc => &["off", "shared-memory"],
            Self::Verdict => &["allowed", "denied"],
            Self::Env => &["set", "pass", "mask"],
            Self::Request => &["methods", "paths"],
            Self::Host => &["allow", "inspect", "deny", "localhost", "unix"],
            Self::Limit => {
                &["time", "cpu", "output", "open-files", "processes", "temporary-space", "file-size"]
            }
            Self::System => &["macos", "linux"],
        }
    }

    fn guesses(self) -> &'static [(&'static [&'static str], &'static str)] {
        match self {
            Self::Statement => STATEMENT_GUESSES,
            Self::Top => TOP_GUESSES,
            Self::Access => ACCESS_GUESSES,
            Self::Network => NETWORK_GUESSES,
            Self::Ipc => IPC_GUESSES,
            Self::Verdict => VERDICT_GUESSES,
            Self::Env => ENV_GUESSES,
            Self::Host => HOST_GUESSES,
            Self::Request => REQUEST_GUESSES,
            Self::Limit => LIMIT_GUESSES,
            Self::System => SYSTEM_GUESSES,
        }
    }

    /// The word that was probably meant: another tool's name for it, else the nearest by spelling.
    pub fn meant(self, written: &str) -> Option<&'static str> {
        let lower = written.trim_end_matches([':', '=', ',']).to_lowercase().replace('_', "-");
        let exact = self.words().iter().find(|word| **word == lower).copied();
        exact
            .or_else(|| {
                let mut guesses = self.guesses().iter();
                guesses
                    .find(|(wrong, _)| wrong.iter().any(|w| w.replace('_', "-") == lower))
                    .map(|(_, right)| *right)
            })
            .or_else(|| nearest(&lower, self.words().iter().copied()))
            .or_else(|| {
                // Mistyped, and another tool's name for it: `alow`.
                let known =
                    self.guesses().iter().flat_map(|(wrong, right)| wrong.iter().map(|w| (*w, *right)));
                let long = || known.clone().filter(|(wrong, _)| wrong.len() > 3);
                let near = nearest(&lower, long().map(|(wrong, _)| wrong))?;
                long().find(|(wrong, _)| *wrong == near).map(|(_, right)| right)
            })
    }
}

/// The candidate nearest to what was written, if any is near: at most a third of its letters differ, two at the least for
/// words of four letters and more. The first of equals wins.
pub fn nearest<'a>(written: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // Longer than any word of the language: comparing would only cost time.
    if written.is_empty() || written.len() > 64 {
        return None;
    }
    let lower = written.to_lowercase();
    let length = lower.chars().count();
    let limit = if length < 4 { 1 } else { (length / 3).max(2) };
    candidates
        .into_iter()
        .map(|candidate| (strsim::osa_distance(&lower, &candidate.to_lowercase()), candidate))
        .filter(|(distance, _)| *distance <= limit && *distance < length)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// `a`, `a or b`, `a, b or c`.
pub fn either(items: &[String]) -> String {
    match items {
        [] => String::new(),
        [one] => one.clone(),
        [init @ .., last] => format!("{} or {last}", init.join(", ")),
    }
}

/// Each word in backticks, joined as [`either`] does.
pub fn either_word<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    either(&words.into_iter().map(|word| format!("`{word}`")).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_typos_and_the_words_of_other_tools() {
        assert_eq!(Vocabulary::Statement.meant("rot"), Some("root"));
        assert_eq!(Vocabulary::Statement.meant("Deny"), Some("deny"));
        assert_eq!(Vocabulary::Statement.meant("working_directory"), Some("working-directory"));
        assert_eq!(Vocabulary::Statement.meant("include"), Some("use"));
        assert_eq!(Vocabulary::Access.meant("rw"), Some("read-write"));
        assert_eq!(Vocabulary::Access.meant("read_only"), Some("read-only"));
        assert_eq!(Vocabulary::Limit.meant("proceses"), Some("processes"));
        assert_eq!(Vocabulary::Statement.meant("xyzzy"), None);
    }

    #[test]
    fn every_guess_leads_to_a_word_and_is_not_one() {
        for vocabulary in [
            Vocabulary::Statement,
            Vocabulary::Top,
            Vocabulary::Access,
            Vocabulary::Network,
            Vocabulary::Ipc,
            Vocabulary::Verdict,
            Vocabulary::Env,
            Vocabulary::Host,
            Vocabulary::Request,
            Vocabulary::Limit,
            Vocabulary::System,
        ] {
            for (wrong, right) in vocabulary.guesses() {
                assert!(vocabulary.words().contains(right), "{right}");
                for word in *wrong {
                    assert!(!vocabulary.words().contains(word), "{word}");
                    assert_eq!(vocabulary.meant(word), Some(*right), "{word}");
                }
            }
        }
    }

    #[test]
    fn joins_words_as_people_do() {
        assert_eq!(either_word(["a"]), "`a`");
        assert_eq!(either_word(["a", "b", "c"]), "`a`, `b` or `c`");
    }
}
