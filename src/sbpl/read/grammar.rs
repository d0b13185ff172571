//! The generated parser.

#[derive(pest_derive::Parser)]
#[grammar = "../grammar/sbpl.pest"]
pub(super) struct Grammar;
