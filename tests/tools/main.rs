//! Finding tools and what they need, on recorded machines and in trees of the test's own.

mod developer;
mod homebrew;
mod installs;
mod live;
mod mac_examples;
mod mac_installs;
mod mac_property;
mod macos;
mod property;
#[path = "../support/road.rs"]
mod road;
mod rules;

use palisade::bind::tools::{Finder, Lookup, Tool, find, shell};
use palisade::host::RecordedHost;
use palisade::plan::{Operation, Scope};
use std::fmt::Write as _;
use std::sync::Arc;

fn debian() -> RecordedHost {
    RecordedHost::from_yaml(include_str!("../hosts/debian.yaml"), "tests/hosts/debian.yaml").unwrap()
}

fn mac_arm() -> RecordedHost {
    RecordedHost::from_yaml(include_str!("../hosts/mac-arm.yaml"), "tests/hosts/mac-arm.yaml").unwrap()
}

fn mac_intel() -> RecordedHost {
    RecordedHost::from_yaml(include_str!("../hosts/mac-intel.yaml"), "tests/hosts/mac-intel.yaml").unwrap()
}

fn mac_broken() -> RecordedHost {
    RecordedHost::from_yaml(include_str!("../hosts/mac-broken.yaml"), "tests/hosts/mac-broken.yaml").unwrap()
}

/// The paths that a tool may do something with, and all that it may do below them.
fn may(tool: &Tool, operation: Operation) -> Vec<String> {
    let grants = tool.grants.iter().filter(|it| it.operations.contains(operation));
    grants.map(|it| format!("{}{}", it.path, if it.scope == Scope::Subtree { "/…" } else { "" })).collect()
}

fn found(lookup: Lookup) -> Tool {
    match lookup {
        Lookup::Found(tool) => Arc::unwrap_or_clone(tool),
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
    snapshot_named(&format!("tool-{name}"), &show(lookup));
}

fn snapshot_named(name: &str, text: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../../snapshots");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, text));
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
