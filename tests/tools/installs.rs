//! Programs outside the known places.

use super::road::walk;
use super::{debian, found, machine, reason};
use camino::Utf8Path;
use palisade::bind::tools::find_path;
use palisade::plan::{Operation, Scope};

#[test]
fn stand_ins_are_refused_with_what_to_state_instead() {
    let host = debian();
    for (path, said) in [
        ("/home/dev/.cargo/bin/cargo", "`tool \"~/.rustup/toolchains/TOOLCHAIN/bin/cargo\"`"),
        ("/home/dev/.pyenv/shims/python3", "`tool \"~/.pyenv/versions/VERSION/bin/python3\"`"),
    ] {
        let reason = reason(find_path(&host, path.into()));
        assert!(reason.contains(said), "{reason}");
    }
    assert_eq!(found(find_path(&host, "/home/dev/.cargo/bin/rustup".into())).source, "stated");
    for (entry, path) in [
        (
            "/home/dev/.asdf/shims/node: { mode: \"0755\", head: \"#!/bin/sh\\n\" }",
            "/home/dev/.asdf/shims/node",
        ),
        (
            "/home/dev/.local/share/mise/shims/node: -> /usr/bin/mise",
            "/home/dev/.local/share/mise/shims/node",
        ),
        ("/home/dev/.volta/bin/node: -> volta-shim", "/home/dev/.volta/bin/node"),
        ("/x/bin/cargo: { mode: \"0755\", links: 2, inode: 5, binary: {} }", "/x/bin/cargo"),
    ] {
        let host = machine(&[
            entry,
            "/usr/bin/mise: program",
            "/home/dev/.volta/bin/volta-shim: program",
            "/x/bin/rustup: { mode: \"0755\", links: 2, inode: 5, binary: {} }",
        ]);
        let reason = reason(find_path(&host, path.into()));
        assert!(reason.contains("when it runs; state"), "{reason}");
    }
}

#[test]
fn no_install_takes_in_a_home_or_a_shared_directory() {
    let own = found(find_path(&debian(), "/home/dev/.local/bin/own".into()));
    assert_eq!((own.source.as_str(), own.grants.len()), ("stated", 1));
    for path in [
        "/home/dev/bin/x",
        "/usr/local/bin/x",
        "/usr/bin/x",
        "/bin/x",
        "/opt/bin/x",
        "/home/bin/x",
        "/home/dev/.cargo/bin/x",
        "/home/other/.local/bin/x",
    ] {
        let prefix = Utf8Path::new(path).parent().unwrap().parent().unwrap();
        let host = machine(&[&format!("{path}: program"), &format!("{}: file", prefix.join("lib/y/z"))]);
        let tool = found(find_path(&host, path.into()));
        assert!(tool.grants.iter().all(|it| it.scope == Scope::Literal), "{path}: {:?}", tool.grants);
    }
}

/// A loader takes any program that can be mapped (ld.so(8)): those in a tree of modules are shut, unless another tool is one of them.
#[test]
fn a_program_among_modules_cannot_be_given_to_a_loader() {
    let program = "{ mode: \"0755\", binary: { loader: /lib64/ld-linux-x86-64.so.2 } }";
    let host = super::road::machine(&[
        "/w/f: file",
        "/lib64/ld-linux-x86-64.so.2: { mode: \"0755\", binary: {} }",
        "/opt/zed/bin/zed: { mode: \"0755\", head: \"#!/bin/sh\\n\" }",
        &format!("/opt/zed/lib/node_modules/x/bin/native: {program}"),
        &format!("/opt/zed/bin/other: {program}"),
        &format!("/opt/zed/bin/shared.so: {program}"),
    ]);
    let native = "/opt/zed/lib/node_modules/x/bin/native";
    for (more, path, map) in [
        ("", native, false),
        ("", "/opt/zed/bin/other", false),
        ("", "/opt/zed/bin/shared.so", true),
        ("tool \"/opt/zed/lib/node_modules/x/bin/native\"", native, true),
    ] {
        let walked = walk(&host, &format!("root \"/w\" read-only\ntool \"/opt/zed/bin/zed\"\n{more}"));
        assert!(walked.allows(Operation::Read, path), "{path}");
        assert_eq!(walked.allows(Operation::Map, path), map, "{more} {path}");
    }
}

/// Settings that a user keeps in an install (npm's global `npmrc`, with its tokens) are no part of the program; nor is what is put there later.
#[test]
fn an_install_is_granted_without_what_a_user_keeps_in_it() {
    for prefix in ["/home/dev/.nvm/versions/node/v22.1.0", "/home/dev/.pyenv/versions/3.12.1", "/opt/zed"] {
        let host = machine(&[
            &format!("{prefix}/bin/x: program"),
            &format!("{prefix}/lib/a/module: file"),
            &format!("{prefix}/etc/npmrc: file"),
            &format!("{prefix}/var/token: file"),
        ]);
        let tool = found(find_path(&host, &Utf8Path::new(prefix).join("bin/x")));
        let reads = |path: &str| {
            let path = Utf8Path::new(prefix).join(path);
            tool.grants
                .iter()
                .any(|it| path == it.path || (it.scope == Scope::Subtree && path.starts_with(&it.path)))
        };
        assert!(reads("lib/a/module") && reads("bin/x"), "{prefix}");
        for path in ["etc/npmrc", "var/token", "etc", ".npmrc", "made-later/token"] {
            assert!(!reads(path), "{prefix}/{path}");
        }
    }
}
