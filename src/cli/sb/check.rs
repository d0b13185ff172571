//! `palisade sb check`: what is found in profiles.

use super::EvaluationArgs;
use crate::cli::Exit;
use crate::cli::output::{FindingArgs, report};
use crate::cli::places::Places;
use crate::finding::Severity;
use crate::report::Run;
use crate::report::collect::Collector;
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

pub fn run(args: &Args) -> Exit {
    let output = args.output.settled(None);
    report(&output, &check(args, output.fail_on))
}

/// Checks everything that can be read.
fn check(args: &Args, fail_on: Severity) -> Run {
    let places = Places::here();
    let origin = |path: &std::path::Path| places.origin(path);
    let mut collector = Collector::new(&origin, Vec::new(), Vec::new());
    let (mut checked, mut problems) = (Vec::new(), Vec::new());
    for path in &args.paths {
        let mut sources = Sources::new();
        match args.evaluation.evaluate(&mut sources, path) {
            Ok(evaluation) => {
                let findings = sbpl::lint::run(&sources, &evaluation);
                // The profile is read before what it imports.
                let profile = sources.files().next().map(|(_, file)| collector.profile(file));
                checked.extend(profile.map(|profile| (profile, sources, findings)));
            }
            Err(problem) => problems.push(problem),
        }
    }
    for (profile, sources, findings) in checked {
        collector.add(profile, 0, &sources, findings);
    }
    collector.finish("sb check", problems, fail_on)
}
