//! The shipped examples on the Apple-silicon Mac.

use super::mac_arm;
use palisade::finding::Severity;
use palisade::host::{Host, RecordedHost};
use palisade::pipeline::{Request, check};
use palisade::report::concise;
use palisade::resolve::MemoryLoader;
use palisade::source::Sources;
use std::collections::BTreeMap;
use std::fs;

fn checked(host: &RecordedHost, text: &str, name: &str) -> (palisade::pipeline::Checked, Sources) {
    let mut sources = Sources::new();
    let file = sources.add(name, None, text);
    let request = Request {
        workspace: host.workspace().unwrap().to_path_buf(),
        set: BTreeMap::new(),
        target: host.system(),
        artifacts: Vec::new(),
    };
    (check(&mut sources, file, &MemoryLoader::default(), host, &request), sources)
}

#[test]
fn every_shipped_example_is_clean() {
    let host = mac_arm();
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/policies/examples");
    let mut seen = 0;
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let text = fs::read_to_string(&path).unwrap();
        let name = path.file_name().unwrap().to_str().unwrap();
        let (checked, sources) = checked(&host, &text, name);
        let heavier = checked.findings.iter().any(|finding| finding.severity > Severity::Note);
        assert!(!heavier, "{}", concise::render(&sources, &checked.findings, name));
        assert!(checked.bound.is_some(), "{name}");
        seen += 1;
    }
    assert!(seen >= 5);
}

#[test]
fn commands_with_a_developer_tool_are_told_where_it_is() {
    let host = mac_arm();
    let environment = |tools: &str| {
        let text = format!("edition 1\nprofile \"x\" {{\n root \"$workspace\" read-only\n {tools}\n}}\n");
        let (checked, _) = checked(&host, &text, "x.palisade");
        checked.bound.expect("bound").plan.environment.set
    };
    let with = environment("tools clang rg cat");
    assert_eq!(with["DEVELOPER_DIR"], "/Library/Developer/CommandLineTools");
    assert_eq!(with["xcrun_db"], format!("{}/xcrun_db", with["TMPDIR"]));
    assert_eq!(
        with["PATH"],
        "/opt/homebrew/bin:/Library/Developer/CommandLineTools/usr/bin:/usr/bin:/bin:/usr/sbin:/sbin"
    );
    let without = environment("tools rg cat");
    assert!(!without.contains_key("DEVELOPER_DIR") && !without.contains_key("xcrun_db"));
    assert_eq!(without["PATH"], "/opt/homebrew/bin:/usr/bin:/bin:/usr/sbin:/sbin");
}
