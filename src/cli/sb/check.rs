//! `palisade sb check`: what is found in profiles.

use super::EvaluationArgs;
use crate::cli::Exit;
use crate::cli::output::{FindingArgs, exit_for, findings, print};
use crate::sbpl;
use crate::source::Sources;
use camino::Utf8PathBuf;

/// Check Seatbelt profiles
///
/// Exits 0 when clean, 1 with findings at or above `--fail-on`, 2 on usage or unreadable input, 3 on a failure of the program.
#[derive(clap::Args)]
pub struct Args {
    /// Seatbelt profiles; `-` is standard input
    #[arg(required = true, value_name = "FILE.sb")]
    paths: Vec<Utf8PathBuf>,
    #[command(flatten)]
    evaluation: EvaluationArgs,
    #[command(flatten)]
    output: FindingArgs,
}

pub fn run(args: &Args) -> Result<Exit, Exit> {
    let mut sources = Sources::new();
    let mut all = Vec::new();
    let mut read = Vec::new();
    for path in &args.paths {
        // Where a file cannot be read, that is already said.
        if let Ok(evaluation) = args.evaluation.evaluate(&mut sources, path) {
            all.extend(sbpl::lint::run(&sources, &evaluation));
            read.push(path);
        }
    }
    let subject = match read.as_slice() {
        // Of what was not read nothing is said, least of all that nothing was found.
        [] => return Err(Exit::Usage),
        [only] => only.to_string(),
        several => format!("{} profiles", several.len()),
    };
    print(&findings(&args.output, &sources, &all, &subject));
    let worst = exit_for(&all, args.output.fail_on);
    Ok(if read.len() < args.paths.len() { Exit::Usage } else { worst })
}
