//! The enforcement suite: commands that try what the walls must stop, and what they must not, run behind real walls.
//!
//! The binary of this test is also the program that is run inside: `exec --probe NAME …`. Every probe that must be denied is also run without
//! walls, as the same user, where it has to succeed: a probe that cannot succeed shows nothing.
//!
//! What every system must hold stands here; `linux` and `macos` hold what only one of them has. On Linux all of it runs. Nobody has run it
//! on a Mac yet: for macOS it is type-checked only, and what is expected there follows published measurements. A probe that differs there
//! may be wrong in itself.

mod denied;
mod files;
mod ipc;
mod limits;
mod network;
mod programs;
mod raw;
mod refusals;
mod suite;
mod surroundings;
mod table;
mod world;
mod writes;

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "macos")]
mod macos;

#[cfg(target_os = "linux")]
use linux as system;
#[cfg(target_os = "macos")]
use macos as system;

fn main() -> std::process::ExitCode {
    suite::main()
}
