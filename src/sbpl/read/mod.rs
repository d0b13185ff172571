//! In: the text of a profile. Out: its data (lists, words, texts, numbers), each with its place, and a finding for all that is none.
//! The grammar is `grammar/sbpl.pest`; one piece is parsed at a time, so that time and depth stay bounded whatever the text.

mod datum;
mod grammar;
mod reader;
mod strings;

pub use datum::{Datum, Kind};
pub use reader::{MAX_DEPTH, MAX_PIECES, Read, read};

/// Whether the grammar takes a text as a whole. [`read`] says the same of it, and why; this is the grammar's own word.
pub fn accepts(text: &str) -> bool {
    use pest::Parser;
    grammar::Grammar::parse(grammar::Rule::file, text).is_ok()
}
