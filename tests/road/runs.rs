//! What a command can and cannot do.

use crate::system::ACCOUNT_SECRETS;
use crate::workspace::Workspace;

const PROFILE: &str = r#"
    root "$workspace" read-write
    root "$workspace/vendor" read-only
    deny "$workspace/.env"
    deny "$workspace/keys"
"#;

#[test]
fn what_is_granted_works_and_what_is_denied_does_not() {
    let workspace = Workspace::new();
    workspace.compiled(PROFILE);
    let before = workspace.listing();
    for (line, works) in [
        ("read line < src/main.c && echo \"$line\"", true),
        ("echo x > src/main.c", true),
        ("echo x > \"$TMPDIR/scratch\" && read line < \"$TMPDIR/scratch\"", true),
        ("read line < vendor/lib.c", true),
        ("echo x > vendor/lib.c", false),
        ("echo x > vendor/new.c", false),
        ("read line < .env", false),
        ("read line < keys/deep/id", false),
        ("echo x > .env", false),
        ("echo x > keys/new", false),
        ("read line < ../outside/note", false),
        ("echo x > ../outside/new", false),
        ("echo x > .mcp.json", false),
        ("echo x > .claude/settings.json", false),
        ("cd / && echo x > /new", false),
        (&format!("read line < {ACCOUNT_SECRETS}"), false),
        ("read line < /etc/passwd", true),
    ] {
        let ran = workspace.exec(line);
        assert_eq!(ran.code == Some(0), works, "{line}: {:?} {}", ran.code, ran.err);
    }
    assert_eq!(workspace.listing(), before, "nothing is left behind");
}

#[test]
fn only_what_is_listed_runs() {
    let workspace = Workspace::new();
    workspace.script("project/build/made", "#!/bin/sh\necho made\n");
    workspace.script("bin/helper", "#!/bin/sh\necho helped\n");
    workspace.script("planted/helper", "#!/bin/sh\necho planted\n");
    workspace.compiled(r#"root "$workspace" read-only"#);
    assert_eq!(workspace.exec("build/made").code, Some(126));
    assert_eq!(workspace.exec("helper").code, Some(127));

    workspace.compiled(
        r#"
        root "$workspace" read-only
        executable "$workspace/build"
        tool "../bin/helper"
        "#,
    );
    assert_eq!(workspace.exec("build/made").out, "made\n");
    // By its name, whatever the caller's PATH holds.
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_palisade"));
    command.env("PATH", workspace.path("planted")).current_dir(workspace.path("project"));
    let output = command.args(["exec", "../agent.manifest.yaml", "--", "helper"]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "helped\n");
}

#[test]
fn the_environment_is_the_manifests() {
    let workspace = Workspace::new();
    workspace.compiled("root \"$workspace\" read-only\nenv { set COLOUR \"blue\"; pass PALISADE_TEST }");
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_palisade"));
    command.env("PALISADE_TEST", "passed").env("OTHER", "leaked").current_dir(workspace.path("project"));
    command.env("TMPDIR", workspace.path("outside"));
    let line = "echo \"$COLOUR $PALISADE_TEST $HOME ${OTHER-unset}\"; echo \"$TMPDIR\"; export -p";
    let output = command.args(["exec", "../agent.manifest.yaml", "-c", line]).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("blue passed /var/empty unset"));
    let temporary = std::path::Path::new(lines.next().unwrap());
    assert!(temporary.is_absolute() && !temporary.starts_with(workspace.path("")), "{text}");
    assert!(!text.contains("OTHER") && !text.contains("leaked"), "{text}");
}

#[test]
fn exit_codes_are_the_commands_own_or_say_who_ended_it() {
    let workspace = Workspace::new();
    workspace.compiled("root \"$workspace\" read-only\nlimits { time 300ms; output 10B }");
    assert_eq!(workspace.exec("exit 7").code, Some(7));
    assert_eq!(workspace.exec("kill -9 $$").code, Some(137));
    let slow = workspace.exec("while :; do :; done");
    assert_eq!(slow.code, Some(124), "{}", slow.err);
    assert!(slow.err.contains("time limit"), "{}", slow.err);
    let loud = workspace.exec("echo 1234567890123");
    assert_eq!((loud.code, loud.out.as_str()), (Some(124), "1234567890"), "{}", loud.err);
    let unknown = workspace.palisade(&["exec", "../agent.manifest.yaml", "--", "no-such-program"]);
    assert_eq!(unknown.code, Some(127), "{}", unknown.err);
}

#[test]
fn home_is_an_empty_directory_that_stays_empty() {
    let workspace = Workspace::new();
    workspace.compiled("root \"$workspace\" read-write");
    let ran = workspace.exec("cd && set -- * .[!.]* && echo \"$PWD $1 $2\" && echo > file");
    assert_eq!(ran.out, "/var/empty * .[!.]*\n", "{}", ran.err);
    assert_ne!(ran.code, Some(0));
}

