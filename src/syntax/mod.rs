//! In: the text of one file. Out: its syntax tree, and a finding for every statement that is not one.
//!
//! The grammar is `grammar/profile.pest`. A text is first cut into statements and blocks, whatever they may say, and each statement is
//! parsed by itself: so one run tells of every wrong one, and time grows with the length of the text.

pub mod amount;
mod asked;
pub mod ast;
mod blocks;
mod build;
mod diagnose;
mod entries;
mod file;
pub mod format;
mod grammar;
pub mod load;
pub mod outline;
mod parser;
mod repeats;
mod strings;
pub mod words;

pub use diagnose::shown;
pub use format::{format, is_sound};
pub use load::{LoadError, load};
pub use parser::{MAX_FINDINGS, Parsed, parse};
pub use strings::is_hidden;
pub use words::nearest;

/// Whether the grammar takes a text as a whole file. [`parse`] says the same of it, and why; this is the grammar's own word.
pub fn accepts(text: &str) -> bool {
    use pest::Parser;
    grammar::Grammar::parse(grammar::Rule::file, text).is_ok()
}
