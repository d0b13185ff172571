//! Programs outside the known places of a Mac, stated by their paths.

use super::{found, mac_arm, mac_intel, may, reason, show, snapshot_named};
use palisade::bind::tools::find_path;
use palisade::host::RecordedHost;
use palisade::plan::{Operation, Scope};

#[test]
fn what_programs_of_other_installs_are_given() {
    let host = mac_arm();
    for (name, path) in [
        ("rustup", "/Users/dev/.rustup/toolchains/stable-aarch64-apple-darwin/bin/rustc"),
        ("pyenv", "/Users/dev/.pyenv/versions/3.12.7/bin/python3"),
        ("nvm", "/Users/dev/.nvm/versions/node/v22.11.0/bin/npm"),
        ("fnm", "/Users/dev/Library/Application Support/fnm/node-versions/v20.18.0/installation/bin/node"),
        ("volta", "/Users/dev/.volta/tools/image/node/20.18.0/bin/node"),
        ("mise", "/Users/dev/.local/share/mise/installs/node/22.11.0/bin/node"),
        ("asdf", "/Users/dev/.asdf/installs/nodejs/22.11.0/bin/node"),
        ("nix", "/nix/store/0a1b2c3d4e5f6g7h8i9j0k1l2m3n4p5q-less-668/bin/less"),
        ("macports", "/opt/local/bin/gsed"),
        ("framework", "/usr/local/bin/python3.12"),
        ("application", "/Applications/Editor.app/Contents/MacOS/editor"),
    ] {
        let lookup = find_path(&host, path.into());
        snapshot_named(&format!("mac-install-{name}"), &show(&lookup));
        let tool = found(lookup);
        assert!(tool.source.starts_with(name) || ["framework", "rustup"].contains(&name), "{}", tool.source);
        for grant in tool.grants.iter().filter(|grant| grant.scope == Scope::Subtree) {
            for secret in [
                "/Users/dev/.ssh/id_ed25519",
                "/Users/dev/.cargo/credentials.toml",
                "/Users/dev/Library/Application Support/Other/secret",
                "/nix/store/3333333333333333333333333333333c-secret/key",
                "/opt/local/var/macports/registry/registry.db",
            ] {
                assert!(!camino::Utf8Path::new(secret).starts_with(&grant.path), "{name}: {}", grant.path);
            }
        }
    }
}

#[test]
fn shims_of_version_managers_are_refused_with_what_to_state_instead() {
    for (path, said) in [
        ("/Users/dev/.cargo/bin/cargo", "`tool \"~/.rustup/toolchains/TOOLCHAIN/bin/cargo\"`"),
        ("/Users/dev/.pyenv/shims/python3", "`tool \"~/.pyenv/versions/VERSION/bin/python3\"`"),
        ("/Users/dev/.volta/bin/node", "`tool \"~/.volta/tools/image/TOOL/VERSION/bin/node\"`"),
        (
            "/Users/dev/.local/share/mise/shims/node",
            "`tool \"~/.local/share/mise/installs/TOOL/VERSION/bin/node\"`",
        ),
    ] {
        let reason = reason(find_path(&mac_arm(), path.into()));
        assert!(reason.contains(said), "{reason}");
    }
}

