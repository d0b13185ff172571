//! Help, exit codes and the verbs that only print.

use crate::{HOSTS, Place, snapshot};

const VERBS: [&[&str]; 16] = [
    &["check"],
    &["compile"],
    &["exec"],
    &["run"],
    &["why"],
    &["fmt"],
    &["explain"],
    &["rules"],
    &["init"],
    &["doctor"],
    &["host"],
    &["host", "record"],
    &["sb", "check"],
    &["sb", "why"],
    &["completions"],
    &["man"],
];

const CLEAN: &str = "root \"$workspace\" read-only\nroot \"$workspace/review\" read-write";
const WARNS: &str = "root \"$workspace\" read-only\nparam unused \"x\"";
const FAILS: &str = "root \"$workspace\" read-only\nroot \"$workspace/gone\" read-only";

#[test]
fn help_fits_a_terminal_and_goes_to_standard_output() {
    let place = Place::empty();
    for verb in [&[][..]].into_iter().chain(VERBS) {
        for flag in ["--help", "-h"] {
            let ran = place.run(&[verb, &[flag]].concat()).exits(0);
            assert!(ran.err.is_empty() && ran.out.contains("Usage: palisade"), "{verb:?}");
            for line in ran.out.lines() {
                assert!(line.chars().count() <= 80, "{verb:?}: {line}");
            }
        }
    }
    place.run(&["--version"]).exits(0).says(env!("CARGO_PKG_VERSION"));
}

#[test]
fn a_mistake_in_the_command_line_is_usage() {
    let place = Place::with("a.palisade", CLEAN);
    for arguments in [
        &[][..],
        &["chekc"],
        &["check", "--formt", "human"],
        &["check", "--format", "xml"],
        &["why", "read"],
        &["compile"],
        &["check", "--target", "windows"],
        &["check", "--set", "novalue"],
        &["explain"],
        &["host"],
        &["host", "record"],
        &["check", "--fail-on", "never"],
    ] {
        let ran = place.run(arguments).exits(2);
        assert!(ran.out.is_empty(), "{arguments:?}");
    }
    place.run(&["chekc"]).says("check");
    place.run(&["check", "--formt", "human"]).says("--format");
    // Those that stand in for a command never look like it.
    for arguments in [
        &["exec"][..],
        &["exec", "x.yaml"],
        &["run", "a.palisade"],
        &["exec", "--nope"],
        &["exec", "gone.yaml", "--", "true"],
    ] {
        place.run(arguments).exits(125);
    }
}

#[test]
fn exit_codes_of_check_do_not_hang_on_the_format() {
    let place = Place::empty();
    place.profile("clean.palisade", CLEAN);
    place.profile("warns.palisade", WARNS);
    place.profile("fails.palisade", FAILS);
    for format in crate::formats::FORMATS {
        let check = |file: &str, fail_on: &str| {
            place.on_examples(&["check", file, "--format", format, "--fail-on", fail_on])
        };
        for fail_on in ["warning", "error"] {
            check("clean.palisade", fail_on).exits(0);
            check("fails.palisade", fail_on).exits(1).says("missing-root");
        }
        check("warns.palisade", "note").exits(1);
        check("warns.palisade", "warning").exits(1).says("unused-param");
        check("warns.palisade", "error").exits(0);
        check("gone.palisade", "error").exits(2);
    }
    // One that cannot be read does not hide what the others have.
    place.on_examples(&["check", "gone.palisade", "fails.palisade"]).exits(2).says("missing-root");
}

#[test]
fn a_directory_is_searched_for_profiles() {
    let place = Place::empty();
    place.profile("policies/a.palisade", CLEAN);
    place.profile("policies/deep/b.palisade", FAILS);
    place.profile("policies/node_modules/c.palisade", "root");
    std::os::unix::fs::symlink("deep", place.path.join("policies/again")).unwrap();
    place.on_examples(&["check", "policies"]).exits(1).says("b.palisade").says("2 profiles");
    let empty = Place::empty();
    empty.on_examples(&["check"]).exits(2).says("no profile found");
}

