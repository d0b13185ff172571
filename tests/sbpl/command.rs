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
    let clean = "(version 1)\n(allow default)\n(deny mach-lookup (global-name (param \"X\")))\n";
    assert_eq!(run(clean, &["check", "x.sb"]).0, 0);
    let (code, text) = run(
        "(version 1)(deny default)(allow file-read* (subpath \"/tmp\"))",
        &["check", "x.sb", "--format", "concise"],
    );
    assert_eq!(code, 1);
    assert!(text.contains("x.sb:1:44: warning[dead-path]"), "{text}");
    let importing = "(version 1)(allow default)(import \"lib.sb\")";
    assert_eq!(run(importing, &["check", "x.sb"]).0, 0);
    assert_eq!(run(importing, &["check", "x.sb", "--fail-on", "note"]).0, 1);
    let (code, text) = run(importing, &["check", "x.sb", "--fail-on", "note", "--import-dir", "."]);
    assert_eq!(code, 0, "{text}");
    // Of what was not read nothing is said.
    let (code, text) = run(clean, &["check", "none.sb"]);
    assert_eq!(
        (code, text.contains("findings"), text.contains("`none.sb` cannot be read")),
        (2, false, true),
        "{text}"
    );
    let (code, text) = run(clean, &["check", "none.sb", "x.sb"]);
    assert_eq!((code, text.contains("in x.sb")), (2, true), "{text}");
}

/// The first word of the answer, which its exit must agree with.
fn verdict(forms: &str, args: &[&str]) -> String {
    let args: Vec<&str> = ["why", "x.sb"].iter().chain(args).copied().collect();
    let (code, text) = run(&format!("(version 1){forms}"), &args);
    let word = text.split(':').next().unwrap_or_default().to_owned();
    assert_eq!(
        ["allowed", "denied", "unknown"].iter().position(|known| *known == word),
        Some(code as usize),
        "{text}"
    );
    word
}

