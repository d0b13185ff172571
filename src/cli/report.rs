//! `--report FILE`: the record of a run, written once it is over, outside of every wall.

use super::Exit;
use super::exec::CommandArgs;
use super::input::open_regular;
use super::network_log;
use super::output::{PRIVATE, fail, write_atomically_in};
use crate::exec::Outcome;
use crate::exec::record::{Record, Recorder, writable_by_command};
use crate::manifest::{self, Manifest};
use camino::{Utf8Path, Utf8PathBuf};
use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, Mode, OFlags, open, unlinkat};
use rustix::io::Errno;
use std::fs::File;
use std::io::{self, Read as _};

/// Bytes; no record is longer.
const MAX_RECORD: u64 = 64 << 20;

const REFUSED: Exit = Exit::Command(125);

/// Where a record goes. The directory is held from before the command starts: whatever its path leads to by the end, the record goes there.
struct Place {
    /// Canonical but for its last component.
    path: Utf8PathBuf,
    name: String,
    directory: OwnedFd,
}

/// A record in the making, and where it goes, if anywhere.
pub struct Report {
    place: Option<Place>,
    /// Where connections are logged.
    log: Option<Utf8PathBuf>,
    opened: Option<File>,
    recorder: Recorder,
}

impl Report {
    /// Checks that the record can be written. `inputs` are files that the user would not want to be replaced.
    pub fn begin(args: &CommandArgs, inputs: &[&Utf8Path]) -> Result<Self, Exit> {
        let place = match &args.report {
            None => None,
            Some(path) => Some(place(path, inputs, args.network_log.as_deref()).map_err(|error| {
                fail(
                    REFUSED,
                    &format!("the record cannot be written to `{path}`: {error}"),
                    Some("name a file of its own in a directory that you may write to; nothing was run"),
                )
            })?),
        };
        let recorder = Recorder::new(&args.command());
        Ok(Self { place, log: args.network_log.clone(), opened: None, recorder })
    }

    /// Says what it runs behind, which must keep the command away from the record. Removes an older one: if this run is killed, nobody is to
    /// take that for its record.
    pub fn behind(mut self, manifest: &Manifest, text: &str) -> Result<Self, Exit> {
        if let Some(path) = &self.log {
            self.opened = Some(log(path, manifest)?);
        }
        if let Some(Place { path, name, directory }) = &self.place {
            keep_from_command(manifest, path, "record")?;
            match unlinkat(directory, name.as_str(), AtFlags::empty()) {
                Err(error) if error != Errno::NOENT => {
                    let message = format!("the older record `{path}` cannot be removed: {error}");
                    return Err(fail(REFUSED, &message, Some("remove it; nothing was run")));
                }
                _ => {}
            }
        }
        self.recorder.behind(manifest, manifest::digest(text).unwrap_or_default());
        Ok(self)
    }

    /// What connections are to be logged to.
    pub fn take_log(&mut self) -> Option<File> {
        self.opened.take()
    }

    pub fn ran(self, outcome: &Outcome, exit: Exit) -> Exit {
        let Self { place, recorder, .. } = self;
        write(place, || recorder.ran(outcome), exit, true)
    }

    /// Says why nothing was run.
    pub fn refused(self, message: &str, help: Option<&str>) -> Exit {
        fail(REFUSED, message, help);
        let Self { place, recorder, .. } = self;
        write(place, || recorder.refused(message.to_owned(), help.map(str::to_owned)), REFUSED, false)
    }

    /// Nothing was run, which was said already.
    pub fn already_refused(self, message: &str) -> Exit {
        let Self { place, recorder, .. } = self;
        write(place, || recorder.refused(message.to_owned(), None), REFUSED, false)
    }
}

/// Opens the log of connections, which the command must not be able to change either.
fn log(path: &Utf8Path, manifest: &Manifest) -> Result<File, Exit> {
    if let Some(why) = network_log::useless(manifest) {
        return Err(fail(REFUSED, why, Some("leave out `--network-log`; nothing was run")));
    }
    let unusable = |error: io::Error| {
        let help = "name a file in a directory that you may write to; nothing was run";
        fail(REFUSED, &format!("connections cannot be logged to `{path}`: {error}"), Some(help))
    };
    let place = network_log::place(path).map_err(unusable)?;
    keep_from_command(manifest, &place, "log")?;
    network_log::open(&place).map_err(unusable)
}

