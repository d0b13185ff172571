//! Whether the machine is still the one that was compiled for: roots, symlinks, and the files that may be run. The same on every system.

use super::Refusal;
use crate::manifest::{CacheLine, Manifest, hex};
use camino::Utf8Path;
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::fs::Metadata;
use std::io;
use std::os::unix::fs::MetadataExt;

/// Directories that walls cannot be built around: the system's own views, and everything.
const UNWALLED: [&str; 4] = ["/", "/proc", "/sys", "/dev"];

/// Checks everything that the manifest rests on.
///
/// # Errors
/// The first thing that has changed.
pub fn check(manifest: &Manifest) -> Result<(), Refusal> {
    let cache: HashMap<&Utf8Path, &CacheLine> =
        manifest.cache.iter().map(|line| (line.path.as_path(), line)).collect();
    for link in &manifest.links {
        let found = std::fs::read_link(&link.link);
        if found.ok().as_deref() != Some(link.target.as_std_path()) {
            return Err(Refusal::LinkChanged { link: link.link.clone(), target: link.target.clone() });
        }
    }
    for root in &manifest.roots {
        check_root(&root.path, cache.get(root.path.as_path()).copied())?;
    }
    for socket in &manifest.unix {
        check_socket(&socket.path)?;
    }
    for file in &manifest.files {
        check_file(manifest, &file.path, &file.sha256, cache.get(file.path.as_path()).copied())?;
    }
    Ok(())
}

fn check_root(path: &Utf8Path, cached: Option<&CacheLine>) -> Result<(), Refusal> {
    let below_system = UNWALLED.iter().skip(1).any(|system| path.starts_with(system));
    if path == "/" || below_system {
        return Err(Refusal::Root(path.to_path_buf()));
    }
    let changed = |how: String| Refusal::RootChanged { path: path.to_path_buf(), how };
    let metadata = match open_directory(path) {
        // The call is not there, so nothing is known of the root.
        #[cfg(target_os = "linux")]
        Err(error) if matches!(error.raw_os_error(), Some(libc::ENOSYS | libc::EPERM)) => {
            return Err(super::linux::no_path_resolution(&error));
        }
        metadata => metadata.map_err(|error| changed(said(&error)))?,
    };
    let Some(cached) = cached else { return Ok(()) };
    if (metadata.dev(), metadata.ino()) != (cached.identity.device, cached.identity.inode) {
        return Err(changed("it is another directory".into()));
    }
    Ok(())
}

/// No link leads to a socket, and nothing else has its name. It may be missing: its server makes it.
fn check_socket(path: &Utf8Path) -> Result<(), Refusal> {
    use std::os::unix::fs::FileTypeExt as _;
    let changed = |how: String| Refusal::SocketChanged { path: path.to_path_buf(), how };
    if !path.is_absolute() {
        return Err(changed("it is no absolute path".into()));
    }
    let directory = path.parent().ok_or_else(|| changed("it is no socket".into()))?;
    match open_directory(directory) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        opened => opened.map_err(|error| changed(said(&error)))?,
    };
    match std::fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(changed(said(&error))),
        Ok(metadata) if metadata.file_type().is_socket() => Ok(()),
        Ok(_) => Err(changed("it is no socket".into())),
    }
}

/// The directory's metadata, reached without following any symlink.
fn open_directory(path: &Utf8Path) -> io::Result<Metadata> {
    use rustix::fs::{Mode, OFlags};
    let flags = OFlags::DIRECTORY | OFlags::CLOEXEC;
    #[cfg(target_os = "linux")]
    let directory = {
        use rustix::fs::{CWD, ResolveFlags, openat2};
        let resolve = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        openat2(CWD, path.as_str(), flags | OFlags::PATH, Mode::empty(), resolve)?
    };
    #[cfg(not(target_os = "linux"))]
    let directory = {
        if std::fs::canonicalize(path)? != path.as_std_path() {
            return Err(io::Error::from_raw_os_error(rustix::io::Errno::LOOP.raw_os_error()));
        }
        rustix::fs::open(path.as_str(), flags, Mode::empty())?
    };
    std::fs::File::from(directory).metadata()
}

fn check_file(
    manifest: &Manifest,
    path: &Utf8Path,
    digest: &str,
    cached: Option<&CacheLine>,
) -> Result<(), Refusal> {
    let changed =
        |how: String| Refusal::FileChanged { what: describe(manifest, path), path: path.to_path_buf(), how };
    let metadata = std::fs::symlink_metadata(path).map_err(|error| changed(said(&error)))?;
    if !metadata.is_file() {
        return Err(changed("it is no regular file".into()));
    }
    if cached.is_some_and(|line| matches(line, &metadata)) {
        return Ok(());
    }
    let mut hasher = Sha256::new();
    let copied = std::fs::File::open(path).and_then(|mut file| io::copy(&mut file, &mut Sink(&mut hasher)));
    copied.map_err(|error| changed(said(&error)))?;
    let stated = digest.strip_prefix("sha256:").unwrap_or(digest);
    if hex(&hasher.finalize()) == stated { Ok(()) } else { Err(changed("its contents differ".into())) }
}

struct Sink<'a>(&'a mut Sha256);

impl io::Write for Sink<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn matches(line: &CacheLine, metadata: &Metadata) -> bool {
    let modified = i128::from(metadata.mtime()) * 1_000_000_000 + i128::from(metadata.mtime_nsec());
    line.identity.device == metadata.dev()
        && line.identity.inode == metadata.ino()
        && line.size == metadata.size()
        && line.modified == modified
}

/// What a file is to the reader of the manifest.
fn describe(manifest: &Manifest, path: &Utf8Path) -> String {
    let tool = manifest.tools.iter().find(|tool| tool.real == path || tool.path == path);
    match tool {
        Some(tool) => format!("tool `{}`", tool.name),
        None if manifest.shell == path => "the shell".into(),
        None => "file".into(),
    }
}

fn said(error: &io::Error) -> String {
    match error.raw_os_error() {
        Some(code) if code == rustix::io::Errno::LOOP.raw_os_error() => "a symlink leads there".into(),
        Some(code) if code == rustix::io::Errno::NOTDIR.raw_os_error() => "it is no directory".into(),
        _ if error.kind() == io::ErrorKind::NotFound => "it is missing".into(),
        _ => error.to_string(),
    }
}