/// An operation that the kernel checks itself is asked for itself, whatever its children are.
#[test]
fn what_is_checked_itself_is_answered_for_itself() {
    for (forms, operation, subject, answer) in [
        (
            r#"(deny default)(allow process-exec (literal "/a"))(allow process-exec-interpreter (literal "/b"))"#,
            "process-exec",
            "/b",
            "denied",
        ),
        (r#"(deny default)(allow process-exec-interpreter (literal "/a"))"#, "process-exec*", "/a", "denied"),
        (
            r#"(deny default)(allow process-exec (literal "/a"))(deny process-exec-interpreter)"#,
            "process-exec",
            "/a",
            "allowed",
        ),
        (r#"(allow default)(deny process-exec (literal "/a"))"#, "process*", "/a", "denied"),
        (r#"(deny default)(allow network-inbound)(deny network-bind)"#, "network-inbound", "/s", "allowed"),
        (r#"(deny default)(allow network-bind)"#, "network-inbound", "/s", "denied"),
        (r#"(deny default)(allow file-mount-update)"#, "file-mount", "/s", "denied"),
        (
            r#"(deny default)(allow managed-preference-read)"#,
            "user-preference-read",
            "preference-domain=a",
            "denied",
        ),
    ] {
        assert_eq!(verdict(forms, &[operation, subject]), answer, "{forms} {operation}");
    }
    let (_, text) =
        run("(version 1)(deny default)(allow process-exec)", &["why", "x.sb", "process-exec", "/a"]);
    assert!(text.contains("\n  checked apart from it: process-exec-interpreter\n"), "{text}");
}

#[test]
fn connections_are_asked_by_their_ends() {
    let forms = r#"(deny default)(allow network-outbound (remote tcp "localhost:80") (remote ip "*:443"))(allow network-bind (local ip "localhost:*"))"#;
    for (operation, subject, answer) in [
        ("network-outbound", "remote=tcp localhost:80", "allowed"),
        ("network-outbound", "remote=localhost:80", "unknown"),
        ("network-outbound", "remote=tcp example.com:80", "denied"),
        ("network-outbound", "remote=udp localhost:80", "denied"),
        ("network-outbound", "remote=example.com:443", "allowed"),
        ("network-outbound", "to=[2001:db8::1]:443", "allowed"),
        ("network-outbound", "remote=tcp 127.0.0.1:80", "allowed"),
        ("network-outbound", "remote=tcp 127.0.0.2:80", "unknown"),
        ("network-outbound", "remote=tcp6 [::1]:80", "allowed"),
        ("network-outbound", "remote=example.com:*", "unknown"),
        ("network-bind", "local=localhost:99", "allowed"),
        ("network-bind", "local=192.0.2.1:99", "denied"),
    ] {
        assert_eq!(verdict(forms, &[operation, subject]), answer, "{subject}");
    }
}

/// What one access may have beside the name it is asked by is not known, unless it is stated too.
#[test]
fn a_name_does_not_say_what_else_there_is() {
    let xattr = r#"(allow default)(deny file-write-xattr (subpath "/d"))"#;
    assert_eq!(verdict(xattr, &["file-write-xattr", "xattr=a"]), "unknown");
    assert_eq!(verdict(xattr, &["file-write-xattr", "/d/x", "xattr=a"]), "denied");
    assert_eq!(verdict(xattr, &["file-write-xattr", "/e/x", "xattr=a"]), "allowed");
    let target = "(allow default)(deny signal (target same-sandbox))";
    assert_eq!(verdict(target, &["signal", "target=self"]), "denied");
    assert_eq!(verdict(target, &["signal", "target=others"]), "unknown");
    assert_eq!(verdict(target, &["signal", "target=initproc"]), "allowed");
    let calls = "(allow default)(deny syscall-unix (syscall-number SYS_read))";
    assert_eq!(verdict(calls, &["syscall-unix", "syscall-number=SYS_read"]), "denied");
    assert_eq!(verdict(calls, &["syscall-unix", "syscall-number=3"]), "unknown");
    let domains = "(deny default)(allow system-socket (socket-domain AF_UNIX))";
    assert_eq!(verdict(domains, &["system-socket", "socket-domain=AF_LOCAL"]), "allowed");
    assert_eq!(verdict(domains, &["system-socket", "socket-domain=1"]), "allowed");
    assert_eq!(verdict(domains, &["system-socket", "socket-domain=AF_INET"]), "denied");
    let outbound = r#"(deny default)(allow network-outbound (remote ip "*:443"))"#;
    assert_eq!(verdict(outbound, &["network-outbound", "socket-domain=AF_INET"]), "unknown");
    let class = r#"(deny default)(allow iokit-set-properties (iokit-user-client-class "A"))"#;
    assert_eq!(verdict(class, &["iokit-set-properties", "iokit-user-client-class=A"]), "allowed");
    assert_eq!(verdict("(deny default)(allow process-fork)", &["process-fork"]), "allowed");
    let (_, text) = run("(version 1)(deny default)", &["why", "x.sb", "signal", "target=others"]);
    assert!(!text.contains("signal itself\n"), "{text}");
}

#[test]
fn a_path_is_asked_as_the_kernel_sees_it() {
    let forms = r#"(allow default)(deny file-read* (subpath "/private/tmp/s"))"#;
    for path in
        ["/TMP/s/x", "/System/Volumes/Data/private/tmp/s/x", "/tmp//s/./x", "path=/tmp/s/x", "/Private/TMP/S"]
    {
        assert_eq!(verdict(forms, &["file-read-data", path]), "denied", "{path}");
    }
    assert_eq!(verdict(forms, &["file-read-data", "/TMP/s/x", "--case-sensitive"]), "allowed");
}

#[test]
fn what_an_operation_has_not_cannot_be_asked() {
    for (args, says) in [
        (vec!["mach-lookup", "/x"], "these apply: "),
        (vec!["mach-lookup", "/x"], "global-name"),
        (vec!["process-fork", "/x"], "leave the subject out"),
        (vec!["file-read-data", "global-name=a"], "no filter on `global-name` applies to `file-read-data`"),
        (vec!["mach-lookup", "global-name-prefix=a"], "state the one name: `global-name=…`"),
        (vec!["mach-lookup", "globl-name=a"], "did you mean `global-name`?"),
        (vec!["signal", "target=slef"], "did you mean `self`?"),
        (vec!["system-socket", "socket-domain=AF_INTE"], "did you mean `AF_INET`?"),
        (vec!["network-outbound", "remote=localhost"], "`localhost` is no HOST:PORT"),
        (vec!["network-outbound", "remote=localhost:+80"], "`+80` is no port"),
        (vec!["network-outbound", "remote=icmp localhost:80"], "`icmp` is no protocol"),
        (vec!["file-read-data", "/a", "/b"], "more than one path"),
        (vec!["network-outbound", "/a", "remote=a:1"], "a path and a connection are two subjects"),
        (vec!["file-read-data", "/a", "--vnode-type", "SOKCET"], "did you mean `SOCKET`?"),
        (vec!["file-read-data", "path=a"], "`a` is no absolute path"),
    ] {
        let all: Vec<&str> = ["why", "x.sb"].into_iter().chain(args).collect();
        let (code, text) = run(PROFILE, &all);
        assert_eq!((code, text.contains(says)), (2, true), "{says}\n{text}");
        assert!(!text.starts_with("allowed") && !text.starts_with("denied"), "{text}");
    }
}

#[test]
fn an_unread_import_is_said_once_and_its_fallback_does_not_decide() {
    let forms = "(version 1)\n(import \"a.sb\")\n(import \"b.sb\")\n(their-rules)\n(deny default)\n";
    let (code, text) = run(forms, &["why", "x.sb", "file-read-data", "/a"]);
    assert_eq!((code, text.starts_with("unknown: file-read-data /a\n")), (2, true), "{text}");
    for import in ["x.sb:2: `a.sb`", "x.sb:3: `b.sb`", "x.sb:4: `their-rules`, which `a.sb` may define"] {
        assert_eq!(text.matches(import).count(), 1, "{import}\n{text}");
    }
    assert!(!text.contains("this decides") && text.contains("decides where nothing above it does"), "{text}");
}
