//! The fragments that ship with the program, `policies/std/`, held in the binary.

/// Name (as in `use "std/NAME"`) and text of each, sorted by name.
pub const FRAGMENTS: [(&str, &str); 22] = [
    ("build", include_str!("../../policies/std/build.palisade")),
    ("command", include_str!("../../policies/std/command.palisade")),
    ("git", include_str!("../../policies/std/git.palisade")),
    ("inspection", include_str!("../../policies/std/inspection.palisade")),
    ("net/crates", include_str!("../../policies/std/net/crates.palisade")),
    ("net/debian", include_str!("../../policies/std/net/debian.palisade")),
    ("net/docker-hub", include_str!("../../policies/std/net/docker-hub.palisade")),
    ("net/ghcr", include_str!("../../policies/std/net/ghcr.palisade")),
    ("net/github", include_str!("../../policies/std/net/github.palisade")),
    ("net/github-api-read", include_str!("../../policies/std/net/github-api-read.palisade")),
    ("net/go", include_str!("../../policies/std/net/go.palisade")),
    ("net/maven", include_str!("../../policies/std/net/maven.palisade")),
    ("net/npm", include_str!("../../policies/std/net/npm.palisade")),
    ("net/playwright", include_str!("../../policies/std/net/playwright.palisade")),
    ("net/pypi", include_str!("../../policies/std/net/pypi.palisade")),
    ("net/rubygems", include_str!("../../policies/std/net/rubygems.palisade")),
    ("net/ubuntu", include_str!("../../policies/std/net/ubuntu.palisade")),
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
        let top = std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/policies/std"));
        let mut names = Vec::new();
        let mut directories = vec![top.to_path_buf()];
        while let Some(directory) = directories.pop() {
            for entry in std::fs::read_dir(directory).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    directories.push(path);
                    continue;
                }
                let below = path.strip_prefix(top).unwrap().to_str().unwrap();
                names.push(below.strip_suffix(".palisade").expect("only profiles live there").to_owned());
            }
        }
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
