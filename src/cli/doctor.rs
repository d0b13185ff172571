//! `palisade doctor`: what this machine can and cannot enforce.

use super::Exit;
use super::output::{fail, print};
use crate::doctor::{self, Report};
use camino::Utf8PathBuf;

/// Say what this machine can and cannot enforce, by trying it
///
/// Exits 0 where everything is there that `exec` needs, 1 where something is missing, 3 on a failure of the program.
#[derive(clap::Args)]
pub struct Args {
    /// How the report is shown
    #[arg(long, value_enum, default_value_t = Format::Human)]
    format: Format,
    /// Print the AppArmor profile for this program instead, with how to install it
    #[arg(long, conflicts_with = "format")]
    apparmor: bool,
}

#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    /// A table
    Human,
    /// For machines, with a version
    Json,
}

pub fn run(args: &Args) -> Exit {
    if args.apparmor {
        return apparmor();
    }
    let report = match doctor::observe() {
        Ok(observations) => Report::of(observations),
        Err(error) => return fail(Exit::Failure, &format!("this machine cannot be examined: {error}"), None),
    };
    match args.format {
        Format::Human => print(&report.text()),
        Format::Json => print(&format!("{:#}\n", report.json())),
    }
    if report.is_complete() { Exit::Clean } else { Exit::Findings }
}

fn apparmor() -> Exit {
    if cfg!(not(target_os = "linux")) {
        return fail(Exit::Usage, "AppArmor is a part of Linux", Some("run this where `exec` is refused"));
    }
    let program = std::env::current_exe().and_then(|path| path.canonicalize());
    let program = match program.map(Utf8PathBuf::from_path_buf) {
        Ok(Ok(program)) => program,
        Ok(Err(path)) => return fail(Exit::Failure, &format!("`{}` is not UTF-8", path.display()), None),
        Err(error) => {
            return fail(Exit::Failure, &format!("this program's own path cannot be found: {error}"), None);
        }
    };
    match doctor::apparmor::profile(&program) {
        Ok(profile) => {
            print(&profile);
            Exit::Clean
        }
        Err(error) => {
            fail(Exit::Failure, &error, Some("install the program at a path without special characters"))
        }
    }
}
