//! What an evaluated profile is made of: rules, filters and texts that may hang on a parameter nobody gave.

use super::decide::regex::Pattern;
use super::vocabulary::{Attribute, Form, ModifierInfo, Operation};
use crate::source::Span;
use crate::syntax::shown;
use std::fmt;
use std::sync::Arc;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Effect {
    Allow,
    Deny,
}

impl Effect {
    pub fn name(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Deny => "deny",
        }
    }
}

/// One `(allow …)` or `(deny …)`, in the order of evaluation.
#[derive(Debug, Clone)]
pub struct Rule {
    pub effect: Effect,
    /// At least one.
    pub operations: Arc<[Operation]>,
    /// One of them must match; none at all makes the rule a fallback.
    pub filters: Arc<[Filter]>,
    pub modifiers: Arc<[Modifier]>,
    /// The form that made it, in the file that holds it.
    pub span: Span,
    /// What decides whether there is this rule, and is not known.
    pub condition: Option<Unknown>,
}

/// What shows at run time only.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Unknown {
    /// A parameter that nobody gave.
    Parameter(Arc<str>),
    /// Whether a name is defined, of which neither the profile nor the vocabulary here knows.
    Defined(Arc<str>),
    /// What a function gives that an import may define which was not read.
    Call(Arc<str>),
}

/// In the middle of a sentence.
impl fmt::Display for Unknown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Parameter(name) => write!(f, "the parameter `{}`, which is not given", shown(name)),
            Self::Defined(name) => write!(f, "whether `{}` is defined, which is not known", shown(name)),
            Self::Call(name) => write!(f, "`{}`, which is not known", shown(name)),
        }
    }
}

impl Rule {
    pub fn has_modifier(&self, name: &str) -> bool {
        self.modifiers.iter().any(|modifier| modifier.info.name == name)
    }
}

#[derive(Debug, Clone)]
pub struct Modifier {
    pub info: &'static ModifierInfo,
    pub argument: Option<Value>,
    pub span: Span,
}

/// What a modifier takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    Text(Text),
    Word(Arc<str>),
    Number(i64),
}

/// A filter, its place, and its size, which is bounded where filters are made.
#[derive(Debug, Clone)]
pub struct Filter {
    pub span: Span,
    pub test: Test,
    pub(super) nodes: usize,
    pub(super) depth: usize,
}

#[derive(Debug, Clone)]
pub enum Test {
    Text {
        attribute: &'static Attribute,
        form: Form,
        value: Text,
    },
    Regex {
        attribute: &'static Attribute,
        pattern: Arc<Pattern>,
    },
    Word {
        attribute: &'static Attribute,
        value: Arc<str>,
    },
    Number {
        attribute: &'static Attribute,
        value: i64,
    },
    /// An end of a connection (`local`, `remote`), its protocol, and `"host:port"`.
    Network {
        attribute: &'static Attribute,
        protocol: &'static str,
        address: Option<Text>,
    },
    /// What a function gives that an import may define which was not read.
    Opaque {
        name: Arc<str>,
    },
    All(Arc<[Filter]>),
    Any(Arc<[Filter]>),
    Not(Arc<Filter>),
}

impl Filter {
    pub(super) fn new(span: Span, test: Test) -> Self {
        let (nodes, depth) = match &test {
            Test::All(inner) | Test::Any(inner) => (
                inner.iter().fold(0usize, |sum, filter| sum.saturating_add(filter.nodes)),
                inner.iter().map(|filter| filter.depth).max().unwrap_or_default(),
            ),
            Test::Not(inner) => (inner.nodes, inner.depth),
            _ => (0, 0),
        };
        Self { span, test, nodes: nodes.saturating_add(1), depth: depth + 1 }
    }

    /// As [`Self::walk`], with filters that may be kept.
    pub fn visit<'a>(&'a self, visit: &mut impl FnMut(&'a Filter)) {
        match &self.test {
            Test::All(inner) | Test::Any(inner) => inner.iter().for_each(|filter| filter.visit(visit)),
            Test::Not(inner) => inner.visit(visit),
            _ => visit(self),
        }
    }

    /// Calls `visit` for every test that is none of other filters, and says whether it stands under an odd number of `require-not`.
    pub fn walk(&self, negated: bool, visit: &mut impl FnMut(&Filter, bool)) {
        match &self.test {
            Test::All(inner) | Test::Any(inner) => {
                inner.iter().for_each(|filter| filter.walk(negated, visit));
            }
            Test::Not(inner) => inner.walk(!negated, visit),
            _ => visit(self, negated),
        }
    }
}

