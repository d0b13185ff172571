//! Libraries, interpreters and trees, by the rules of the kernel, the loader and the tables.

use super::{found, machine, reason};
use palisade::bind::tools::{Tool, find};
use palisade::plan::{Operation, Scope};

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
