//! In: what checking found, with the fixes that findings offer, and the texts they are about. Out: changed texts, and what was not changed and why.
//! Nothing here reads a disk or writes one but through what the caller hands in.
//!
//! A pass gathers the fixes that are offered, leaves those that overlap for the next one, and looks at the result with the caller's own check
//! before it is kept. So a fix that breaks something is taken back, whichever rule it came from.

mod apply;
mod diff;
mod files;
mod offers;
mod passes;
#[cfg(test)]
mod tests;
mod verify;
pub mod widening;

pub use apply::{Change, apply};
pub use diff::unified;
pub use files::{File, Files, Key, STANDARD_INPUT_KEY};
pub use offers::{Look, Offer};
pub use passes::{Fixed, Left, MAX_PASSES, Wanted, Why, fix};