#[test]
fn libraries_are_found_by_the_rules_of_dyld() {
    let cases: &[(&str, &[&str], &[&str])] = &[
        // The system's own are in the loader's cache, on the disk or not.
        ("needed: [/usr/lib/libz.1.dylib, /System/Library/Frameworks/A.framework/A]", &[], &[]),
        // @rpath goes through the paths of what needs it, then of what loaded that.
        (
            "needed: [\"@rpath/liba.dylib\"], runpath: [\"@loader_path/../first\", /p/second]",
            &[
                "/p/second/liba.dylib: { binary: { needed: [\"@rpath/libb.dylib\"], runpath: [/p/own] } }",
                "/p/first/libb.dylib: library",
                "/p/other/libb.dylib: library",
            ],
            &["/p/first/libb.dylib", "/p/second/liba.dylib"],
        ),
        // @loader_path is the place of what needs it; @executable_path that of the program.
        (
            "needed: [/p/lib/liba.dylib]",
            &[
                "/p/lib/liba.dylib: { binary: { needed: [\"@loader_path/libb.dylib\", \"@executable_path/libc.dylib\"] } }",
                "/p/lib/libb.dylib: -> real/libb.2.dylib",
                "/p/lib/real/libb.2.dylib: { binary: { needed: [\"@loader_path/libd.dylib\"] } }",
                "/p/lib/real/libd.dylib: library",
                "/p/bin/libc.dylib: library",
            ],
            &["/p/bin/libc.dylib", "/p/lib/liba.dylib", "/p/lib/real/libb.2.dylib", "/p/lib/real/libd.dylib"],
        ),
        // What is weak is taken where it is there.
        (
            "weak: [/p/lib/liba.dylib, /p/lib/gone.dylib]",
            &["/p/lib/liba.dylib: library"],
            &["/p/lib/liba.dylib"],
        ),
        // A library that moved is looked for where dyld looks last.
        (
            "needed: [/gone/liba.dylib]",
            &["/usr/local/lib/liba.dylib: library"],
            &["/usr/local/lib/liba.dylib"],
        ),
        // A system's path among those of @rpath, and a library of one's own before it.
        (
            "needed: [\"@rpath/libswift.dylib\", \"@rpath/liba.dylib\"], runpath: [/usr/lib/swift, /p/lib]",
            &["/p/lib/liba.dylib: library"],
            &["/p/lib/liba.dylib"],
        ),
        // A cycle ends.
        (
            "needed: [/p/lib/liba.dylib]",
            &[
                "/p/lib/liba.dylib: { binary: { needed: [/p/lib/libb.dylib] } }",
                "/p/lib/libb.dylib: { binary: { needed: [/p/lib/liba.dylib, \"@executable_path/tool\"] } }",
            ],
            &["/p/lib/liba.dylib", "/p/lib/libb.dylib"],
        ),
    ];
    for (fields, entries, expected) in cases {
        let host = machine(fields, entries);
        let tool = found(find_path(&host, "/p/bin/tool".into()));
        let libraries: Vec<&str> =
            tool.grants.iter().filter(|it| it.role == "library").map(|it| it.path.as_str()).collect();
        assert_eq!(libraries, *expected, "{fields}");
    }
    for (fields, said) in [
        (
            "needed: [/p/lib/gone.dylib]",
            "the library `/p/lib/gone.dylib`, which `/p/bin/tool` needs, is missing",
        ),
        ("needed: [\"@rpath/gone.dylib\"], runpath: [/p/lib]", "the library `@rpath/gone.dylib`"),
        ("needed: [\"@executable_pathology/x.dylib\"]", "is missing"),
    ] {
        let reason = reason(find_path(&machine(fields, &[]), "/p/bin/tool".into()));
        assert!(reason.contains(said), "{fields}: {reason}");
    }
}

fn machine(fields: &str, entries: &[&str]) -> RecordedHost {
    let mut text = format!(
        "system: macos\narchitecture: aarch64\nhome: /Users/dev\nunlisted: missing\nentries:\n  \
         /p/bin/tool: {{ mode: \"0755\", binary: {{ {fields} }} }}\n"
    );
    for entry in entries {
        text.push_str(&format!("  {entry}\n"));
    }
    RecordedHost::from_yaml(&text, "test").unwrap()
}

#[test]
fn a_program_for_the_other_architecture_needs_rosetta() {
    assert_eq!(
        reason(find_path(&mac_intel(), "/usr/local/bin/for-arm".into())),
        "`/usr/local/bin/for-arm` is a program for aarch64, and this machine is x86_64"
    );
    let text = "system: macos\narchitecture: aarch64\nhome: /Users/dev\nunlisted: missing\nentries:\n  \
                /p/bin/tool: { mode: \"0755\", binary: { machine: x86_64 } }\n";
    let without = RecordedHost::from_yaml(text, "test").unwrap();
    assert!(reason(find_path(&without, "/p/bin/tool".into())).ends_with("is aarch64, which has no Rosetta"));
    let with = format!("{text}  /Library/Apple/usr/libexec/oah/libRosettaRuntime: file\n");
    assert_eq!(
        found(find_path(&RecordedHost::from_yaml(&with, "test").unwrap(), "/p/bin/tool".into())).source,
        "stated"
    );
}

#[test]
fn a_program_beside_homebrew_is_stated_and_gets_itself() {
    let node = found(find_path(&mac_intel(), "/usr/local/bin/node".into()));
    assert_eq!(
        (node.source.as_str(), may(&node, Operation::Read)),
        ("stated", vec!["/usr/local/bin/node".to_owned()])
    );
}
