//! `deny` with a path and with a pattern.

use crate::road::{machine, walk};
use palisade::plan::Operation;
use proptest::prelude::*;

#[test]
fn a_path_is_denied_with_all_below_whether_it_is_there_or_not() {
    let host = machine(&["/w/.env: file", "/w/secrets/token: file"]);
    let walked =
        walk(&host, "root \"/w\" read-write\ndeny \"/w/.env\"\ndeny \"/w/secrets\"\ndeny \"/w/later/key\"");
    assert_eq!(walked.errors(), [""; 0]);
    for path in ["/w/.env", "/w/.env/x", "/w/secrets", "/w/secrets/token", "/w/later/key", "/w/later/key/x"] {
        for operation in Operation::ALL {
            assert!(!walked.allows(operation, path), "{operation:?} {path}");
        }
    }
    assert!(walked.allows(Operation::Read, "/w/.env2"));
    assert!(walked.allows(Operation::Read, "/w/later"));
    assert!(!walked.allows(Operation::Remove, "/w/later"), "it holds what is denied");
}

#[test]
fn a_literal_path_with_special_characters_means_itself() {
    let host = machine(&["\"/w/*.pem\": file", "/w/a.pem: file", "\"/w/[1]\": directory"]);
    let walked = walk(&host, "root \"/w\" read-only\ndeny \"/w/*.pem\"\ndeny \"/w/[1]\"");
    assert_eq!(walked.errors(), [""; 0]);
    assert!(!walked.allows(Operation::Read, "/w/*.pem"));
    assert!(!walked.allows(Operation::Read, "/w/[1]/x"));
    assert!(walked.allows(Operation::Read, "/w/a.pem"));
    assert!(walked.allows(Operation::Read, "/w/1"));
}

#[test]
fn a_pattern_covers_what_matches_and_its_head_means_itself() {
    let host = machine(&[
        "\"/w/[1] {x}/a.pem\": file",
        "\"/w/[1] {x}/deep/b.pem\": file",
        "\"/w/[1] {x}/b.txt\": file",
        "\"/w/1 x/c.pem\": file",
    ]);
    let walked =
        walk(&host, "param place \"/w/[1] {x}\"\nroot \"/w\" read-only\ndeny glob \"$place/**/*.pem\"");
    assert_eq!(walked.denied(), ["/w/[1] {x}/a.pem", "/w/[1] {x}/deep/b.pem"]);
}

#[test]
fn patterns_as_documented() {
    let host = machine(&[
        "/w/a.pem: file",
        "/w/d/b.pem: file",
        "/w/d/c.key: file",
        "/w/d/e/f.key: file",
        "/w/ä.txt: file",
        "/w/.hidden/k.pem: file",
        "/w/keys/one: file",
    ]);
    for (pattern, denied) in [
        ("/w/*.pem", vec!["/w/a.pem"]),
        ("/w/**/*.pem", vec!["/w/.hidden/k.pem", "/w/a.pem", "/w/d/b.pem"]),
        (
            "/w/**/*.{pem,key}",
            vec!["/w/.hidden/k.pem", "/w/a.pem", "/w/d/b.pem", "/w/d/c.key", "/w/d/e/f.key"],
        ),
        ("/w/d/[bc].*", vec!["/w/d/b.pem", "/w/d/c.key"]),
        ("/w/?.txt", vec!["/w/ä.txt"]),
        ("/w/[!a].txt", vec!["/w/ä.txt"]),
        ("/w/**", vec!["/w/.hidden", "/w/a.pem", "/w/d", "/w/keys", "/w/ä.txt"]),
        ("/w/k*", vec!["/w/keys"]),
        ("/w/*.crt", vec![]),
    ] {
        let walked = walk(&host, &format!("root \"/w\" read-only\ndeny glob \"{pattern}\""));
        assert_eq!(walked.denied(), denied, "{pattern}");
    }
}

