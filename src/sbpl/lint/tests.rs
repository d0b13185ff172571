//! Every rule's own examples: the bad one is found by it, the good one is not.

use super::*;
use crate::sbpl::{NoImports, Params, evaluate};

fn found(text: &str) -> Vec<Finding> {
    let mut sources = Sources::new();
    let file = sources.add("example.sb", None, text);
    let evaluation = evaluate(&mut sources, file, &Params::default(), &NoImports);
    run(&sources, &evaluation)
}

fn examples(markdown: &str, kind: &str) -> Vec<String> {
    let fence = format!("```sbpl {kind}\n");
    let parts = markdown.split(fence.as_str()).skip(1);
    parts.filter_map(|part| part.split_once("\n```\n").map(|(text, _)| format!("{text}\n"))).collect()
}

#[test]
fn every_rule_documents_itself_with_examples_that_hold() {
    for info in ALL.iter().map(|rule| rule.info()) {
        let markdown = info.markdown();
        for heading in ["## What it does", "## Why it is bad", "## Example", "## What to do"] {
            assert!(markdown.contains(&format!("\n{heading}\n")), "{}: {heading}", info.name);
        }
        let (bad, good) = (examples(&markdown, "bad"), examples(&markdown, "good"));
        assert!(!bad.is_empty() && !good.is_empty(), "{}", info.name);
        for text in bad {
            let findings = found(&text);
            assert!(findings.iter().any(|finding| finding.rule == info.name), "{}: {findings:#?}", info.name);
        }
        for text in good {
            let findings = found(&text);
            assert!(findings.iter().all(|finding| finding.rule != info.name), "{}: {findings:#?}", info.name);
            let errors =
                findings.iter().filter(|finding| finding.severity == crate::finding::Severity::Error);
            assert_eq!(errors.count(), 0, "{}: {findings:#?}", info.name);
        }
    }
}

#[test]
fn rules_are_sorted_and_no_name_is_one_of_check() {
    let names: Vec<_> = ALL.iter().map(|rule| rule.info().name).collect();
    assert!(names.windows(2).all(|pair| pair[0] < pair[1]), "{names:?}");
    for name in names {
        assert!(crate::lint::rules::ALL.iter().all(|rule| rule.info().name != name), "{name}");
    }
}
