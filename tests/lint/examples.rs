//! No rule has anything to say about the examples that ship with the program.

use super::shown;
use palisade::host::Host;
use palisade::host::recorded::RecordedHost;
use palisade::pipeline::{Request, check};
use palisade::resolve::MemoryLoader;
use palisade::source::Sources;

/// In whatever order they are used, and each by itself.
#[test]
fn no_rule_fires_on_the_hosts_that_ship_with_the_program() {
    let names = palisade::resolve::standard::FRAGMENTS.map(|(name, _)| name);
    let nets: Vec<&str> = names.into_iter().filter(|name| name.starts_with("net/")).collect();
    assert!(nets.len() >= 12);
    let one = nets.iter().map(|name| vec![*name]);
    let reversed = nets.iter().rev().copied().collect();
    for used in one.chain([nets.clone(), reversed]) {
        let uses: String = used.iter().map(|name| format!("    use \"std/{name}\"\n")).collect();
        let text = format!(
            "edition 1\nprofile \"case\" {{\n{uses}    root \"$workspace/src\" read-only\n    \
             working-directory \"$workspace/src\"\n    limits {{ time 10m }}\n}}\n"
        );
        let checked = super::check_text(&text, &super::machine());
        assert!(checked.1.is_empty(), "{}", shown(&checked, &text));
    }
}

/// What only the profile does wrong with a fragment is said of the profile, where it can be allowed.
#[test]
fn a_finding_about_a_fragment_and_the_profile_stands_in_the_profile() {
    let profile = |comment: &str| {
        format!(
            "edition 1\nprofile \"case\" {{\n    {comment}\n    use \"std/net/crates\"\n    \
             root \"$workspace/src\" read-only\n    working-directory \"$workspace/src\"\n}}\n"
        )
    };
    let text = profile("");
    let (sources, findings) = super::check_text(&text, &super::machine());
    assert_eq!(findings.len(), 1, "{}", shown(&(sources, findings), &text));
    let (sources, findings) = super::check_text(&text, &super::machine());
    assert_eq!(findings[0].rule, "missing-limit");
    assert_eq!(sources.text(findings[0].span().expect("a place")), "use \"std/net/crates\"");
    let text = profile("# palisade: allow(missing-limit) somebody watches it");
    let checked = super::check_text(&text, &super::machine());
    assert!(checked.1.is_empty(), "{}", shown(&checked, &text));
}

#[test]
fn no_rule_fires_on_a_shipped_example() {
    let linux = include_str!("../hosts/examples.yaml");
    let mac = include_str!("../hosts/mac-arm.yaml");
    let mut seen = 0;
    for (recording, workspace) in [(linux, "/home/dev/project"), (mac, "/Users/dev/project")] {
        let host = RecordedHost::from_yaml(recording, "recording").expect("a sound recording");
        for entry in
            std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/policies/examples")).expect("examples")
        {
            let path = entry.expect("an entry").path();
            let text = std::fs::read_to_string(&path).expect("a text");
            let mut sources = Sources::new();
            let file = sources.add("example.palisade", None, text.clone());
            let request = Request {
                workspace: workspace.into(),
                set: std::collections::BTreeMap::new(),
                target: host.system(),
                artifacts: Vec::new(),
            };
            let checked = check(&mut sources, file, &MemoryLoader::default(), &host, &request);
            // What this machine lacks of a group is for its user to know, and says nothing of the example.
            let found = checked.findings.iter().any(|finding| finding.rule != "skipped-tool");
            assert!(!found, "{}", shown(&(sources, checked.findings), &text));
            seen += 1;
        }
    }
    assert!(seen >= 10);
}
