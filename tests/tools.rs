//! Finding tools and what they need, on recorded machines and in trees of the test's own.

#[path = "support/elf.rs"]
mod elf;

use camino::{Utf8Path, Utf8PathBuf};
use palisade::bind::tools::installs::too_broad;
use palisade::bind::tools::{Finder, Lookup, Tool, find, find_path, shell};
use palisade::host::{LiveHost, RecordedHost, Recorder, resolve};
use palisade::plan::{Operation, Operations, Scope};
use proptest::prelude::*;
use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

fn debian() -> RecordedHost {
    RecordedHost::from_yaml(include_str!("hosts/debian.yaml"), "tests/hosts/debian.yaml").unwrap()
}

fn found(lookup: Lookup) -> Tool {
    match lookup {
        Lookup::Found(tool) => *tool,
        other => panic!("{other:?}"),
    }
}

fn reason(lookup: Lookup) -> String {
    match lookup {
        Lookup::Broken { reason, .. } => reason,
        other => panic!("{other:?}"),
    }
}

fn show(lookup: &Lookup) -> String {
    let Lookup::Found(tool) = lookup else { return format!("{lookup:?}") };
    let mut text = format!("{} at {} is {}, {}\n", tool.name, tool.path, tool.real, tool.source);
    if let Some(interpreter) = &tool.interpreter {
        let _ = writeln!(text, "interpreter {interpreter}");
    }
    let _ = writeln!(text, "on PATH {} {:?}", tool.directory, tool.also_on_path);
    for hop in &tool.hops {
        let _ = writeln!(text, "link {} -> {}", hop.link, hop.target);
    }
    for grant in &tool.grants {
        let scope = if grant.scope == Scope::Subtree { "/…" } else { "" };
        let _ = writeln!(text, "{}{scope}: {} ({})", grant.path, grant.operations, grant.role);
    }
    for file in &tool.files {
        let _ = writeln!(text, "digest {file}");
    }
    text
}

fn snapshot(name: &str, lookup: &Lookup) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../snapshots");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(format!("tool-{name}"), show(lookup)));
}

#[test]
fn what_tools_of_the_standard_machine_are_given() {
    let host = debian();
    let mut finder = Finder::new(&host);
    for name in ["git", "python3", "format-report", "awk", "which"] {
        snapshot(name, &finder.find(name));
    }
    for (name, path) in [
        ("venv-script", "/home/dev/venvs/report/bin/report"),
        ("rustup-toolchain", "/home/dev/.rustup/toolchains/stable-x86_64-unknown-linux-gnu/bin/cargo"),
        ("npm-of-nvm", "/home/dev/.nvm/versions/node/v20.1.0/bin/npm"),
        ("pyenv-python", "/home/dev/.pyenv/versions/3.12.1/bin/python3"),
        ("plain-install", "/opt/zed/bin/zed"),
    ] {
        snapshot(name, &finder.find_path(path.into()));
    }
}

#[test]
fn one_finder_gives_what_fresh_ones_give() {
    let host = debian();
    let mut finder = Finder::new(&host);
    for name in ["ls", "git", "python3", "format-report", "awk", "half-installed", "nothing", "git"] {
        assert_eq!(finder.find(name), find(&host, name));
    }
    assert_eq!(finder.shell(), shell(&host));
}

#[test]
fn a_broken_tool_says_why_and_hides_nothing_behind_it() {
    let host = debian();
    for (name, said) in [
        ("half-installed", "the library `libgone.so.4`, which `/usr/bin/half-installed` needs, is missing"),
        ("dangling", "it leads to `/opt/gone/bin/dangling`, which is missing"),
        ("not-executable", "`/usr/bin/not-executable` is not executable"),
        ("for-arm", "`/usr/bin/for-arm` is a program for aarch64, and this machine is x86_64"),
        ("a-directory", "`/usr/bin/a-directory` is not a regular file"),
        ("locked", "`/usr/bin/locked` may not be examined"),
        (
            "needs-ruby",
            "its interpreter `ruby` cannot be used: it is in none of the places where tools are looked for",
        ),
    ] {
        assert_eq!(reason(find(&host, name)), said);
    }
    for name in ["", ".", "..", "a/b", "/usr/bin/git", "a\0"] {
        assert_eq!(reason(find(&host, name)), "it is not the name of a program");
    }
    let Lookup::Missing { searched } = find(&host, "nothing") else { panic!() };
    assert_eq!(searched[..2], ["/usr/local/bin", "/usr/bin"]);
}

