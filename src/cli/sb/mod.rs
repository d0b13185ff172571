//! `palisade sb`: questions about Seatbelt profiles, whoever wrote them.

mod check;
mod subject;
mod why;

use super::input::{here, parse_set};
use super::{Exit, profiles};
use crate::report::Problem;
use crate::sbpl::{self, Directories, Evaluation, Params, PathCase};
use crate::source::Sources;
use camino::{Utf8Path, Utf8PathBuf};

/// Check Seatbelt profiles, whoever wrote them, and say what they decide
#[derive(clap::Subcommand)]
pub enum Verb {
    Check(check::Args),
    Why(why::Args),
}

/// Options that say how a profile is evaluated.
#[derive(clap::Args, Clone, Debug)]
struct EvaluationArgs {
    /// Give a parameter its value, as `sandbox-exec -D` does; what hangs on others is not known
    #[arg(short = 'D', value_name = "NAME=VALUE", value_parser = parse_set)]
    params: Vec<(String, String)>,
    /// A directory to read imported files from; imports of other files are not read
    #[arg(long, value_name = "DIR")]
    import_dir: Vec<Utf8PathBuf>,
    /// The disk tells cases of letters apart, as Macs' disks do not unless made so
    #[arg(long)]
    case_sensitive: bool,
}

impl EvaluationArgs {
    fn case(&self) -> PathCase {
        if self.case_sensitive { PathCase::Sensitive } else { PathCase::Insensitive }
    }

    fn evaluate(&self, sources: &mut Sources, path: &Utf8Path) -> Result<Evaluation, Problem> {
        let file = profiles::read(sources, path)?;
        let params = Params { given: self.params.iter().cloned().collect(), complete: false };
        let directory = |path: &Utf8PathBuf| match path.is_absolute() {
            true => Ok(path.clone()),
            false => here().map(|current| current.join(path)),
        };
        let directories = self.import_dir.iter().map(directory).collect::<Result<_, _>>()?;
        let mut evaluation = sbpl::evaluate(sources, file, &params, &Directories(directories));
        evaluation.profile.case = self.case();
        Ok(evaluation)
    }
}

pub fn run(verb: &Verb) -> Exit {
    match verb {
        Verb::Check(args) => check::run(args),
        Verb::Why(args) => why::run(args).unwrap_or_else(|exit| exit),
    }
}
