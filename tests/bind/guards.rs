//! What is kept from being written without being asked.

use crate::road::{machine, profile, walk, walk_text};
use palisade::plan::{Operation, Presence, Protection};

const CHANGES: [Operation; 4] = [Operation::Write, Operation::Create, Operation::Remove, Operation::Link];

#[track_caller]
fn guarded(entries: &[&str], paths: &[&str]) {
    let walked = walk(&machine(entries), "root \"/w\" read-write");
    for path in paths {
        for operation in CHANGES {
            assert!(!walked.allows(operation, path), "{operation:?} {path}");
        }
        assert!(walked.allows(Operation::Read, path), "read {path}");
    }
}

#[track_caller]
fn open(entries: &[&str], paths: &[&str]) {
    let walked = walk(&machine(entries), "root \"/w\" read-write");
    for path in paths {
        assert!(walked.allows(Operation::Write, path), "{path}");
        assert!(walked.allows(Operation::Create, path), "{path}");
    }
}

#[test]
fn names_that_others_act_on_there_or_not() {
    let repository = ["/w/.git/HEAD: file", "/w/.git/config: file", "/w/.vscode/tasks.json: file"];
    guarded(
        &repository,
        &[
            "/w/.git/hooks",
            "/w/.git/hooks/pre-commit",
            "/w/.git/config",
            "/w/.git/config.worktree",
            "/w/.git/commondir",
            "/w/.vscode",
            "/w/.vscode/tasks.json",
            "/w/.mcp.json",
            "/w/.claude/settings.json",
            "/w/.idea",
            "/w/.bashrc",
            "/w/palisade.toml",
        ],
    );
    open(
        &repository,
        &["/w/.git/index", "/w/.git/objects/ab/cd", "/w/.git/refs/heads/x", "/w/.github/x", "/w/src/a"],
    );
}

#[test]
fn a_read_only_root_needs_none() {
    assert_eq!(walk(&machine(&["/w/.git/HEAD: file"]), "root \"/w\" read-only").guarded(), [""; 0]);
}

#[test]
fn where_there_is_no_repository_none_can_be_made() {
    guarded(&["/w/src: directory"], &["/w/.git", "/w/.git/config", "/w/.git/hooks/post-checkout"]);
}

#[test]
fn what_a_git_file_says_stays() {
    guarded(&["/w/.git: { head: \"gitdir: /repo/.git/worktrees/w\\n\" }"], &["/w/.git"]);
}

#[test]
fn missing_parts_are_protected_at_their_first_missing_directory() {
    let walked = walk(&machine(&["/w/.git/HEAD: file"]), "root \"/w\" read-write");
    let presence =
        |path: &str| walked.plan().protected.iter().find(|entry| entry.path == path).map(|it| it.presence);
    assert_eq!(presence("/w/.git/hooks"), Some(Presence::Missing));
    assert_eq!(presence("/w/.git/commondir"), Some(Presence::Absent));
    assert_eq!(presence("/w/.claude"), Some(Presence::Missing));
}

#[test]
fn submodules_and_linked_worktrees_inside() {
    guarded(
        &[
            "/w/.git/HEAD: file",
            "/w/.git/modules/a/HEAD: file",
            "/w/.git/modules/group/b/HEAD: file",
            "/w/.git/modules/group/b/modules/c/HEAD: file",
            "/w/.git/worktrees/t/HEAD: file",
        ],
        &[
            "/w/.git/modules/a/hooks/x",
            "/w/.git/modules/a/config",
            "/w/.git/modules/group/b/config",
            "/w/.git/modules/group/b/modules/c/hooks",
            "/w/.git/worktrees/t/commondir",
            "/w/.git/worktrees/t/gitdir",
            "/w/.git/worktrees/t/config.worktree",
        ],
    );
}

#[test]
fn a_directory_of_repositories_that_cannot_be_listed_is_guarded_whole() {
    let locked = "{ kind: directory, refused: { list: denied } }";
    guarded(
        &[
            "/w/.git/HEAD: file",
            &format!("/w/.git/modules: {locked}"),
            &format!("/w/.git/worktrees: {locked}"),
        ],
        &["/w/.git/modules/a/hooks/x", "/w/.git/modules", "/w/.git/worktrees/t/commondir"],
    );
}