/// A machine with these entries beside a loader and a C library.
fn machine(entries: &[&str]) -> RecordedHost {
    let mut text =
        "system: linux\narchitecture: x86_64\nhome: /home/dev\nunlisted: missing\nentries:\n".to_owned();
    let base = [
        "/lib/ld-linux-x86-64.so.2: { mode: \"0755\", binary: {} }",
        "/lib/libc.so.6: { binary: { needed: [ld-linux-x86-64.so.2] } }",
        "/bin/sh: program",
    ];
    for line in base.iter().chain(entries) {
        let _ = writeln!(text, "  {line}");
    }
    RecordedHost::from_yaml(&text, "test").unwrap()
}

#[test]
fn the_first_place_wins_even_where_it_is_broken() {
    let host =
        machine(&["/usr/local/bin/tool: -> gone", "/usr/bin/tool: program", "/usr/sbin/other: program"]);
    assert_eq!(reason(find(&host, "tool")), "it leads to `/usr/local/bin/gone`, which is missing");
    assert_eq!(found(find(&host, "other")).directory, "/usr/sbin");
    let host = machine(&["/usr/local/bin: unreadable", "/usr/bin/tool: program"]);
    assert_eq!(reason(find(&host, "tool")), "`/usr/local/bin` may not be examined");
}

fn libraries(tool: &Tool) -> Vec<&str> {
    tool.grants.iter().filter(|it| it.role == "library").map(|it| it.path.as_str()).collect()
}

#[test]
fn libraries_are_found_by_the_rules_of_the_loader() {
    let program = |fields: &str| {
        format!(
            "/usr/bin/tool: {{ mode: \"0755\", binary: {{ loader: /lib/ld-linux-x86-64.so.2, {fields} }} }}"
        )
    };
    let here = "{ binary: {} }";
    let cases: &[(&str, &[&str], &[&str])] = &[
        // DT_RUNPATH goes before the system's directories and is not inherited.
        (
            "needed: [liba.so], runpath: [/opt/r]",
            &[
                "/opt/r/liba.so: { binary: { needed: [libb.so] } }",
                "/opt/r/libb.so: {}",
                "/lib/libb.so: library",
            ],
            &["/lib/libb.so", "/opt/r/liba.so"],
        ),
        // DT_RPATH is.
        (
            "needed: [liba.so], rpath: [/opt/r]",
            &[
                "/opt/r/liba.so: { binary: { needed: [libb.so] } }",
                "/opt/r/libb.so: library",
                "/lib/libb.so: library",
            ],
            &["/opt/r/liba.so", "/opt/r/libb.so"],
        ),
        // Both: DT_RPATH of the same file does not count.
        (
            "needed: [liba.so], rpath: [/opt/a], runpath: [/opt/b]",
            &["/opt/a/liba.so: library", "/opt/b/liba.so: library"],
            &["/opt/b/liba.so"],
        ),
        // What is loaded once serves all that name it, wherever it was found.
        (
            "needed: [liba.so, libb.so], runpath: [/opt/r]",
            &["/opt/r/libb.so: library", "/lib/liba.so: { binary: { needed: [libb.so] } }"],
            &["/lib/liba.so", "/opt/r/libb.so"],
        ),
        // $ORIGIN, relative entries, a library of another machine, then the right one.
        (
            "needed: [liba.so], runpath: [\"\", lib, $ORIGIN/../own]",
            &[
                "/usr/own/liba.so: { binary: { machine: x86 } }",
                "/lib/x86_64-linux-gnu/liba.so: -> liba.so.1",
                "/lib/x86_64-linux-gnu/liba.so.1: library",
            ],
            &["/lib/x86_64-linux-gnu/liba.so.1"],
        ),
        // Variants for newer processors are granted beside the plain one.
        (
            "needed: [liba.so]",
            &["/lib/liba.so: library", "/lib/glibc-hwcaps/x86-64-v3/liba.so: library"],
            &["/lib/glibc-hwcaps/x86-64-v3/liba.so", "/lib/liba.so"],
        ),
        // A cycle ends.
        (
            "needed: [liba.so]",
            &[
                "/lib/liba.so: { binary: { needed: [libb.so] } }",
                "/lib/libb.so: { binary: { needed: [liba.so] } }",
            ],
            &["/lib/liba.so", "/lib/libb.so"],
        ),
    ];
    for (fields, entries, expected) in cases {
        let entries: Vec<String> =
            entries.iter().map(|it| it.replace(": {}", &format!(": {here}"))).collect();
        let program = program(fields);
        let all: Vec<&str> = entries.iter().map(String::as_str).chain([program.as_str()]).collect();
        assert_eq!(libraries(&found(find(&machine(&all), "tool"))), *expected, "{fields}");
    }
}