/// Refuses a place that the command could change.
fn keep_from_command(manifest: &Manifest, path: &Utf8Path, what: &str) -> Result<(), Exit> {
    let mounts = crate::host::mounts::here().map_err(|error| {
        let message =
            format!("whether the command could replace the {what} `{path}` cannot be told: {error}");
        fail(REFUSED, &message, Some("mount /proc; nothing was run"))
    })?;
    match writable_by_command(manifest, path, &mounts) {
        Some(root) => {
            let message = format!("the command could replace the {what} `{path}`: it may write to `{root}`");
            Err(fail(REFUSED, &message, Some("write it elsewhere; nothing was run")))
        }
        None => Ok(()),
    }
}

/// Finds where the record goes, and that it can be written there.
fn place(path: &Utf8Path, inputs: &[&Utf8Path], log: Option<&Utf8Path>) -> io::Result<Place> {
    let name = path.file_name().ok_or_else(|| io::Error::other("it names no file"))?;
    let parent = path.parent().filter(|parent| !parent.as_str().is_empty()).unwrap_or(Utf8Path::new("."));
    let place = parent.canonicalize_utf8()?.join(name);
    if inputs.iter().any(|input| input.canonicalize_utf8().is_ok_and(|input| input == place)) {
        return Err(io::Error::other("it is read from there"));
    }
    if log.is_some_and(|log| network_log::place(log).is_ok_and(|log| log == place)) {
        return Err(io::Error::other("connections are logged there"));
    }
    match place.symlink_metadata() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
        Ok(found) if !found.is_file() => {
            return Err(io::Error::other("something else than a file stands there"));
        }
        Ok(found) if found.len() > 0 && !is_record(&place)? => {
            return Err(io::Error::other("something else than a record stands there"));
        }
        Ok(_) => {}
    }
    // Now, and not only when the command has run.
    let parent = place.parent().unwrap_or(Utf8Path::new("/"));
    drop(tempfile::tempfile_in(parent)?);
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let directory = open(parent.as_str(), flags, Mode::empty())?;
    Ok(Place { name: name.to_owned(), path: place, directory })
}

/// Whether a record stands there, of whatever version: nothing else is replaced by one.
fn is_record(place: &Utf8Path) -> io::Result<bool> {
    #[derive(serde::Deserialize)]
    struct Head {
        #[serde(rename = "schema")]
        _schema: serde::de::IgnoredAny,
        #[serde(rename = "palisade")]
        _palisade: serde::de::IgnoredAny,
    }
    let mut text = String::new();
    let file = open_regular(place)?;
    match file.take(MAX_RECORD).read_to_string(&mut text) {
        // A sequence would be read as the fields in their order.
        Ok(_) => Ok(text.trim_start().starts_with('{') && serde_json::from_str::<Head>(&text).is_ok()),
        Err(error) if error.kind() == io::ErrorKind::InvalidData => Ok(false),
        Err(error) => Err(error),
    }
}

fn write(place: Option<Place>, record: impl FnOnce() -> Record, exit: Exit, ran: bool) -> Exit {
    let Some(Place { path, name, directory }) = place else { return exit };
    let written = serde_json::to_string_pretty(&record())
        .map_err(io::Error::from)
        .and_then(|text| write_atomically_in(&directory, &name, &format!("{text}\n"), PRIVATE));
    match written {
        Ok(()) => exit,
        Err(error) => {
            let help = match exit {
                _ if !ran => "nothing was run; make room for it, or write it elsewhere".to_owned(),
                Exit::Command(code) => format!(
                    "the command has run, and the exit code would have been {code}; make room for it, or write it elsewhere"
                ),
                _ => "make room for it, or write it elsewhere".to_owned(),
            };
            fail(REFUSED, &format!("the record `{path}` cannot be written: {error}"), Some(&help))
        }
    }
}
