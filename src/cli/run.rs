//! `palisade run`: compile in memory and run a command behind the result.

use super::Exit;
use super::check::has_errors;
use super::exec::{Artifact, CommandArgs, start};
use super::input::BindArgs;
use super::output::{fail, findings_aside};
use super::profiles::read_profile;
use super::report::Report;
use super::settings::{ConfigArgs, Unusable};
use super::weighed::weighed;
use crate::exec::Seatbelt;
use crate::manifest::{self, Manifest};
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
    config: ConfigArgs,
    #[command(flatten)]
    command: CommandArgs,
}

pub fn run(args: &Args) -> Exit {
    let report = match Report::begin(&args.command, &[&args.profile]) {
        Ok(report) => report,
        Err(exit) => return exit,
    };
    match compile(args) {
        Ok((manifest, text, seatbelt)) => {
            let seatbelt = Seatbelt::Text(seatbelt.as_deref());
            let artifact = Artifact { manifest: &manifest, text: &text, seatbelt };
            start(&artifact, &args.command, report)
        }
        // Whatever kept the command from starting, it was not the command.
        Err(_) => report.already_refused("nothing was run: standard error says why"),
    }
}

/// The manifest, its text, and that of the `.sb` that goes with it.
fn compile(args: &Args) -> Result<(Manifest, String, Option<String>), Exit> {
    if args.bind.host.is_some() {
        let help = "leave out --host, or use `palisade compile --host` and `palisade exec` on that machine";
        return Err(fail(Exit::Usage, "a command cannot be run on a recorded machine", Some(help)));
    }
    let settings = args.config.load().map_err(Unusable::fail)?;
    let mut machine = args.bind.machine()?;
    machine.request.artifacts = settings.own_files();
    let mut sources = Sources::new();
    let file = read_profile(&mut sources, &args.profile)?;
    let host = machine.host.as_ref();
    let checked = pipeline::check(&mut sources, file, &LiveLoader, host, &machine.request);
    let mut shown = weighed(&settings, &sources, file, checked.findings, &machine)?;
    let artifact = match &checked.bound {
        Some(bound) if !has_errors(&shown) => match pipeline::compile(&sources, bound, host, "run.sb") {
            Ok(Ok(artifact)) => Some(artifact),
            Ok(Err(finding)) => {
                shown.push(finding);
                None
            }
            Err(error) => return Err(fail(Exit::Failure, &error.to_string(), None)),
        },
        _ => None,
    };
    let Some(artifact) = artifact else {
        findings_aside(&sources, &shown, args.profile.as_str());
        let help = "`palisade check` shows the findings";
        return Err(fail(Exit::Findings, "the profile was not compiled and nothing was run", Some(help)));
    };
    // Through the text, as `exec` would: one form of the artifact is tested and trusted, not two.
    match manifest::read(&artifact.manifest) {
        Ok(manifest) => Ok((manifest, artifact.manifest, artifact.seatbelt)),
        Err(error) => Err(fail(Exit::Failure, &error.to_string(), None)),
    }
}
