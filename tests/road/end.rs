//! Nothing that a command has started outlives it, and nobody else is hurt.

use crate::workspace::Workspace;
use std::fs;
use std::process::{Command, Stdio};
use std::time::Duration;

const PROFILE: &str = r#"root "$workspace" read-write"#;

/// Writes to a file for as long as it lives.
const ALIVE: &str = "while :; do echo x >> alive; done";

/// Whether the file still grows, once what wrote to it should have gone.
fn grows(workspace: &Workspace) -> bool {
    let length = || fs::metadata(workspace.path("project/alive")).map_or(0, |metadata| metadata.len());
    let before = length();
    std::thread::sleep(Duration::from_millis(300));
    length() != before
}

#[test]
fn what_was_left_in_the_background_dies() {
    let workspace = Workspace::new();
    workspace.compiled(PROFILE);
    for line in [
        format!("({ALIVE}) & until [ -s alive ]; do :; done"),
        // Twice forked, and in a process group of its own.
        format!("set -m; ( ({ALIVE}) & ) & until [ -s alive ]; do :; done"),
    ] {
        let ran = workspace.exec(&line);
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        assert!(!grows(&workspace), "{line}");
        fs::remove_file(workspace.path("project/alive")).unwrap();
    }
}

#[test]
fn what_a_killed_command_has_started_dies() {
    let workspace = Workspace::new();
    workspace.compiled(&format!("{PROFILE}\nlimits {{ time 300ms }}"));
    let ran = workspace.exec(&format!("set -m; ({ALIVE}) & while :; do :; done"));
    assert_eq!(ran.code, Some(124), "{}", ran.err);
    assert!(!grows(&workspace));
}

#[test]
fn another_run_of_the_same_profile_goes_on() {
    let workspace = Workspace::new();
    workspace.compiled(PROFILE);
    let line = "echo x > begun; until [ -e stop ]; do :; done; echo stopped";
    let other = Command::new(env!("CARGO_BIN_EXE_palisade"))
        .args(["exec", "../agent.manifest.yaml", "-c", line])
        .current_dir(workspace.path("project"))
        .env("XDG_STATE_HOME", workspace.path("state"))
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let ran = workspace.exec("until [ -s begun ]; do :; done; echo mine");
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "mine\n"), "{}", ran.err);
    workspace.write("project/stop", "");
    let output = other.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(0), &b"stopped\n"[..]));
}
