//! In: what was seen when each wall was tried on this machine. Out: a report of what can and cannot be enforced, and what to do about it.
//!
//! [`observe`] tries: every wall by itself, by the code that `exec` builds it with, and whole sandboxes, by this very program. What is made of
//! it ([`Report::of`]) is plain, the same on every system, and concludes nothing from version numbers.

pub mod apparmor;
mod json;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(any(target_os = "macos", test))]
mod macos;
mod observation;
mod report;
mod text;
mod trial;
mod walls;

pub use json::SCHEMA;
pub use observation::{Found, Missing, Observation, Observations, Setting, Wall};
pub use report::{Line, Report, Status, Verdict};
pub use trial::{Feature, Trial, Trials, feature};

#[cfg(target_os = "linux")]
pub use linux::observe;
#[cfg(target_os = "macos")]
pub use macos::observe;
