//! The profile of each shipped example on a Mac: to read, and clean to `sb check`.

use crate::road::{mac, walk_text};
use palisade::host::RecordedHost;
use palisade::pipeline;
use palisade::report::concise;
use palisade::sbpl::{self, NoImports, Params};
use palisade::source::Sources;
use std::fs;

/// A Mac with every tool that the examples name and a workspace as they expect it.
fn machine() -> RecordedHost {
    RecordedHost::from_yaml(include_str!("../hosts/mac-arm.yaml"), "tests/hosts/mac-arm.yaml")
        .expect("a machine")
}

/// Whatever comes out is clean, and shows no parameter but those of the private directory and of the proxy.
fn checked(name: &str, text: &str) {
    let mut sources = Sources::new();
    let file = sources.add(format!("{name}.sb"), None, text);
    let scratch = ("SCRATCH".to_owned(), "/private/tmp/palisade-scratch".to_owned());
    let port = ("PROXY_PORT".to_owned(), "50123".to_owned());
    let params = Params { given: [scratch, port].into(), complete: true };
    let evaluation = sbpl::evaluate(&mut sources, file, &params, &NoImports);
    let findings = sbpl::lint::run(&sources, &evaluation);
    assert!(findings.is_empty(), "{}", concise::render(&sources, &findings, name));
}

#[test]
fn every_example_is_written_readably_and_checks_clean() {
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/policies/examples");
    let mut names: Vec<_> = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    names.sort();
    assert!(names.len() >= 5);
    let host = machine();
    for path in names {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let walked = walk_text(&host, &fs::read_to_string(&path).unwrap(), &format!("{name}.palisade"), None);
        let findings = concise::render(&walked.sources, &walked.checked.findings, &name);
        assert_eq!(walked.errors(), [""; 0], "{findings}");
        let artifact = pipeline::compile(&walked.sources, walked.bound(), &host, "case.sb").unwrap().unwrap();
        let text = artifact.seatbelt.unwrap();
        checked(&name, &text);
        snapshot(&format!("seatbelt-{name}"), &text);
    }
}

fn snapshot(name: &str, text: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../../snapshots");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, text));
}

#[test]
fn a_list_of_hosts_opens_the_way_to_the_proxy() {
    let statements = "root \"$workspace\" read-only\nnetwork only {\nallow \"static.crates.io\"\ndeny \"*:22\"\n}\nneeds tls";
    let walked = crate::road::walk(&machine(), statements);
    assert_eq!(walked.errors(), [""; 0]);
    let artifact =
        pipeline::compile(&walked.sources, walked.bound(), &machine(), "case.sb").unwrap().unwrap();
    let text = artifact.seatbelt.unwrap();
    checked("network-only", &text);
    for closed in ["mDNSResponder", "resolv.conf", "network-inbound", "network-bind", "DNSConfiguration"] {
        assert!(
            !text.contains(&format!("{closed}\"")) && !text.contains(&format!("allow {closed}")),
            "{closed}"
        );
    }
    snapshot("seatbelt-network-only", &text);
    let manifest = palisade::manifest::read(&artifact.manifest).unwrap();
    let about = |line: &&String| ["proxy", "needs tls", "listen"].iter().any(|word| line.contains(word));
    let said: Vec<&str> =
        manifest.losses.iter().chain(&manifest.assumptions).filter(about).map(String::as_str).collect();
    snapshot("network-only-on-a-mac", &said.join("\n"));
}

#[test]
fn everything_that_can_be_opened_checks_clean() {
    let statements = "root \"$workspace\" read-write\nroot \"$workspace/vendor\" read-only\ndeny \"$workspace/.env\"\n\
        executable \"$workspace/build\"\nneeds cpu-info process-list semaphores terminal tls user-names\n\
        network all\nipc shared-memory\ntools awk bash";
    let walked = crate::road::walk(&mac(), statements);
    assert_eq!(walked.errors(), [""; 0]);
    let artifact = pipeline::compile(&walked.sources, walked.bound(), &mac(), "case.sb").unwrap().unwrap();
    checked("everything", &artifact.seatbelt.unwrap());
}
