//! The fragments that ship with the program, `policies/std/`, held in the binary.

/// Name (as in `use "std/NAME"`) and text of each, sorted by name.
pub const FRAGMENTS: [(&str, &str); 9] = [
    ("build", include_str!("../../policies/std/build.palisade")),
    ("command", include_str!("../../policies/std/command.palisade")),
    ("git", include_str!("../../policies/std/git.palisade")),
    ("inspection", include_str!("../../policies/std/inspection.palisade")),
    ("node", include_str!("../../policies/std/node.palisade")),
    ("python", include_str!("../../policies/std/python.palisade")),
    ("rust", include_str!("../../policies/std/rust.palisade")),
    ("secrets", include_str!("../../policies/std/secrets.palisade")),
    ("write", include_str!("../../policies/std/write.palisade")),
];

/// The text of the fragment of that name.
pub fn text(name: &str) -> Option<&'static str> {
    FRAGMENTS.iter().find(|(of, _)| *of == name).map(|(_, text)| *text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Sources;

    #[test]
    fn every_file_in_policies_std_is_in_the_table() {
        let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/policies/std");
        let mut names: Vec<String> = std::fs::read_dir(directory)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .map(|name| name.strip_suffix(".palisade").expect("only profiles live there").to_owned())
            .collect();
        names.sort();
        assert_eq!(names, FRAGMENTS.map(|(name, _)| name.to_owned()));
    }

    #[test]
    fn every_fragment_parses_and_is_named_as_its_file() {
        for (name, text) in FRAGMENTS {
            let mut sources = Sources::new();
            let id = sources.add(format!("std/{name}"), None, text);
            let parsed = crate::syntax::parse(&sources, id);
            assert_eq!(parsed.findings, [], "std/{name}");
            let file = parsed.file.unwrap();
            assert_eq!(file.name.value, name);
            assert_eq!(file.kind, crate::syntax::ast::FileKind::Fragment);
        }
    }
}
