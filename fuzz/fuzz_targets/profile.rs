//! Bytes as a profile: load, parse, format, parse again.
#![no_main]

#[path = "../../tests/support/laws.rs"]
mod laws;

use palisade::source::Sources;
use palisade::syntax;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let mut sources = Sources::new();
    if let Ok(id) = syntax::load(&mut sources, "x.palisade", None, bytes.to_vec()) {
        laws::profile_text(&sources.file(id).text);
    }
});
