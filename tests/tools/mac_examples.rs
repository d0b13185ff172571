//! The shipped examples on the Apple-silicon Mac.

use super::mac_arm;
use palisade::finding::Severity;
use palisade::host::{Host, RecordedHost, Recorder};
use palisade::pipeline::{Request, check};
use palisade::report::concise;
use palisade::resolve::MemoryLoader;
use palisade::source::Sources;
use std::collections::BTreeMap;
use std::fs;

fn checked(host: &dyn Host, text: &str, name: &str) -> (palisade::pipeline::Checked, Sources) {
    let mut sources = Sources::new();
    let file = sources.add(name, None, text);
    let request = Request {
        workspace: "/Users/dev/project".into(),
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

#[test]
fn what_a_compile_asked_of_a_mac_is_all_that_another_compile_needs() {
    let host = mac_arm();
    let text = "edition 1\nprofile \"x\" {\n root \"$workspace\" read-only\n tools git rg python3 clang\n optional-tools npm jq\n \
                tool \"~/.pyenv/versions/3.12.7/bin/python3\"\n tool \"/usr/bin/python3\"\n}\n";
    let recorder = Recorder::new(&host);
    let (first, _) = checked(&recorder, text, "x.palisade");
    let recording = recorder.recording().unwrap();
    let again = RecordedHost::from_yaml(&recording, "recording").unwrap();
    let (second, _) = checked(&again, text, "x.palisade");
    let (first, second) = (first.bound.expect("bound").plan, second.bound.expect("bound").plan);
    assert_eq!(first.rules, second.rules);
    assert_eq!(first.environment, second.environment);
    assert_eq!(first.links, second.links);
}
