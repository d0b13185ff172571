//! In: findings and the sources they speak of. Out: text, one format a file. Nothing here decides anything or sets an exit status.

pub mod concise;
pub mod human;
mod snippet;
mod terminal;

pub use terminal::shown;
