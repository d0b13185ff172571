//! `palisade compile`: write the artifact of a profile.

use super::Exit;
use super::check::has_errors;
use super::input::{BindArgs, absolute, read_text};
use super::output::{FailOn, READABLE, exit_for, fail, findings_aside, print, write_atomically};
use super::profiles::read_profile;
use super::settings::{Unusable, WeightArgs};
use super::weighed::weighed;
use crate::manifest::{self, Manifest, ManifestError};
use crate::pipeline::{self, Artifact};
use crate::policy::System;
use crate::report;
use crate::resolve::LiveLoader;
use crate::source::Sources;
use camino::{Utf8Path, Utf8PathBuf};

/// Compile a profile into the artifact that `exec` obeys
///
/// Writes NAME.manifest.yaml, and for macOS NAME.sb, beside the profile. Exits as `check` does.
#[derive(clap::Args)]
pub struct Args {
    /// The profile
    profile: Utf8PathBuf,
    /// Where to write [default: beside the profile]
    #[arg(long, value_name = "DIR")]
    out_dir: Option<Utf8PathBuf>,
    /// Write nothing; fail where the files are not what compiling would give
    #[arg(long)]
    check: bool,
    #[command(flatten)]
    bind: BindArgs,
    #[command(flatten)]
    weights: WeightArgs,
    /// The lowest severity that makes the run fail; errors always do
    #[arg(long, value_enum, default_value_t = FailOn::Error, value_name = "SEVERITY")]
    fail_on: FailOn,
}

pub fn run(args: &Args) -> Exit {
    try_run(args).unwrap_or_else(|exit| exit)
}

fn try_run(args: &Args) -> Result<Exit, Exit> {
    if args.profile == "-" && args.out_dir.is_none() {
        let help = "give --out-dir DIR to say where to write";
        return Err(fail(Exit::Usage, "a profile from standard input has no place beside it", Some(help)));
    }
    let settings = args.weights.load().map_err(Unusable::fail)?;
    let mut machine = args.bind.machine()?;
    let outputs = Outputs::of(args, machine.request.target)?;
    machine.request.artifacts = outputs.paths();
    machine.request.artifacts.extend(settings.own_files());
    let mut sources = Sources::new();
    let file = read_profile(&mut sources, &args.profile)?;
    let host = machine.host.as_ref();
    let checked = pipeline::check(&mut sources, file, &LiveLoader, host, &machine.request);
    let is_fragment = checked.bound.is_none() && checked.findings.is_empty();
    let mut shown = weighed(&settings, &sources, file, checked.findings, &machine)?;
    let artifact = match &checked.bound {
        Some(bound) if !has_errors(&shown) => {
            let name = outputs.seatbelt.file_name().unwrap_or_default();
            match pipeline::compile(&sources, bound, host, name) {
                Ok(Ok(artifact)) => Some(artifact),
                Ok(Err(finding)) => {
                    shown.push(finding);
                    None
                }
                Err(error) => return Err(fail(Exit::Failure, &error.to_string(), None)),
            }
        }
        _ => None,
    };
    findings_aside(&sources, &shown, args.profile.as_str());
    let Some(artifact) = artifact else {
        if is_fragment {
            let help = "compile the profile that uses it";
            return Err(fail(Exit::Usage, &format!("`{}` is a fragment", args.profile), Some(help)));
        }
        return Err(fail(Exit::Findings, "nothing was compiled", None));
    };
    let worst = exit_for(&shown, args.fail_on);
    if worst != Exit::Clean {
        return Err(fail(worst, "nothing was compiled", None));
    }
    if args.check { compare(&outputs, &artifact) } else { write(&outputs, &artifact) }
}

/// Where an artifact goes.
struct Outputs {
    manifest: Utf8PathBuf,
    seatbelt: Utf8PathBuf,
    target: System,
}

impl Outputs {
    fn of(args: &Args, target: System) -> Result<Self, Exit> {
        let beside = args.profile.parent().unwrap_or(Utf8Path::new(""));
        let directory = absolute(args.out_dir.as_deref().unwrap_or(beside))?;
        let stem = args.profile.file_stem().filter(|stem| *stem != "-").unwrap_or("profile");
        Ok(Self {
            manifest: directory.join(format!("{stem}.manifest.yaml")),
            seatbelt: directory.join(format!("{stem}.sb")),
            target,
        })
    }

    fn paths(&self) -> Vec<Utf8PathBuf> {
        match self.target {
            System::Linux => vec![self.manifest.clone()],
            System::Macos => vec![self.manifest.clone(), self.seatbelt.clone()],
        }
    }

    fn with<'a>(&'a self, artifact: &'a Artifact) -> impl Iterator<Item = (&'a Utf8Path, &'a str)> {
        // The manifest holds the digest of the `.sb`, so it goes last: until it is there, the pair is refused.
        let seatbelt = artifact.seatbelt.as_deref().map(|text| (self.seatbelt.as_path(), text));
        seatbelt.into_iter().chain([(self.manifest.as_path(), artifact.manifest.as_str())])
    }
}

fn compare(outputs: &Outputs, artifact: &Artifact) -> Result<Exit, Exit> {
    let mut stale = false;
    for (path, text) in outputs.with(artifact) {
        let mut help = "run `palisade compile` again";
        let problem = match read_text(path) {
            Ok(found) if found == *text || manifest::differ_in_cache_only(&found, text) => continue,
            Ok(found) => match manifest::read(&found) {
                Err(error @ ManifestError::Newer(_)) => {
                    help = "use that version, or run `palisade compile` again with this one";
                    format!("is not what compiling would give: {error}")
                }
                Ok(Manifest { palisade, .. }) if palisade != env!("CARGO_PKG_VERSION") => {
                    format!(
                        "is not what compiling would give: it was written by palisade {palisade}, and this is {}",
                        env!("CARGO_PKG_VERSION")
                    )
                }
                _ => "is not what compiling would give".to_owned(),
            },
            Err(error) => format!("cannot be read: {error}"),
        };
        fail(Exit::Findings, &format!("`{path}` {problem}"), Some(help));
        stale = true;
    }
    Ok(if stale { Exit::Findings } else { Exit::Clean })
}

/// Writes each file beside its place and moves it there: a reader sees the old one or the new one, and a link planted
/// at the place is replaced, not written through.
fn write(outputs: &Outputs, artifact: &Artifact) -> Result<Exit, Exit> {
    for (path, text) in outputs.with(artifact) {
        write_atomically(path, text, READABLE).map_err(|error| {
            let help =
                "what stood there still does; make room for it, or name another directory with `--out-dir`";
            fail(Exit::Usage, &format!("`{path}` cannot be written: {error}"), Some(help))
        })?;
        print(&format!("wrote {}\n", report::shown(path.as_str())));
    }
    Ok(Exit::Clean)
}