#[test]
fn a_caller_that_ignores_its_children_gets_the_commands_code() {
    let workspace = Workspace::new();
    workspace.compiled("root \"$workspace\" read-only\nlimits { time 10s }");
    let mut command = std::process::Command::new("/bin/sh");
    let line = format!(
        "trap '' CHLD; exec {} exec ../agent.manifest.yaml -c 'exit 3'",
        env!("CARGO_BIN_EXE_palisade")
    );
    let output = command.args(["-c", &line]).current_dir(workspace.path("project")).output().unwrap();
    assert_eq!(output.status.code(), Some(3), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn output_that_is_lost_is_no_success() {
    let workspace = Workspace::new();
    workspace.compiled("root \"$workspace\" read-only\nlimits { output 1MiB }");
    // Not open for writing.
    let closed = std::fs::File::open("/dev/null").unwrap();
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_palisade"));
    command.args(["exec", "../agent.manifest.yaml", "-c", "echo text"]).stdout(closed);
    let output = command.current_dir(workspace.path("project")).output().unwrap();
    assert_eq!(output.status.code(), Some(125));
    assert!(String::from_utf8_lossy(&output.stderr).contains("could not be passed on"));
}

#[test]
fn a_process_that_uses_up_its_time_says_so() {
    let workspace = Workspace::new();
    workspace.compiled("root \"$workspace\" read-write\nlimits { cpu 1s; file-size 1KiB }");
    let slow = workspace.exec("while :; do :; done");
    assert_eq!(slow.code, Some(124), "{}", slow.err);
    assert!(slow.err.contains("processor time"), "{}", slow.err);
}

#[test]
fn records_that_a_command_could_write_are_refused() {
    let workspace = Workspace::new();
    workspace.compiled("root \"$workspace\" read-write");
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_palisade"));
    command.args(["exec", "../agent.manifest.yaml", "-c", "echo ran"]);
    command.env("XDG_STATE_HOME", workspace.path("project/state"));
    let output = command.current_dir(workspace.path("project")).output().unwrap();
    assert_eq!((output.status.code(), output.stdout.len()), (Some(125), 0));
    assert!(String::from_utf8_lossy(&output.stderr).contains("XDG_STATE_HOME"));
}

#[test]
fn run_compiles_in_memory_and_leaves_no_artifact() {
    let workspace = Workspace::new();
    workspace.write(
        "project/agent.palisade",
        "edition 1\nprofile \"p\" {\n root \"$workspace\" read-write\n deny \"$workspace/.env\"\n}\n",
    );
    let before = workspace.listing();
    let ran =
        workspace.palisade(&["run", "agent.palisade", "-c", "read line < src/main.c && echo \"$line\""]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "int main;\n"), "{}", ran.err);
    assert_ne!(workspace.palisade(&["run", "agent.palisade", "-c", "read line < .env"]).code, Some(0));
    // A policy must not be changed by what it restrains.
    assert_ne!(workspace.palisade(&["run", "agent.palisade", "-c", "echo >> agent.palisade"]).code, Some(0));
    assert_eq!(workspace.listing(), before);
    workspace
        .write("project/broken.palisade", "edition 1\nprofile \"p\" {\n rot \"$workspace\" read-write\n}\n");
    let broken = workspace.palisade(&["run", "broken.palisade", "-c", "echo ran"]);
    assert_eq!((broken.code, broken.out.as_str()), (Some(125), ""));
    assert!(broken.err.contains("did you mean `root`"), "{}", broken.err);
}

#[test]
fn why_says_what_the_kernel_does() {
    let workspace = Workspace::new();
    workspace.compiled(PROFILE);
    for path in [
        "src/main.c",
        ".env",
        "keys/deep/id",
        "vendor/lib.c",
        "../outside/note",
        "/etc/passwd",
        ACCOUNT_SECRETS,
    ] {
        for (operation, line) in [("read", format!("read line < {path}")), ("write", format!(": >> {path}"))]
        {
            let why = workspace.palisade(&["why", operation, path, "--profile", "../agent.palisade"]);
            let allowed = why.out.starts_with("allowed");
            assert_eq!(why.code, Some(i32::from(!allowed)), "{}", why.err);
            assert!(allowed || why.out.starts_with("denied"), "{}", why.out);
            let ran = workspace.exec(&line);
            assert_eq!(ran.code == Some(0), allowed, "{operation} {path}: {} {}", why.out, ran.err);
        }
    }
}

#[test]
fn a_run_leaves_a_record_also_where_the_profile_has_errors() {
    let workspace = Workspace::new();
    workspace.write(
        "project/agent.palisade",
        "edition 1\nprofile \"p\" { root \"$workspace\" read-only\n limits { time 60s } }\n",
    );
    workspace.write("project/broken.palisade", "edition 1\nprofile \"p\" { rot \"x\" read-only }\n");
    let record = |profile: &str| {
        let ran = workspace.palisade(&["run", profile, "--report", "../outside/record.json", "-c", "exit 3"]);
        let text = std::fs::read_to_string(workspace.path("outside/record.json")).unwrap();
        (ran.code, serde_json::from_str::<serde_json::Value>(&text).unwrap())
    };
    let (code, ran) = record("agent.palisade");
    assert_eq!((code, &ran["exit"], &ran["end"]["how"]), (Some(3), &3.into(), &"exited".into()), "{ran}");
    assert_eq!((&ran["manifest"]["profile"], &ran["limits"][0]["name"]), (&"p".into(), &"time".into()));
    let (code, refused) = record("broken.palisade");
    assert_eq!((code, &refused["end"]["how"]), (Some(125), &"refused".into()), "{refused}");
    assert!(refused["manifest"].is_null());
}
