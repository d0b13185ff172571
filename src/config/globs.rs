//! Patterns of files, relative to the directory of the settings.

use camino::Utf8Path;
use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

/// Patterns, one of which is to match a path or a directory above it. None match nothing.
#[derive(Debug, Clone, Default)]
pub struct Globs(GlobSet);

impl Globs {
    /// # Errors
    /// What is wrong with the first pattern that can match nothing, and its index.
    pub fn new<'a>(patterns: impl IntoIterator<Item = &'a str>) -> Result<Self, (usize, String)> {
        let mut set = GlobSetBuilder::new();
        for (at, pattern) in patterns.into_iter().enumerate() {
            let components = || Utf8Path::new(pattern).components();
            if pattern.is_empty() {
                return Err((at, "an empty pattern matches nothing".to_owned()));
            }
            if pattern.starts_with('/') || components().any(|part| part == camino::Utf8Component::ParentDir) {
                let message = format!("`{pattern}` leads out of the directory of this file");
                return Err((at, message));
            }
            // `./a` and `a/` are other spellings of `a`, and would match nothing.
            let plain = pattern.trim_start_matches("./").trim_end_matches('/');
            let glob = GlobBuilder::new(plain).literal_separator(true).build();
            set.add(glob.map_err(|error| (at, format!("`{pattern}` is no pattern: {}", error.kind())))?);
        }
        set.build().map(Self).map_err(|error| (0, error.to_string()))
    }

    /// Whether one matches the path, which is relative to the same directory, or a directory that it is in.
    pub fn matches(&self, path: &Utf8Path) -> bool {
        path.ancestors().filter(|path| !path.as_str().is_empty()).any(|path| self.0.is_match(path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_matches_files_and_what_is_below_directories() {
        for (pattern, path, expected) in [
            ("vendor", "vendor/a/b.palisade", true),
            ("vendor/", "vendor/a.palisade", true),
            ("./vendor", "vendor/a.palisade", true),
            ("*.palisade", "a.palisade", true),
            ("*.palisade", "x/a.palisade", false),
            ("**/*.palisade", "x/y/a.palisade", true),
            ("x/*", "x/y/a.palisade", true),
            ("x/{a,b}.palisade", "x/b.palisade", true),
            ("vendor", "vendored/a.palisade", false),
        ] {
            let globs = Globs::new([pattern]).unwrap();
            assert_eq!(globs.matches(Utf8Path::new(path)), expected, "{pattern} {path}");
        }
        assert!(!Globs::default().matches(Utf8Path::new("a")));
    }

    #[test]
    fn what_can_match_nothing_is_refused() {
        for pattern in ["", "/etc", "../x", "a/../b", "[", "{a"] {
            assert_eq!(Globs::new(["a", pattern]).unwrap_err().0, 1, "{pattern}");
        }
    }
}
