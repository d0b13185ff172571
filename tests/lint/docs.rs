//! The pages of `docs/rules/` say what the rules say of themselves.

use std::collections::BTreeMap;
use std::path::Path;

/// Writes them: `PALISADE_WRITE=1 cargo test --test lint docs`.
const WRITE: &str = "PALISADE_WRITE";

#[test]
fn the_pages_in_docs_are_those_of_the_rules() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/rules");
    let pages = palisade::lint::pages();
    let there: BTreeMap<String, String> = match std::fs::read_dir(&directory) {
        Ok(entries) => entries
            .map(|entry| {
                let path = entry.expect("a readable directory").path();
                let name = path.file_name().expect("a name").to_string_lossy().into_owned();
                (name, std::fs::read_to_string(&path).expect("a readable page"))
            })
            .collect(),
        Err(_) => BTreeMap::new(),
    };
    if std::env::var_os(WRITE).is_some() {
        std::fs::create_dir_all(&directory).expect("a writable source tree");
        for name in there.keys().filter(|name| !pages.contains_key(*name)) {
            std::fs::remove_file(directory.join(name)).expect("a writable directory");
        }
        for (name, text) in pages.iter().filter(|(name, text)| there.get(*name) != Some(text)) {
            std::fs::write(directory.join(name), text).expect("a writable page");
        }
        return;
    }
    let names = pages.keys().chain(there.keys());
    let mut stale: Vec<&String> = names.filter(|name| pages.get(*name) != there.get(*name)).collect();
    stale.sort();
    stale.dedup();
    assert!(
        stale.is_empty(),
        "stale in docs/rules: {stale:?}; write them with `{WRITE}=1 cargo test --test lint docs`"
    );
}
