//! In: the text of one file. Out: its syntax tree, and a finding for every statement that is not one.

pub mod ast;
