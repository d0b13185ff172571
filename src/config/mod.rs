//! In: the text of a `palisade.toml`. Out: a [`Config`], or a finding for everything in it that cannot be meant.
//!
//! Settings say how findings are weighed and shown. They never say what a profile may hold, what can be compiled, or what a wall lets through: the file
//! lies in the repository, where what the profiles restrain might come to write it.

mod globs;
mod keys;
mod read;
mod schema;
mod severities;

pub use globs::Globs;
pub use read::read;
pub use schema::{SCHEMA_ID, schema};
pub use severities::{Refusal, Setting, Severities, setting_of};

use crate::finding::Severity;
use crate::source::{FileId, Spanned};

/// What the file is called.
pub const NAME: &str = "palisade.toml";

/// What a `palisade.toml` says. Where there is none, nothing is said.
#[derive(Debug, Clone, Default)]
pub struct Config {
    /// The text it was read from.
    pub file: Option<FileId>,
    pub fail_on: Option<Severity>,
    /// One of [`crate::report::FORMATS`].
    pub format: Option<&'static str>,
    /// Recorded machines, as paths or patterns relative to the file.
    pub hosts: Vec<Spanned<String>>,
    /// Profiles that are passed over below a directory.
    pub exclude: Globs,
    /// Relative to the file.
    pub baseline: Option<Spanned<String>>,
    pub severities: Severities,
    /// The address of a rule's page, with [`crate::report::pages::RULE`] for its name.
    pub rule_pages: Option<String>,
}
