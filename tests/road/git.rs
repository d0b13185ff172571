//! Repositories as git lays them out (gitrepository-layout(5)), made by hand.

use crate::system::FORBIDS_NAMES;
use crate::workspace::Workspace;

/// A repository `repo` and the workspace `project` as a linked worktree of it.
fn linked(workspace: &Workspace) {
    let (repository, project) = (workspace.path("repo"), workspace.path("project"));
    for (path, text) in [
        ("repo/.git/HEAD", "ref: refs/heads/main\n".to_owned()),
        ("repo/.git/config", "[core]\n".into()),
        ("repo/.git/hooks/pre-commit", "#!/bin/sh\n".into()),
        ("repo/.git/objects/aa/bb", "object\n".into()),
        ("repo/.git/refs/heads/main", "0\n".into()),
        ("repo/.git/worktrees/project/HEAD", "ref: refs/heads/task\n".into()),
        ("repo/.git/worktrees/project/commondir", "../..\n".into()),
        ("repo/.git/worktrees/project/gitdir", format!("{}/.git\n", project.display())),
        ("project/.git", format!("gitdir: {}/.git/worktrees/project\n", repository.display())),
    ] {
        workspace.write(path, &text);
    }
}

#[test]
fn a_linked_worktree_gets_what_a_commit_writes_and_no_more() {
    let workspace = Workspace::new();
    linked(&workspace);
    workspace.compiled("root \"$workspace\" read-write\ngit-worktree \"$workspace\"");
    let git = "../repo/.git";
    for (line, works) in [
        (format!("read line < {git}/config"), true),
        (format!("echo 1 > {git}/refs/heads/task"), true),
        (format!("echo 1 > {git}/objects/aa/new"), true),
        (format!("echo 1 > {git}/worktrees/project/index"), true),
        (format!("echo 1 > {git}/worktrees/project/commondir"), false),
        (format!("echo 1 > {git}/worktrees/project/gitdir"), false),
        (format!("echo 1 > {git}/worktrees/project/config.worktree"), false),
        (format!("echo 1 > {git}/config"), false),
        (format!("echo 1 > {git}/hooks/post-commit"), false),
        (format!("echo 1 > {git}/HEAD"), false),
        ("echo 1 > .git".to_owned(), false),
        ("echo 1 > ../repo/new".to_owned(), false),
    ] {
        let ran = workspace.exec(&line);
        assert_eq!(ran.code == Some(0), works, "{line}: {}", ran.err);
    }
}

#[test]
fn packed_references_change_where_a_link_leads_and_nowhere_else() {
    let workspace = Workspace::new();
    linked(&workspace);
    let git = "../repo/.git";
    let profile = "root \"$workspace\" read-write\ngit-worktree \"$workspace\"";
    workspace.write("repo/.git/packed-refs", "# pack-refs\n");
    workspace.compiled(profile);
    assert_ne!(workspace.exec(&format!("echo 1 > {git}/packed-refs.lock")).code, Some(0));

    std::fs::remove_file(workspace.path("repo/.git/packed-refs")).unwrap();
    workspace.write("repo/.git/packed/packed-refs", "# pack-refs\n");
    std::os::unix::fs::symlink("packed/packed-refs", workspace.path("repo/.git/packed-refs")).unwrap();
    workspace.compiled(profile);
    for (line, works) in [
        (format!("echo 1 > {git}/packed/packed-refs.lock"), true),
        (format!("read line < {git}/packed-refs && echo 1 > {git}/packed-refs"), true),
        (format!("echo 1 > {git}/packed-refs.lock"), false),
        (format!("echo 1 > {git}/config"), false),
    ] {
        let ran = workspace.exec(&line);
        assert_eq!(ran.code == Some(0), works, "{line}: {}", ran.err);
    }
}

/// git appends to a log, and writes packed references, through a link.
#[cfg(target_os = "linux")]
#[test]
fn a_shared_repository_gets_no_links() {
    let Some(ln) = ["/usr/bin/ln", "/bin/ln"].into_iter().find(|path| std::path::Path::new(path).exists())
    else {
        panic!("this system has no ln(1)");
    };
    let workspace = Workspace::new();
    linked(&workspace);
    workspace.write("repo/.git/logs/HEAD", "");
    workspace
        .compiled(&format!("root \"$workspace\" read-write\ngit-worktree \"$workspace\"\ntool \"{ln}\""));
    for (directory, works) in [
        (".", true),
        ("../repo/.git/logs", false),
        ("../repo/.git/refs/heads", false),
        ("../repo/.git/worktrees/project", false),
    ] {
        let ran = workspace.exec(&format!("{ln} -s /etc/passwd {directory}/link"));
        assert_eq!(ran.code == Some(0), works, "{directory}: {}", ran.err);
    }
}

