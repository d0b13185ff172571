//! In: a name. Out: what it is in the profile language: an operation, a filter, a modifier.
//! Three tables, taken from published ones; everything here is data.

mod filter;
mod modifier;
mod operation;
mod table;
pub mod words;

pub use filter::{Attribute, Form, Values, filter_named, filter_names};
pub use modifier::{Argument, ModifierInfo, modifier_named, modifier_names};
pub use operation::{ALIASES, Builtin, DEAD, Operation, may_meet};

/// Names of every operation and alias.
pub fn operation_names() -> impl Iterator<Item = &'static str> {
    Operation::all().map(Operation::name).chain(ALIASES.iter().map(|(alias, _)| *alias))
}