#[test]
fn fragments_are_checked_and_not_compiled() {
    let place = Place::empty();
    place.write("f.palisade", "edition 1\nfragment \"f\" {\n    deny \"$workspace/.env\"\n}\n");
    place.profile("p.palisade", &format!("{CLEAN}\nuse \"f.palisade\""));
    place.on_examples(&["check", "f.palisade"]).exits(0);
    place.on_examples(&["compile", "f.palisade"]).exits(2).says("is a fragment");
    place.on_examples(&["compile", "p.palisade"]).exits(0);
    assert!(place.read("p.manifest.yaml").contains("f.palisade:3 deny \"$workspace/.env\""));
    place.write("loop.palisade", "edition 1\nfragment \"l\" {\n    use \"loop.palisade\"\n}\n");
    place.profile("q.palisade", &format!("{CLEAN}\nuse \"loop.palisade\""));
    place.on_examples(&["check", "q.palisade"]).exits(1);
}

#[test]
fn rules_are_listed_and_explained() {
    let place = Place::empty();
    let rules = place.run(&["rules"]).exits(0).out;
    assert!(rules.contains("hard-linked-denial"));
    for line in rules.lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
    for rule in rules
        .lines()
        .take_while(|line| !line.is_empty())
        .filter(|line| !line.starts_with(' '))
        .filter_map(|line| line.split(' ').next())
    {
        let text = place.run(&["explain", rule]).exits(0).out;
        assert!(text.contains("## Why it is bad") || text.to_lowercase().contains("why"), "{rule}");
    }
    place.run(&["explain", "hard-linked-denail"]).exits(2).says("did you mean `hard-linked-denial`?");
    place.run(&["explain", "nothing-like-it-at-all"]).exits(2).says("`palisade rules` lists them");
}

#[test]
fn init_writes_what_checks_and_overwrites_nothing() {
    let place = Place::empty();
    for example in ["build-and-test", "docs-writer", "mcp-files", "pr-review", "worktree-agent"] {
        let name = format!("{example}.palisade");
        place.run(&["init", &name, "--from", example]).exits(0).says("next: palisade check");
    }
    place.on_examples(&["check", "pr-review.palisade"]).exits(0);
    place.write("mine.palisade", "mine");
    place.run(&["init", "mine.palisade"]).exits(2);
    assert_eq!(place.read("mine.palisade"), "mine");
    std::os::unix::fs::symlink("elsewhere", place.path.join("link.palisade")).unwrap();
    place.run(&["init", "link.palisade"]).exits(2);
    assert!(!place.exists("elsewhere"));
    place.run(&["init", "x.palisade", "--from", "nothing"]).exits(2).says("pr-review");
    assert!(!place.exists("x.palisade"));
}

#[test]
fn fmt_changes_blanks_once_and_check_changes_nothing() {
    let place = Place::empty();
    let wild =
        "edition 1\nprofile   \"case\"  {\nroot \"$workspace\"   read-only   # why\n\n\n\n  tools   git\n}\n";
    place.write("a.palisade", wild);
    place.run(&["fmt", "--check", "a.palisade"]).exits(1).says("would change a.palisade");
    assert_eq!(place.read("a.palisade"), wild);
    place.run(&["fmt", "a.palisade"]).exits(0).says("changed a.palisade");
    let once = place.read("a.palisade");
    assert_ne!(once, wild);
    assert!(place.run(&["fmt", "a.palisade"]).exits(0).out.is_empty());
    place.run(&["fmt", "--check", "a.palisade"]).exits(0);
    assert_eq!(place.read("a.palisade"), once);
    assert_eq!(place.run_with(&["fmt", "-"], wild).exits(0).out, once);
    place.write("broken.palisade", "profile {{{");
    place.run(&["fmt", "gone.palisade"]).exits(2);
}

#[test]
fn fmt_says_what_does_not_parse_and_goes_on_with_the_others() {
    let place = Place::empty();
    let wild = "edition 1\nprofile   \"case\"  { root \"$workspace\"   read-only; }\n";
    place.write("broken.palisade", "profile {{{");
    place.write("wild.palisade", wild);
    let unread = "`broken.palisade` does not parse, and was left as it is";
    let ran = place.run(&["fmt", "--check", "broken.palisade", "wild.palisade"]).exits(2);
    ran.says(unread).says("would change wild.palisade");
    place.run(&["fmt", "--check", "broken.palisade"]).exits(2).says(unread);
    place
        .run(&["fmt", "broken.palisade", "wild.palisade"])
        .exits(2)
        .says(unread)
        .says("changed wild.palisade");
    place.run(&["fmt", "--check", "wild.palisade"]).exits(0);
    assert_eq!(place.read("broken.palisade"), "profile {{{");
    let piped = place.run_with(&["fmt", "-"], "profile {{{").exits(2);
    assert_eq!(piped.out, "profile {{{");
    place.write("wild.palisade", wild);
    place.run(&["fmt", "gone.palisade", "wild.palisade"]).exits(2).says("changed wild.palisade");
}

