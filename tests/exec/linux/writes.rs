//! Ways to change what may only be read, by system calls that only Linux has.

use crate::suite::{Probe, denied};
use std::fs;

pub const PROBES: &[Probe] = &[denied("w24 make a set-user-id file by a node", |place| {
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    let path = place.rw("node");
    mknodat(CWD, path.as_std_path(), FileType::RegularFile, Mode::from_raw_mode(0o4755), 0)?;
    fs::remove_file(path)
})];
