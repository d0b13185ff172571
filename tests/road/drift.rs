//! What changed between compiling and running is refused before anything runs.

use crate::workspace::{Ran, Workspace};
use std::fs;

#[track_caller]
fn refused(ran: &Ran, saying: &str) {
    assert_eq!((ran.code, ran.out.as_str()), (Some(125), ""), "{}", ran.err);
    assert!(ran.err.contains(saying), "{}", ran.err);
    assert!(ran.err.contains("help:"), "says what to do: {}", ran.err);
}

#[test]
fn an_edited_or_cut_manifest() {
    let workspace = Workspace::new();
    workspace.compiled("root \"$workspace\" read-only");
    assert_eq!(workspace.exec("echo ran").out, "ran\n");
    let path = workspace.path("agent.manifest.yaml");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replacen("access: read-only", "access: read-write", 1)).unwrap();
    refused(&workspace.exec("echo ran"), "digest");
    fs::write(&path, &text[..text.len() / 2]).unwrap();
    refused(&workspace.exec("echo ran"), "digest");
    fs::write(&path, "").unwrap();
    refused(&workspace.exec("echo ran"), "digest");
    fs::remove_file(&path).unwrap();
    refused(&workspace.exec("echo ran"), "cannot be read");
}

#[test]
fn a_changed_tool() {
    let workspace = Workspace::new();
    workspace.script("bin/helper", "#!/bin/sh\necho helped\n");
    workspace.compiled("root \"$workspace\" read-only\ntool \"../bin/helper\"");
    assert_eq!(workspace.exec("helper").out, "helped\n");
    workspace.script("bin/helper", "#!/bin/sh\necho HELPED\n");
    refused(&workspace.exec("helper"), "helper");
}

#[test]
fn a_replaced_root() {
    let workspace = Workspace::new();
    workspace.compiled("root \"$workspace/vendor\" read-only\nworking-directory \"$workspace/vendor\"");
    assert_eq!(workspace.exec("read line < lib.c").code, Some(0));
    fs::rename(workspace.path("project/vendor"), workspace.path("project/old")).unwrap();
    refused(&workspace.exec("echo ran"), "vendor");
    fs::create_dir(workspace.path("project/vendor")).unwrap();
    refused(&workspace.exec("echo ran"), "vendor");
    fs::remove_dir(workspace.path("project/vendor")).unwrap();
    std::os::unix::fs::symlink("/etc", workspace.path("project/vendor")).unwrap();
    refused(&workspace.exec("echo ran"), "vendor");
}

#[test]
fn a_link_on_the_way() {
    let workspace = Workspace::new();
    std::os::unix::fs::symlink("project", workspace.path("current")).unwrap();
    workspace
        .compiled("root \"$workspace/../current/vendor\" read-only\nworking-directory \"$workspace/vendor\"");
    assert_eq!(workspace.exec("read line < lib.c").code, Some(0));
    fs::remove_file(workspace.path("current")).unwrap();
    std::os::unix::fs::symlink("outside", workspace.path("current")).unwrap();
    refused(&workspace.exec("echo ran"), "current");
}

#[test]
fn another_hard_link_of_a_denied_file() {
    let workspace = Workspace::new();
    workspace.compiled("root \"$workspace\" read-write\ndeny \"$workspace/.env\"");
    assert_eq!(workspace.exec("echo ran").out, "ran\n");
    fs::hard_link(workspace.path("project/.env"), workspace.path("project/copy")).unwrap();
    refused(&workspace.exec("echo ran"), "hard link");
    fs::remove_file(workspace.path("project/copy")).unwrap();
    assert_eq!(workspace.exec("echo ran").out, "ran\n");
}

#[test]
fn a_file_in_a_denied_directory_gains_a_hard_link() {
    let workspace = Workspace::new();
    workspace.compiled("root \"$workspace\" read-write\ndeny \"$workspace/keys\"");
    fs::hard_link(workspace.path("project/keys/deep/id"), workspace.path("project/copy")).unwrap();
    refused(&workspace.exec("echo ran"), "hard link");
}

#[cfg(target_os = "macos")]
#[test]
fn an_edited_or_missing_seatbelt_profile() {
    let workspace = Workspace::new();
    workspace.compiled("root \"$workspace\" read-only");
    let path = workspace.path("agent.sb");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, format!("{text}(allow default)\n")).unwrap();
    refused(&workspace.exec("echo ran"), "is not what was compiled");
    fs::remove_file(&path).unwrap();
    refused(&workspace.exec("echo ran"), "cannot be read");
    fs::write(&path, text).unwrap();
    assert_eq!(workspace.exec("echo ran").out, "ran\n");
}
