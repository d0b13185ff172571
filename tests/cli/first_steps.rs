//! What somebody sees at 80 columns who writes a first profile and makes the mistakes that everybody makes. Each report says what is wrong, where,
//! and what to write instead.

use crate::{HOSTS, Place, snapshot};

/// The name of the mistake and the statement after `root "$workspace" read-only`.
const MISTAKES: &[(&str, &str)] = &[
    ("statement", "dney \"$workspace/.env\""),
    ("allow", "alow \"/opt\""),
    ("missing-quote", "deny \"$workspace/.env\nnetwork off"),
    ("single-quotes", "deny '$workspace/.env'"),
    ("no-quotes", "deny $workspace/.env"),
    ("unknown-tool", "tools gti"),
    ("tool-path", "tools /usr/bin/git"),
    ("commas", "tools git, find"),
    ("relative-pattern", "deny glob \"*.pem\""),
    ("literal-star", "deny \"$workspace/*.pem\""),
    ("other-user", "root \"~bob/src\" read-only"),
    ("shell-variable", "deny \"$HOME/.ssh\""),
    ("every-host", "network only { allow \"*\" }"),
    ("host-patterns", "network only {\n    allow \"*.com\"\n    allow \"https://example.com/x\"\n}"),
    ("network-word", "network on"),
    ("network-alone", "network"),
    ("access-word", "root \"$workspace/src\" rw"),
    ("no-access", "root \"$workspace/src\""),
    ("missing-brace", "env {\n    pass TERM"),
    ("deny-before-root", "deny \"$workspace/src\"\nroot \"$workspace/src\" read-only"),
    ("assignment", "env { set TERM=xterm }"),
    ("bare-assignment", "env { TERM = \"xterm\" }"),
    ("comment", "// keep the keys closed"),
    ("limit-without-unit", "limits { time 60 }"),
    ("verdict", "expect { read \"$workspace/.env\" deny }"),
    ("missing-root", "root \"~/othr\" read-only"),
];

fn seen(name: &str, place: &Place) {
    let host = format!("--host={HOSTS}/debian.yaml");
    let ran = place.run(&["check", "first.palisade", &host]).exits(1);
    assert_eq!(ran.err, "");
    let widest = ran.out.lines().map(|line| line.chars().count()).max();
    assert!(widest <= Some(80), "{name}: {}", ran.out);
    snapshot(&format!("first-{name}"), place, &ran.out);
}

#[test]
fn each_mistake_of_a_first_profile_says_what_to_write_instead() {
    for (name, statements) in MISTAKES {
        let place = Place::with("first.palisade", &format!("root \"$workspace\" read-only\n{statements}"));
        seen(name, &place);
    }
}

#[test]
fn a_file_that_is_no_profile_says_what_one_is() {
    for (name, text) in [
        ("empty", ""),
        ("no-profile", "edition 1\nroot \"$workspace\" read-only\n"),
        ("no-edition", "profile \"first\" {\n    root \"$workspace\" read-only\n}\n"),
        ("json", "{ \"permissions\": { \"deny\": [\"Read(.env)\"] } }\n"),
        ("no-last-brace", "edition 1\nprofile \"first\" {\n    root \"$workspace\" read-only\n"),
        // A mark of byte order, tabulators and line ends of DOS are none, and columns count as an editor does.
        (
            "dos",
            "\u{feff}edition 1\r\nprofile \"first\" {\r\n\troot \"$workspace\" read-only\r\n\ttols\tgit\r\n}\r\n",
        ),
    ] {
        let place = Place::empty();
        place.write("first.palisade", text);
        seen(name, &place);
    }
}
