//! `palisade check`: lint profiles against the machine they are for.

use super::Exit;
use super::input::{BindArgs, find_profiles, read_profile};
use super::output::{FindingArgs, exit_for, findings, print};
use crate::finding::Severity;
use crate::pipeline;
use crate::resolve::LiveLoader;
use crate::source::Sources;
use camino::Utf8PathBuf;

/// Check profiles against the machine they are for
///
/// Exits 0 when clean, 1 with findings at or above `--fail-on`, 2 on usage or unreadable input, 3 on a failure of the program.
#[derive(clap::Args)]
pub struct Args {
    /// Profiles, or directories that hold them; `-` is standard input
    #[arg(default_value = ".", value_name = "PATH")]
    paths: Vec<Utf8PathBuf>,
    #[command(flatten)]
    bind: BindArgs,
    #[command(flatten)]
    output: FindingArgs,
}

pub fn run(args: &Args) -> Exit {
    try_run(args).unwrap_or_else(|exit| exit)
}

fn try_run(args: &Args) -> Result<Exit, Exit> {
    let profiles = find_profiles(&args.paths)?;
    let machine = args.bind.machine()?;
    let mut sources = Sources::new();
    let mut all = Vec::new();
    let mut unreadable = 0;
    for path in &profiles {
        let Ok(file) = read_profile(&mut sources, path) else {
            unreadable += 1;
            continue;
        };
        let checked =
            pipeline::check(&mut sources, file, &LiveLoader, machine.host.as_ref(), &machine.request);
        all.extend(checked.findings);
    }
    let subject = match (profiles.as_slice(), unreadable) {
        ([only], _) => only.to_string(),
        (several, 0) => format!("{} profiles", several.len()),
        (several, lost) => {
            format!("{} of {} profiles: {lost} could not be read", several.len() - lost, several.len())
        }
    };
    // Of what was not read, nothing was found either, and that must not be said.
    if unreadable < profiles.len() {
        print(&findings(&args.output, &sources, &all, &subject));
    }
    let worst = exit_for(&all, args.output.fail_on);
    Ok(if unreadable > 0 { Exit::Usage } else { worst })
}

/// Whether any of these keeps a profile from being compiled.
pub fn has_errors(findings: &[crate::finding::Finding]) -> bool {
    findings.iter().any(|finding| finding.severity == Severity::Error)
}