#[test]
fn scripts_lead_to_their_interpreters() {
    let script = |name: &str, line: &str| format!("{name}: {{ mode: \"0755\", head: \"{line}\\n\" }}");
    let link = |at: usize| script(&format!("/usr/bin/s{at}"), &format!("#!/usr/bin/s{}", at + 1));
    let mut entries: Vec<String> = (0..6).map(link).collect();
    entries.extend([
        script("/usr/bin/s6", "#!/bin/sh"),
        script("/usr/bin/relative", "#!sh"),
        script("/usr/bin/gone", "#!/opt/gone -x"),
        script("/usr/bin/text", "echo"),
        script("/usr/bin/split", "#!/usr/bin/env -S A=b sh -e"),
        script("/usr/bin/unsplit", "#!/usr/bin/env sh -e"),
        "/usr/bin/env: program".to_owned(),
    ]);
    let entries: Vec<&str> = entries.iter().map(String::as_str).collect();
    let host = machine(&entries);
    // Four scripts before a program is what the kernel follows.
    assert_eq!(found(find(&host, "s3")).interpreter.unwrap(), "/usr/bin/s4");
    assert!(reason(find(&host, "s2")).contains("more of them than the kernel follows"));
    assert!(reason(find(&host, "relative")).contains("not an absolute path"));
    assert!(reason(find(&host, "gone")).contains("`/opt/gone` cannot be used: nothing is there"));
    assert!(reason(find(&host, "text")).contains("neither a program nor a script"));
    assert!(reason(find(&host, "unsplit")).contains("needs `env -S`"));
    let split = found(find(&host, "split"));
    assert_eq!(
        (split.interpreter.as_deref(), split.also_on_path.as_slice()),
        (Some("/bin/sh".into()), &["/bin".into()][..])
    );
    let interpreters: Vec<_> = split.grants.iter().filter(|it| it.role == "interpreter").collect();
    assert_eq!(interpreters.len(), 2);
    assert!(interpreters.iter().all(|it| it.operations.contains(Operation::Interpret)));
}

#[test]
fn helper_trees_are_a_programs_own_and_nothing_wider() {
    let host = machine(&[
        "/usr/bin/x86_64-linux-gnu: program",
        "/usr/lib/x86_64-linux-gnu/other: program",
        "/usr/bin/systemd: program",
        "/usr/lib/systemd/systemd-shutdown: program",
        "/usr/bin/planted: program",
        "/usr/lib/planted: -> /home/dev/.ssh",
        "/home/dev/.ssh/id: file",
        "/usr/bin/data: program",
        "/usr/lib/data/table: file",
        "/usr/bin/multi: program",
        "/usr/lib/x86_64-linux-gnu/multi/helper: program",
        "/usr/bin/bin: program",
        "/usr/lib/bin: -> ../bin",
    ]);
    let trees = |name| {
        let tool = found(find(&host, name));
        let trees = tool.grants.iter().filter(|it| it.scope == Scope::Subtree);
        trees.map(|it| (it.path.to_string(), it.operations.contains(Operation::Exec))).collect::<Vec<_>>()
    };
    for name in ["x86_64-linux-gnu", "systemd", "planted", "bin"] {
        assert_eq!(trees(name), [], "{name}");
    }
    assert_eq!(trees("data"), [("/usr/lib/data".to_owned(), false)]);
    assert_eq!(trees("multi"), [("/usr/lib/x86_64-linux-gnu/multi".to_owned(), true)]);
}

