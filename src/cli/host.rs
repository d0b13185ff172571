//! `palisade host record`: write down what compiling a profile asks of this machine.

use super::Exit;
use super::input::{BindArgs, absolute, open_regular};
use super::output::{READABLE, fail, findings_aside, print, write_atomically};
use super::profiles::read_profile;
use crate::host::record::Recorder;
use crate::host::recorded;
use crate::pipeline;
use crate::resolve::LiveLoader;
use crate::source::Sources;
use camino::{Utf8Path, Utf8PathBuf};
use std::io::Read as _;

/// Recorded machines
#[derive(clap::Subcommand)]
pub enum Verb {
    Record(RecordArgs),
}

/// Write down what compiling profiles asks of this machine
///
/// With the file, `check` and `compile --host FILE` give the same answers on any machine.
#[derive(clap::Args)]
pub struct RecordArgs {
    /// The profiles
    #[arg(required = true, value_name = "PROFILE")]
    profiles: Vec<Utf8PathBuf>,
    /// The file to write [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    output: Option<Utf8PathBuf>,
    #[command(flatten)]
    bind: BindArgs,
}

pub fn run(verb: &Verb) -> Exit {
    match verb {
        Verb::Record(args) => record(args).unwrap_or_else(|exit| exit),
    }
}

fn record(args: &RecordArgs) -> Result<Exit, Exit> {
    let machine = args.bind.machine()?;
    let recorder = Recorder::new(machine.host.as_ref()).with_workspace(&machine.request.workspace);
    let mut sources = Sources::new();
    for profile in &args.profiles {
        let file = read_profile(&mut sources, profile)?;
        let checked = pipeline::check(&mut sources, file, &LiveLoader, &recorder, &machine.request);
        if checked.bound.is_none() && !checked.findings.is_empty() {
            findings_aside(&sources, &checked.findings, profile.as_str());
            return Err(fail(
                Exit::Findings,
                &format!("`{profile}` was not understood; nothing was recorded"),
                None,
            ));
        }
    }
    let text = recorder.recording().map_err(|error| fail(Exit::Failure, &error.to_string(), None))?;
    match &args.output {
        None => print(&text),
        Some(path) => write_recording(path, &text)?,
    }
    Ok(Exit::Clean)
}

/// Makes a new file, or replaces what is a recording.
fn write_recording(path: &Utf8Path, text: &str) -> Result<(), Exit> {
    let place = absolute(path)?;
    if place.symlink_metadata().is_ok() && !is_recording(&place) {
        let message =
            format!("`{path}` was not written: something else than a recorded machine stands there");
        return Err(fail(Exit::Usage, &message, Some("name another file, or remove that one")));
    }
    write_atomically(&place, text, READABLE)
        .map_err(|error| fail(Exit::Usage, &format!("`{path}` cannot be written: {error}"), None))
}

/// Whether a recording stands at a place, one that can be read or not.
fn is_recording(place: &Utf8Path) -> bool {
    let mut text = String::new();
    let read = open_regular(place)
        .and_then(|file| file.take(crate::source::MAX_BYTES as u64).read_to_string(&mut text));
    read.is_ok() && recorded::is_one(&text)
}
