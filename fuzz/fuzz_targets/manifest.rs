//! A text as a manifest: the quick reader beside the one of all of YAML.
#![no_main]

#[path = "../../tests/support/laws.rs"]
mod laws;

libfuzzer_sys::fuzz_target!(|text: &str| laws::manifest_text(text, |text| serde_yaml::from_str(text).ok()));
