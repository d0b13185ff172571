//! What runs behind the walls: it tries each question that it reads from standard input, and leaves everything as it was.

use serde::{Deserialize, Serialize};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;
use std::process::{Command, Stdio};

/// One thing to try.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Ask {
    pub operation: String,
    pub path: String,
    /// Device and inode of what the host has there; without, nothing.
    pub identity: Option<(u64, u64)>,
    /// Whether it must be the host's own; a directory on the way to a root need not be.
    pub exact: bool,
    /// The names in it, of a directory.
    pub names: Option<Vec<String>>,
    /// What is in it, of a file.
    pub text: Option<String>,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Said {
    Yes,
    /// Stopped, and how.
    No(String),
    /// Nothing can be tried: the kind of thing that is there does not have the operation.
    Moot,
    /// The trial could not be undone: what comes after means nothing.
    Spoilt(String),
}

/// Reads questions, a line of JSON each, and writes as many answers.
pub fn run() {
    let mut text = String::new();
    io::stdin().read_to_string(&mut text).unwrap();
    let mut answers = String::new();
    for line in text.lines() {
        let ask: Ask = serde_json::from_str(line).unwrap();
        answers.push_str(&serde_json::to_string(&answer(&ask)).unwrap());
        answers.push('\n');
    }
    io::stdout().write_all(answers.as_bytes()).unwrap();
}

/// What the kernel says where a thing is not allowed, rather than not possible.
fn is_refusal(error: &io::Error) -> bool {
    matches!(
        error.raw_os_error(),
        Some(
            libc::EACCES | libc::EPERM | libc::EROFS | libc::EBUSY | libc::EXDEV | libc::ENOENT | libc::ENXIO
        )
    )
}

fn said(result: io::Result<()>) -> Said {
    match result {
        Ok(()) => Said::Yes,
        Err(error) if is_refusal(&error) => Said::No(error.to_string()),
        Err(_) => Said::Moot,
    }
}

fn answer(ask: &Ask) -> Said {
    let path = Path::new(&ask.path);
    match ask.operation.as_str() {
        "metadata" => metadata(path, ask),
        "read" => read(path, ask),
        "write" => said(write(path)),
        "create" => create(path, ask.identity.is_some()),
        "rename" => rename(path),
        "link" => link(path),
        "link-to" => link_to(path, ask.text.as_deref().unwrap_or_default()),
        "exec" => exec(path),
        "map" => said(map(path)),
        "remove" => said(remove(path)),
        other => Said::Spoilt(format!("nobody knows how to {other}")),
    }
}

/// A mask has metadata of its own: only the host's count.
fn metadata(path: &Path, ask: &Ask) -> Said {
    match fs::metadata(path) {
        Ok(found) if !ask.exact || Some((found.dev(), found.ino())) == ask.identity => Said::Yes,
        Ok(_) => Said::No("something else is there".into()),
        Err(error) => said(Err(error)),
    }
}

fn read(path: &Path, ask: &Ask) -> Said {
    if let Some(names) = &ask.names {
        let listed = fs::read_dir(path).and_then(|entries| {
            entries.map(|entry| entry.map(|entry| entry.file_name())).collect::<io::Result<Vec<_>>>()
        });
        return match listed {
            Ok(listed) if names.iter().all(|name| listed.iter().any(|it| it == name.as_str())) => Said::Yes,
            Ok(listed) => Said::No(format!("lists {listed:?}")),
            Err(error) => said(Err(error)),
        };
    }
    match fs::read(path) {
        Ok(bytes) if ask.text.as_ref().is_none_or(|text| bytes == text.as_bytes()) => Said::Yes,
        Ok(bytes) => Said::No(format!("holds {:?}", String::from_utf8_lossy(&bytes))),
        Err(error) => said(Err(error)),
    }
}

/// Opens it for writing; of a directory, sets the mode that it has.
fn write(path: &Path) -> io::Result<()> {
    let mode = fs::metadata(path)?.mode();
    if !fs::metadata(path)?.is_dir() {
        OpenOptions::new().write(true).open(path)?;
    }
    fs::set_permissions(path, fs::Permissions::from_mode(mode & 0o777))
}

fn create(path: &Path, is_there: bool) -> Said {
    if is_there {
        return Said::Moot;
    }
    match OpenOptions::new().write(true).create_new(true).open(path) {
        Ok(_) => match fs::remove_file(path) {
            Ok(()) => Said::Yes,
            Err(error) => Said::Spoilt(format!("made, and cannot be removed: {error}")),
        },
        // What the walls put there.
        Err(error) if error.raw_os_error() == Some(libc::EEXIST) => Said::No(error.to_string()),
        Err(error) => said(Err(error)),
    }
}

/// A name beside it that nothing has.
fn beside(path: &Path) -> std::path::PathBuf {
    path.with_file_name("zz-beside")
}

fn rename(path: &Path) -> Said {
    match fs::rename(path, beside(path)) {
        Ok(()) => match fs::rename(beside(path), path) {
            Ok(()) => Said::Yes,
            Err(error) => Said::Spoilt(format!("renamed, and cannot be renamed back: {error}")),
        },
        Err(error) => said(Err(error)),
    }
}

fn link(path: &Path) -> Said {
    if fs::symlink_metadata(path).is_ok_and(|found| found.is_dir()) {
        return Said::Moot;
    }
    match fs::hard_link(path, beside(path)) {
        Ok(()) => match fs::remove_file(beside(path)) {
            Ok(()) => Said::Yes,
            Err(error) => Said::Spoilt(format!("linked, and cannot be removed: {error}")),
        },
        Err(error) => said(Err(error)),
    }
}

fn link_to(path: &Path, target: &str) -> Said {
    match fs::hard_link(path, target) {
        Ok(()) => match fs::remove_file(target) {
            Ok(()) => Said::Yes,
            Err(error) => Said::Spoilt(format!("linked, and cannot be removed: {error}")),
        },
        Err(error) => said(Err(error)),
    }
}

fn exec(path: &Path) -> Said {
    if fs::metadata(path).is_ok_and(|found| found.is_dir()) {
        return Said::Moot;
    }
    let mut command = Command::new(path);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    said(command.status().map(drop))
}

fn map(path: &Path) -> io::Result<()> {
    let file = File::open(path)?;
    if file.metadata()?.is_dir() {
        return Err(io::Error::from_raw_os_error(libc::EISDIR));
    }
    let protection = libc::PROT_READ | libc::PROT_EXEC;
    // SAFETY: a new mapping at a place that the kernel chooses; nothing is read from it.
    let mapped =
        unsafe { libc::mmap(std::ptr::null_mut(), 1, protection, libc::MAP_PRIVATE, file.as_raw_fd(), 0) };
    if mapped == libc::MAP_FAILED { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Not undone: asked last, of what lies deepest first.
fn remove(path: &Path) -> io::Result<()> {
    if fs::symlink_metadata(path)?.is_dir() { fs::remove_dir(path) } else { fs::remove_file(path) }
}
