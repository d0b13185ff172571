//! What holds for a tool on any Mac.

use palisade::bind::tools::installs::too_broad;
use palisade::bind::tools::{Finder, Lookup};
use palisade::host::{RecordedHost, resolve};
use palisade::plan::{Operation, Scope};
use proptest::prelude::*;
use std::fmt::Write as _;

/// Entries of a small Mac, some of them odd.
fn odd_entry() -> impl Strategy<Value = String> {
    let path = prop::sample::select(vec![
        "/opt/homebrew",
        "/opt/homebrew/Cellar",
        "/opt/homebrew/Cellar/a",
        "/opt/homebrew/Cellar/a/1",
        "/opt/homebrew/Cellar/a/1/INSTALL_RECEIPT.json",
        "/opt/homebrew/Cellar/a/1/bin/a",
        "/opt/homebrew/Cellar/a/1/libexec/a",
        "/opt/homebrew/Cellar/b/1/INSTALL_RECEIPT.json",
        "/opt/homebrew/Cellar/b/1/P.framework/Versions/3/bin/b",
        "/opt/homebrew/Cellar/b/1/P.framework/Versions/3/Resources",
        "/opt/homebrew/bin/a",
        "/opt/homebrew/bin/b",
        "/opt/homebrew/opt/a",
        "/opt/homebrew/opt/b",
        "/Library/Developer/CommandLineTools",
        "/Library/Developer/CommandLineTools/usr/bin/a",
        "/Library/Developer/CommandLineTools/usr/bin/b",
        "/Library/Developer/CommandLineTools/usr/libexec/a-core/x",
        "/usr/bin/a",
        "/usr/bin/b",
        "/private/var/select/sh",
        "/opt/i/bin/a",
        "/opt/i/lib/x.dylib",
        "/opt/i/pyvenv.cfg",
        "/Applications/A.app/Contents/MacOS/a",
        "/Users/dev/k/bin/b",
    ]);
    let what = prop_oneof![
        prop::sample::select(vec![
            "program",
            "library",
            "unreadable",
            "directory",
            "file",
            "-> /",
            "-> /usr",
            "-> ..",
            "-> a",
            "-> /Users/dev",
            "-> /Users/dev/k",
            "-> ../Cellar/a/1/bin/a",
            "-> ../Cellar/b/1/P.framework/Versions/3/bin/b",
            "-> ../Cellar/a/1",
            "-> ../Cellar/b/1",
            "-> ../Cellar",
        ])
        .prop_map(str::to_owned),
        prop::sample::select(vec![
            "#!/usr/bin/a",
            "#!/usr/bin/env b -x",
            "#!/opt/homebrew/opt/b/P.framework/Versions/3/bin/b",
            "home = /opt/homebrew/bin",
        ])
        .prop_map(|head| format!("{{ mode: \"0755\", head: \"{head}\" }}")),
        prop::sample::select(vec!["", "a", "b", "a b", "gone", "x/b", "..", "Cellar"]).prop_map(|names| {
            let names: Vec<String> =
                names.split(' ').map(|name| format!("{{ \"full_name\": \"{name}\" }}")).collect();
            format!("{{ head: '{{ \"runtime_dependencies\": [{}] }}' }}", names.join(", "))
        }),
        prop::sample::select(vec![
            "/usr/lib/libxcselect.dylib",
            "\"@rpath/x.dylib\"",
            "\"@executable_path/../lib/x.dylib\"",
            "/opt/homebrew/opt/b/P.framework/Versions/3/bin/b",
        ])
        .prop_map(|needed| {
            format!(
                "{{ mode: \"0755\", binary: {{ needed: [{needed}], runpath: [\"@loader_path/../lib\", /opt/homebrew/bin] }} }}"
            )
        }),
    ];
    (path, what).prop_map(|(path, what)| format!("{path}: {what}"))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    /// Whatever a Mac looks like: every grant is canonical, no tree is shared by everybody or holds the home, nothing but helpers and
    /// frameworks runs as a tree, what only interprets is not run, and what is digested is a file.
    #[test]
    fn no_mac_makes_a_tool_too_broad(entries in prop::collection::btree_set(odd_entry(), 1..18)) {
        let mut text = "system: macos\narchitecture: aarch64\nhome: /Users/dev\nunlisted: missing\n\
            developer-directory: /Library/Developer/CommandLineTools\nentries:\n  /opt/homebrew/bin/brew: file\n  \
            /usr/bin/env: program\n  /bin/sh: program\n".to_owned();
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
            finder.find("a"), finder.find("b"), finder.find_path("/opt/i/bin/a".into()), finder.find_path("/usr/bin/a".into()),
            finder.find_path("/Users/dev/k/bin/b".into()), finder.find_path("/Applications/A.app/Contents/MacOS/a".into()),
            finder.find_path("/opt/homebrew/bin/b".into()), finder.shell(),
        ] {
            let Lookup::Found(tool) = lookup else { continue };
            for grant in &tool.grants {
                let found = resolve(&host, &grant.path).unwrap();
                // A link is granted as itself, to be read.
                let is_link = grant.operations == palisade::plan::Operations::READING && !found.hops.is_empty();
                prop_assert!(is_link || found.canonical == grant.path, "{} in {text}", grant.path);
                let runs = grant.operations.contains(Operation::Exec);
                if grant.scope == Scope::Subtree {
                    prop_assert!(grant.role == "files" || !too_broad(&host, &grant.path), "{} in {text}", grant.path);
                    let framework = grant.path.as_str().contains(".framework/Versions/");
                    prop_assert!(!runs || grant.role == "helper programs" || framework, "{} in {text}", grant.path);
                }
                let stated = tool.path.starts_with("/Users/dev") || tool.real.starts_with("/Users/dev");
                let named = tool.source.starts_with("developer directory") || tool.source == "system";
                prop_assert!(!grant.path.starts_with("/Users/dev") || stated || named, "{} of {tool:?} in {text}", grant.path);
            }
            for file in &tool.files {
                prop_assert!(resolve(&host, file).unwrap().entry.unwrap().is_file());
            }
        }
    }
}