#[test]
fn a_pattern_goes_where_the_link_to_its_root_goes_and_through_no_other() {
    let host = machine(&[
        "/data/project/a.pem: file",
        "/data/project/deep/b.pem: file",
        "/data/project/out: -> /data/else",
        "/data/else/c.pem: file",
        "/home/dev/p: -> /data/project",
    ]);
    let walked = walk(&host, "root \"~/p\" read-only\ndeny glob \"~/p/**/*.pem\"");
    assert_eq!(walked.denied(), ["/data/project/a.pem", "/data/project/deep/b.pem"]);
    assert!(!walked.allows(Operation::Read, "/data/project/deep/b.pem"));
}

#[test]
fn a_link_that_matches_and_leads_to_what_is_open_is_refused() {
    let host = machine(&["/w/a.pem: -> plain.txt", "/w/plain.txt: file"]);
    let walked = walk(&host, "root \"/w\" read-only\ndeny glob \"/w/*.pem\"");
    assert_eq!(walked.errors(), ["denied-link"]);
}

#[test]
fn what_cannot_be_examined_is_refused() {
    for (entries, statement) in [
        (vec!["/w/a: -> b", "/w/b: -> a"], "deny \"/w/a/x\""),
        (vec!["/w/a: -> b", "/w/b: -> a"], "deny glob \"/w/a/*.pem\""),
        (vec!["/w/a: -> b", "/w/b: -> a"], "deny gitignored \"/w/a\""),
        (vec!["/w/locked: { kind: directory, refused: { list: denied } }"], "deny glob \"/w/**/*.pem\""),
        (vec!["/w/locked: unreadable"], "deny \"/w/locked/key\""),
        (vec!["/w/file: file"], "deny \"/w/file/below\""),
        (
            vec!["/w/names: { kind: directory, refused: { list: not-utf8 /w/names/x } }"],
            "deny glob \"/w/**/k\"",
        ),
        (vec!["/w/x: directory"], "deny \"/w/missing/../x\""),
    ] {
        let mut all = vec!["/w/src: directory"];
        all.extend(entries);
        let walked = walk(&machine(&all), &format!("root \"/w\" read-only\n{statement}"));
        assert_eq!(walked.errors(), ["unexamined"], "{statement}");
    }
}

#[test]
fn a_denied_path_through_a_link_is_refused() {
    let host = machine(&["/w/real/key: file", "/w/link: -> real"]);
    let walked = walk(&host, "root \"/w\" read-only\ndeny \"/w/link/key\"");
    assert_eq!(walked.errors(), ["symlinked-denial"]);
    let walked = walk(&host, "root \"/w\" read-only\ndeny \"/w/real/key\"");
    assert_eq!(walked.errors(), [""; 0]);
}

proptest! {
    /// A pattern covers exactly what a plain reading of it covers, for names without anything special.
    #[test]
    fn a_star_covers_one_directory_and_two_cover_all(
        paths in proptest::collection::btree_set("[ab](/[ab]){0,3}\\.(pem|txt)", 1..8),
    ) {
        let entries: Vec<String> = paths.iter().map(|path| format!("/w/{path}: file")).collect();
        let host = machine(&entries.iter().map(String::as_str).collect::<Vec<_>>());
        let denied = |pattern: &str| -> Vec<String> {
            let walked = walk(&host, &format!("root \"/w\" read-only\ndeny glob \"{pattern}\""));
            walked.denied().into_iter().map(str::to_owned).collect()
        };
        let full = |path: &String| format!("/w/{path}");
        let mut all: Vec<String> = paths.iter().filter(|path| path.ends_with(".pem")).map(full).collect();
        all.sort_by(|a, b| camino::Utf8Path::new(a).cmp(camino::Utf8Path::new(b)));
        prop_assert_eq!(denied("/w/**/*.pem"), all.clone());
        all.retain(|path| path.matches('/').count() == 2);
        prop_assert_eq!(denied("/w/*.pem"), all);
    }
}
