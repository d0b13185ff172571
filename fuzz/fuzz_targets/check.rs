//! A text as a profile, or as the statements of one, on two recorded machines: check, compile, and read back what was written.
#![no_main]

#[path = "../../tests/support/laws.rs"]
mod laws;

use palisade::host::{RecordedHost, Remembering};
use std::sync::LazyLock;

static LINUX: LazyLock<RecordedHost> =
    LazyLock::new(|| machine(include_str!("../../tests/hosts/examples.yaml")));
static MAC: LazyLock<RecordedHost> = LazyLock::new(|| machine(include_str!("../../tests/hosts/mac.yaml")));
/// Tools are the same for every text, and looked for once.
static HOSTS: LazyLock<[Remembering<'static>; 2]> =
    LazyLock::new(|| [Remembering::new(&*LINUX), Remembering::new(&*MAC)]);

fn machine(text: &str) -> RecordedHost {
    RecordedHost::from_yaml(text, "recorded").expect("a machine")
}

libfuzzer_sys::fuzz_target!(|text: &str| {
    // So that a mutation need not find the head again.
    let whole = match text.contains("edition") {
        true => text.to_owned(),
        false => format!("edition 1\nprofile \"case\" {{\n{text}\n}}\n"),
    };
    laws::checked_text(&whole, &LINUX, &HOSTS[0]);
    laws::checked_text(&whole, &MAC, &HOSTS[1]);
});
