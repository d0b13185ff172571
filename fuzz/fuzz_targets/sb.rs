//! A text as a Seatbelt profile: read, evaluate, lint, print, read again.
#![no_main]

#[path = "../../tests/support/laws.rs"]
mod laws;

libfuzzer_sys::fuzz_target!(|text: &str| laws::seatbelt_text(text));
