//! What holds for a tool on any machine.

use palisade::bind::tools::installs::too_broad;
use palisade::bind::tools::{Finder, Lookup};
use palisade::host::{RecordedHost, resolve};
use palisade::plan::{Operation, Scope};
use proptest::prelude::*;
use std::fmt::Write as _;

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
