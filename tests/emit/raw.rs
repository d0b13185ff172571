//! `seatbelt` statements: counted in every verdict, and never stronger than a denial.

use crate::plans::read;
use crate::road::{Walked, mac, walk};
use palisade::emit;
use palisade::manifest;
use palisade::pipeline;
use palisade::plan::Operation;
use palisade::sbpl::{Engine, Operation as Leaf, Subject, Verdict};

fn with(rule: &str) -> Walked {
    let rule = rule.replace('"', "\\\"");
    walk(
        &mac(),
        &format!(
            "root \"$workspace\" read-write\nroot \"$workspace/vendor\" read-only\ndeny \"$workspace/.env\"\n\
             on macos {{ seatbelt \"{rule}\" because \"it must\" }}"
        ),
    )
}

fn text(walked: &Walked) -> String {
    assert_eq!(walked.errors(), [""; 0]);
    let artifact = pipeline::compile(&walked.sources, walked.bound(), &mac(), "case.sb").unwrap().unwrap();
    let manifest = manifest::read(&artifact.manifest).unwrap();
    assert_eq!(manifest.seatbelt_rules.len(), walked.plan().seatbelt.len());
    artifact.seatbelt.unwrap()
}

#[test]
fn what_it_opens_is_found_counted_and_written() {
    let walked = with(
        "(allow file-read* (subpath \"/opt/data\")) (allow mach-lookup (global-name \"org.example.agent\"))",
    );
    let finding = walked.finding("seatbelt-rule");
    assert!(
        finding.message.contains("`/opt/data` and below") && finding.message.contains("org.example.agent")
    );
    assert!(walked.allows(Operation::Read, "/opt/data/x") && !walked.allows(Operation::Write, "/opt/data/x"));
    let text = text(&walked);
    let section = text.split(";; rules that the profile states itself\n").nth(1).unwrap();
    assert!(section.starts_with(
        "(allow file-read-data file-read-metadata file-read-xattr (subpath \"/opt/data\"))  ; case.palisade:"
    ));
    assert!(section.find("org.example.agent").unwrap() < section.find(";; guards").unwrap());
}

#[test]
fn a_denial_and_a_guard_stand_whatever_it_says() {
    let walked = with("(allow file-read* (subpath \"/Users/dev/project\"))");
    text(&walked);
    assert!(!walked.allows(Operation::Read, "/Users/dev/project/.env"));
    let profile = read(walked.plan(), &emit::seatbelt(walked.plan(), "case").unwrap());
    for engine in [Engine::PerOperation, Engine::LastMatch] {
        let operation = Leaf::named("file-read-data").unwrap();
        let decision = profile.decide(operation, &Subject::path("/Users/dev/project/.env"), engine);
        assert_eq!(decision.verdict, Verdict::Deny);
    }
}

#[test]
fn what_would_lift_a_read_only_root_is_an_error() {
    for rule in [
        "(allow file-write* (subpath \"/Users/dev/project/vendor/x\"))",
        "(allow file-write-data (subpath \"/Users\"))",
        "(allow file-write-unlink (literal \"/Users/dev/project\"))",
    ] {
        assert_eq!(with(rule).errors(), ["unsound-seatbelt-rule"], "{rule}");
    }
}

#[test]
fn what_is_not_understood_is_an_error_at_the_statement() {
    for rule in [
        "(allow file-read*",
        "(allow default)",
        "(allow flie-read* (literal \"/x\"))",
        "(import \"system.sb\")",
    ] {
        let walked = with(rule);
        assert_eq!(walked.errors(), ["unsound-seatbelt-rule"], "{rule}");
        assert!(walked.finding("unsound-seatbelt-rule").span().is_some());
    }
}

#[test]
fn a_denial_of_its_own_is_kept_and_is_no_finding() {
    let walked = with("(deny file-read-data file-read-xattr file-lock (subpath \"/usr/share/secrets\"))");
    assert!(walked.checked.findings.iter().all(|finding| finding.rule != "seatbelt-rule"));
    assert!(!walked.allows(Operation::Read, "/usr/share/secrets/x"));
    text(&walked);
}
