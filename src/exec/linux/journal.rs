//! The journal of a run: the placeholders that it holds, in a file that it keeps locked as long as it lives, so that a later start can
//! clean up after one that was killed.

use crate::manifest::Manifest;
use crate::policy::Access;
use camino::{Utf8Path, Utf8PathBuf};
use rustix::fs::{FlockOperation, OFlags, flock};
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

/// How many names are tried.
const ATTEMPTS: usize = 100;

/// Writes down what this run holds. Without a place for it there is no journal.
pub fn write(paths: &[Utf8PathBuf]) -> Option<(PathBuf, File)> {
    write_in(&state_directory()?, paths).ok()
}

/// Reads the journals of runs that are dead, and removes each of which `settle` has done with every path.
pub fn of_the_dead(settle: impl Fn(&Utf8Path) -> bool) {
    let Some(state) = state_directory() else { return };
    let Ok(entries) = std::fs::read_dir(state) else { return };
    for entry in entries.flatten() {
        // What is no file must not keep this waiting.
        let nonblocking = OFlags::NONBLOCK.bits() as i32;
        let journal = std::fs::OpenOptions::new().read(true).custom_flags(nonblocking).open(entry.path());
        let Ok(mut journal) = journal else { continue };
        // Its run holds the lock as long as it lives.
        if flock(&journal, FlockOperation::NonBlockingLockExclusive).is_err() {
            continue;
        }
        let mut paths = String::new();
        let _ = journal.read_to_string(&mut paths);
        let mut paths = paths.split('\0').filter(|path| !path.is_empty()).map(Utf8Path::new);
        if paths.all(&settle) {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

/// Writes a journal where a run would, and leaves no trace of it. Gives the directory.
///
/// # Errors
/// The directory and why nothing can be written there; no directory where neither `$XDG_STATE_HOME` nor `$HOME` names one.
pub fn try_out() -> Result<PathBuf, (Option<PathBuf>, io::Error)> {
    let Some(state) = state_directory() else {
        return Err((None, io::ErrorKind::NotFound.into()));
    };
    let made: Vec<PathBuf> = state
        .ancestors()
        .take_while(|place| place.symlink_metadata().is_err())
        .map(Path::to_path_buf)
        .collect();
    let written = write_in(&state, &[]).and_then(|(path, _)| std::fs::remove_file(path));
    for place in made {
        // Only what is empty, and was made just now.
        let _ = std::fs::remove_dir(place);
    }
    written.map(|()| state.clone()).map_err(|error| (Some(state), error))
}

/// The state directory and the writable root that holds it, if one does: a command must not write what a later start believes.
pub fn state_in_root(manifest: &Manifest) -> Option<(Utf8PathBuf, Utf8PathBuf)> {
    let state = Utf8PathBuf::from_path_buf(state_directory()?).ok()?;
    let canonical = state.ancestors().find_map(|ancestor| {
        let real = ancestor.canonicalize_utf8().ok()?;
        Some(real.join(state.strip_prefix(ancestor).unwrap_or(Utf8Path::new(""))))
    })?;
    let writable = manifest.roots.iter().filter(|root| root.access == Access::ReadWrite);
    let holding = writable.map(|root| &root.path).find(|root| canonical.starts_with(root))?;
    Some((state, holding.clone()))
}

/// `$XDG_STATE_HOME/palisade/runs`, else below the home directory (XDG Base Directory Specification).
fn state_directory() -> Option<PathBuf> {
    let absolute = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let state = absolute("XDG_STATE_HOME").or_else(|| Some(absolute("HOME")?.join(".local/state")))?;
    Some(state.join("palisade/runs"))
}

fn write_in(state: &Path, paths: &[Utf8PathBuf]) -> io::Result<(PathBuf, File)> {
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(state)?;
    for attempt in 0..ATTEMPTS {
        let path = state.join(format!("{}-{attempt}", std::process::id()));
        let file = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path);
        let mut file = match file {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
            file => file?,
        };
        flock(&file, FlockOperation::LockShared)?;
        let text: Vec<&str> = paths.iter().map(|path| path.as_str()).collect();
        if let Err(error) = file.write_all(text.join("\0").as_bytes()) {
            // No space is left, perhaps: half a journal is none.
            let _ = std::fs::remove_file(&path);
            return Err(error);
        }
        // A start in between takes a journal without a lock for one of a dead run.
        if std::fs::metadata(&path)
            .is_ok_and(|there| file.metadata().is_ok_and(|own| own.ino() == there.ino()))
        {
            return Ok((path, file));
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}
