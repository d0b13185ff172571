//! The machine this program runs on. Nothing is executed but `xcode-select -p` on a Mac, nothing but regular files is opened, and no
//! open can wait.

use super::{
    Binary, Entry, Host, HostError, Identity, Kind, Listing, binary, placeholder, recording, spelling,
};
use crate::policy::System;
use camino::{Utf8Path, Utf8PathBuf};
use object::read::ReadCache;
use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, Stat, statat};
use rustix::io::Errno;
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::sync::OnceLock;

/// Why this machine cannot be looked at.
#[derive(Debug, thiserror::Error)]
pub enum LiveError {
    #[error("there is no home directory: neither `HOME` nor the password database names one")]
    NoHome,
    #[error("the home directory `{0}` is not an absolute path in UTF-8")]
    Home(String),
}

/// The largest file whose digest is taken, in bytes: a sparse file may claim any size.
const MAX_DIGESTED: u64 = 4 << 30;

/// The running machine.
#[derive(Debug)]
pub struct LiveHost {
    home: Utf8PathBuf,
    case_insensitive: bool,
    developer_directory: OnceLock<Option<Utf8PathBuf>>,
}

impl LiveHost {
    /// Looks for the home directory: `$HOME`, else the password database.
    ///
    /// # Errors
    /// No home directory, or one that is not absolute.
    pub fn new() -> Result<Self, LiveError> {
        let home = std::env::home_dir().ok_or(LiveError::NoHome)?;
        let home =
            Utf8PathBuf::from_path_buf(home).map_err(|home| LiveError::Home(home.display().to_string()))?;
        Self::with_home(&home)
    }

    /// This machine, as one whose home directory is `home` would see it.
    ///
    /// # Errors
    /// A home that is not absolute.
    pub fn with_home(home: &Utf8Path) -> Result<Self, LiveError> {
        if !home.is_absolute() {
            return Err(LiveError::Home(home.to_string()));
        }
        // One spelling: no slash at the end, none doubled.
        let home: Utf8PathBuf = home.components().collect();
        let case_insensitive = ignores_case(&home);
        Ok(Self { home, case_insensitive, developer_directory: OnceLock::new() })
    }
}

/// Whether the disk that holds `home` takes another case for the same name. Where that cannot be told on a Mac, the answer is yes, as
/// it only ever widens what is denied.
fn ignores_case(home: &Utf8Path) -> bool {
    if System::this() == System::Linux {
        return false;
    }
    let swap = |c: char| if c.is_lowercase() { c.to_ascii_uppercase() } else { c.to_ascii_lowercase() };
    let swapped: String = home.as_str().chars().map(swap).collect();
    let (Ok(here), there) = (std::fs::symlink_metadata(home), std::fs::symlink_metadata(&swapped)) else {
        return true;
    };
    swapped == home.as_str()
        || there.is_ok_and(|there| (there.dev(), there.ino()) == (here.dev(), here.ino()))
}

fn host_error(path: &Utf8Path, error: &io::Error) -> HostError {
    match error.kind() {
        // Both EACCES and EPERM.
        io::ErrorKind::PermissionDenied => HostError::Denied(path.into()),
        _ => HostError::Other { path: path.into(), reason: error.to_string() },
    }
}

/// A name that is not UTF-8 as text: what is not is escaped.
fn escaped(directory: &Utf8Path, name: &[u8]) -> Utf8PathBuf {
    directory.join(name.escape_ascii().to_string())
}

impl LiveHost {
    /// Opens a regular file, and nothing else: opening a device can have effects, and a FIFO would wait for a writer.
    fn open(&self, path: &Utf8Path) -> Result<(File, u64), HostError> {
        let other = |reason: &str| HostError::Other { path: path.into(), reason: reason.into() };
        match self.lstat(path)? {
            Some(entry) if entry.is_file() => {}
            Some(_) => return Err(other("it is not a regular file")),
            None => return Err(other("nothing is there")),
        }
        // It may have been replaced since, so the flags keep to the promise and the descriptor is asked again.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let file = rustix::fs::open(path.as_std_path(), flags, Mode::empty())
            .map_err(|error| host_error(path, &error.into()))?;
        let file = File::from(file);
        let metadata = file.metadata().map_err(|error| host_error(path, &error))?;
        if !metadata.is_file() {
            return Err(other("it is not a regular file"));
        }
        Ok((file, metadata.len()))
    }
}

