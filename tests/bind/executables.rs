//! What is loaded from the system in places that may run programs.

use crate::road::{Walked, machine, walk};
use palisade::plan::Operation;

const MODULE: [&str; 8] = [
    "/w/.venv/lib/m.so: { binary: { needed: [liba.so, libsecret.so], runpath: [/home/dev/own] } }",
    "/w/target: directory",
    "/usr/lib/x86_64-linux-gnu/liba.so: -> liba.so.1",
    "/usr/lib/x86_64-linux-gnu/liba.so.1: { binary: { needed: [libb.so] } }",
    "/usr/lib/x86_64-linux-gnu/libb.so: library",
    "/usr/lib/x86_64-linux-gnu/libc.so: library",
    "/lib: -> usr/lib",
    "/home/dev/own/libsecret.so: library",
];

fn mapped(walked: &Walked) -> Vec<&'static str> {
    assert_eq!(walked.errors(), [""; 0]);
    let libraries = [
        "/usr/lib/x86_64-linux-gnu/liba.so.1",
        "/usr/lib/x86_64-linux-gnu/libb.so",
        "/usr/lib/x86_64-linux-gnu/libc.so",
        "/home/dev/own/libsecret.so",
        "/usr/bin/other",
    ];
    let can = |path: &&str| walked.allows(Operation::Map, path);
    assert!(libraries.iter().all(|path| !walked.allows(Operation::Exec, path)));
    libraries.into_iter().filter(can).collect()
}

#[test]
fn modules_that_are_only_read_load_what_they_ask_the_system_for() {
    let walked = walk(&machine(&MODULE), "root \"/w\" read-only\nexecutable \"/w/.venv\"");
    assert_eq!(mapped(&walked), ["/usr/lib/x86_64-linux-gnu/liba.so.1", "/usr/lib/x86_64-linux-gnu/libb.so"]);
    assert!(!walked.allows(Operation::Read, "/home/dev/own/libsecret.so"));
    let walked = walk(&machine(&MODULE), "root \"/w\" read-only\nexecutable \"/w/.venv/lib/m.so\"");
    assert_eq!(mapped(&walked).len(), 2);
}

#[test]
fn what_is_built_and_run_in_one_place_loads_any_library_of_the_system() {
    let walked = walk(&machine(&MODULE), "root \"/w\" read-write\nexecutable \"/w/target\"");
    let all = mapped(&walked);
    assert!(all.iter().all(|path| path.starts_with("/usr/lib/")) && all.len() == 3, "{all:?}");
}

#[test]
fn a_place_that_grants_nothing_loads_nothing() {
    for statements in ["root \"/w\" read-only", "root \"/w\" read-only\nexecutable \"/w/target\""] {
        assert_eq!(mapped(&walk(&machine(&MODULE), statements)), [""; 0]);
    }
    let walked = walk(
        &machine(&MODULE),
        "root \"/w\" read-only\ndeny \"/usr/lib/x86_64-linux-gnu/libb.so\"\nexecutable \"/w/.venv\"",
    );
    assert!(!walked.allows(Operation::Map, "/usr/lib/x86_64-linux-gnu/libb.so"));
}
