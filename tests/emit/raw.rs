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

/// Of every operation on paths that denials do not name, none is opened where something is denied, guarded or read-only.
#[test]
fn what_denials_do_not_speak_of_cannot_be_opened_against_them() {
    let on_paths: Vec<Leaf> = Leaf::all()
        .filter(|leaf| {
            leaf.is_leaf() && (leaf.name().starts_with("file-") || leaf.name().starts_with("network-"))
        })
        .collect();
    assert!(on_paths.len() > 20);
    for leaf in on_paths {
        for path in [".env", "."] {
            let path = format!("/Users/dev/project/{path}");
            let path = path.trim_end_matches("/.");
            let walked = with(&format!("(allow {} (subpath \"{path}\"))", leaf.name()));
            if walked.errors() == ["unsound-seatbelt-rule"] {
                continue;
            }
            assert_eq!(walked.errors(), [""; 0]);
            text(&walked);
            let profile = read(walked.plan(), &emit::seatbelt(walked.plan(), "case").unwrap());
            for engine in [Engine::PerOperation, Engine::LastMatch] {
                let denied = Subject::path("/Users/dev/project/.env");
                assert_eq!(
                    profile.decide(leaf, &denied, engine).verdict,
                    Verdict::Deny,
                    "{} {path}",
                    leaf.name()
                );
            }
        }
    }
    let socket = with("(allow network-bind network-inbound (literal \"/Users/dev/project/run/agent.sock\"))");
    text(&socket);
}

/// A wildcard in the text means its leaves, and both theories of precedence say the same of it.
#[test]
fn wildcards_and_denials_mean_the_same_under_both_theories() {
    for rule in [
        "(allow mach*)",
        "(allow iokit*)",
        "(allow ipc-posix-sem*)",
        "(deny mach* (global-name \"com.apple.logd\"))",
        "(deny sysctl* (sysctl-name \"kern.hostname\"))",
        "(deny process-info* (target same-sandbox))",
    ] {
        let walked = with(rule);
        text(&walked);
        let profile = read(walked.plan(), &emit::seatbelt(walked.plan(), "case").unwrap());
        for rule in &walked.plan().seatbelt {
            for name in &rule.operations {
                let leaf = Leaf::named(name).unwrap();
                if ["mach-task-inspect", "mach-task-read"].contains(name) {
                    continue; // the kernel's own graphs decide where no rule does
                }
                for subject in [
                    Subject::any(),
                    Subject::named("global-name", "com.apple.logd"),
                    Subject::named("sysctl-name", "kern.hostname"),
                ] {
                    let [one, other] = [Engine::PerOperation, Engine::LastMatch]
                        .map(|engine| profile.decide(leaf, &subject, engine).verdict);
                    assert_eq!(one, other, "{name} {subject:?}");
                }
            }
        }
    }
    for rule in ["(deny mach-lookup)", "(deny sysctl*)", "(deny mach*)", "(deny process-info*)"] {
        assert_eq!(with(rule).errors(), ["unsound-seatbelt-rule"], "{rule}");
    }
}

#[test]
fn of_two_that_speak_of_one_thing_the_denial_holds_in_either_order() {
    let rules = [
        "(allow file-read* (subpath \"/opt/data\"))",
        "(deny file-read* file-lock file-test-existence (subpath \"/opt/data/safe\"))",
        "(allow mach-lookup (global-name-prefix \"org.example.\"))",
        "(deny mach-lookup (global-name \"org.example.x\"))",
    ];
    let texts: Vec<String> = [[0, 1, 2, 3], [1, 0, 3, 2], [3, 2, 1, 0]]
        .map(|order| {
            let walked = with(&order.map(|at| rules[at]).join(" "));
            assert!(walked.allows(Operation::Read, "/opt/data/x"));
            assert!(!walked.allows(Operation::Read, "/opt/data/safe/x"));
            let mut lines: Vec<String> = text(&walked).lines().map(str::to_owned).collect();
            lines.retain(|line| line.contains("because it must"));
            lines
        })
        .map(|lines| {
            let first_denial = lines.iter().position(|line| line.starts_with("(deny")).unwrap();
            assert!(lines[first_denial..].iter().all(|line| line.starts_with("(deny")));
            let mut lines = lines;
            lines.sort();
            lines.join("\n")
        })
        .into();
    assert!(texts.iter().all(|text| *text == texts[0]));
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

/// What it denies may not be made in another spelling either, and the plan says the same.
#[test]
fn a_denial_of_its_own_holds_for_every_spelling() {
    for (more, name, twin) in [
        ("", "sub", "\u{17f}ub"),
        ("", "caf\u{e9}", "CAFE\u{301}"),
        ("deny \"$workspace/sub/secret\"\n", "sub", "\u{17f}ub"),
        ("deny \"$workspace/sub/secret\"\n", "sub/x", "sub/X"),
    ] {
        for operation in [
            "file-write-unlink",
            "file-write-create",
            "file-write-create file-write-unlink file-link file-clone",
        ] {
            let walked = walk(
                &mac(),
                &format!(
                    "root \"$workspace\" read-write\n{more}on macos {{ seatbelt \"(deny {operation} (subpath \\\"/Users/dev/project/{name}\\\"))\" because \"it must\" }}"
                ),
            );
            text(&walked);
            let profile = read(walked.plan(), &emit::seatbelt(walked.plan(), "case").unwrap());
            for leaf in operation.split(' ') {
                for path in [name, twin] {
                    let subject = Subject::path(format!("/Users/dev/project/{path}").as_str());
                    let verdict =
                        profile.decide(Leaf::named(leaf).unwrap(), &subject, Engine::PerOperation).verdict;
                    assert_eq!(verdict, Verdict::Deny, "{leaf} {path}");
                }
            }
        }
    }
}

/// Tools, the system and the directories above a root are changed by no rule of its own.
#[test]
fn nothing_outside_dev_is_opened_to_be_changed() {
    for path in
        ["/opt/homebrew/Cellar/git", "/bin/bash", "/Users/dev", "/Users", "/", "/Users/dev/project/new"]
    {
        for operation in [
            "file-write*",
            "file-write-data",
            "file-write-unlink",
            "file-write-create",
            "file-link",
            "file-clone",
        ] {
            for form in ["literal", "subpath"] {
                assert_eq!(
                    with(&format!("(allow {operation} ({form} \"{path}\"))")).errors(),
                    ["unsound-seatbelt-rule"]
                );
            }
        }
    }
    text(&with("(allow file-write-data (literal \"/dev/auditpipe\"))"));
}
