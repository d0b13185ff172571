//! The network wall, with a network beyond it: a namespace of its own plays the rest of the world, answers at every public address, and
//! writes down every question and every byte that arrives there. The program runs on the near side, and the binary of this test is also
//! the client behind its walls.
//!
//! Nothing leaves the machine, and nothing of it is needed but user namespaces.

#[cfg(target_os = "linux")]
mod authority;
#[cfg(target_os = "linux")]
mod book;
#[cfg(target_os = "linux")]
mod client;
#[cfg(target_os = "linux")]
mod hello;
#[cfg(target_os = "linux")]
mod inspected;
#[cfg(target_os = "linux")]
mod lay;
#[cfg(target_os = "linux")]
mod masked;
#[cfg(target_os = "linux")]
mod names;
#[cfg(target_os = "linux")]
mod near;
#[cfg(target_os = "linux")]
mod raw;
#[cfg(target_os = "linux")]
mod scenarios;
#[cfg(target_os = "linux")]
mod streams;
#[cfg(target_os = "linux")]
mod suite;
#[cfg(target_os = "linux")]
mod tls;
#[cfg(target_os = "linux")]
mod world;

#[cfg(target_os = "linux")]
fn main() -> std::process::ExitCode {
    suite::main()
}

/// The world beyond is made of namespaces. On macOS the emitted profile is compared instead (`tests/emit`), and `src/network` has its own
/// tests everywhere.
#[cfg(not(target_os = "linux"))]
fn main() {}
