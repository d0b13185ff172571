//! In: what safe crates lack. Out: the same, safe to call. The only place with `unsafe`.

#[cfg(target_os = "linux")]
pub mod linux;
#[cfg(target_os = "macos")]
pub mod macos;
#[cfg(target_os = "linux")]
mod memory;

mod exit;
mod usage;
mod variable;
pub use exit::exit_now;
#[cfg(target_os = "linux")]
pub use linux::fork;
#[cfg(target_os = "linux")]
use linux::single_threaded;
#[cfg(target_os = "macos")]
pub use macos::fork;
#[cfg(target_os = "macos")]
use macos::single_threaded;
#[cfg(target_os = "linux")]
pub use memory::forget_program;
pub use usage::{Usage, usage_of_children};
pub use variable::erase_variable;
