//! Other hard links of what is protected.

use crate::road::{machine, walk};

const TWO: &str = "{ links: 2, inode: 7 }";

fn errors(entries: &[String], statements: &str) -> Vec<&'static str> {
    let entries: Vec<&str> = entries.iter().map(String::as_str).collect();
    walk(&machine(&entries), statements).errors()
}

fn two(first: &str, second: &str) -> Vec<String> {
    vec![format!("{first}: {TWO}"), format!("{second}: {TWO}")]
}

#[test]
fn a_denied_file_with_a_name_outside_is_refused_and_one_with_both_inside_is_not() {
    let statements = "root \"/w\" read-write\ndeny \"/w/secrets\"";
    assert_eq!(errors(&two("/w/secrets/a", "/w/open"), statements), ["hard-linked-denial"]);
    assert_eq!(errors(&two("/w/secrets/a", "/else/open"), statements), ["hard-linked-denial"]);
    assert_eq!(errors(&two("/w/secrets/a", "/w/secrets/b/c"), statements), [""; 0]);
    assert_eq!(
        errors(
            &two("/w/secrets/a", "/w/key"),
            "root \"/w\" read-write\ndeny \"/w/secrets\"\ndeny \"/w/key\""
        ),
        [""; 0]
    );
    let three = ["/w/secrets/a", "/w/secrets/b"].map(|path| format!("{path}: {{ links: 3, inode: 7 }}"));
    assert_eq!(errors(&three, statements), ["hard-linked-denial"]);
}

#[test]
fn a_name_that_is_only_kept_from_being_written_does_not_close_a_denied_file() {
    for other in ["/w/.vscode/settings.json", "/w/vendor/key"] {
        let statements = "root \"/w\" read-write\nroot \"/w/vendor\" read-only\ndeny \"/w/.env\"";
        let mut entries = two("/w/.env", other);
        entries.push("/w/vendor/x: file".into());
        assert_eq!(errors(&entries, statements), ["hard-linked-denial"], "{other}");
    }
    // Also where the denied one lies inside what is guarded.
    let statements = "root \"/w\" read-write\ndeny \"/w/.claude/token\"";
    assert_eq!(errors(&two("/w/.claude/token", "/w/.claude/open"), statements), ["hard-linked-denial"]);
}

#[test]
fn a_protected_file_may_have_its_other_name_denied_or_protected() {
    let statements = "root \"/w\" read-write\nroot \"/w/vendor\" read-only\ndeny \"/w/.env\"";
    assert_eq!(errors(&two("/w/vendor/a", "/w/vendor/b"), statements), [""; 0]);
    assert_eq!(errors(&two("/w/vendor/a", "/w/.vscode/a"), statements), [""; 0]);
    assert_eq!(errors(&two("/w/vendor/a", "/w/open"), statements), ["hard-linked-file"]);
    assert_eq!(
        errors(&two("/w/.vscode/a", "/w/open"), &statements.replace("root \"/w/vendor\" read-only\n", "")),
        ["hard-linked-file"]
    );
}

#[test]
fn directories_have_many_links_by_nature() {
    let entries = [
        "/w/secrets: { kind: directory, links: 9 }".to_owned(),
        "/w/secrets/sub: { kind: directory, links: 4 }".into(),
    ];
    assert_eq!(errors(&entries, "root \"/w\" read-write\ndeny \"/w/secrets\""), [""; 0]);
}

#[test]
fn what_cannot_be_counted_is_refused() {
    let entries = ["/w/secrets/locked: { kind: directory, refused: { list: denied } }".to_owned()];
    assert_eq!(errors(&entries, "root \"/w\" read-write\ndeny \"/w/secrets\""), ["unexamined"]);
    let entries = ["/w/.vscode/x: { refused: { examine: denied } }".to_owned()];
    assert_eq!(errors(&entries, "root \"/w\" read-write"), ["unexamined"]);
}

#[test]
fn the_same_number_on_another_disk_is_another_file() {
    let entries = [format!("/w/secrets/a: {TWO}"), "/w/secrets/b: { links: 2, inode: 7, device: 2 }".into()];
    assert_eq!(errors(&entries, "root \"/w\" read-write\ndeny \"/w/secrets\""), ["hard-linked-denial"]);
}