#[test]
fn a_compiler_gets_its_passes_and_the_linker() {
    let host = machine(&[
        "/usr/bin/cc: -> /etc/alternatives/cc",
        "/etc/alternatives/cc: -> /usr/bin/gcc",
        "/usr/bin/gcc: -> gcc-12",
        "/usr/bin/gcc-12: -> x86_64-linux-gnu-gcc-12",
        "/usr/bin/x86_64-linux-gnu-gcc-12: program",
        "/usr/lib/gcc/x86_64-linux-gnu/12/cc1: program",
        "/usr/bin/as: -> x86_64-linux-gnu-as",
        "/usr/bin/x86_64-linux-gnu-as: program",
        "/usr/include/stdio.h: file",
    ]);
    let tool = found(find(&host, "cc"));
    let runs =
        |path: &str| tool.grants.iter().any(|it| it.path == path && it.operations.contains(Operation::Exec));
    assert!(runs("/usr/lib/gcc/x86_64-linux-gnu/12") && runs("/usr/bin/x86_64-linux-gnu-as"));
    assert!(!runs("/usr/include") && !runs("/usr/lib/gcc"));
    assert!(tool.files.contains(&"/usr/lib/gcc/x86_64-linux-gnu/12/cc1".into()));
    assert_eq!(tool.hops.len(), 5);
}

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

fn mac(entries: &str) -> RecordedHost {
    let head = "system: macos\narchitecture: aarch64\nhome: /Users/dev\nunlisted: missing\ncase-insensitive: true\nentries:\n";
    RecordedHost::from_yaml(&format!("{head}{entries}"), "test").unwrap()
}

#[test]
fn the_base_system_of_a_mac_without_its_shims() {
    let host = mac("  /bin/sh: { mode: \"0755\", binary: { needed: [/usr/lib/libSystem.B.dylib] } }\n  \
         /bin/dash: { mode: \"0755\", binary: { needed: [/usr/lib/libSystem.B.dylib] } }\n  \
         /private/var/select/sh: -> /bin/dash\n  \
         /usr/bin/git: { mode: \"0755\", binary: { needed: [/usr/lib/libxcselect.dylib] } }\n  \
         /usr/bin/make: { mode: \"0755\", head: \"xx_xcselect_invoke_xcrun\", binary: {} }\n  \
         /usr/bin/locked: unreadable\n  \
         /usr/bin/perl: { mode: \"0755\", binary: { needed: [/usr/lib/libSystem.B.dylib] } }\n  \
         /usr/bin/shasum: { mode: \"0755\", head: \"#!/usr/bin/perl\\n\" }\n");
    assert!(reason(find(&host, "git")).contains("is a shim"));
    assert!(reason(find(&host, "make")).contains("is a shim"));
    assert!(reason(find(&host, "locked")).contains("may not be examined"));
    let shasum = found(find(&host, "shasum"));
    let perl = shasum.grants.iter().find(|it| it.path == "/usr/bin/perl").unwrap();
    assert!(perl.operations.contains(Operation::Interpret) && !perl.operations.contains(Operation::Exec));
    let shell = found(shell(&host));
    let runs: Vec<_> = shell
        .grants
        .iter()
        .filter(|it| it.operations.contains(Operation::Exec))
        .map(|it| it.path.as_str())
        .collect();
    assert_eq!(runs, ["/bin/dash", "/bin/sh"]);
    assert_eq!(shell.hops[0].link, "/private/var/select/sh");
}

fn executable(path: &Utf8Path, bytes: &[u8]) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, bytes).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

#[cfg(target_os = "linux")]
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
    let tree = tool.grants.iter().find(|it| it.path == install).unwrap();
    assert_eq!(tree.operations, Operations::READING.union(Operations::of(&[Operation::Map])));
    let links: Vec<&str> = tool.hops.iter().map(|it| it.link.file_name().unwrap()).collect();
    assert_eq!(links, ["tool", "liba.so"]);

    assert!(reason(find_path(&host, &install.join("bin/script"))).contains("missing-interpreter"));
    fs::remove_file(install.join("lib/libb.so")).unwrap();
    assert!(reason(find_path(&host, &install.join("bin/tool"))).contains("the library `libb.so`"));
    executable(&install.join("bin/tool"), b"\x7fELF\x02\x01\x01 cut short");
    assert!(reason(find_path(&host, &install.join("bin/tool"))).contains("not a sound program file"));
}

