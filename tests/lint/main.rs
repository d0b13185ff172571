//! Every rule's own examples, run through the whole pipeline on a recorded machine: the bad one is found by this rule, the good one is not.

mod docs;
mod examples;
mod fixes;

use palisade::finding::{Finding, Severity};
use palisade::host::Host;
use palisade::host::recorded::RecordedHost;
use palisade::lint::rules;
use palisade::pipeline::{Request, check};
use palisade::report::concise;
use palisade::resolve::MemoryLoader;
use palisade::source::Sources;

fn machine() -> RecordedHost {
    RecordedHost::from_yaml(include_str!("../hosts/debian.yaml"), "debian.yaml").expect("a sound recording")
}

/// What checking a text in the recorded workspace finds: on a Mac where it is about one, else on Linux.
fn check_text(text: &str, host: &dyn Host) -> (Sources, Vec<Finding>) {
    let mut sources = Sources::new();
    let file = sources.add("example.palisade", None, text);
    let mac;
    let (host, workspace) = if text.contains("on macos {") {
        mac = RecordedHost::from_yaml(include_str!("../hosts/mac.yaml"), "mac.yaml")
            .expect("a sound recording");
        (&mac as &dyn Host, "/Users/dev/project")
    } else {
        (host, "/home/dev/project")
    };
    let request = Request {
        workspace: workspace.into(),
        set: std::collections::BTreeMap::new(),
        target: host.system(),
        artifacts: Vec::new(),
    };
    let checked = check(&mut sources, file, &MemoryLoader::default(), host, &request);
    (sources, checked.findings)
}

/// The examples of one kind in a rule's documentation.
fn examples(markdown: &str, kind: &str) -> Vec<String> {
    let fence = format!("```palisade {kind}\n");
    let parts = markdown.split(fence.as_str()).skip(1);
    parts.filter_map(|part| part.split_once("\n```\n").map(|(text, _)| format!("{text}\n"))).collect()
}

fn shown((sources, findings): &(Sources, Vec<Finding>), text: &str) -> String {
    format!("{}\n{text}", concise::render(sources, findings, "example.palisade"))
}

fn heavier_than_a_note(findings: &[Finding]) -> Vec<&'static str> {
    findings.iter().filter(|finding| finding.severity > Severity::Note).map(|finding| finding.rule).collect()
}

#[test]
fn every_bad_example_is_found_by_its_own_rule_and_no_other() {
    let host = machine();
    let mut wrong = Vec::new();
    for info in rules::ALL.iter().map(|rule| rule.info()) {
        for text in examples(&info.markdown(), "bad") {
            let checked = check_text(&text, &host as &dyn Host);
            let is_found = checked.1.iter().any(|finding| finding.rule == info.name);
            let others = heavier_than_a_note(&checked.1).into_iter().any(|rule| rule != info.name);
            if !is_found || others {
                wrong.push(format!("{}:\n{}", info.name, shown(&checked, &text)));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn no_good_example_and_none_that_looks_like_a_bad_one_is_found() {
    let host = machine();
    let mut wrong = Vec::new();
    for info in rules::ALL.iter().map(|rule| rule.info()) {
        let markdown = info.markdown();
        for text in examples(&markdown, "good").into_iter().chain(examples(&markdown, "fine")) {
            let checked = check_text(&text, &host as &dyn Host);
            if checked.1.iter().any(|finding| finding.rule == info.name)
                || !heavier_than_a_note(&checked.1).is_empty()
            {
                wrong.push(format!("{}:\n{}", info.name, shown(&checked, &text)));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The rules of what is heavier than a note, for a profile with these statements.
fn rules_of(statements: &str) -> Vec<&'static str> {
    let text =
        format!("edition 1\nprofile \"case\" {{\n    root \"$workspace\" read-only\n{statements}\n}}\n");
    heavier_than_a_note(&check_text(&text, &machine()).1)
}

#[test]
fn an_allowance_hides_no_more_than_one_entry() {
    let allowance = "# palisade: allow(secret-in-env) for the test server";
    assert_eq!(rules_of(&format!("{allowance}\nenv {{ pass A_TOKEN }}")), [""; 0]);
    // What is added later.
    assert_eq!(rules_of(&format!("{allowance}\nenv {{ pass A_TOKEN; pass B_TOKEN }}")), ["secret-in-env"]);
    assert_eq!(rules_of(&format!("env {{\npass A_TOKEN; pass B_TOKEN {allowance}\n}}")), ["secret-in-env"]);
    assert_eq!(
        rules_of(&format!("{allowance}\non linux {{ env {{ pass A_TOKEN; pass B_TOKEN }} }}")),
        ["secret-in-env"]
    );
    // What is for another system is looked at there.
    let elsewhere = format!("{allowance}\non linux {{ env {{ pass A_TOKEN }} }}\non macos {{ ipc off }}");
    assert_eq!(rules_of(&elsewhere), [""; 0]);
    // An entry on a line of its own has its own.
    assert_eq!(rules_of(&format!("env {{\n{allowance}\npass A_TOKEN\npass TERM\n}}")), [""; 0]);
    for block in
        ["env {\npass A_TOKEN\n}", "on linux {\nenv { pass A_TOKEN }\n}", "env { pass TERM; pass A_TOKEN }"]
    {
        assert_eq!(
            rules_of(&format!("{allowance}\n{block}")),
            ["unused-allowance", "secret-in-env"],
            "{block}"
        );
    }
}

/// Each of these would not end soon if what is dear were done for every finding, nor could anybody read the report.
#[test]
fn the_report_on_very_many_mistakes_is_short() {
    let many = |line: &dyn Fn(usize) -> String| (0..10_000).map(line).collect::<String>();
    for (statements, rule) in [
        (many(&|n| format!("root \"/none{n}\" read-only\n")), "missing-root"),
        (many(&|n| format!("tools none{n}\n")), "missing-tool"),
        (format!("tools [\n{}]\n", many(&|n| format!("none{n}\n"))), "missing-tool"),
        (many(&|n| format!("deny \"$workspace/*.{n}\"\n")), "literal-pattern"),
        (many(&|n| format!("deny glob \"$workspace/none{n}/*\"\n")), "glob-below-missing"),
        (many(&|_| "deny \"$workspace/x\"\n".to_owned()), "redundant-denial"),
        (many(&|_| "root \"$workspace/src\" read-only\n".to_owned()), "repeated-root"),
        (many(&|_| "tools git\n".to_owned()), "repeated-entry"),
        (many(&|_| "expect { read \"/x\" denied }\n".to_owned()), "repeated-entry"),
        (many(&|n| format!("executable \"/none{n}\"\n")), "executable-outside-roots"),
    ] {
        let found = rules_of(&statements);
        let of_rule = found.iter().filter(|name| **name == rule).count();
        assert!((1..=palisade::lint::MAX_OF_ONE_RULE + 1).contains(&of_rule), "{of_rule} of {rule}");
        assert!(found.len() < 400, "{} findings", found.len());
    }
}
