//! The part that only a Mac can do.

use super::super::observation::Observations;
use super::super::trial::Trials;
use super::{LINE, PROFILE, Seen, surroundings, walls};
use crate::exec::SANDBOX_EXEC;
use crate::policy::System;
use std::process::{Command, Stdio};

/// Tries everything. A directory is made for it and removed again.
///
/// # Errors
/// Where this program cannot find itself.
pub fn observe() -> std::io::Result<Observations> {
    let program = std::env::current_exe()?;
    let applied = Command::new(SANDBOX_EXEC)
        .args(["-p", PROFILE, "/bin/sh", "-c", LINE])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .output();
    let said = applied.as_ref().map(|output| String::from_utf8_lossy(&output.stderr).into_owned());
    let seen = Seen {
        said: said.unwrap_or_default(),
        applied: applied.map(|output| output.status.code()).map_err(|error| error.to_string()),
        sandboxed: crate::sys::macos::is_sandboxed(),
    };
    Ok(Observations {
        system: System::Macos,
        root: rustix::process::geteuid().is_root(),
        surroundings: surroundings(&seen),
        walls: walls(&seen),
        trials: Trials::run(&program),
    })
}
