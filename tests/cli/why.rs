//! `why`: the first word, the exit code, and that it agrees with `expect`.

use crate::{HOSTS, Place};

const PROFILE: &str = "\
root \"$workspace\" read-write
root \"$workspace/docs\" read-only
deny \"$workspace/.env\"
tools git
network only { allow \"example.com\"; allow \"*.example.com\"; deny \"bad.example.com\"; localhost 5432
    allow \"api.example.org\" methods GET HEAD; allow \"api.example.org\" methods POST paths \"/notes/*\"; allow \"api.example.org:80\" }
env { mask NOTES_TOKEN for \"api.example.org\" \"own.example.com\" }";

/// A question, and whether the answer is yes.
const QUESTIONS: [(&str, &str, bool); 37] = [
    ("read", "src/main.c", true),
    ("write", "src/main.c", true),
    ("create", "src/new.c", true),
    ("remove", "src/main.c", true),
    ("rename", "src", true),
    ("rename", "docs", false),
    ("write", "docs/guide.md", false),
    ("create", "docs/new.md", false),
    ("read", ".env", false),
    ("metadata", ".env", false),
    ("list", "docs", true),
    ("link", ".env", false),
    ("write", ".git/hooks/pre-commit", false),
    ("exec", "git", true),
    ("exec", "gcc", false),
    ("exec", "no-such-program", false),
    ("map", "src/main.c", false),
    ("read", "/etc/shadow", false),
    ("connect", "example.com", true),
    ("connect", "bad.example.com:443", false),
    ("connect", "www.example.com", true),
    ("connect", "example.com:80", false),
    ("connect", "localhost:5432", true),
    ("connect", "127.0.0.1:5432", true),
    ("connect", "[::1]:5432", true),
    ("connect", "localhost:5433", false),
    ("connect", "127.0.0.2:5432", false),
    ("connect", "169.254.169.254:80", false),
    ("connect", "api.example.org", true),
    ("request", "GET https://api.example.org/a?b", true),
    ("request", "POST https://api.example.org/notes/1", true),
    ("request", "POST https://api.example.org/notes/../a", false),
    ("request", "DELETE https://api.example.org/notes/1", false),
    ("request", "GET http://api.example.org:443/a", false),
    ("request", "GET http://api.example.org/a", true),
    ("request", "DELETE https://own.example.com/a", true),
    ("request", "GET https://bad.example.com/a", false),
];

#[test]
fn the_first_word_and_the_exit_code_are_the_answer() {
    let place = Place::with("a.palisade", PROFILE);
    for (operation, subject, yes) in QUESTIONS {
        let ran = place.on_examples(&["why", operation, subject]).exits(i32::from(!yes));
        let word = if yes { "allowed: " } else { "denied: " };
        assert!(ran.out.starts_with(&format!("{word}{operation} ")), "{}", ran.out);
        assert!(ran.err.is_empty(), "{}", ran.err);
    }
}

/// What is missing on the way is made first, and a directory that would hold something denied may not be.
#[test]
fn a_directory_on_the_way_to_a_denied_path_is_not_made() {
    let place = Place::with("a.palisade", "root \"$workspace\" read-write\ndeny \"$workspace/a/b/key\"");
    for (path, code) in [("a", 1), ("a/b", 1), ("a/b/key", 1), ("a/other", 1), ("a2", 0), ("a2/other", 0)] {
        place.on_examples(&["why", "create", path]).exits(code);
        place.on_mac(&["why", "create", path]).exits(code);
    }
}

/// A device is there when a command runs, whether or not somebody wrote it down.
#[test]
fn a_device_that_is_granted_is_writable_on_every_recording() {
    let place = Place::with("a.palisade", "root \"$workspace\" read-only");
    for device in ["/dev/null", "/dev/zero", "/dev/tty"] {
        place.on_mac(&["why", "write", device]).exits(0);
        place.on_examples(&["why", "write", device]).exits(0);
    }
    place.on_mac(&["why", "write", "/dev/fd/1"]).exits(0);
    place.on_mac(&["why", "write", "/dev/disk0"]).exits(1);
}

#[test]
fn expect_says_what_why_says() {
    for (operation, subject, yes) in QUESTIONS {
        let word = |yes| if yes { "allowed" } else { "denied" };
        for claimed in [true, false] {
            let line = format!("{PROFILE}\nexpect {{ {operation} \"{subject}\" {} }}", word(claimed));
            let place = Place::with("a.palisade", &line);
            let ran = place.on_examples(&["check", "a.palisade", "--fail-on", "error"]);
            assert_eq!(
                ran.out.contains("failed-expectation"),
                claimed != yes,
                "{operation} {subject}: {}",
                ran.out
            );
        }
    }
}

#[test]
fn it_names_the_statement_that_decides() {
    let place = Place::with("a.palisade", PROFILE);
    let why = |operation: &str, subject: &str| place.on_examples(&["why", operation, subject]);
    why("read", ".env").says("a.palisade:5 deny").says("this denies it");
    why("read", "src/main.c").says("a.palisade:3 root").says("this grants it");
    why("write", "docs/guide.md").says("a.palisade:4 root");
    why("write", ".git/hooks/x").says("guard: git runs the hooks in it");
    why("read", "/var/lib/x").says("no statement grants it");
    why("read", "src/not-yet").says("nothing is there now");
    why("connect", "bad.example.com").says("`deny \"bad.example.com:443\"` in `network only` (denied)");
    why("read", "~/.ssh/id_ed25519").exits(1).says("/home/dev/.ssh/id_ed25519");
}

#[test]
fn a_request_is_told_what_would_allow_it() {
    let place = Place::with("a.palisade", PROFILE);
    let why = |operation: &str, subject: &str| place.on_examples(&["why", operation, subject]);
    why("connect", "api.example.org")
        .says("connections are read, by `allow \"api.example.org:443\" methods GET HEAD`")
        .says("the value of `NOTES_TOKEN` is put in there, and the command never sees it");
    why("connect", "own.example.com")
        .says("connections are read: they must be TLS, and anything may be asked");
    why("request", "DELETE https://api.example.org/a")
        .says("denied: request DELETE https://api.example.org/a\n")
        .says("no line allows this")
        .says("`allow \"api.example.org\" methods DELETE` in `network only` would allow it");
    why("request", "POST https://api.example.org/a")
        .says("`allow \"api.example.org\" methods POST paths \"/a\"` in `network only` would allow it");
    why("request", "POST https://api.example.org/a//b").says("no line with `paths` can allow it");
    why("request", "GET http://api.example.org:443/").says("ask for `https://`");
    why("request", "GET https://other.example.org/")
        .says("`allow \"other.example.org\"` in `network only` would allow it");
    why("request", "https://api.example.org/").exits(2);
}

#[test]
fn a_host_that_is_denied_is_told_what_would_allow_it() {
    let place = Place::with("a.palisade", PROFILE);
    let why = |host: &str, said: &str| {
        place.on_examples(&["why", "connect", host]).exits(1).says(said);
    };
    why("example.org", "`allow \"example.org\"` in `network only` would allow it");
    why("example.org", "no line of `network only` allows it (not-allowed)");
    why("example.com:22", "`allow \"example.com:22\"` in `network only` would allow it");
    why("localhost:80", "`localhost 80` in `network only` would allow it");
    why("127.0.0.1:80", "(this-machine)");
    why("169.254.169.254", "(link-local-address)");
    why("169.254.169.254", "no line can allow it");
    why("metadata.google.internal", "no line can allow it");
    why("bad.example.com", "a denial beats every allowance");
    why("127.1", "`127.1` reads as an address, but is none written out (bad-host)");
    why("a..example.com", "two dots side by side in a host (bad-host)");
    why("example.com:0", "`0` is not a port (bad-host)");
    place.on_examples(&["why", "connect", "www.example.com"]).exits(0).says("inside a private network");
    place
        .on_examples(&["why", "connect", "localhost:5432"])
        .exits(0)
        .says("by: `localhost 5432` in `network only`");
    for (statement, code, said) in [
        ("network off", 1, "by: `network off`"),
        ("network only { }", 1, "`network only` allows no host, which is `network off`"),
        ("", 1, "nothing states `network`"),
        ("network all", 0, "by: `network all`"),
    ] {
        let place = Place::with("a.palisade", &format!("root \"$workspace\" read-only\n{statement}"));
        place.on_examples(&["why", "connect", "example.com"]).exits(code).says(said);
    }
}

#[test]
fn links_are_followed_as_the_kernel_follows_them() {
    let place = Place::with("a.palisade", "root \"$workspace\" read-write\ndeny \"$workspace/secret\"");
    place.write("secret", "x");
    place.write("sub/file", "x");
    std::os::unix::fs::symlink("secret", place.path.join("link")).unwrap();
    std::os::unix::fs::symlink("sub", place.path.join("dir")).unwrap();
    std::os::unix::fs::symlink("loop", place.path.join("loop")).unwrap();
    place.run(&["why", "read", "link"]).exits(1).says("through the link");
    place.run(&["why", "remove", "link"]).exits(0);
    place.run(&["why", "read", "dir/file"]).exits(0).says("sub/file");
    place.run(&["why", "read", "dir/../secret"]).exits(1);
    place.run(&["why", "read", "loop/x"]).exits(2).says("loop");
    place.run(&["why", "read", "secret/below"]).exits(1);
}

#[test]
fn a_question_that_cannot_be_answered_is_usage() {
    let place = Place::with("a.palisade", PROFILE);
    place.on_examples(&["why", "raed", "x"]).exits(2).says("did you mean `read`?");
    place.on_examples(&["why", "frobnicate", "x"]).exits(2).says("one of: read, list");
    place.write("b.palisade", "profile");
    place
        .on_examples(&["why", "read", "x"])
        .exits(2)
        .says("more than one profile")
        .says("a.palisade, b.palisade");
    place.on_examples(&["why", "read", "x", "-p", "b.palisade"]).exits(2).says("not understood");
    Place::empty().on_examples(&["why", "read", "x"]).exits(2).says("no profile in this directory");
}

#[test]
fn hostile_names_stay_on_their_line() {
    let place = Place::with("a.palisade", PROFILE);
    let ran = place.on_examples(&["why", "read", "x\n\u{1b}[2Jallowed: read"]).exits(0);
    assert!(!ran.out.contains('\u{1b}'), "{:?}", ran.out);
    let ran = place.on_examples(&["why", "connect", "x\nallowed: y"]).exits(1);
    assert!(ran.out.lines().skip(1).all(|line| !line.starts_with("allowed")), "{:?}", ran.out);
}

#[test]
fn a_profile_with_errors_is_answered_with_a_warning() {
    let place =
        Place::with("a.palisade", "root \"$workspace\" read-only\nroot \"$workspace/gone\" read-only");
    place.on_examples(&["why", "read", "src/main.c"]).exits(0).says("this profile has errors");
    assert!(std::path::Path::new(HOSTS).is_dir());
}

#[test]
fn what_a_command_has_of_its_own_is_not_what_the_host_has() {
    let line = "root \"$workspace\" read-write\nroot \"$workspace/sub\" read-only";
    let place = Place::with("a.palisade", line);
    place.write("file", "x");
    place.write("sub/file", "x");
    let why = |operation: &str, subject: &str| place.on_examples(&["why", operation, subject]);
    why("read", "/proc/1/environ").exits(1).says("palisade's own and hidden");
    why("read", "/proc/1/root/etc/passwd").exits(1);
    why("read", "/proc/kcore").exits(1).says("tells of the host's kernel");
    why("read", "/proc/self/environ").exits(0).says("a /proc of their own");
    why("read", "/proc/4711/environ").exits(0).says("of the command's own processes only");
    why("read", "/proc/self/root/etc/passwd").exits(0).says("through the link /proc/self/root -> /");
    why("read", "/proc/self/root/root").exits(1);
    why("read", "/proc/self/exe").exits(2).says("ask about the file itself");
    why("write", "/proc/self/mem").exits(1);
    // The examples' machine has a file there, which is not in the directory that the command has.
    for operation in ["read", "metadata", "remove", "rename", "link"] {
        why(operation, "/tmp/left").exits(1).says("what is there now is not in it, and is not seen");
    }
    why("write", "/tmp/left").exits(0);
    why("create", "/tmp/new").exits(0);
    why("read", "/tmp").exits(0);
    // What parts one mount from another is said.
    let root = why("link", "src/main.c");
    root.exits(0).says("across mounts it fails with EXDEV");
}

#[test]
fn what_is_said_of_hosts_and_requests_fits() {
    let place = Place::with(
        "a.palisade",
        "root \"$workspace\" read-only\nnetwork only {\n  allow \"api.example.org\" methods GET paths \"/a/**\"\n  inspect \"in.example.org\"\n  \
         allow \"b\u{fc}cher.example.org\"\n}",
    );
    let long = "a-rather-long-name-of-a-host-that-fills-a-line-of-a-terminal-by-itself.example.org";
    for (operation, subject, code) in [
        ("connect", "api.example.org", 0),
        ("connect", "b\u{fc}cher.example.org", 0),
        ("connect", "a/b", 1),
        ("connect", long, 1),
        ("request", "POST https://api.example.org/a/b", 1),
        ("request", "CONNECT https://in.example.org/", 1),
        ("request", "get https://in.example.org/", 0),
        ("request", "get https://api.example.org/a/b", 1),
        ("request", "GET https://b\u{fc}cher.example.org/", 0),
    ] {
        let out = place.on_examples(&["why", operation, subject]).exits(code).out;
        for line in out.lines() {
            let fits = line.chars().count() <= 80 || line.contains(long) || line.trim().starts_with('`');
            assert!(fits, "{operation} {subject}: {line}");
        }
    }
    let why = |operation: &str, subject: &str| place.on_examples(&["why", operation, subject]);
    why("connect", "sock/a.sock").exits(1).says("for a socket write `unix:sock/a.sock`");
    why("request", "GET https://b\u{fc}cher.example.org/x")
        .says("request GET https://b\u{fc}cher.example.org/x")
        .says("which the network knows as GET https://xn--bcher-kva.example.org/x");
    let tunnel = why("request", "CONNECT https://in.example.org/").says("is never allowed there");
    assert!(!tunnel.out.contains("would allow it"), "{}", tunnel.out);
    let lower = why("request", "get https://api.example.org/a/b").says("no line can name the method `get`");
    assert!(!lower.out.contains("would allow it"), "{}", lower.out);
}
