//! In: a manifest and a command, on macOS. Out: a refusal: the walls are not built here yet.

use super::{Command, Outcome, Refusal};
use crate::manifest::Manifest;
use crate::plan::Rule;

/// Checks the command and refuses to run it.
///
/// # Errors
/// Always.
pub fn run(manifest: &Manifest, command: &Command, _rules: &[Rule]) -> Result<Outcome, Refusal> {
    command.prepare(manifest)?;
    super::hardlinks::check(manifest)?;
    Err(Refusal::Kernel {
        message: "commands cannot be run on macOS yet".into(),
        help: "the compiled `.sb` can be used with `sandbox-exec -f`. Nothing was run".into(),
    })
}