/// `git clean` and `git stash -u` would fail at what stands for guarded paths.
#[cfg(target_os = "linux")]
#[test]
fn git_is_told_to_pass_over_what_stands_for_missing_paths() {
    let workspace = Workspace::new();
    workspace.write("project/.vscode/tasks.json", "{}");
    workspace.compiled("root \"$workspace\" read-write\ndeny \"we[i]rd\\u{20}*\\\\name\"");
    let ran =
        workspace.exec("while read -r line; do printf '%s\\n' \"$line\"; done < $XDG_CONFIG_HOME/git/ignore");
    let lines: Vec<&str> = ran.out.lines().collect();
    assert!(lines.contains(&"/.mcp.json/") && lines.contains(&"/.idea/"), "{}{}", ran.out, ran.err);
    assert!(lines.contains(&r"/we\[i]rd \*\\name/"), "{}{}", ran.out, ran.err);
    assert!(!lines.contains(&"/.vscode/"), "{}", ran.out);

    workspace.compiled("root \"$workspace\" read-only");
    let ran = workspace.exec("echo \"<$XDG_CONFIG_HOME>\"");
    assert_eq!(ran.out, "<>\n", "{}", ran.err);
}

#[test]
fn a_planted_git_file_grants_nothing() {
    let workspace = Workspace::new();
    linked(&workspace);
    workspace.write("repo/.git/worktrees/project/gitdir", "/somewhere/else/.git\n");
    let ran = workspace.compile("root \"$workspace\" read-write\ngit-worktree \"$workspace\"");
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    assert!(ran.err.contains("refused-worktree"), "{}", ran.err);
}

#[test]
fn what_names_hooks_and_commands_in_ones_own_repository_is_guarded() {
    let workspace = Workspace::new();
    workspace.write("project/.git/HEAD", "ref: refs/heads/main\n");
    workspace.write("project/.git/config", "[core]\n");
    workspace.write("project/.git/hooks/pre-commit.sample", "#!/bin/sh\n");
    workspace.compiled("root \"$workspace\" read-write");
    for (line, works) in [
        ("echo 1 > .git/index", true),
        ("echo 1 > .git/config", false),
        ("echo 1 > .git/hooks/pre-commit", false),
        ("echo 1 > .git/config.worktree", false),
    ] {
        let ran = workspace.exec(line);
        assert_eq!(ran.code == Some(0), works, "{line}: {}", ran.err);
    }
    let commondir = workspace.path("project/.git/commondir");
    if FORBIDS_NAMES {
        assert_ne!(workspace.exec("echo ../evil > .git/commondir").code, Some(0));
    } else {
        let ran = workspace.exec("echo ../evil > .git/commondir; while :; do :; done");
        assert_eq!(ran.code, Some(125), "{}", ran.err);
        assert!(ran.err.contains("violation"), "{}", ran.err);
        assert!(commondir.with_file_name("commondir.quarantined-0").exists());
    }
    assert!(!commondir.exists());
}

#[test]
fn what_git_goes_through_is_guarded_wherever_it_is() {
    let workspace = Workspace::new();
    let project = workspace.path("project");
    for (path, text) in [
        ("project/.git", format!("gitdir: {}/real\n", project.display())),
        ("project/real/HEAD", "ref: refs/heads/main\n".to_owned()),
        (
            "project/real/config",
            "[core]\n\thooksPath = tools/hooks\n[include]\n\tpath = ../shared.cfg\n".into(),
        ),
        ("project/real/hooks/pre-commit.sample", "#!/bin/sh\n".into()),
        ("project/shared.cfg", "[include]\n\tpath = more.cfg\n".into()),
        ("project/more.cfg", "[alias]\n".into()),
        ("project/tools/hooks/pre-commit", "#!/bin/sh\n".into()),
        ("project/embedded/.git/HEAD", "ref: refs/heads/main\n".into()),
        ("project/embedded/.git/config", "[core]\n".into()),
        ("project/module/.git", "gitdir: ../real/modules/module\n".into()),
    ] {
        workspace.write(path, &text);
    }
    workspace.compiled("root \"$workspace\" read-write");
    for (path, works) in [
        ("real/index", true),
        ("embedded/.git/index", true),
        ("tools/other", true),
        (".git", false),
        ("real/config", false),
        ("real/hooks/pre-commit", false),
        ("tools/hooks/pre-commit", false),
        ("shared.cfg", false),
        ("more.cfg", false),
        ("embedded/.git/config", false),
        ("embedded/.git/hooks/pre-commit", false),
        ("module/.git", false),
    ] {
        let ran = workspace.exec(&format!("echo 1 > {path}"));
        assert_eq!(ran.code == Some(0), works, "{path}: {}", ran.err);
    }
}

#[test]
fn a_workspace_without_a_repository_gets_none_by_stealth() {
    let workspace = Workspace::new();
    workspace.compiled("root \"$workspace\" read-write");
    assert_ne!(workspace.exec("echo 1 > .git/config").code, Some(0));
    assert_ne!(workspace.exec("echo 'gitdir: evil' > .git").code, Some(0));
}
