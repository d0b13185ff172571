//! Where a profile's paths begin on one machine. Left out of a text, it is the same for every machine that agrees otherwise.

use crate::finding::Finding;

/// Where the workspace and the home are; absolute paths.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Whereabouts {
    pub workspace: String,
    pub home: String,
}

impl Whereabouts {
    /// The text with `$workspace` and `~` for the paths of this machine.
    pub fn leave_out(&self, text: &str) -> String {
        let text = replaced(text, &self.workspace, "$workspace");
        replaced(&text, &self.home, "~")
    }

    /// The finding with every text that people read so changed. What a fix writes stays as it is.
    pub fn leave_out_of(&self, mut finding: Finding) -> Finding {
        let texts = finding.labels.iter_mut().map(|label| &mut label.text);
        for text in texts.chain([&mut finding.message]).chain(&mut finding.help).chain(&mut finding.subjects)
        {
            *text = self.leave_out(text);
        }
        finding
    }
}

/// Whether a path can go on with that character in the same component.
fn goes_on(character: char) -> bool {
    character.is_alphanumeric() || matches!(character, '-' | '_' | '.')
}

/// Every `path` in a text that begins and ends as a path does, replaced. The root of a file system is in every path, and is left.
fn replaced(text: &str, path: &str, name: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(path).filter(|_| path.len() > 1) {
        let (before, found) = rest.split_at(at);
        let after = found.get(path.len()..).unwrap_or_default();
        out.push_str(before);
        let begins = !out.ends_with(|c| goes_on(c) || c == '/');
        let ends = !after.starts_with(goes_on);
        out.push_str(if begins && ends { name } else { path });
        rest = after;
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_paths_are_left_out() {
        let on = Whereabouts { workspace: "/home/dev/project".into(), home: "/home/dev".into() };
        for (text, left) in [
            ("`/home/dev/project/x` and `/home/dev`", "`$workspace/x` and `~`"),
            ("/home/developer /mnt/home/dev /home/dev/.ssh", "/home/developer /mnt/home/dev ~/.ssh"),
            ("/home/dev/projects", "~/projects"),
            ("/home/dev/project", "$workspace"),
        ] {
            assert_eq!(on.leave_out(text), left);
        }
        let root = Whereabouts { workspace: "/".into(), home: String::new() };
        assert_eq!(root.leave_out("/a/b"), "/a/b");
    }
}
