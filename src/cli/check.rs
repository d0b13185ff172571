//! `palisade check`: lint profiles against the machine they are for.

use super::Exit;
use super::input::{BindArgs, read_profile};
use super::output::{FindingArgs, exit_for, fail, findings, print};
use crate::finding::Severity;
use crate::pipeline;
use crate::resolve::LiveLoader;
use crate::source::Sources;
use camino::Utf8PathBuf;
use walkdir::WalkDir;

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
    let profiles = find(&args.paths)?;
    if profiles.is_empty() {
        let help = "name a profile, or a directory that holds `.palisade` files";
        return Err(fail(Exit::Usage, "no profile found", Some(help)));
    }
    let machine = args.bind.machine()?;
    let mut sources = Sources::new();
    let mut all = Vec::new();
    let mut unreadable = false;
    for path in &profiles {
        let Ok(file) = read_profile(&mut sources, path) else {
            unreadable = true;
            continue;
        };
        let checked =
            pipeline::check(&mut sources, file, &LiveLoader, machine.host.as_ref(), &machine.request);
        all.extend(checked.findings);
    }
    let subject = match profiles.as_slice() {
        [only] => only.to_string(),
        several => format!("{} profiles", several.len()),
    };
    print(&findings(&args.output, &sources, &all, &subject));
    let worst = exit_for(&all, args.output.fail_on);
    Ok(if unreadable { Exit::Usage } else { worst })
}

/// The profiles below the paths given, in a fixed order. Links are not followed, and directories whose names begin with a dot are passed over.
fn find(paths: &[Utf8PathBuf]) -> Result<Vec<Utf8PathBuf>, Exit> {
    let mut profiles = Vec::new();
    for path in paths {
        if path == "-" || !path.is_dir() {
            profiles.push(path.clone());
            continue;
        }
        let walk = WalkDir::new(path).sort_by_file_name().into_iter().filter_entry(|entry| {
            entry.depth() == 0 || !entry.file_name().to_string_lossy().starts_with('.')
        });
        for entry in walk {
            let entry = entry.map_err(|error| fail(Exit::Usage, &error.to_string(), None))?;
            if !entry.file_type().is_file() || entry.path().extension().is_none_or(|end| end != "palisade") {
                continue;
            }
            let found = Utf8PathBuf::from_path_buf(entry.into_path())
                .map_err(|path| fail(Exit::Usage, &format!("`{}` is not UTF-8", path.display()), None))?;
            profiles.push(found);
        }
    }
    Ok(profiles)
}

/// Whether any of these keeps a profile from being compiled.
pub fn has_errors(findings: &[crate::finding::Finding]) -> bool {
    findings.iter().any(|finding| finding.severity == Severity::Error)
}
