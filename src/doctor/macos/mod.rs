//! macOS: what the ends of a few sandboxed programs mean. Only [`probe`] talks to macOS; all else is plain, and is tested on any system.

#[cfg(target_os = "macos")]
mod probe;

#[cfg(target_os = "macos")]
pub use probe::observe;

use super::observation::{Found, Missing, Observation, Setting, Wall};

/// A profile that denies one file, which every Mac has.
pub const PROFILE: &str =
    "(version 1)\n(allow default)\n(deny file-read-data (literal \"/private/etc/hosts\"))\n";

/// What is run under it: another file can be read, that one cannot. Redirections are the shell's own.
pub const LINE: &str = "exec 2>/dev/null; ( : < /private/etc/services ) || exit 41; ( : < /private/etc/hosts ) && exit 45; exit 0";

/// What was seen on a Mac.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    /// How sandbox-exec(1) ended, which applied [`PROFILE`] to [`LINE`]: its code, where it was not killed; or why it could not be started.
    pub applied: Result<Option<i32>, String>,
    /// What it said on standard error.
    pub said: String,
    /// Whether the kernel says that this process is in a sandbox already.
    pub sandboxed: bool,
}

/// The lines on sandbox-exec(1) and on applying a profile.
pub fn walls(seen: &Seen) -> Vec<Observation> {
    let missing = |error: String, help: &str| Found::Missing(Missing { error, help: help.to_owned() });
    let said = seen.said.lines().next().unwrap_or("it said nothing");
    let (program, seatbelt) = match &seen.applied {
        Err(error) => (
            missing(
                format!("/usr/bin/sandbox-exec: {error}"),
                "it is a part of macOS: nothing else can apply a profile",
            ),
            Found::Untried("rests on sandbox-exec".to_owned()),
        ),
        Ok(Some(0)) => (Found::Works, Found::Works),
        Ok(Some(45)) => (Found::Works, Found::Broken("a denied file could be read".to_owned())),
        // EX_OSERR of sysexits(3), which it also ends with where this process is in a sandbox.
        Ok(Some(71)) => (
            Found::Works,
            missing(
                format!("sandbox-exec ended with 71: {said}"),
                "a process that is in a sandbox already cannot enter another: run palisade outside of it",
            ),
        ),
        Ok(Some(code)) => (
            Found::Works,
            missing(
                format!("sandbox-exec ended with {code}: {said}"),
                "please report this with the version of macOS",
            ),
        ),
        Ok(None) => (
            Found::Works,
            missing(
                "sandbox-exec was killed".to_owned(),
                "something else on this machine ended it; look into the system's log",
            ),
        ),
    };
    vec![
        Observation { wall: Wall::SandboxExec, found: program },
        Observation { wall: Wall::Seatbelt, found: seatbelt },
    ]
}

/// What changes the advice.
pub fn surroundings(seen: &Seen) -> Vec<Setting> {
    let sandboxed = Setting {
        name: "sandboxed",
        fact: "sandbox_check() of this process is 1".to_owned(),
        meaning: "a sandbox: a process in one cannot enter another, so run palisade outside of it".to_owned(),
        always: false,
    };
    Vec::from_iter(seen.sandboxed.then_some(sandboxed))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(applied: Result<Option<i32>, String>, said: &str) -> Vec<Found> {
        let seen = Seen { applied, said: said.to_owned(), sandboxed: false };
        walls(&seen).into_iter().map(|observation| observation.found).collect()
    }

    fn error(found: &Found) -> &str {
        match found {
            Found::Missing(missing) => &missing.error,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn each_end_means_something() {
        assert_eq!(seen(Ok(Some(0)), ""), [Found::Works, Found::Works]);
        let absent = seen(Err("No such file or directory (os error 2)".into()), "");
        assert!(error(&absent[0]).contains("os error 2"));
        assert!(matches!(absent[1], Found::Untried(_)));
        let nested = seen(Ok(Some(71)), "sandbox-exec: sandbox_apply: Operation not permitted\n");
        assert_eq!(nested[0], Found::Works);
        assert_eq!(
            error(&nested[1]),
            "sandbox-exec ended with 71: sandbox-exec: sandbox_apply: Operation not permitted"
        );
        assert_eq!(seen(Ok(Some(45)), "")[1], Found::Broken("a denied file could be read".into()));
        assert!(error(&seen(Ok(Some(65)), "x")[1]).contains("ended with 65: x"));
        assert!(error(&seen(Ok(None), "")[1]).contains("was killed"));
    }

    #[test]
    fn the_line_fails_in_a_way_that_is_known() {
        for code in ["exit 41", "exit 45", "exit 0"] {
            assert!(LINE.contains(code));
        }
        assert!(PROFILE.contains("/private/etc/hosts") && !PROFILE.contains("/private/etc/services"));
    }

    #[test]
    fn being_in_a_sandbox_is_said() {
        let seen = |sandboxed| Seen { applied: Ok(Some(71)), said: String::new(), sandboxed };
        assert_eq!(surroundings(&seen(false)), []);
        assert_eq!(surroundings(&seen(true))[0].name, "sandboxed");
    }
}
