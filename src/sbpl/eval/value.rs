//! What forms evaluate to.

use crate::sbpl::read::Datum;
use crate::sbpl::rule::{Filter, Modifier, Text, Unknown};
use crate::sbpl::vocabulary::Operation;
use std::sync::Arc;

#[derive(Debug, Clone)]
pub(super) enum Value {
    /// What `define` and `allow` give.
    Nothing,
    Boolean(bool),
    Number(i64),
    Text(Text),
    Symbol(Arc<str>),
    Operation(Operation),
    Filter(Filter),
    Modifiers(Arc<[Modifier]>),
    Function(Arc<Function>),
    /// Hangs on what shows at run time only.
    Unknown(Unknown),
}

/// A function of the profile's own.
#[derive(Debug)]
pub(super) struct Function {
    pub params: Vec<Arc<str>>,
    pub body: Arc<[Datum]>,
    /// The frame it was made in.
    pub frame: usize,
}

/// Whether a value counts as true.
pub(super) enum Truth {
    Known(bool),
    /// What decides.
    Unknown(Unknown),
}

impl Value {
    /// All but `#f` is true; a parameter that nobody gave may be either.
    pub fn truth(&self) -> Truth {
        match self {
            Self::Boolean(value) => Truth::Known(*value),
            Self::Unknown(what) => Truth::Unknown(what.clone()),
            Self::Text(text) => match text.bare_unknown() {
                Some(what) => Truth::Unknown(what.clone()),
                None => Truth::Known(true),
            },
            _ => Truth::Known(true),
        }
    }

    /// What it is, in words for a finding.
    pub fn describe(&self) -> &'static str {
        match self {
            Self::Nothing => "nothing",
            Self::Boolean(_) => "a truth value",
            Self::Number(_) => "a number",
            Self::Text(_) => "a text",
            Self::Symbol(_) => "a word",
            Self::Operation(_) => "an operation",
            Self::Filter(_) => "a filter",
            Self::Modifiers(_) => "a modifier",
            Self::Function(_) => "a function",
            Self::Unknown(_) => "a value that shows at run time only",
        }
    }
}
