//! How sandbox-exec(1) is called: its arguments, and the environment of the command.

use super::scratch::Scratch;
use crate::bind::plan::SCRATCH_PARAMETER;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

/// Never looked up: what the caller's PATH holds does not matter.
pub const SANDBOX_EXEC: &str = "/usr/bin/sandbox-exec";

/// The arguments of sandbox-exec for a program, whose own arguments begin with the name that it is called by. That name is the
/// program's path here: sandbox-exec gives it the one that it looks up. `proxy` is the port of the proxy, where there is one.
pub fn arguments(
    scratch: &Scratch,
    parameters: &BTreeMap<String, String>,
    proxy: Option<u16>,
    program: &Path,
    arguments: &[OsString],
) -> Vec<OsString> {
    let mut all: Vec<OsString> = vec![
        "-f".into(),
        scratch.profile().into(),
        "-D".into(),
        format!("SCRATCH={}", scratch.path()).into(),
    ];
    // What is too long for a literal of the profile.
    for (name, value) in parameters {
        all.extend(["-D".into(), format!("{name}={value}").into()]);
    }
    if let Some(port) = proxy {
        all.extend(["-D".into(), format!("PROXY_PORT={port}").into()]);
    }
    all.extend(["--".into(), program.into()]);
    all.extend(arguments.iter().skip(1).cloned());
    all
}

/// The manifest's environment, with the place of the private directory in the stead of the name that stands for it there.
pub fn environment(environment: Vec<(OsString, OsString)>, scratch: &Scratch) -> Vec<(OsString, OsString)> {
    let placed = |value: OsString| match value.as_bytes().strip_prefix(SCRATCH_PARAMETER.as_bytes()) {
        Some(rest) if rest.is_empty() || rest.starts_with(b"/") => {
            OsString::from_vec([scratch.path().as_str().as_bytes(), rest].concat())
        }
        _ => value,
    };
    environment.into_iter().map(|(name, value)| (name, placed(value))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use camino::Utf8Path;

    fn scratch() -> (tempfile::TempDir, Scratch) {
        let base = tempfile::tempdir().unwrap();
        let path = base.path().canonicalize().unwrap();
        let scratch = Scratch::make(Utf8Path::from_path(&path).unwrap(), "(version 1)").unwrap();
        (base, scratch)
    }

    #[test]
    fn nothing_of_the_command_is_taken_for_an_option() {
        let (_base, scratch) = scratch();
        let words = ["-n", "-f", "-D", "X=1", "--"].map(OsString::from);
        let long = BTreeMap::from([("PATH_1".to_owned(), "/long".to_owned())]);
        let given = arguments(&scratch, &long, Some(50_123), Path::new("/opt/-n"), &words);
        let expected = [
            "-f",
            scratch.profile().as_str(),
            "-D",
            &format!("SCRATCH={}", scratch.path()),
            "-D",
            "PATH_1=/long",
            "-D",
            &format!("{}=50123", crate::emit::PROXY_PORT),
            "--",
            "/opt/-n",
            "-f",
            "-D",
            "X=1",
            "--",
        ];
        assert_eq!(given, expected.map(OsString::from));
        let closed = arguments(&scratch, &long, None, Path::new("/opt/-n"), &words);
        assert_eq!(closed.len(), given.len() - 2, "a parameter that nobody asks for is not given");
    }

    #[test]
    fn only_the_stand_in_for_the_scratch_is_replaced() {
        let (_base, scratch) = scratch();
        let pair = |name: &str, value: &str| (OsString::from(name), OsString::from(value));
        let given = environment(
            vec![
                pair("TMPDIR", SCRATCH_PARAMETER),
                pair("xcrun_db", &format!("{SCRATCH_PARAMETER}/xcrun_db")),
                pair("OTHER", &format!("{SCRATCH_PARAMETER}es")),
                pair("HOME", "/var/empty"),
            ],
            &scratch,
        );
        let path = scratch.path();
        let expected = [
            pair("TMPDIR", path.as_str()),
            pair("xcrun_db", path.join("xcrun_db").as_str()),
            pair("OTHER", &format!("{SCRATCH_PARAMETER}es")),
            pair("HOME", "/var/empty"),
        ];
        assert_eq!(given, expected);
    }
}
