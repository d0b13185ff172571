//! `git-worktree`: a `.git` file is followed only where the repository points back.

use crate::road::{machine, walk};
use palisade::bind::Worktree;
use palisade::bind::worktree::find;
use palisade::plan::Operation;

/// A linked worktree at /w of the repository at /repo, with other contents of its four files.
fn linked(git: &str, back: &str, common: &str, more: &[&str]) -> Worktree {
    let lines = [
        format!("/w/.git: {{ head: {git:?} }}"),
        format!("/repo/.git/worktrees/w/gitdir: {{ head: {back:?} }}"),
        format!("/repo/.git/worktrees/w/commondir: {{ head: {common:?} }}"),
        "/repo/.git/HEAD: file".to_owned(),
    ];
    let mut entries: Vec<&str> = lines.iter().map(String::as_str).collect();
    entries.extend(more);
    find(&machine(&entries), "/w".into())
}

fn sound() -> Worktree {
    Worktree::Linked { git_dir: "/repo/.git/worktrees/w".into(), common_dir: "/repo/.git".into() }
}

#[test]
fn a_repository_that_points_back_is_followed_however_its_files_end() {
    assert_eq!(linked("gitdir: /repo/.git/worktrees/w\n", "/w/.git\n", "../..\n", &[]), sound());
    assert_eq!(linked("gitdir: /repo/.git/worktrees/w", "/w/.git", "../..", &[]), sound());
    assert_eq!(linked("gitdir: /repo/.git/worktrees/w\r\n", "/w/.git\r\n", "../..\r\n", &[]), sound());
    assert_eq!(
        linked("gitdir: ../repo/.git/worktrees/w\n", "../../../../w/.git\n", "/repo/.git\n", &[]),
        sound()
    );
}

#[test]
fn links_on_the_way_are_followed() {
    assert_eq!(
        linked("gitdir: /r/.git/worktrees/w\n", "/work/.git\n", "../..\n", &["/r: -> repo", "/work: -> w"]),
        sound()
    );
}

#[test]
fn a_directory_is_its_own() {
    assert_eq!(find(&machine(&["/w/.git/HEAD: file"]), "/w".into()), Worktree::Own);
}

#[test]
fn a_planted_file_grants_nothing() {
    for (git, back, common, more, said) in [
        (
            "gitdir: /repo/.git/worktrees/w\n",
            "/else/.git\n",
            "../..\n",
            vec![],
            "belongs to the worktree at `/else/.git`",
        ),
        ("gitdir: /repo/.git\n", "/w/.git\n", "../..\n", vec![], "`/repo/.git/gitdir` is not a file"),
        (
            "gitdir: /repo/.git\n",
            "/w/.git\n",
            "../..\n",
            vec!["/repo/.git/gitdir: { head: \"/w/.git\\n\" }", "/repo/.git/commondir: { head: \".\\n\" }"],
            "does not lie in the worktrees",
        ),
        (
            "gitdir: /home/dev/.ssh\n",
            "/w/.git\n",
            "../..\n",
            vec!["/home/dev/.ssh/id: file"],
            "is not a file",
        ),
        ("/repo/.git/worktrees/w\n", "/w/.git\n", "../..\n", vec![], "does not begin with `gitdir: `"),
        ("gitdir: /gone\n", "/w/.git\n", "../..\n", vec![], "`/gone` is not a directory"),
        (
            "gitdir: /repo/.git/worktrees/w\n",
            "/w/.git\n",
            "/home/dev\n",
            vec!["/home/dev/x: file"],
            "does not lie in the worktrees of `/home/dev`",
        ),
        ("gitdir: /repo/.git/worktrees/w\nx", "/w/.git\n", "../..\n", vec![], "is not a directory"),
        ("gitdir: \n", "/w/.git\n", "../..\n", vec![], "is not a file"),
    ] {
        let Worktree::Refused(reason) = linked(git, back, common, &more) else { panic!("followed {git:?}") };
        assert!(reason.contains(said), "{git:?}: {reason}");
    }
}

#[test]
fn anything_else_than_a_file_is_refused() {
    for entries in [
        vec!["/w/.git: -> /repo/.git", "/repo/.git/HEAD: file"],
        vec!["/w/.git: fifo"],
        vec!["/w/x: file"],
        vec!["/w/.git: unreadable"],
    ] {
        assert!(matches!(find(&machine(&entries), "/w".into()), Worktree::Refused(_)), "{entries:?}");
    }
}

