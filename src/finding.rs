//! Findings: what Palisade has to say about a profile, as data. Reporters show them; nothing prints on its own.

use crate::source::{FileId, Span};
use serde::Serialize;

/// How bad a finding is. The order is the order of weight.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing; needs no answer.
    Note,
    /// Probably not meant.
    Warning,
    /// The profile does not hold what it says, or cannot be compiled.
    Error,
}

impl Severity {
    pub fn name(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// How sure a rule is of what it says. The order is the order of certainty.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Confidence {
    /// It may well be right as it is: only who wrote it can tell.
    Possible,
    /// Told by a name, a custom or a catalogue, and seldom wrong.
    Likely,
    /// Follows from the statements and from what the machine says.
    Certain,
}

impl Confidence {
    pub fn name(self) -> &'static str {
        match self {
            Self::Possible => "possible",
            Self::Likely => "likely",
            Self::Certain => "certain",
        }
    }
}

/// What fixes a rule offers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Offers {
    None,
    /// Only such as are safe, as [`Fix::safe`] says.
    Safe,
    /// Only such as are not.
    Unsafe,
    /// One or the other, as the case is.
    Either,
}

impl Offers {
    /// As pages of rules say it.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Safe => "safe",
            Self::Unsafe => "unsafe",
            Self::Either => "safe or unsafe",
        }
    }

    /// Whether a fix may be offered that is safe, or is not.
    pub fn holds(self, safe: bool) -> bool {
        match self {
            Self::None => false,
            Self::Safe => safe,
            Self::Unsafe => !safe,
            Self::Either => true,
        }
    }
}

/// A place in a source and what is to be said of it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Label {
    pub span: Span,
    pub text: String,
}

/// One replacement in a source text.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Edit {
    pub span: Span,
    pub replacement: String,
}

/// A change that a program can make.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Fix {
    /// What it does, as an order: "remove the statement".
    pub title: String,
    pub edits: Vec<Edit>,
    /// Whether it keeps what the profile means, or only takes away what no statement was to give: such a fix is applied without being
    /// looked at. Any other is shown first.
    pub safe: bool,
}

/// One thing found.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Finding {
    /// The rule's name, as written in `allow(…)`.
    pub rule: &'static str,
    pub severity: Severity,
    /// Lower case, no full stop, the user's own text in backticks.
    pub message: String,
    /// All that it is about, where the message may name only the first few: paths, names or hosts.
    pub subjects: Vec<String>,
    /// The first label is the main place; a finding about no statement has none.
    pub labels: Vec<Label>,
    /// What to do about it.
    pub help: Option<String>,
    pub fix: Option<Fix>,
}

impl Finding {
    pub fn new(rule: &'static str, severity: Severity, message: impl Into<String>) -> Self {
        Self {
            rule,
            severity,
            message: message.into(),
            subjects: Vec::new(),
            labels: Vec::new(),
            help: None,
            fix: None,
        }
    }

    /// Adds a place. The first one added is the main one.
    pub fn at(mut self, span: Span, text: impl Into<String>) -> Self {
        self.labels.push(Label { span, text: text.into() });
        self
    }

    /// Adds what it is about, each by its name.
    pub fn about<T: ToString>(mut self, subjects: &[T]) -> Self {
        self.subjects.extend(subjects.iter().map(T::to_string));
        self
    }

    pub fn help(mut self, text: impl Into<String>) -> Self {
        self.help = Some(text.into());
        self
    }

    pub fn fix(mut self, title: impl Into<String>, edits: Vec<Edit>, safe: bool) -> Self {
        self.fix = Some(Fix { title: title.into(), edits, safe });
        self
    }

    /// The same finding where the files have other ids.
    pub fn with_files(mut self, id: impl Fn(FileId) -> FileId) -> Self {
        let labels = self.labels.iter_mut().map(|label| &mut label.span);
        let edits = self.fix.iter_mut().flat_map(|fix| fix.edits.iter_mut()).map(|edit| &mut edit.span);
        labels.chain(edits).for_each(|span| span.file = id(span.file));
        self
    }

    /// The main place.
    pub fn span(&self) -> Option<Span> {
        self.labels.first().map(|label| label.span)
    }
}

/// What a rule says of itself.
#[derive(Debug, Clone, Copy)]
pub struct RuleInfo {
    /// Reads well after "allow": `broad-root`.
    pub name: &'static str,
    pub severity: Severity,
    /// Whether what it finds is so, apart from how bad it is.
    pub confidence: Confidence,
    /// Whether what it finds can be fixed by the program, and what that does to the meaning.
    pub fix: Offers,
    /// Whether a comment at the statement can allow it. What cannot be compiled cannot be allowed.
    pub allowable: bool,
    /// The doc comment of the rule's file, as it stands there: Markdown, each line behind one blank.
    pub documentation: &'static str,
}

impl RuleInfo {
    /// A finding of this rule, at its own severity.
    pub fn finding(&self, message: impl Into<String>) -> Finding {
        Finding::new(self.name, self.severity, message)
    }

    /// The documentation, as Markdown.
    pub fn markdown(&self) -> String {
        let line = |line: &'static str| line.strip_prefix(' ').unwrap_or(line);
        self.documentation.lines().map(|text| format!("{}\n", line(text))).collect()
    }

    /// The first sentence of the documentation.
    pub fn summary(&self) -> &'static str {
        self.documentation.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default()
    }
}

/// Sorts by place, then by rule and message, and drops repetitions: the order in which stages ran never shows.
pub fn sort(findings: &mut Vec<Finding>) {
    findings.sort_by(|a, b| {
        (a.span(), a.rule, &a.message, std::cmp::Reverse(a.severity), &a.subjects).cmp(&(
            b.span(),
            b.rule,
            &b.message,
            std::cmp::Reverse(b.severity),
            &b.subjects,
        ))
    });
    findings.dedup();
}
