//! `--network-log FILE`: a line of JSON for each connection and each refusal of a run, appended as they happen.

use crate::manifest::Manifest;
use camino::{Utf8Path, Utf8PathBuf};
use rustix::fs::{CWD, Mode, OFlags, openat};
use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt as _;

/// Where it is: canonical but for its last component.
///
/// # Errors
/// As realpath(3); a path that names no file.
pub fn place(path: &Utf8Path) -> io::Result<Utf8PathBuf> {
    let name = path.file_name().ok_or_else(|| io::Error::other("it names no file"))?;
    let parent = path.parent().filter(|parent| !parent.as_str().is_empty()).unwrap_or(Utf8Path::new("."));
    Ok(parent.canonicalize_utf8()?.join(name))
}

/// Opens it to append, making it where it is missing, readable by its owner only.
///
/// # Errors
/// As open(2); something else than a file.
pub fn open(place: &Utf8Path) -> io::Result<File> {
    let flags = OFlags::WRONLY | OFlags::APPEND | OFlags::CREATE | OFlags::NOFOLLOW;
    // What is no file must not keep this waiting.
    let flags = flags | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let file = File::from(openat(CWD, place.as_str(), flags, Mode::RUSR | Mode::WUSR)?);
    let found = file.metadata()?;
    if !found.is_file() {
        return Err(io::Error::other("something else than a file stands there"));
    }
    if found.nlink() > 1 {
        // By the other the command might write to it, wherever that is.
        return Err(io::Error::other("it has another name: a hard link"));
    }
    Ok(file)
}

/// Why a log for this manifest would say nothing.
pub fn useless(manifest: &Manifest) -> Option<&'static str> {
    use crate::manifest::Network;
    match manifest.network {
        Network::Only => None,
        Network::Off => Some("the profile has `network off`, so that there is nothing to log"),
        Network::All => Some("the profile has `network all`, whose connections nobody sees"),
    }
}
