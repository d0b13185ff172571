//! In: a manifest, its `.sb` and a command, on macOS. Out: the command's end, after it ran behind sandbox-exec(1), and nothing of it runs any more.
//!
//! Only [`system`] talks to macOS. All else is plain, and is tested on any system.

mod artifact;
mod gateway;
mod invocation;
mod limits;
mod outcome;
mod program;
mod scratch;
mod supervise;
mod sweep;
#[cfg(target_os = "macos")]
mod system;
#[cfg(test)]
mod testing;

#[cfg(target_os = "macos")]
pub use invocation::SANDBOX_EXEC;
#[cfg(target_os = "macos")]
pub use system::run;
