//! Bad weather: the program is killed at every stage, has no space, no files, no directory, and finds a machine that is not what was
//! compiled or that changes under it. Whatever comes is refused or survived: nothing is lost, nothing is left over, and a message says
//! what to do.
//!
//! Everything is tried on the real program, as root and as somebody else. Each trial is a process of its own, this binary as
//! `weather --scenario NAME DIRECTORY`, so that it has its user, its mounts and its limits for itself.

#[cfg(target_os = "linux")]
mod changes;
#[cfg(target_os = "linux")]
mod kills;
#[cfg(target_os = "linux")]
mod manifests;
#[cfg(target_os = "linux")]
mod names;
#[cfg(target_os = "linux")]
mod places;
#[cfg(target_os = "linux")]
mod planted;
#[cfg(target_os = "linux")]
mod raw;
#[cfg(target_os = "linux")]
mod space;
#[cfg(target_os = "linux")]
mod storms;
#[cfg(target_os = "linux")]
mod suite;
#[cfg(target_os = "linux")]
#[path = "../exec/table.rs"]
mod table;
#[cfg(target_os = "linux")]
mod trace;
#[cfg(target_os = "linux")]
mod world;

#[cfg(target_os = "linux")]
fn main() -> std::process::ExitCode {
    suite::main()
}

/// What is tried here is done with means of Linux.
#[cfg(not(target_os = "linux"))]
fn main() {}
