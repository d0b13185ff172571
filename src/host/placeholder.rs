//! The empty directory that stands where a protected path is missing while a command runs on Linux: only what exists can be mounted
//! over. It goes with the command, so whoever looks at the machine takes it for nothing.

/// Readable by all, writable by none, and sticky, which no one needs on such a directory (inode(7)).
pub const MODE: u32 = 0o1555;

/// Whether what stands at `path` is a placeholder: `mode` is what lstat(2) said of it, its kind included.
#[cfg(target_os = "linux")]
pub fn is_one(path: &camino::Utf8Path, mode: u32) -> bool {
    use rustix::fs::FileType;
    FileType::from_raw_mode(mode) == FileType::Directory
        && mode & 0o7777 == MODE
        && std::fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none())
}

/// Nothing stands in for a missing path there: the rules name it.
#[cfg(not(target_os = "linux"))]
pub fn is_one(_: &camino::Utf8Path, _: u32) -> bool {
    false
}