#[test]
fn behind_a_link_the_target_is_guarded_too() {
    let entries = [
        "/w/.git: -> store/repository",
        "/w/store/repository/HEAD: file",
        "/w/store/repository/hooks: -> ../../shared-hooks",
        "/w/shared-hooks/pre-commit: file",
        "/w/.vscode: -> middle",
        "/w/middle: -> editor",
        "/w/editor/tasks.json: file",
        "/w/.mcp.json: -> servers/not-yet.json",
    ];
    guarded(
        &entries,
        &[
            "/w/.git",
            "/w/store/repository/config",
            "/w/store/repository/hooks",
            "/w/middle",
            "/w/editor",
            "/w/editor/tasks.json",
            "/w/.vscode",
            "/w/servers",
        ],
    );
    open(&entries, &["/w/store/other", "/w/store/repository/index"]);
    let walked = walk(&machine(&entries), "root \"/w\" read-write");
    assert!(!walked.allows(Operation::Remove, "/w/store"), "it holds what is guarded");
}

#[test]
fn a_link_out_of_every_root_needs_no_guard_behind_it() {
    let walked =
        walk(&machine(&["/w/.vscode: -> /else/editor", "/else/editor/x: file"]), "root \"/w\" read-write");
    assert!(walked.guarded().iter().all(|path| path.starts_with("/w/")));
}

/// What each `unguard` lifts on a machine: the guards that stand without it and not with it.
#[track_caller]
fn lifts(entries: &[&str], path: &str, expected: &[&str]) {
    let host = machine(entries);
    let walked = walk(&host, &format!("root \"/w\" read-write\nunguard \"{path}\" because \"ours\""));
    let plain = walk(&host, "root \"/w\" read-write");
    let lifted: Vec<_> =
        plain.guarded().into_iter().filter(|guard| !walked.guarded().contains(guard)).collect();
    assert_eq!(lifted, expected, "{path}");
    let errors: &[&str] = if expected.is_empty() { &["useless-unguard"] } else { &[] };
    assert_eq!(walked.errors(), errors, "{path}");
}

#[test]
fn unguard_lifts_exactly_the_guard_it_names() {
    let repository = ["/w/.git/HEAD: file", "/w/.vscode/tasks.json: file", "/w/sub: directory"];
    for exact in ["/w/.vscode", "/w/.git/config", "/w/.git/hooks", "/w/.claude", "/w/sub/../.mcp.json"] {
        let guard = exact.replace("sub/../", "");
        lifts(&repository, exact, &[&guard]);
    }
    for none in [
        "/",
        "/w",
        "/w/.git",
        "/w/.git/hooks/pre-commit",
        "/w/.vscode/tasks.json",
        "/w/.claude/x",
        "/w/src",
        "/x",
    ] {
        lifts(&repository, none, &[]);
    }
    let host = machine(&repository);
    let walked = walk(&host, "root \"/w\" read-write\nunguard \"/w/.vscode\" because \"ours\"");
    assert!(walked.allows(Operation::Write, "/w/.vscode/tasks.json"));
    assert!(!walked.allows(Operation::Write, "/w/.git/config"));
}

#[test]
fn a_guard_at_a_missing_ancestor_is_lifted_by_its_own_name_only() {
    let missing = ["/w/src: directory"];
    lifts(&missing, "/w/.git", &["/w/.git"]);
    for none in ["/w/.git/hooks", "/w/.git/config", "/w"] {
        lifts(&missing, none, &[]);
    }
    let finding =
        walk(&machine(&missing), "root \"/w\" read-write\nunguard \"/w/.git/hooks\" because \"ours\"");
    assert!(
        finding.finding("useless-unguard").help.as_deref().is_some_and(|help| help.contains("\"/w/.git\""))
    );
}

