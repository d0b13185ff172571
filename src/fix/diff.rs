//! What would change, as a unified diff.

use similar::TextDiff;

/// The difference between two texts of one file, for `patch -p0`; empty where there is none. `name` is what the file is called.
pub fn unified(name: &str, before: &str, after: &str) -> String {
    if before == after {
        return String::new();
    }
    TextDiff::from_lines(before, after).unified_diff().context_radius(3).header(name, name).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shows_the_lines_that_change_and_that_the_last_has_no_end() {
        assert_eq!(unified("x", "a\n", "a\n"), "");
        assert_eq!(
            unified("x", "a\nb\nc", "a\nc"),
            "--- x\n+++ x\n@@ -1,3 +1,2 @@\n a\n-b\n c\n\\ No newline at end of file\n"
        );
    }
}
