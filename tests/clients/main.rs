//! Programs that people use, behind the network wall: each must reach the host that is allowed, with the proxy's variables and without
//! them, and none another.
//!
//! They are this machine's own, as far as it has them: what is missing is named and passed over, and nothing else hangs on it. Modules for Python
//! are taken from `PYTHONPATH`. The world beyond is that of `tests/network`, with servers of TLS and an authority of its own.

#[cfg(target_os = "linux")]
#[path = "../network/authority.rs"]
mod authority;
#[cfg(target_os = "linux")]
#[path = "../network/book.rs"]
mod book;
#[cfg(target_os = "linux")]
mod catalogue;
#[cfg(target_os = "linux")]
#[path = "../network/lay.rs"]
mod lay;
#[cfg(target_os = "linux")]
#[path = "../network/names.rs"]
mod names;
#[cfg(target_os = "linux")]
#[path = "../network/near.rs"]
mod near;
#[cfg(target_os = "linux")]
#[expect(dead_code, reason = "sockets of every family are tried by the suite of the wall alone")]
#[path = "../network/raw.rs"]
mod raw;
#[cfg(target_os = "linux")]
mod suite;
#[cfg(target_os = "linux")]
mod world;

#[cfg(target_os = "linux")]
fn main() -> std::process::ExitCode {
    suite::main()
}

/// The world beyond is made of namespaces.
#[cfg(not(target_os = "linux"))]
fn main() {}