#[test]
fn what_is_behind_an_unguarded_link_stays_guarded() {
    lifts(&["/w/.vscode: -> editor", "/w/editor/tasks.json: file"], "/w/.vscode", &["/w/.vscode"]);
}

#[test]
fn a_link_at_an_unguarded_name_lifts_nothing_else() {
    let statements = "root \"/w\" read-write\nunguard \"/w/.vscode\" because \"ours\"";
    for entries in
        [vec!["/w/.git/HEAD: file", "/w/.vscode: -> .git"], vec!["/w/.git/HEAD: file", "/w/.vscode: -> ."]]
    {
        let walked = walk(&machine(&entries), statements);
        assert!(!walked.allows(Operation::Write, "/w/.git/config"), "{entries:?}");
        assert!(!walked.allows(Operation::Create, "/w/.git/hooks/x"), "{entries:?}");
    }
    let host = machine(&["/w/.git/HEAD: file", "/w/sub: -> .git"]);
    let walked = walk(&host, "root \"/w\" read-write\nunguard \"/w/sub/hooks\" because \"ours\"");
    assert!(!walked.allows(Operation::Create, "/w/.git/hooks/x"));
}

#[test]
fn own_files_are_guarded_and_so_are_those_of_other_profiles() {
    let host = machine(&[
        "/w/policies/case.palisade: -> real.palisade",
        "/w/policies/real.palisade: file",
        "/w/policies/other.palisade: file",
        "/w/policies/old.manifest.yaml: file",
        "/w/policies/notes.md: file",
    ]);
    let text = profile("root \"/w\" read-write");
    let walked = walk_text(&host, &text, "case.palisade", Some("/w/policies/case.palisade"));
    for name in [
        "case.palisade",
        "real.palisade",
        "other.palisade",
        "old.manifest.yaml",
        "case.manifest.yaml",
        "case.sb",
        "other.manifest.yaml",
        "other.sb",
    ] {
        for operation in CHANGES {
            assert!(!walked.allows(operation, &format!("/w/policies/{name}")), "{operation:?} {name}");
        }
    }
    assert!(walked.allows(Operation::Write, "/w/policies/notes.md"));
    assert!(!walked.allows(Operation::Remove, "/w/policies"));
    // Whether or not it has been compiled before.
    let manifest =
        walked.plan().protected.iter().find(|entry| entry.path == "/w/policies/case.manifest.yaml").unwrap();
    assert_eq!((manifest.protection, manifest.presence), (Protection::Guarded, Presence::File));
}

#[test]
fn a_folder_of_policies_alone_takes_no_new_ones() {
    let entries = ["/w/policies/case.palisade: file", "/w/policies/README.md: file", "/w/src/a.c: file"];
    let text = profile("root \"/w\" read-write");
    let walked = walk_text(&machine(&entries), &text, "case.palisade", Some("/w/policies/case.palisade"));
    for path in
        ["/w/policies/new.palisade", "/w/policies/new.manifest.yaml", "/w/policies/README.md", "/w/policies"]
    {
        for operation in CHANGES {
            assert!(!walked.allows(operation, path), "{operation:?} {path}");
        }
    }
    assert!(walked.allows(Operation::Read, "/w/policies/README.md"));
    // A folder of other things too, the top of a root, and where a guard in it is lifted.
    let open = |entries: &[&str], statements: &str, at: &str, path: &str| {
        let walked = walk_text(&machine(entries), &profile(statements), "case.palisade", Some(at));
        assert!(walked.allows(Operation::Create, path), "{path}");
        assert!(walked.plan().losses.iter().any(|loss| loss.text.contains("under a new name")));
    };
    let other = [&entries[..], &["/w/policies/check.rego: file"]].concat();
    open(&other, "root \"/w\" read-write", "/w/policies/case.palisade", "/w/policies/new.palisade");
    open(&["/w/case.palisade: file"], "root \"/w\" read-write", "/w/case.palisade", "/w/new.palisade");
    let lifted = "root \"/w\" read-write\nunguard \"/w/policies/case.palisade\" because \"it writes it\"";
    open(&entries, lifted, "/w/policies/case.palisade", "/w/policies/new.palisade");
}
