//! What only macOS has: ways past a wall by its own means, and a world compiled from a profile.
//!
//! Nobody has run any of this on a Mac yet; it is type-checked only. Where a probe's comment says "a question to a Mac", nothing that was
//! published says how it ends: there, what is wanted is what the walls promise.

mod ipc;
mod network;
mod paths;
mod processes;
mod programs;
mod raw;
mod runs;
pub mod world;

use crate::suite::{Probe, Scenario};

pub use network::SHUT_ALL_THE_SAME;
pub use programs::ASKED;

pub const FAMILIES: [&[Probe]; 5] =
    [paths::PROBES, programs::PROBES, processes::PROBES, network::PROBES, ipc::PROBES];

pub const SCENARIOS: [&[Scenario]; 2] = [runs::SCENARIOS, network::SCENARIOS];

/// How messages call this system.
pub const NAME: &str = "macOS";

/// The directory of a process's own descriptors.
pub const DESCRIPTORS: &str = "/dev/fd";

/// How the private directory's path begins: it lies in the user's own temporary directory (confstr(3)), under its real name.
pub const PRIVATE: &str = "/private/";

/// Who runs everything: whoever runs the suite. An unprivileged user beside root would have no control for what is asked of processes:
/// they are root's.
pub fn users() -> Vec<(u32, &'static str)> {
    let me = rustix::process::geteuid();
    vec![(me.as_raw(), if me.is_root() { "root" } else { "user" })]
}

/// Nothing beside the probes is done behind the walls.
pub fn inside(_words: &[String]) -> Option<std::process::ExitCode> {
    None
}

/// What the host has that a command must not reach, as long as the suite runs.
pub struct Offered {
    _region: ipc::Region,
}

impl Offered {
    pub fn new() -> Self {
        programs::build_inserted();
        Self { _region: ipc::Region::new() }
    }
}
