//! The two verbs, as they are run.

use assert_cmd::Command;

/// Runs `palisade sb …` beside a file `x.sb`, and gives its exit code and what it printed.
fn run(profile: &str, args: &[&str]) -> (i32, String) {
    let directory = tempfile::tempdir().expect("a directory");
    std::fs::write(directory.path().join("x.sb"), profile).expect("a file");
    std::fs::write(directory.path().join("lib.sb"), "(deny file-link file-clone)\n").expect("a file");
    let mut command = Command::cargo_bin("palisade").expect("the program");
    let output = command.current_dir(directory.path()).arg("sb").args(args).output().expect("a run");
    let text = [output.stdout, output.stderr].concat();
    (output.status.code().expect("an exit code"), String::from_utf8(text).expect("a text"))
}

const PROFILE: &str = "(version 1)\n(allow default)\n(deny file-read-data\n  (subpath \"/private/tmp/x\"))\n(deny file-read-xattr (subpath (param \"P\")))\n";

#[test]
fn why_names_the_line_and_its_exit_is_the_verdict() {
    let (code, text) = run(PROFILE, &["why", "x.sb", "file-read-data", "/tmp/x/y"]);
    assert_eq!(code, 1);
    assert!(text.starts_with("denied: file-read-data /private/tmp/x/y\n  on a Mac that is /private/tmp/x/y\n  by: x.sb:3: a denial of `file-read-data`\n"), "{text}");
    assert!(text.contains("this decides"), "{text}");
    let (code, text) = run(PROFILE, &["why", "x.sb", "file-read-metadata", "/a"]);
    assert_eq!((code, text.starts_with("allowed: file-read-metadata /a\n")), (0, true), "{text}");
    let (code, text) = run(PROFILE, &["why", "x.sb", "file-read-xattr", "/a"]);
    assert_eq!(
        (code, text.starts_with("unknown: file-read-xattr /a\n  perhaps by: x.sb:5: ")),
        (2, true),
        "{text}"
    );
    let (code, _) = run(PROFILE, &["why", "x.sb", "file-read-xattr", "/a", "-D", "P=/a"]);
    assert_eq!(code, 1);
    let (code, text) = run(PROFILE, &["why", "x.sb", "mach-lookup", "global-name=com.apple.x"]);
    assert_eq!(
        (code, text.starts_with("allowed: mach-lookup global-name=com.apple.x\n")),
        (0, true),
        "{text}"
    );
}

#[test]
fn why_of_a_wildcard_asks_every_operation_below() {
    let (code, text) = run(PROFILE, &["why", "x.sb", "file-read*", "/private/tmp/x", "-D", "P=/q"]);
    assert_eq!(code, 1);
    for line in ["denied: file-read* /private/tmp/x", "file-read-data: denied", "file-read-metadata: allowed"]
    {
        assert!(text.lines().any(|found| found == line), "{line}\n{text}");
    }
}

#[test]
fn what_cannot_be_asked_is_a_matter_of_usage() {
    for (profile, args, says) in [
        (PROFILE, ["why", "x.sb", "file-raed-data", "/a"], "did you mean `file-read-data`?"),
        (PROFILE, ["why", "x.sb", "file-read-data", "a"], "neither an absolute path nor FILTER=NAME"),
        (PROFILE, ["why", "y.sb", "file-read-data", "/a"], "`y.sb` cannot be read"),
        ("(version 1)(alow)", ["why", "x.sb", "file-read-data", "/a"], "unknown filter or form `alow`"),
    ] {
        let (code, text) = run(profile, &args);
        assert_eq!((code, text.contains(says)), (2, true), "{text}");
    }
}

#[test]
fn check_exits_as_check_does() {
    let clean = "(version 1)\n(allow default)\n(deny file-read-data (literal (param \"X\")))\n";
    assert_eq!(run(clean, &["check", "x.sb"]).0, 0);
    let (code, text) = run(
        "(version 1)(deny default)(allow file-read* (subpath \"/tmp\"))",
        &["check", "x.sb", "--format", "concise"],
    );
    assert_eq!(code, 1);
    assert!(text.contains("x.sb:1:44: warning[dead-path]"), "{text}");
    assert_eq!(run("(version 1)(import \"lib.sb\")", &["check", "x.sb"]).0, 0);
    assert_eq!(run("(version 1)(import \"lib.sb\")", &["check", "x.sb", "--fail-on", "note"]).0, 1);
    let (code, text) =
        run("(version 1)(import \"lib.sb\")", &["check", "x.sb", "--fail-on", "note", "--import-dir", "."]);
    assert_eq!(code, 0, "{text}");
    assert_eq!(run(clean, &["check", "none.sb"]).0, 2);
}
