//! The whole road with the real program on the real machine: a profile is compiled, and commands run behind what was compiled.
//! The commands are the shell's own, and scripts that the tests write: no other program of the machine is relied on.
#![cfg(any(target_os = "linux", target_os = "macos"))]

mod drift;
mod end;
mod git;
mod runs;
mod system;
mod workspace;
