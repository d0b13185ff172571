//! In: a manifest and a command. Out: the command's exit code, after it ran behind walls that the kernel keeps.
//! Reads no profile and decides nothing: where a wall cannot be built as compiled, nothing runs.

pub mod causes;
mod command;
mod drift;
mod gateway;
mod hardlinks;
mod inspection;
mod near;
mod network;
mod outcome;
mod pump;
pub mod record;
mod refusal;
pub mod secrets;
mod streams;
mod trust;

#[cfg(target_os = "linux")]
mod linux;
#[cfg(any(target_os = "macos", test))]
mod macos;
#[cfg(target_os = "linux")]
mod mounts;

pub use command::{Command, Prepared};
#[cfg(target_os = "linux")]
pub use linux::apart;
#[cfg(target_os = "macos")]
pub use macos::SANDBOX_EXEC;
pub use outcome::{Cause, Ended, Note, Observed, Outcome, Violation};
pub use refusal::Refusal;

use crate::host;
use crate::manifest::{self, Manifest};
use crate::plan::{Decider, Rule, Spelling};
use crate::policy::{NetworkRule, System};
use camino::{Utf8Component, Utf8Path};
use std::fs::File;

/// Where the `.sb` is that goes with a manifest for macOS. Nothing else looks at it.
#[derive(Debug, Clone, Copy)]
pub enum Seatbelt<'a> {
    /// In the directory of the manifest, whose path this is, under the name that the manifest says.
    Beside(&'a Utf8Path),
    /// Its text, where it was compiled in memory.
    Text(Option<&'a str>),
}

/// Runs a command behind the walls of a manifest. Standard streams are passed through. `log`, opened to append, gets a line of JSON for each
/// connection where the network has only some hosts. `secrets` are where the values of masked variables are taken from, but from the
/// environment, whose own values of those are wiped. The calling process must have one thread.
///
/// # Errors
/// Where the artifact is not for this machine, the machine has changed, or the kernel cannot give a wall. Nothing was run then.
pub fn run(
    manifest: &Manifest,
    seatbelt: Seatbelt<'_>,
    command: &Command,
    log: Option<File>,
    secrets: &[secrets::Given],
) -> Result<Outcome, Refusal> {
    check_target(manifest)?;
    let rules = rules(manifest)?;
    let hosts = match manifest.network {
        manifest::Network::Only => network::rules(manifest)?,
        _ => Vec::new(),
    };
    streams::check(manifest.network)?;
    drift::check(manifest)?;
    if !secrets.is_empty() {
        let unexamined = |error| Refusal::Unexamined { path: host::mounts::TABLE.into(), error };
        let mounts = host::mounts::here().map_err(unexamined)?;
        secrets::keep_apart(secrets, &Decider::new(&rules, spelling()), &mounts)?;
    }
    let (inspection, shown) = inspection::of(manifest, &hosts, secrets)?.unzip();
    if inspection.is_some() {
        secrets::wipe_stack();
    }
    let connections = Connections { rules: hosts, log, inspection };
    let (placeholders, warnings) =
        shown.map(|shown| (shown.placeholders, shown.warnings)).unwrap_or_default();
    let mut outcome = system::run(manifest, seatbelt, command, &rules, connections, placeholders)?;
    outcome.notes.extend(warnings);
    Ok(outcome)
}

/// How this system compares paths, where a wrong answer would give something away.
fn spelling() -> Spelling {
    if cfg!(target_os = "macos") { Spelling::Folded } else { Spelling::Exact }
}

/// What is to be carried of the command's connections, where only some hosts may be reached.
#[derive(Debug)]
struct Connections {
    rules: Vec<NetworkRule>,
    log: Option<File>,
    inspection: Option<inspection::Inspection>,
}

#[cfg(target_os = "linux")]
use linux as system;
#[cfg(target_os = "macos")]
use macos as system;

/// The manifest's rules, whose paths must be as binding writes them: what is not canonical would be compared as another path than it is.
fn rules(manifest: &Manifest) -> Result<Vec<Rule>, Refusal> {
    let mut rules = Vec::with_capacity(manifest.rules.len());
    for rule in &manifest.rules {
        let rule = Rule::try_from(rule.clone()).map_err(|error| Refusal::Manifest(error.to_string()))?;
        let text = rule.path.as_str();
        let plain = rule.path.components().skip(1).all(|part| matches!(part, Utf8Component::Normal(_)));
        if !plain || text.contains("//") || text.contains("/./") || text.contains('\0') {
            return Err(Refusal::Manifest(format!("`{text}` is not a canonical path")));
        }
        rules.push(rule);
    }
    Ok(rules)
}

fn check_target(manifest: &Manifest) -> Result<(), Refusal> {
    let here = if cfg!(target_os = "macos") { System::Macos } else { System::Linux };
    if manifest.target != here || manifest.architecture != std::env::consts::ARCH {
        return Err(Refusal::Target {
            manifest: format!("{} on {}", name(manifest.target), manifest.architecture),
            here: format!("{} on {}", name(here), std::env::consts::ARCH),
        });
    }
    Ok(())
}

fn name(system: System) -> &'static str {
    match system {
        System::Linux => "Linux",
        System::Macos => "macOS",
    }
}
