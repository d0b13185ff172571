//! In: a manifest and a command. Out: the command's exit code, after it ran behind walls that the kernel keeps.

#[cfg(target_os = "linux")]
pub mod linux;
