//! In: a machine, live or recorded. Out: facts about paths, and nothing else. The only window onto a machine for every stage from
//! binding to emission, so that a profile for a Mac is compiled on Linux and every test is exact.

mod binary;
pub mod live;
pub mod mounts;
pub mod placeholder;
pub mod record;
pub mod recorded;
pub mod recording;
pub mod remembering;
pub mod resolve;
pub mod spelling;

use crate::policy::System;
use camino::{Utf8Path, Utf8PathBuf};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

pub use live::{LiveError, LiveHost};
pub use mounts::Mount;
pub use record::Recorder;
pub use recorded::{RecordedHost, RecordingError};
pub use remembering::{Remembering, concluded};
pub use resolve::{Hop, Resolution, ResolveError, resolve, resolve_parent};
pub use spelling::fold;

/// What kind of thing a path names, the last component not followed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    File,
    Directory,
    /// With its target, as written in the link.
    Symlink(Utf8PathBuf),
    Socket,
    Fifo,
    CharacterDevice,
    BlockDevice,
}

/// What identifies a file as long as it exists: device and inode number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Identity {
    pub device: u64,
    pub inode: u64,
}

/// What `lstat` says of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub kind: Kind,
    pub identity: Identity,
    /// Number of hard links.
    pub links: u64,
    /// Permission bits, `0o7777`.
    pub mode: u32,
    pub uid: u32,
    pub gid: u32,
    /// Bytes.
    pub size: u64,
    /// Last modification, nanoseconds since 1970; 0 in a recording.
    pub modified: i128,
}

impl Entry {
    pub fn is_directory(&self) -> bool {
        self.kind == Kind::Directory
    }

    pub fn is_file(&self) -> bool {
        self.kind == Kind::File
    }

    /// Whether any execute bit is set.
    pub fn is_executable(&self) -> bool {
        self.mode & 0o111 != 0
    }
}

/// What a program file says of itself: the part of ELF or Mach-O that decides what it loads.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Binary {
    /// `PT_INTERP` (elf(5)); `None` for a library or a static program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loader: Option<Utf8PathBuf>,
    /// `DT_NEEDED`, in order; `LC_LOAD_DYLIB` for Mach-O.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub needed: Vec<String>,
    /// `LC_LOAD_WEAK_DYLIB` of Mach-O: loaded where it is there, not missed where it is not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub weak: Vec<String>,
    /// `DT_RPATH`, cut at the colons, `$ORIGIN` left as it stands. Kept apart from [`Binary::runpath`] because libraries
    /// inherit it from what loads them (ld.so(8)).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rpath: Vec<String>,
    /// `DT_RUNPATH`, cut and left as `rpath` is; `LC_RPATH` for Mach-O.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub runpath: Vec<String>,
    /// ELF machine and class as one word (`x86_64`, `aarch64`, `x86`, …): libraries of another machine are not candidates.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub machine: String,
}

/// Why a question to a host has no answer. Not an error of the program: the caller turns it into a finding, and fails closed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HostError {
    #[error("`{0}` may not be examined")]
    Denied(Utf8PathBuf),
    #[error("`{0}` holds a name that is not UTF-8")]
    NotUtf8(Utf8PathBuf),
    #[error("`{0}` is not in the recording")]
    NotRecorded(Utf8PathBuf),
    #[error("`{path}` cannot be read: {reason}")]
    Other { path: Utf8PathBuf, reason: String },
}

impl HostError {
    pub fn path(&self) -> &Utf8Path {
        match self {
            Self::Denied(path) | Self::NotUtf8(path) | Self::NotRecorded(path) | Self::Other { path, .. } => {
                path
            }
        }
    }
}

/// The paths in a directory, and what stands at each.
pub type Listing = Arc<[(Utf8PathBuf, Result<Entry, HostError>)]>;

/// A machine, as far as a compile may ask of it. Paths are absolute; none but [`Host::lstat`]'s parent part follows symlinks in a
/// way the caller has not resolved before: callers pass what [`resolve`] gave.
pub trait Host: Sync {
    fn system(&self) -> System;

    /// The machine architecture as Rust names it (`x86_64`, `aarch64`).
    fn architecture(&self) -> &str;

    /// The home directory of whoever compiles.
    fn home(&self) -> &Utf8Path;

    /// Whether names that differ only in case are the same file (APFS by default).
    fn case_insensitive(&self) -> bool;

    /// What a path is, its last component not followed. `None` where nothing is there.
    fn lstat(&self, path: &Utf8Path) -> Result<Option<Entry>, HostError>;

    /// The names in a directory, sorted by bytes.
    fn read_dir(&self, path: &Utf8Path) -> Result<Vec<String>, HostError>;

    /// What stands at each path in a directory, sorted by names: [`Host::read_dir`], and [`Host::lstat`] of each, in one go. What has
    /// vanished in between is left out.
    fn list(&self, directory: &Utf8Path) -> Result<Listing, HostError> {
        let paths = self.read_dir(directory)?.into_iter().map(|name| directory.join(name));
        let look = |path: Utf8PathBuf| Some((self.lstat(&path).transpose()?, path));
        Ok(paths.filter_map(look).map(|(entry, path)| (path, entry)).collect())
    }

    /// The first `limit` bytes of a regular file.
    fn head(&self, path: &Utf8Path, limit: usize) -> Result<Vec<u8>, HostError>;

    /// The SHA-256 of a regular file, in lower-case hexadecimal.
    fn digest(&self, path: &Utf8Path) -> Result<String, HostError>;

    /// What a program or library file says of itself; `None` where it is neither ELF nor Mach-O.
    fn binary(&self, path: &Utf8Path) -> Result<Option<Binary>, HostError>;

    /// How the disk spells `name`, which is in `directory`: another spelling than the asked one only where case does not matter.
    fn spelling(&self, _directory: &Utf8Path, name: &str) -> Result<String, HostError> {
        Ok(name.to_owned())
    }

    /// What is mounted where, by which a path may have other names; on Linux only. Nothing where none has ([`mounts::parse`]).
    fn mounts(&self) -> Result<Vec<Mount>, HostError> {
        Ok(Vec::new())
    }

    /// The active developer directory (`xcode-select -p`), on a Mac that has one.
    fn developer_directory(&self) -> Option<&Utf8Path> {
        None
    }

    /// What was concluded from this host's answers, where it remembers those ([`Remembering`]).
    fn conclusions(&self) -> Option<&remembering::Conclusions> {
        None
    }
}
