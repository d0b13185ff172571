//! `deny gitignored`: what git would ignore, by gitignore(5).

use crate::road::{Walked, machine, walk};
use palisade::host::RecordedHost;

fn denied_on(host: &RecordedHost, statement: &str) -> Vec<String> {
    walk(host, &format!("root \"/w\" read-only\n{statement}"))
        .denied()
        .into_iter()
        .map(str::to_owned)
        .collect()
}

fn denied(entries: &[&str]) -> Vec<String> {
    denied_on(&machine(entries), "deny gitignored \"/w\"")
}

fn refused(entries: &[&str]) -> Walked {
    let walked = walk(&machine(entries), "root \"/w\" read-only\ndeny gitignored \"/w\"");
    assert_eq!(walked.errors(), ["unexamined"]);
    walked
}

#[test]
fn patterns_of_nested_files_and_negations() {
    assert_eq!(
        denied(&[
            "/w/.git/HEAD: file",
            "/w/.gitignore: { head: \"*.log\\n/build/\\n!keep.log\\n# not-a-pattern\\n\" }",
            "/w/a.log: file",
            "/w/keep.log: file",
            "/w/not-a-pattern: file",
            "/w/build/x: file",
            "/w/sub/build/x: file",
            "/w/sub/.gitignore: { head: \"!a.log\\nlocal\\n\" }",
            "/w/sub/a.log: file",
            "/w/sub/b.log: file",
            "/w/sub/local: file",
            "/w/local: file",
        ]),
        ["/w/a.log", "/w/build", "/w/sub/b.log", "/w/sub/local"]
    );
}

#[test]
fn nothing_in_an_ignored_directory_comes_back() {
    assert_eq!(
        denied(&[
            "/w/.git/HEAD: file",
            "/w/.gitignore: { head: \"dir/\\n!dir/keep\\n\" }",
            "/w/dir/keep: file"
        ]),
        ["/w/dir"]
    );
}

#[test]
fn the_repository_s_own_exclude_file_has_the_least_weight() {
    assert_eq!(
        denied(&[
            "/w/.git/info/exclude: { head: \"*.secret\\n*.key\\n\" }",
            "/w/.gitignore: { head: \"!open.secret\\n\" }",
            "/w/open.secret: file",
            "/w/other.secret: file",
            "/w/deep/a.key: file",
        ]),
        ["/w/deep/a.key", "/w/other.secret"]
    );
}

#[test]
fn a_linked_worktree_has_the_exclude_file_of_its_repository() {
    assert_eq!(
        denied(&[
            "/w/.git: { head: \"gitdir: /repo/.git/worktrees/w\\n\" }",
            "/repo/.git/worktrees/w/commondir: { head: \"../..\\n\" }",
            "/repo/.git/worktrees/w/gitdir: { head: \"/w/.git\\n\" }",
            "/repo/.git/info/exclude: { head: \".env\\n\" }",
            "/w/.env: file",
            "/w/sub/.env: file",
        ]),
        ["/w/.env", "/w/sub/.env"]
    );
}

#[test]
fn a_submodule_has_the_exclude_file_of_its_own() {
    assert_eq!(
        denied(&[
            "/w/.git: { head: \"gitdir: ../super/.git/modules/w\\n\" }",
            "/super/.git/modules/w/info/exclude: { head: \"key\\n\" }",
            "/w/key: file",
        ]),
        ["/w/key"]
    );
}

#[test]
fn a_directory_inside_a_repository_is_under_the_files_above_it() {
    let host = machine(&[
        "/w/.git/HEAD: file",
        "/w/.git/info/exclude: { head: \"x.key\\n\" }",
        "/w/.gitignore: { head: \"*.log\\n/sub/deep/only-here\\n\" }",
        "/w/sub/.gitignore: { head: \"tmp\\n\" }",
        "/w/sub/deep/a.log: file",
        "/w/sub/deep/only-here: file",
        "/w/sub/deep/tmp: file",
        "/w/sub/deep/x.key: file",
        "/w/sub/deep/code.c: file",
        "/w/a.log: file",
    ]);
    assert_eq!(
        denied_on(&host, "deny gitignored \"/w/sub/deep\""),
        ["/w/sub/deep/a.log", "/w/sub/deep/only-here", "/w/sub/deep/tmp", "/w/sub/deep/x.key"]
    );
}