/// A text, known or in part unknown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Text {
    parts: Arc<[Part]>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    Bytes(Arc<[u8]>),
    /// What shows at run time only; `quoted` where `regex-quote` was to escape it.
    Unknown {
        what: Unknown,
        quoted: bool,
    },
    /// What was written in a way whose meaning is not known.
    Torn(Arc<[u8]>),
}

impl Text {
    pub fn known(bytes: impl Into<Arc<[u8]>>) -> Self {
        Self { parts: [Part::Bytes(bytes.into())].into() }
    }

    pub fn torn(bytes: Arc<[u8]>) -> Self {
        Self { parts: [Part::Torn(bytes)].into() }
    }

    pub fn parameter(name: &str) -> Self {
        Self::not_known(Unknown::Parameter(name.into()))
    }

    pub fn not_known(what: Unknown) -> Self {
        Self { parts: [Part::Unknown { what, quoted: false }].into() }
    }

    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// The bytes, where all are known.
    pub fn bytes(&self) -> Option<&[u8]> {
        match &*self.parts {
            [Part::Bytes(bytes)] => Some(bytes),
            _ => None,
        }
    }

    /// The first part that is not known.
    pub fn unknown(&self) -> Option<&Unknown> {
        self.parts.iter().find_map(|part| match part {
            Part::Unknown { what, .. } => Some(what),
            _ => None,
        })
    }

    /// What it is made of, where that is nothing but one thing unknown, and so perhaps no text at all.
    pub fn bare_unknown(&self) -> Option<&Unknown> {
        match &*self.parts {
            [Part::Unknown { what, quoted: false }] => Some(what),
            _ => None,
        }
    }

    /// What is known of its length, in bytes.
    pub fn len(&self) -> usize {
        self.parts
            .iter()
            .map(|part| match part {
                Part::Bytes(bytes) | Part::Torn(bytes) => bytes.len(),
                Part::Unknown { .. } => 0,
            })
            .sum()
    }

    pub fn is_empty(&self) -> bool {
        self.parts.iter().all(|part| matches!(part, Part::Bytes(bytes) if bytes.is_empty()))
    }

    /// All of these, one after the other.
    pub fn concat<'a>(texts: impl IntoIterator<Item = &'a Text>) -> Self {
        let mut parts: Vec<Part> = Vec::new();
        let mut bytes: Vec<u8> = Vec::new();
        for part in texts.into_iter().flat_map(|text| text.parts.iter()) {
            if let Part::Bytes(more) = part {
                bytes.extend_from_slice(more);
                continue;
            }
            if !bytes.is_empty() {
                parts.push(Part::Bytes(std::mem::take(&mut bytes).into()));
            }
            parts.push(part.clone());
        }
        if !bytes.is_empty() || parts.is_empty() {
            parts.push(Part::Bytes(bytes.into()));
        }
        Self { parts: parts.into() }
    }

    /// Escaped so that an expression matches it literally, as `regex-quote` does.
    pub fn regex_quoted(&self) -> Self {
        let parts = self.parts.iter().map(|part| match part {
            Part::Bytes(bytes) => {
                let mut out = Vec::with_capacity(bytes.len());
                for byte in bytes.iter() {
                    if b"^.[$()|*+?{\\".contains(byte) {
                        out.push(b'\\');
                    }
                    out.push(*byte);
                }
                Part::Bytes(out.into())
            }
            Part::Unknown { what, .. } => Part::Unknown { what: what.clone(), quoted: true },
            Part::Torn(bytes) => Part::Torn(bytes.clone()),
        });
        Self { parts: parts.collect() }
    }

    /// For messages.
    pub fn shown(&self) -> String {
        let mut out = String::new();
        for part in self.parts.iter() {
            match part {
                Part::Bytes(bytes) | Part::Torn(bytes) => out.push_str(&String::from_utf8_lossy(bytes)),
                Part::Unknown { what, .. } => match what {
                    Unknown::Parameter(name) => out.push_str(&format!("(param \"{name}\")")),
                    Unknown::Defined(name) | Unknown::Call(name) => out.push_str(&format!("({name})")),
                },
            }
        }
        shown(&out)
    }
}