impl LiveHost {
    fn open_directory(&self, path: &Utf8Path) -> Result<Dir, HostError> {
        let other = |reason: &str| HostError::Other { path: path.into(), reason: reason.into() };
        match self.lstat(path)? {
            Some(entry) if entry.is_directory() => {}
            Some(_) => return Err(other("it is not a directory")),
            None => return Err(other("nothing is there")),
        }
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let directory = rustix::fs::open(path.as_std_path(), flags, Mode::empty()).and_then(Dir::new);
        directory.map_err(|error| host_error(path, &error.into()))
    }
}

/// The names in an open directory, sorted by bytes.
fn names(path: &Utf8Path, directory: &mut Dir) -> Result<Vec<String>, HostError> {
    let failed = |error: Errno| host_error(path, &error.into());
    let mut names = Vec::new();
    while let Some(entry) = directory.read() {
        let entry = entry.map_err(failed)?;
        match entry.file_name().to_bytes() {
            b"." | b".." => {}
            name => match std::str::from_utf8(name) {
                Ok(name) => names.push(name.to_owned()),
                Err(_) => return Err(HostError::NotUtf8(escaped(path, name))),
            },
        }
    }
    names.sort_unstable();
    Ok(names)
}

/// What stands at a path, of which this was said. The fields have other widths on other systems.
#[allow(clippy::unnecessary_cast)]
fn entry(path: &Utf8Path, stat: &Stat) -> Result<Entry, HostError> {
    Ok(Entry {
        kind: match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => Kind::File,
            FileType::Directory => Kind::Directory,
            FileType::Symlink => Kind::Symlink(target(path)?),
            FileType::Socket => Kind::Socket,
            FileType::Fifo => Kind::Fifo,
            FileType::CharacterDevice => Kind::CharacterDevice,
            FileType::BlockDevice | FileType::Unknown => Kind::BlockDevice,
        },
        identity: Identity { device: stat.st_dev as u64, inode: stat.st_ino as u64 },
        links: stat.st_nlink as u64,
        mode: stat.st_mode as u32 & 0o7777,
        uid: stat.st_uid,
        gid: stat.st_gid,
        size: stat.st_size as u64,
        modified: i128::from(stat.st_mtime) * 1_000_000_000 + i128::from(stat.st_mtime_nsec),
    })
}

impl Host for LiveHost {
    fn system(&self) -> System {
        System::this()
    }

    fn architecture(&self) -> &str {
        std::env::consts::ARCH
    }

    fn home(&self) -> &Utf8Path {
        &self.home
    }

    fn case_insensitive(&self) -> bool {
        self.case_insensitive
    }

