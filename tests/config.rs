//! `palisade.toml`: its schema is that of the reader, and says the same of a text as the reader does.

use palisade::config::{read, schema};
use palisade::lint;
use palisade::source::Sources;
use proptest::prelude::*;
use serde_json::Value;
use std::path::Path;

/// Writes the schema: `PALISADE_WRITE=1 cargo test --test config schema`.
const WRITE: &str = "PALISADE_WRITE";

fn validator() -> jsonschema::Validator {
    let schema: Value = serde_json::from_str(&schema().expect("a schema")).expect("JSON");
    jsonschema::validator_for(&schema).expect("a schema that is one")
}

fn is_read(text: &str) -> bool {
    let mut sources = Sources::new();
    let file = sources.add("palisade.toml", None, text);
    read(&sources, file).is_ok()
}

#[test]
fn the_schema_in_docs_is_that_of_the_reader() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/schemas/palisade-toml-1.json");
    let schema = schema().expect("a schema");
    if std::env::var_os(WRITE).is_some() {
        std::fs::write(&path, schema).expect("a writable source tree");
        return;
    }
    let there = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(there == schema, "stale: write it with `{WRITE}=1 cargo test --test config schema`");
}

#[test]
fn every_rule_of_check_is_in_the_schema_with_what_it_can_be_set_to() {
    let schema: Value = serde_json::from_str(&schema().unwrap()).unwrap();
    let rules = schema["$defs"]["rules"]["properties"].as_object().unwrap();
    let names: Vec<&str> = lint::infos_of_check().map(|info| info.name).collect();
    assert_eq!(rules.len(), names.len());
    for info in lint::infos_of_check() {
        for setting in ["off", "note", "warning", "error"] {
            let said = rules[info.name]["enum"].as_array().unwrap().contains(&Value::from(setting));
            let text = format!("[rules]\n{} = \"{setting}\"\n", info.name);
            assert_eq!(said, is_read(&text), "{text}");
        }
    }
}

#[test]
fn the_examples_in_the_documentation_can_be_meant() {
    for (text, least) in [(include_str!("../docs/check.md"), 1), (include_str!("../README.md"), 1)] {
        let examples: Vec<&str> =
            text.split("```toml\n").skip(1).filter_map(|part| Some(part.split_once("\n```")?.0)).collect();
        assert!(examples.len() >= least);
        for example in examples {
            both(example, true);
        }
    }
    let page = include_str!("../docs/check.md");
    let schema: Value = serde_json::from_str(&schema().unwrap()).unwrap();
    for key in schema["properties"].as_object().unwrap().keys().filter(|key| *key != "$schema") {
        assert!(page.contains(key.as_str()), "`{key}` is not documented");
    }
}

/// Both say so, and of what.
#[track_caller]
fn both(text: &str, expected: bool) {
    let value: Value = toml::from_str(text).expect("TOML");
    assert_eq!(validator().is_valid(&value), expected, "the schema of\n{text}");
    assert_eq!(is_read(text), expected, "the reader of\n{text}");
}

#[test]
fn the_schema_and_the_reader_agree() {
    for good in [
        "",
        "fail-on = \"note\"",
        "format = \"sarif\"\nhosts = []\nexclude = [\"a/**\", \"./b\"]\nbaseline = \"../x\"",
        "\"$schema\" = \"x\"",
        "[rules]\nbroad-root = \"off\"\nmissing-root = \"error\"\nunused-param = \"error\"",
        "[[overrides]]\npaths = [\"a\"]\n[overrides.rules]\nany-port = \"note\"",
        "overrides = []",
        "rules = {}",
    ] {
        both(good, true);
    }
    for bad in [
        "fail_on = \"note\"",
        "fail-on = \"off\"",
        "fail-on = 1",
        "format = \"xml\"",
        "hosts = \"a\"",
        "hosts = [\"\"]",
        "hosts = [1]",
        "exclude = [\"/a\"]",
        "exclude = [\"a/../b\"]",
        "exclude = [\"\"]",
        "baseline = \"\"",
        "baseline = true",
        "rules = []",
        "[rules]\nnope = \"off\"",
        "[rules]\nno-sandbox = \"error\"",
        "[rules]\nbroad-root = \"warn\"",
        "[rules]\nbroad-root = 1",
        "[rules]\nmissing-root = \"warning\"",
        "[[overrides]]\npaths = [\"a\"]",
        "[[overrides]]\nrules.any-port = \"off\"",
        "[[overrides]]\npaths = []\nrules = {}",
        "[[overrides]]\npaths = [\"a\"]\nrules = {}\nx = 1",
        "[overrides]\npaths = [\"a\"]\nrules = {}",
        "overrides = [1]",
    ] {
        both(bad, false);
    }
}

/// A value of any kind, with words that mean something among its texts.
fn value() -> impl Strategy<Value = String> {
    let text =
        prop::sample::select(vec!["off", "note", "warning", "error", "sarif", "a/*", "../x", "/x", "", "x"]);
    let leaf = prop_oneof![
        text.prop_map(|text| format!("\"{text}\"")),
        Just("1".to_owned()),
        Just("true".to_owned()),
        Just("{}".to_owned()),
        Just("{ broad-root = \"off\" }".to_owned()),
        Just("{ missing-root = \"off\" }".to_owned()),
        Just("{ paths = [\"a\"], rules = {} }".to_owned()),
    ];
    prop_oneof![
        leaf.clone(),
        prop::collection::vec(leaf, 0..3).prop_map(|all| format!("[{}]", all.join(", ")))
    ]
}

proptest! {
    #[test]
    fn of_any_table_they_say_the_same(
        keys in prop::collection::btree_map(
            prop::sample::select(vec!["fail-on", "format", "hosts", "exclude", "baseline", "rules", "overrides", "extra"]),
            value(),
            0..4,
        ),
    ) {
        let text: String = keys.iter().map(|(key, value)| format!("{key} = {value}\n")).collect();
        let value: Value = toml::from_str(&text).unwrap();
        prop_assert_eq!(validator().is_valid(&value), is_read(&text), "{}", text);
    }
}
