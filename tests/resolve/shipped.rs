//! The fragments and examples that ship with the program.

use crate::{options, resolve_with};
use palisade::policy::System;
use std::fs;

fn examples() -> Vec<(String, String)> {
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/policies/examples");
    let mut examples: Vec<_> = fs::read_dir(directory)
        .expect("the examples")
        .map(|entry| entry.expect("an entry").path())
        .map(|path| {
            (
                path.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
                fs::read_to_string(&path).expect("a text"),
            )
        })
        .collect();
    examples.sort();
    examples
}

#[test]
fn examples_resolve_for_both_systems() {
    let examples = examples();
    assert!(examples.len() >= 5);
    for (name, text) in examples {
        for target in [System::Linux, System::Macos] {
            let case = resolve_with(&text, &[], &palisade::resolve::Options { target, ..options() });
            let policy = case.policy();
            assert_eq!(policy.name.value, name, "named as its file");
            assert!(policy.description.is_some(), "{name}");
            assert!(!policy.roots.is_empty() && !policy.expectations.is_empty(), "{name}");
            assert!(policy.params.iter().all(|param| param.uses > 0), "{name}");
            assert!(text.starts_with("edition 1\n\n# "), "{name} begins with what it is for");
        }
    }
}

#[test]
fn every_standard_fragment_can_be_used_together() {
    let uses: String = palisade::resolve::standard::FRAGMENTS
        .iter()
        .map(|(name, _)| format!("use \"std/{name}\"\n"))
        .collect();
    let case = resolve_with(&crate::profile(&uses), &[], &options());
    assert!(case.policy().tools.iter().any(|tool| tool.name == "git"));
}

#[test]
fn the_recipes_are_profiles() {
    let text = include_str!("../../docs/recipes.md");
    let recipes: Vec<&str> =
        text.split("```palisade\n").skip(1).filter_map(|rest| rest.split("\n```").next()).collect();
    assert_eq!(recipes.len(), 4);
    for recipe in recipes {
        let case = resolve_with(recipe, &[], &options());
        assert!(!case.policy().roots.is_empty(), "{recipe}");
    }
}
