//! No rule has anything to say about the examples that ship with the program.

use super::shown;
use palisade::host::Host;
use palisade::host::recorded::RecordedHost;
use palisade::pipeline::{Request, check};
use palisade::resolve::MemoryLoader;
use palisade::source::Sources;

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
