//! The emitted Seatbelt profile means the plan.

mod examples;
mod laws;
mod mutants;
mod needs;
mod plans;
mod raw;
#[path = "../support/road.rs"]
mod road;
mod spellings;
mod text;

/// Whether the long run is asked for: `PALISADE_LONG=1 cargo test --release --test emit`.
fn is_long() -> bool {
    std::env::var_os("PALISADE_LONG").is_some()
}
