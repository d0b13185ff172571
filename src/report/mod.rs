//! In: findings and the sources they speak of, gathered into one [`Run`]. Out: text, one format a file. Nothing here decides anything or sets an exit
//! status.

pub mod collect;
pub mod concise;
pub mod fingerprint;
pub mod github;
pub mod human;
pub mod json;
pub mod junit;
pub mod origin;
pub mod pages;
mod position;
pub mod run;
pub mod sarif;
mod snippet;
mod terminal;
pub mod whereabouts;

pub use run::{Found, Problem, ProblemKind, Run, Told};
pub use terminal::{hanging, shown, wrapped};

/// The names of the formats.
pub const FORMATS: [&str; 6] = ["human", "concise", "json", "sarif", "github", "junit"];

/// JSON as people can read it too, with a line end.
fn pretty(document: &impl serde::Serialize) -> std::io::Result<String> {
    Ok(serde_json::to_string_pretty(document)? + "\n")
}