    // The field has other widths on other systems.
    #[allow(clippy::unnecessary_cast)]
    fn lstat(&self, path: &Utf8Path) -> Result<Option<Entry>, HostError> {
        match statat(CWD, path.as_std_path(), AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) if placeholder::is_one(path, stat.st_mode as u32) => Ok(None),
            Ok(stat) => entry(path, &stat).map(Some),
            Err(Errno::NOENT | Errno::NOTDIR) => Ok(None),
            Err(error) => Err(host_error(path, &error.into())),
        }
    }

    fn read_dir(&self, path: &Utf8Path) -> Result<Vec<String>, HostError> {
        names(path, &mut self.open_directory(path)?)
    }

    #[allow(clippy::unnecessary_cast)]
    fn list(&self, directory: &Utf8Path) -> Result<Listing, HostError> {
        let mut open = self.open_directory(directory)?;
        let names = names(directory, &mut open)?;
        let open = open.fd().map_err(|error| host_error(directory, &error.into()))?;
        let mut listed = Vec::with_capacity(names.len());
        for name in names {
            let path = directory.join(&name);
            match statat(open, &name, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(stat) if placeholder::is_one(&path, stat.st_mode as u32) => {}
                Ok(stat) => {
                    let entry = entry(&path, &stat);
                    listed.push((path, entry));
                }
                Err(Errno::NOENT) => {}
                Err(error) => {
                    let error = host_error(&path, &error.into());
                    listed.push((path, Err(error)));
                }
            }
        }
        Ok(listed.into())
    }

    fn head(&self, path: &Utf8Path, limit: usize) -> Result<Vec<u8>, HostError> {
        let (file, _) = self.open(path)?;
        let mut bytes = Vec::new();
        file.take(limit as u64).read_to_end(&mut bytes).map_err(|error| host_error(path, &error))?;
        Ok(bytes)
    }

    fn digest(&self, path: &Utf8Path) -> Result<String, HostError> {
        let (mut file, size) = self.open(path)?;
        if size > MAX_DIGESTED {
            return Err(HostError::Other { path: path.into(), reason: "it is larger than 4 GiB".into() });
        }
        let mut hasher = Sha256::new();
        let mut buffer = vec![0; 1 << 16];
        let mut left = MAX_DIGESTED;
        loop {
            let read = match file.read(&mut buffer) {
                Ok(0) => break,
                Ok(read) => read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(host_error(path, &error)),
            };
            left = left.checked_sub(read as u64).ok_or_else(|| HostError::Other {
                path: path.into(),
                reason: "it grows while it is read".into(),
            })?;
            hasher.update(buffer.get(..read).unwrap_or_default());
        }
        Ok(recording::hex(&hasher.finalize()))
    }

    fn binary(&self, path: &Utf8Path) -> Result<Option<Binary>, HostError> {
        let (file, _) = self.open(path)?;
        let cache = ReadCache::new(file);
        binary::parse(&cache, self.architecture()).map_err(|reason| HostError::Other {
            path: path.into(),
            reason: format!("it is not a sound program file: {reason}"),
        })
    }

    fn spelling(&self, directory: &Utf8Path, name: &str) -> Result<String, HostError> {
        if !self.case_insensitive {
            return Ok(name.to_owned());
        }
        match self.read_dir(directory) {
            Ok(names) => Ok(spelling::among(&names, name).unwrap_or(name).to_owned()),
            // A directory that can be passed but not listed: the spelling as it was given is all there is.
            Err(HostError::Denied(_)) => Ok(name.to_owned()),
            Err(error) => Err(error),
        }
    }

    #[cfg(target_os = "linux")]
    fn mounts(&self) -> Result<Vec<super::Mount>, HostError> {
        super::mounts::read().map_err(|error| host_error(super::mounts::TABLE.into(), &error))
    }

    fn developer_directory(&self) -> Option<&Utf8Path> {
        self.developer_directory.get_or_init(selected_developer_directory).as_deref()
    }
}

/// Asks xcode-select(1), which neither prompts nor installs. Its whole environment is a PATH, so that the caller's `DEVELOPER_DIR` has
/// no say.
#[cfg(target_os = "macos")]
fn selected_developer_directory() -> Option<Utf8PathBuf> {
    let output = std::process::Command::new("/usr/bin/xcode-select")
        .arg("-p")
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .current_dir("/")
        .stdin(std::process::Stdio::null())
        .output()
        .ok()?;
    if output.status.success() { developer_directory_in(&output.stdout) } else { None }
}

#[cfg(not(target_os = "macos"))]
fn selected_developer_directory() -> Option<Utf8PathBuf> {
    None
}

/// The path that `xcode-select -p` wrote: one line, absolute, in one spelling, and not `/`.
#[cfg(any(target_os = "macos", test))]
fn developer_directory_in(output: &[u8]) -> Option<Utf8PathBuf> {
    let line = std::str::from_utf8(output).ok()?.strip_suffix('\n')?;
    let path = Utf8Path::new(line.strip_suffix('/').unwrap_or(line));
    let sound = !line.contains(['\n', '\0']) && path != "" && recording::normal(path).is_ok();
    sound.then(|| path.to_path_buf())
}

fn target(path: &Utf8Path) -> Result<Utf8PathBuf, HostError> {
    #[cfg(target_os = "linux")]
    if in_proc(path) {
        // What these lead to is another thing for every process, and need not be what they say (proc(5)).
        return Err(HostError::Other {
            path: path.into(),
            reason: "it is a link of the proc file system".into(),
        });
    }
    let target = std::fs::read_link(path).map_err(|error| host_error(path, &error))?;
    Utf8PathBuf::from_path_buf(target).map_err(|target| {
        let shown = format!("{path} -> {}", target.as_os_str().as_bytes().escape_ascii());
        HostError::NotUtf8(shown.into())
    })
}

#[cfg(target_os = "linux")]
fn in_proc(path: &Utf8Path) -> bool {
    let Some(parent) = path.parent() else { return false };
    // Where it cannot be told, the link is read: `statfs` fails only where the file system itself does.
    rustix::fs::statfs(parent.as_std_path()).is_ok_and(|fs| fs.f_type == rustix::fs::PROC_SUPER_MAGIC)
}

#[cfg(test)]
mod tests;
