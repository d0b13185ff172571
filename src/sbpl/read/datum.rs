//! What a profile's text is made of.

use crate::source::Span;
use std::sync::Arc;

/// One datum and its place. Cloning is cheap: what it holds is shared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Datum {
    pub span: Span,
    pub kind: Kind,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    List(Arc<[Datum]>),
    Symbol(Arc<str>),
    /// A text in plain quotes, its escapes decoded.
    Cooked(Arc<[u8]>),
    /// A text after `#`, as it stands.
    Raw(Arc<[u8]>),
    /// A text after `#` that was meant to hold a quote: a backslash stands before one, and the text goes on behind it.
    /// What the system's reader makes of that is not known. The bytes are what was probably meant, backslashes kept.
    Torn(Arc<[u8]>),
    Number(i64),
    Boolean(bool),
    Quote(Arc<Datum>),
    /// What could not be read; a finding tells why.
    Broken,
}

impl Datum {
    pub fn symbol(&self) -> Option<&str> {
        match &self.kind {
            Kind::Symbol(name) => Some(name),
            _ => None,
        }
    }

    pub fn list(&self) -> Option<&[Datum]> {
        match &self.kind {
            Kind::List(items) => Some(items),
            _ => None,
        }
    }

    /// Whether it stands for what could not be read.
    pub fn is_broken(&self) -> bool {
        self.kind == Kind::Broken
    }

    /// The word that a list begins with.
    pub fn head(&self) -> Option<&str> {
        self.list()?.first()?.symbol()
    }

    /// Calls `visit` for this datum and all in it, outermost first. Depth is bounded by the reader.
    pub fn walk(&self, visit: &mut impl FnMut(&Datum)) {
        visit(self);
        match &self.kind {
            Kind::List(items) => items.iter().for_each(|item| item.walk(visit)),
            Kind::Quote(inner) => inner.walk(visit),
            _ => {}
        }
    }

    /// What it is, in words for a finding.
    pub fn describe(&self) -> &'static str {
        match &self.kind {
            Kind::List(_) => "a list",
            Kind::Symbol(_) => "a word",
            Kind::Cooked(_) | Kind::Raw(_) | Kind::Torn(_) => "a text",
            Kind::Number(_) => "a number",
            Kind::Boolean(_) => "a truth value",
            Kind::Quote(_) => "a quoted form",
            Kind::Broken => "what cannot be read",
        }
    }
}