#[test]
fn fmt_changes_nothing_more_where_a_semicolon_begins_a_line_or_a_comment_ends_in_a_brace() {
    let place = Place::empty();
    for (text, laid_out) in [
        ("    network off\n;}\n", "    network off\n}\n"),
        ("network off\n;;\n;tools git ;\n; ; }\n", "    network off\n\n    tools git\n}\n"),
        ("env { set A \"x\"\n;} ;}\n", "    env { set A \"x\"\n} }\n"),
        ("tools git # {\n\ndeny \"/a/b\" # c\n}\n", "    tools git  # {\n\n    deny \"/a/b\"  # c\n}\n"),
    ] {
        let head = "edition 1\nprofile \"case\" {\n";
        place.write("a.palisade", &format!("{head}{text}"));
        place.run(&["fmt", "a.palisade"]).exits(0);
        assert_eq!(place.read("a.palisade"), format!("{head}{laid_out}"));
        place.run(&["fmt", "--check", "a.palisade"]).exits(0);
    }
}

#[test]
fn what_is_piped_has_no_colour_and_fits() {
    let place = Place::with("a.palisade", FAILS);
    for arguments in [
        &["check", "a.palisade"][..],
        &["why", "read", "/etc/shadow", "--profile", "a.palisade"],
        &["compile", "a.palisade"],
    ] {
        let ran = place.on_examples(arguments);
        let text = format!("{}{}", ran.out, ran.err);
        assert!(!text.contains('\u{1b}'), "{text}");
        for line in text.lines() {
            assert!(line.chars().count() <= 80, "{line}");
        }
    }
}

#[test]
fn typical_mistakes() {
    let place = Place::empty();
    for (name, text) in [
        ("typo", "edition 1\nprofile \"x\" {\n    rooot \"$workspace\" read-write\n    tools git\n}\n"),
        ("unknown-variable", "edition 1\nprofile \"x\" {\n    root \"$workspce\" read-only\n}\n"),
        (
            "missing-root",
            "edition 1\nprofile \"x\" {\n    root \"$workspace\" read-only\n    root \"$workspace/buidl\" read-write\n}\n",
        ),
        ("missing-tool", "edition 1\nprofile \"x\" {\n    root \"$workspace\" read-only\n    tools gti\n}\n"),
        (
            "failed-expectation",
            "edition 1\nprofile \"x\" {\n    root \"$workspace\" read-write\n    expect {\n        read \"$workspace/.env\" denied\n    }\n}\n",
        ),
        ("unclosed", "edition 1\nprofile \"x\" {\n    root \"$workspace\" read-only\n"),
        ("no-edition", "profile \"x\" {\n    root \"$workspace\" read-only\n}\n"),
    ] {
        let file = format!("{name}.palisade");
        place.write(&file, text);
        snapshot(name, &place, &place.on_examples(&["check", &file]).exits(1).out);
    }
}

#[test]
fn no_colour_even_where_someone_asks_for_none_twice() {
    let place = Place::with("a.palisade", FAILS);
    let plain = place.on_examples(&["check", "a.palisade"]).out;
    let mut command = assert_cmd::Command::cargo_bin("palisade").unwrap();
    command
        .current_dir(&place.path)
        .env("NO_COLOR", "1")
        .args(["check", "a.palisade", "--host"])
        .arg(format!("{HOSTS}/examples.yaml"));
    assert_eq!(String::from_utf8(command.output().unwrap().stdout).unwrap(), plain);
}

#[test]
fn a_record_replaces_nothing_but_a_record() {
    let place = Place::empty();
    place.profile("p.palisade", "root \"$workspace\" read-only");
    for text in ["notes\n", "{\"schema\": 1}\n", "[1, 2]\n"] {
        place.write("notes.json", text);
        place
            .run(&["run", "p.palisade", "--report", "notes.json", "--", "true"])
            .exits(125)
            .says("something else than a record stands there");
        assert_eq!(place.read("notes.json"), text);
    }
    let both = ["run", "p.palisade", "--report", "x", "--network-log", "./x", "--", "true"];
    place.run(&both).exits(125).says("connections are logged there");
}