#[test]
fn without_a_repository_the_files_below_are_what_counts() {
    let host = machine(&[
        "/.gitignore: { head: \"a\\n\" }",
        "/w/.gitignore: { head: \"b\\n\" }",
        "/w/a: file",
        "/w/b: file",
    ]);
    assert_eq!(denied_on(&host, "deny gitignored \"/w\""), ["/w/b"]);
}

#[test]
fn exceptions_by_name_and_by_path() {
    let host = machine(&[
        "/w/.gitignore: { head: \"target\\n*.log\\n\" }",
        "/w/target/x: file",
        "/w/sub/target/x: file",
        "/w/a.log: file",
        "/w/sub/a.log: file",
    ]);
    let except = |names: &str| denied_on(&host, &format!("deny gitignored \"/w\" except {names}"));
    assert_eq!(except("\"target\""), ["/w/a.log", "/w/sub/a.log"]);
    assert_eq!(except("\"sub/target\""), ["/w/a.log", "/w/sub/a.log", "/w/target"]);
    assert_eq!(except("\"target/\" \"sub/a.log\""), ["/w/a.log"]);
}

#[test]
fn what_git_reads_in_its_own_way_is_read_so() {
    // Braces mean themselves; a mark of the encoding is no part of the first pattern; blanks at the end fall away.
    assert_eq!(
        denied(&[
            "/w/.gitignore: { head: \"\\uFEFF.env\\n{a,b}.key\\nspace \\nq\\\\?\\n[[]x\\n[]y]z\\n\" }",
            "/w/.env: file",
            "/w/a.key: file",
            "\"/w/{a,b}.key\": file",
            "/w/space: file",
            "\"/w/q?\": file",
            "/w/qx: file",
            "\"/w/[x\": file",
            "/w/yz: file",
        ]),
        ["/w/.env", "/w/[x", "/w/q?", "/w/space", "/w/yz", "/w/{a,b}.key"]
    );
}

#[test]
fn what_is_not_read_as_git_reads_it_is_refused() {
    let walked = refused(&["/w/.gitignore: { head: \"fine\\nsecret[[:digit:]]\\n\" }", "/w/secret1: file"]);
    assert!(walked.finding("unexamined").message.contains("line 2 holds a pattern that is not understood"));
    refused(&["/w/.gitignore: { head: \"[\\\\]]\\n\" }"]);
    refused(&["/w/.gitignore: { refused: { head: denied } }"]);
    refused(&["/w/.gitignore: file", "/w/sub: { kind: directory, refused: { list: denied } }"]);
    let long = format!("/w/.gitignore: {{ head: \"{}\" }}", "a\\n".repeat((1 << 19) + 1));
    refused(&[&long]);
}

#[test]
fn a_link_in_place_of_the_file_says_nothing_as_to_git() {
    assert_eq!(denied(&["/w/.gitignore: -> rules", "/w/rules: { head: \"a\\n\" }", "/w/a: file"]), [""; 0]);
}

#[test]
fn where_case_does_not_matter_patterns_do_not_mind_it() {
    let text = "system: macos\narchitecture: aarch64\nhome: /Users/dev\nworkspace: /w\ncase-insensitive: true\nunlisted: missing\n\
        entries:\n  /w/.gitignore: { head: \"*.key\\n\" }\n  /w/A.KEY: file\n  /w/b.pem: file\n  /w/C.PEM: file\n";
    let host = RecordedHost::from_yaml(text, "test").unwrap();
    assert_eq!(denied_on(&host, "deny gitignored \"/w\""), ["/w/A.KEY"]);
    assert_eq!(denied_on(&host, "deny glob \"/w/*.pem\""), ["/w/C.PEM", "/w/b.pem"]);
}
