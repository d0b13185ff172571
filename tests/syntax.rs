//! Parsing, as its users see it: what is underlined, what is said of it, and what is still understood.

#[path = "syntax/hostile.rs"]
mod hostile;
#[path = "syntax/laws.rs"]
mod laws;
#[path = "syntax/layout.rs"]
mod layout;
#[path = "syntax/mistakes.rs"]
mod mistakes;
#[path = "syntax/trees.rs"]
mod trees;

use palisade::finding::Finding;
use palisade::source::{FileId, Sources};
use palisade::syntax::{Parsed, parse};

/// A text that has been parsed.
pub struct Case {
    pub sources: Sources,
    pub id: FileId,
    pub parsed: Parsed,
}

pub fn case(text: &str) -> Case {
    let mut sources = Sources::new();
    let id = sources.add("x.palisade", None, text);
    let parsed = parse(&sources, id);
    Case { sources, id, parsed }
}

/// The statements inside a profile.
pub fn body(statements: &str) -> Case {
    case(&format!("edition 1\nprofile \"p\" {{\n{statements}\n}}\n"))
}

impl Case {
    /// Each finding as its message and the text it underlines, in the order of places.
    pub fn found(&self) -> Vec<(String, &str)> {
        self.parsed
            .findings
            .iter()
            .map(|finding| (finding.message.clone(), self.underlined(finding)))
            .collect()
    }

    pub fn underlined(&self, finding: &Finding) -> &str {
        finding.span().map(|span| self.sources.text(span)).unwrap_or_default()
    }

    pub fn only(&self) -> &Finding {
        assert_eq!(self.parsed.findings.len(), 1, "{:#?}", self.found());
        &self.parsed.findings[0]
    }

    /// The text after the fix of every finding that has one.
    pub fn fixed(&self) -> String {
        let mut text = self.sources.file(self.id).text.to_string();
        let fixes = self.parsed.findings.iter().filter_map(|finding| finding.fix.as_ref());
        let mut edits: Vec<_> = fixes.flat_map(|fix| &fix.edits).collect();
        edits.sort_by_key(|edit| std::cmp::Reverse(edit.span.start));
        for edit in edits {
            text.replace_range(edit.span.range(), &edit.replacement);
        }
        text
    }

    /// Keywords of the statements that were understood.
    pub fn keywords(&self) -> Vec<&str> {
        let file = self.parsed.file.as_ref().expect("a file");
        file.statements.iter().map(|statement| statement.kind.keyword()).collect()
    }
}
