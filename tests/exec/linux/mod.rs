//! What only Linux has: ways past a wall by its own means, and the manifest of a world.

mod denied;
mod ipc;
mod network;
mod processes;
mod programs;
mod raw;
mod record;
mod refusals;
mod soak;
mod sockets;
mod surroundings;
mod terminal;
pub mod world;
mod writes;

use crate::suite::{Probe, Scenario};
use std::os::unix::net::UnixListener;

pub use network::SHUT_ALL_THE_SAME;
pub use programs::ASKED;

pub const FAMILIES: [&[Probe]; 8] = [
    denied::PROBES,
    writes::PROBES,
    programs::PROBES,
    processes::PROBES,
    network::PROBES,
    sockets::PROBES,
    ipc::PROBES,
    surroundings::PROBES,
];

pub const SCENARIOS: [&[Scenario]; 9] = [
    ipc::SCENARIOS,
    network::SCENARIOS,
    record::SCENARIOS,
    refusals::SCENARIOS,
    soak::SCENARIOS,
    sockets::SCENARIOS,
    surroundings::SCENARIOS,
    terminal::SCENARIOS,
    terminal::JOBS,
];

/// What the suite's program does behind the walls beside its probes.
pub fn inside(words: &[String]) -> Option<std::process::ExitCode> {
    let [_, flag, what] = words else { return None };
    (flag == "--at-terminal").then(|| {
        terminal::inside(what);
        std::process::ExitCode::SUCCESS
    })
}

/// How messages call this system.
pub const NAME: &str = "Linux";

/// The directory of a process's own descriptors.
pub const DESCRIPTORS: &str = "/proc/self/fd";

/// How the private directory's path begins.
pub const PRIVATE: &str = "/tmp";

/// Somebody who is not root.
const NOBODY: u32 = 65534;

/// Who runs everything: whoever runs the suite, and an unprivileged user where that is root.
pub fn users() -> Vec<(u32, &'static str)> {
    let me = rustix::process::geteuid().as_raw();
    if me == 0 { vec![(0, "root"), (NOBODY, "nobody")] } else { vec![(me, "user")] }
}

/// What the host has that a command must not reach, as long as the suite runs.
pub struct Offered {
    _file: ipc::SharedFile,
    _abstract: UnixListener,
}

impl Offered {
    pub fn new() -> Self {
        let address = network::abstract_address(std::process::id() as i32).unwrap();
        Self { _file: ipc::SharedFile::new(), _abstract: UnixListener::bind_addr(&address).unwrap() }
    }
}
