//! Program files of this machine's own kind, in a directory of the test's own.
#![cfg(target_os = "linux")]

use super::{found, reason};
use camino::{Utf8Path, Utf8PathBuf};
use palisade::bind::tools::find_path;
use palisade::host::{LiveHost, RecordedHost, Recorder};
use palisade::plan::{Operation, Operations};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

#[path = "../support/elf.rs"]
mod elf;

fn executable(path: &Utf8Path, bytes: &[u8]) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, bytes).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn follows_program_files_of_this_machine() {
    let directory = tempfile::tempdir().unwrap();
    let base = Utf8Path::from_path(directory.path()).unwrap().canonicalize_utf8().unwrap();
    let install = base.join("deep/install-1.0");
    let loader = install.join("lib/ld.so");
    executable(&loader, &elf::program(None, &[]));
    let runpath = (29, "$ORIGIN/../lib");
    executable(&install.join("bin/tool"), &elf::program(Some(loader.as_str()), &[(1, "liba.so"), runpath]));
    executable(&install.join("lib/liba.so.1"), &elf::program(None, &[(1, "libb.so"), (29, "$ORIGIN")]));
    symlink("liba.so.1", install.join("lib/liba.so")).unwrap();
    executable(&install.join("lib/libb.so"), &elf::program(None, &[]));
    executable(&install.join("libexec/tool/helper"), &elf::program(None, &[]));
    executable(&install.join("bin/script"), b"#!/usr/bin/missing-interpreter\n");
    fs::create_dir_all(base.join("links")).unwrap();
    symlink("../deep/install-1.0/bin/tool", base.join("links/tool")).unwrap();
    let home = base.join("home");
    let host = LiveHost::with_home(&home).unwrap();

    let tool = found(find_path(&host, &base.join("links/tool")));
    assert_eq!(tool.real, install.join("bin/tool"));
    assert_eq!(tool.source, format!("install {install}"));
    // The same from a recording of what was asked.
    let recorder = Recorder::new(&host);
    assert_eq!(found(find_path(&recorder, &tool.path)), tool);
    let recording = RecordedHost::from_yaml(&recorder.recording().unwrap(), "test").unwrap();
    assert_eq!(found(find_path(&recording, &tool.path)), tool);

    let files: Vec<Utf8PathBuf> =
        ["bin/tool", "lib/ld.so", "lib/liba.so.1", "lib/libb.so", "libexec/tool/helper"]
            .map(|it| install.join(it))
            .to_vec();
    assert_eq!(tool.files, files);
    let runs: Vec<&str> = tool
        .grants
        .iter()
        .filter(|it| it.operations.contains(Operation::Exec))
        .map(|it| it.path.strip_prefix(&install).unwrap().as_str())
        .collect();
    assert_eq!(runs, ["bin/tool", "lib/ld.so", "libexec/tool"]);
    let tree = tool.grants.iter().find(|it| it.path == install.join("lib")).unwrap();
    assert_eq!(tree.operations, Operations::READING.union(Operations::of(&[Operation::Map])));
    let links: Vec<&str> = tool.hops.iter().map(|it| it.link.file_name().unwrap()).collect();
    assert_eq!(links, ["tool", "liba.so"]);

    assert!(reason(find_path(&host, &install.join("bin/script"))).contains("missing-interpreter"));
    fs::remove_file(install.join("lib/libb.so")).unwrap();
    assert!(reason(find_path(&host, &install.join("bin/tool"))).contains("the library `libb.so`"));
    executable(&install.join("bin/tool"), b"\x7fELF\x02\x01\x01 cut short");
    assert!(reason(find_path(&host, &install.join("bin/tool"))).contains("not a sound program file"));
}
