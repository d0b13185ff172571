//! The enforcement suite: commands that try what the walls must stop, and what they must not, run behind real walls.
//!
//! The binary of this test is also the program that is run inside: `exec --probe NAME …`. Every probe that must be denied is also run without
//! walls, as the same user, where it has to succeed: a probe that cannot succeed shows nothing.

#[cfg(target_os = "linux")]
mod denied;
#[cfg(target_os = "linux")]
mod files;
#[cfg(target_os = "linux")]
mod ipc;
#[cfg(target_os = "linux")]
mod limits;
#[cfg(target_os = "linux")]
mod network;
#[cfg(target_os = "linux")]
mod processes;
#[cfg(target_os = "linux")]
mod programs;
#[cfg(target_os = "linux")]
mod raw;
#[cfg(target_os = "linux")]
mod record;
#[cfg(target_os = "linux")]
mod refusals;
#[cfg(target_os = "linux")]
mod suite;
#[cfg(target_os = "linux")]
mod surroundings;
#[cfg(target_os = "linux")]
mod terminal;
#[cfg(target_os = "linux")]
mod world;
#[cfg(target_os = "linux")]
mod writes;

#[cfg(target_os = "linux")]
fn main() -> std::process::ExitCode {
    suite::main()
}

/// The walls of macOS have a suite of their own.
#[cfg(not(target_os = "linux"))]
fn main() {}