/// Entries of a small machine, some of them odd.
fn odd_entry() -> impl Strategy<Value = String> {
    let path = prop::sample::select(vec![
        "/usr/bin/a",
        "/usr/bin/b",
        "/usr/bin/env",
        "/usr/lib/a/x",
        "/usr/lib/a",
        "/usr/libexec/b/c/y",
        "/usr/lib/liba.so",
        "/usr/lib/libb.so",
        "/lib",
        "/usr/lib/python3.11/z.so",
        "/usr/bin/python3.11",
        "/opt/i/bin/a",
        "/opt/i/lib/liba.so",
        "/opt/i/pyvenv.cfg",
        "/home/dev/k/bin/b",
        "/home/dev/k/lib",
        "/etc/ld.so.conf",
        "/usr/local/bin",
    ]);
    let what = prop_oneof![
        prop::sample::select(vec![
            "program", "library", "unreadable", "directory", "file", "-> /", "-> /usr", "-> ..", "-> a", "-> /home/dev/k", "-> b",
            "-> /usr/bin/python3.11", "-> /usr/lib",
        ])
        .prop_map(str::to_owned),
        prop::sample::select(vec![
            "#!/usr/bin/a", "#!/usr/bin/b x", "#!/usr/bin/env b", "#!/usr/bin/env -S a", "include /etc/*", "home = /usr/bin",
            "home = /", "/opt/i/lib",
        ])
        .prop_map(|head| format!("{{ mode: \"0755\", head: \"{head}\" }}")),
        prop::sample::select(vec!["liba.so", "libb.so, liba.so", "/usr/lib/liba.so", "$ORIGIN/x"]).prop_map(|needed| {
            format!("{{ mode: \"0755\", binary: {{ loader: /usr/lib/liba.so, needed: [{needed}], rpath: [/opt/i/lib, $ORIGIN/..] }} }}")
        }),
    ];
    (path, what).prop_map(|(path, what)| format!("{path}: {what}"))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    /// Whatever a machine looks like: every grant is canonical, no tree is shared by everybody or holds the home, modules are never executed,
    /// and what is digested is a file.
    #[test]
    fn no_machine_makes_a_tool_too_broad(entries in prop::collection::btree_set(odd_entry(), 1..14)) {
        let mut text = "system: linux\narchitecture: x86_64\nhome: /home/dev\nunlisted: missing\nentries:\n".to_owned();
        let mut last = String::new();
        for entry in &entries {
            // One entry a path, none below a path that is no directory.
            let path = entry.split(':').next().unwrap();
            let below = !last.is_empty() && path.starts_with(&format!("{}/", last.split(':').next().unwrap()));
            if !last.starts_with(&format!("{path}:")) && (!below || last.ends_with("directory")) {
                let _ = writeln!(text, "  {entry}");
                last.clone_from(entry);
            }
        }
        let Ok(host) = RecordedHost::from_yaml(&text, "test") else { return Ok(()) };
        let mut finder = Finder::new(&host);
        for lookup in [
            finder.find("a"), finder.find("b"), finder.find("python3.11"), finder.find_path("/opt/i/bin/a".into()),
            finder.find_path("/home/dev/k/bin/b".into()), finder.find_path("/usr/bin/a".into()), finder.shell(),
        ] {
            let Lookup::Found(tool) = lookup else { continue };
            for grant in &tool.grants {
                prop_assert_eq!(&resolve(&host, &grant.path).unwrap().canonical, &grant.path);
                let runs = grant.operations.contains(Operation::Exec);
                if grant.scope == Scope::Subtree {
                    prop_assert!(grant.role == "files" || !too_broad(&host, &grant.path), "{} in {text}", grant.path);
                    prop_assert!(!runs || grant.role == "helper programs");
                }
                prop_assert!(!grant.path.starts_with("/home/dev") || tool.path.starts_with("/home/dev"), "{}", grant.path);
            }
            for file in &tool.files {
                prop_assert!(resolve(&host, file).unwrap().entry.unwrap().is_file());
            }
        }
    }
}
