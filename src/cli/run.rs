//! `palisade run`: compile in memory and run a command behind the result.

use super::Exit;
use super::check::has_errors;
use super::exec::{CommandArgs, start};
use super::input::{BindArgs, read_profile};
use super::output::{fail, findings_aside};
use crate::exec::Seatbelt;
use crate::manifest;
use crate::pipeline;
use crate::resolve::LiveLoader;
use crate::source::Sources;
use camino::Utf8PathBuf;

/// Compile a profile in memory and run a command behind it
///
/// Exits as `exec` does; 125 also where the profile has errors.
#[derive(clap::Args)]
pub struct Args {
    /// The profile
    profile: Utf8PathBuf,
    #[command(flatten)]
    bind: BindArgs,
    #[command(flatten)]
    command: CommandArgs,
}

pub fn run(args: &Args) -> Exit {
    match try_run(args) {
        Ok(exit) => exit,
        // Whatever kept the command from starting, it was not the command.
        Err(_) => Exit::Command(125),
    }
}

fn try_run(args: &Args) -> Result<Exit, Exit> {
    if args.bind.host.is_some() {
        let help = "leave out --host, or use `palisade compile --host` and `palisade exec` on that machine";
        return Err(fail(Exit::Usage, "a command cannot be run on a recorded machine", Some(help)));
    }
    let machine = args.bind.machine()?;
    let mut sources = Sources::new();
    let file = read_profile(&mut sources, &args.profile)?;
    let host = machine.host.as_ref();
    let mut checked = pipeline::check(&mut sources, file, &LiveLoader, host, &machine.request);
    let artifact = match &checked.bound {
        Some(bound) if !has_errors(&checked.findings) => {
            match pipeline::compile(&sources, bound, host, "run.sb") {
                Ok(Ok(artifact)) => Some(artifact),
                Ok(Err(finding)) => {
                    checked.findings.push(finding);
                    None
                }
                Err(error) => return Err(fail(Exit::Failure, &error.to_string(), None)),
            }
        }
        _ => None,
    };
    let Some(artifact) = artifact else {
        findings_aside(&sources, &checked.findings, args.profile.as_str());
        let help = "`palisade check` shows the findings";
        return Err(fail(Exit::Findings, "the profile was not compiled and nothing was run", Some(help)));
    };
    // Through the text, as `exec` would: one form of the artifact is tested and trusted, not two.
    match manifest::read(&artifact.manifest) {
        Ok(manifest) => {
            let seatbelt = Seatbelt::Text(artifact.seatbelt.as_deref());
            Ok(start(&manifest, seatbelt, &args.command.command()))
        }
        Err(error) => Err(fail(Exit::Failure, &error.to_string(), None)),
    }
}
