//! The kernel and the decision function agree: random trees under random profiles, where every path is tried behind real walls for every
//! operation, and each answer compared with that of `why`.
//!
//! The binary of this test is also the program that asks from inside. A few thousand questions are asked by each run;
//! `PALISADE_LONG=1000000 cargo test --release --test kernel` asks that many. `PALISADE_CASE=N` runs one case again.

#[cfg(target_os = "linux")]
mod agent;
#[cfg(target_os = "linux")]
mod case;
#[cfg(target_os = "linux")]
mod random;
#[cfg(target_os = "linux")]
mod suite;
#[cfg(target_os = "linux")]
mod tree;

#[cfg(target_os = "linux")]
fn main() -> std::process::ExitCode {
    suite::main()
}

/// There is no kernel to ask elsewhere: on macOS the emitted profile is compared instead (`tests/emit`).
#[cfg(not(target_os = "linux"))]
fn main() {}