const LINKED: [&str; 8] = [
    "/w/.git: { head: \"gitdir: /repo/.git/worktrees/w\\n\" }",
    "/repo/.git/worktrees/w/gitdir: { head: \"/w/.git\\n\" }",
    "/repo/.git/worktrees/w/commondir: { head: \"../..\\n\" }",
    "/repo/.git/HEAD: file",
    "/repo/.git/objects: directory",
    "/repo/.git/refs: directory",
    "/repo/.git/hooks: directory",
    "/alias: -> w",
];

#[test]
fn a_commit_can_be_made_and_hooks_and_settings_stay() {
    for root in ["/w", "/alias"] {
        let walked = walk(&machine(&LINKED), &format!("root \"{root}\" read-write\ngit-worktree \"{root}\""));
        assert_eq!(walked.errors(), [""; 0]);
        for path in ["/repo/.git/objects/ab/cd", "/repo/.git/refs/heads/x", "/repo/.git/worktrees/w/index"] {
            assert!(walked.allows(Operation::Create, path), "{root}: {path}");
        }
        for path in [
            "/repo/.git/hooks/x",
            "/repo/.git/config",
            "/repo/.git/HEAD",
            "/repo/src",
            "/w/.git",
            "/repo/.git/worktrees/w/commondir",
            "/repo/.git/worktrees/w/gitdir",
            "/repo/.git/worktrees/w/config.worktree",
        ] {
            assert!(!walked.allows(Operation::Write, path), "{root}: {path}");
            assert!(!walked.allows(Operation::Create, path), "{root}: {path}");
        }
    }
}

#[test]
fn packed_references_are_followed_only_into_a_directory_of_their_own() {
    let granted = |entries: &[&str]| {
        let mut all = LINKED.to_vec();
        all.extend(entries);
        let walked = walk(&machine(&all), "root \"/w\" read-write\ngit-worktree \"/w\"");
        assert_eq!(walked.errors(), [""; 0]);
        let writable =
            ["/repo/.git/packed-refs.lock", "/repo/.git/p/packed-refs.lock", "/else/packed-refs.lock"];
        writable.into_iter().filter(|path| walked.allows(Operation::Create, path)).collect::<Vec<_>>()
    };
    let inside = ["/repo/.git/p/packed-refs.lock"];
    assert_eq!(
        granted(&["/repo/.git/packed-refs: -> p/packed-refs", "/repo/.git/p/packed-refs: file"]),
        inside
    );
    assert_eq!(granted(&["/repo/.git/packed-refs: -> p/packed-refs", "/repo/.git/p: directory"]), inside);
    for entries in [
        vec!["/repo/.git/packed-refs: file"],
        vec!["/repo/.git/packed-refs: -> p/packed-refs"],
        vec![
            "/repo/.git/packed-refs: -> p/packed-refs",
            "/repo/.git/p/packed-refs: file",
            "/repo/.git/p/config: file",
        ],
        vec!["/repo/.git/packed-refs: -> p/other", "/repo/.git/p/other: file"],
        vec!["/repo/.git/packed-refs: -> ../../else/packed-refs", "/else/packed-refs: file"],
        vec![
            "/repo/.git/packed-refs: -> p/packed-refs",
            "/repo/.git/p/packed-refs: -> ../../../else/packed-refs",
            "/else/packed-refs: file",
        ],
    ] {
        assert_eq!(granted(&entries), [""; 0], "{entries:?}");
    }
}

#[test]
fn references_of_a_newer_kind_are_written_too() {
    let mut entries = LINKED.to_vec();
    entries.push("/repo/.git/reftable: directory");
    let walked = walk(&machine(&entries), "root \"/w\" read-write\ngit-worktree \"/w\"");
    assert!(walked.allows(Operation::Create, "/repo/.git/reftable/tables.list.lock"));
}

#[test]
fn a_worktree_that_is_read_only_leaves_its_repository_so() {
    let walked = walk(&machine(&LINKED), "root \"/w\" read-only\ngit-worktree \"/w\"");
    assert!(walked.allows(Operation::Read, "/repo/.git/objects/ab"));
    assert!(!walked.allows(Operation::Create, "/repo/.git/objects/ab"));
    // Written so that it seems to lie in the writable root.
    let mut entries = LINKED.to_vec();
    entries.push("/open: directory");
    let statements = "root \"/open\" read-write\nroot \"/w\" read-only\nworking-directory \"/w\"\ngit-worktree \"/open/../w\"";
    let walked = walk(&machine(&entries), statements);
    assert!(walked.allows(Operation::Read, "/repo/.git/objects/ab"));
    assert!(!walked.allows(Operation::Create, "/repo/.git/objects/ab"));
}
