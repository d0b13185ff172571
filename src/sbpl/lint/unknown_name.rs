use super::Context;
use crate::finding::{Edit, Finding};
use crate::sbpl::vocabulary;
use crate::source::Span;
use crate::syntax::{nearest, shown};

sb_rule! {
    /// A name that means nothing.
    ///
    /// ## What it does
    ///
    /// Reports operations, filters, modifiers, functions and values that are not known.
    ///
    /// ## Why it is bad
    ///
    /// One name that the library does not know makes the whole profile fail, and nothing runs. A name that a newer
    /// system knows cannot be judged here.
    ///
    /// ## Example
    ///
    /// ```sbpl bad
    /// (version 1)
    /// (deny default)
    /// (allow file-raed* (subpath "/usr"))
    /// ```
    ///
    /// ```sbpl bad
    /// (version 1)
    /// (deny default)
    /// (allow file-read* (subpth "/usr"))
    /// ```
    ///
    /// ```sbpl good
    /// (version 1)
    /// (deny default)
    /// (allow file-read* (subpath "/usr"))
    /// ```
    ///
    /// ## What to do
    ///
    /// Correct the name. What an import defines is known once the import is read: `--import-dir DIR`.
    name: "unknown-name",
    severity: Error,
    confidence: Certain,
    fix: Unsafe,
    check: check,
}

/// What was looked for under a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Operation,
    /// What a list begins with: a form or a filter.
    Form,
    Modifier,
    Value,
}

/// The known name that one is near to.
pub fn near(kind: Kind, name: &str) -> Option<&'static str> {
    match kind {
        Kind::Operation | Kind::Value => nearest(name, vocabulary::operation_names()),
        Kind::Form => nearest(name, vocabulary::filter_names().chain(FORMS)),
        Kind::Modifier => nearest(name, vocabulary::modifier_names()),
    }
}

/// The finding about a word that is none of those a filter or modifier takes.
pub fn no_value(of: &str, word: &str, span: Span, words: &[&str]) -> Finding {
    let help = match nearest(word, words.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None if words.len() <= 12 => format!("one of: {}", words.join(", ")),
        None => "the words are those of the system's public headers".to_owned(),
    };
    INFO.finding(format!("`{}` is no value of `{}`", shown(word), shown(of))).at(span, "not known").help(help)
}

/// The finding about one name. The evaluator makes it: only there is known what was looked for.
pub fn finding(kind: Kind, name: &str, span: Span) -> Finding {
    let what = match kind {
        Kind::Operation => "operation",
        Kind::Form => "filter or form",
        Kind::Modifier => "modifier",
        Kind::Value => "name",
    };
    let finding = INFO.finding(format!("unknown {what} `{}`", shown(name))).at(span, "not known");
    match near(kind, name) {
        Some(near) => {
            let edit = Edit { span, replacement: near.into() };
            finding.help(format!("did you mean `{near}`?")).fix(format!("write `{near}`"), vec![edit], false)
        }
        None => finding.help("if an import defines it, let the import be read: `--import-dir DIR`"),
    }
}

/// What a list may begin with, beside filters.
const FORMS: [&str; 14] = [
    "allow",
    "deny",
    "define",
    "import",
    "let",
    "param",
    "regex-quote",
    "require-all",
    "require-any",
    "require-not",
    "string-append",
    "version",
    "when",
    "with",
];

/// The evaluator has told of them all.
fn check(_context: &Context<'_>, _findings: &mut Vec<Finding>) {}
