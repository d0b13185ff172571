//! The file systems that are made for one sandbox, and what is put into them before they are shown.

use crate::sys::linux::{attribute, mount_setattr};
use camino::{Utf8Path, Utf8PathBuf};
use rustix::fd::OwnedFd;
use rustix::fs::{FileType, Mode, OFlags, mkdirat, mknodat, openat};
use rustix::io::Errno;
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, fsconfig_create, fsconfig_set_flag, fsconfig_set_string,
    fsmount, fsopen,
};
use std::io;

/// The two things without permissions that every mask is a bind of.
pub const FILE_MASK: &str = "file";
pub const DIRECTORY_MASK: &str = "directory";

/// A file that takes the place of one of this machine, or stands where this has none. Read-only.
#[derive(Debug, Clone)]
pub struct OwnFile {
    pub place: Utf8PathBuf,
    pub contents: Vec<u8>,
}

/// A file system in memory; without `bytes` it may hold half of that (tmpfs(5)).
pub fn tmpfs(mode: &str, bytes: Option<u64>) -> rustix::io::Result<OwnedFd> {
    let size = bytes.map(|bytes| bytes.to_string());
    let mut options = vec![("mode", mode)];
    options.extend(size.as_deref().map(|size| ("size", size)));
    mount_of("tmpfs", &options, MountAttrFlags::MOUNT_ATTR_NODEV)
}

/// A read-only file system with these files, by their number.
pub fn own(files: &[OwnFile]) -> rustix::io::Result<Option<OwnedFd>> {
    if files.is_empty() {
        return Ok(None);
    }
    let own = tmpfs("755", None)?;
    for (number, file) in files.iter().enumerate() {
        leave(&own, number.to_string().as_str().into(), &file.contents)?;
    }
    mount_setattr(&own, attribute::RDONLY, false)
        .map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
    Ok(Some(own))
}

/// A read-only file system with the two things that masks are made of.
pub fn masks() -> io::Result<OwnedFd> {
    let masks = tmpfs("755", None)?;
    mknodat(&masks, FILE_MASK, FileType::RegularFile, Mode::empty(), 0)?;
    mkdirat(&masks, DIRECTORY_MASK, Mode::empty())?;
    mount_setattr(&masks, attribute::RDONLY, false)?;
    Ok(masks)
}

/// An instance of `devpts` that nobody else has terminals in.
pub fn devpts() -> rustix::io::Result<OwnedFd> {
    let fs = fsopen("devpts", FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_set_flag(&fs, "newinstance")?;
    fsconfig_set_string(&fs, "ptmxmode", "0666")?;
    fsconfig_set_string(&fs, "mode", "0620")?;
    fsconfig_create(&fs)?;
    let attributes = MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NOEXEC;
    fsmount(&fs, FsMountFlags::FSMOUNT_CLOEXEC, attributes)
}

/// A detached new file system, nosuid and noexec besides `attributes`.
pub fn mount_of(
    kind: &str,
    options: &[(&str, &str)],
    attributes: MountAttrFlags,
) -> rustix::io::Result<OwnedFd> {
    let fs = fsopen(kind, FsOpenFlags::FSOPEN_CLOEXEC)?;
    for (key, value) in options {
        fsconfig_set_string(&fs, *key, *value)?;
    }
    fsconfig_create(&fs)?;
    let attributes = attributes | MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NOEXEC;
    fsmount(&fs, FsMountFlags::FSMOUNT_CLOEXEC, attributes)
}

/// Writes a file into a fresh directory, where no link can be on the way.
pub fn leave(top: &OwnedFd, file: &Utf8Path, mut contents: &[u8]) -> rustix::io::Result<()> {
    let mut parents: Vec<&Utf8Path> =
        file.ancestors().skip(1).filter(|parent| !parent.as_str().is_empty()).collect();
    parents.reverse();
    for parent in parents {
        mkdirat(top, parent.as_str(), Mode::from_bits_truncate(0o755))?;
    }
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
    let file = openat(top, file.as_str(), flags, Mode::from_bits_truncate(0o644))?;
    while !contents.is_empty() {
        let written = rustix::io::write(&file, contents)?;
        contents = contents.get(written..).filter(|_| written > 0).ok_or(Errno::IO)?;
    }
    Ok(())
}
