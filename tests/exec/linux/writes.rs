//! Ways to change what may only be read, by system calls that only Linux has.

use crate::suite::{Probe, denied};
use rustix::fs::{CWD, FileType, Mode, RenameFlags, mknodat, renameat_with};
use std::fs;

pub const PROBES: &[Probe] = &[
    denied("w24 make a set-user-id file by a node", |place| {
        let path = place.rw("node");
        mknodat(CWD, path.as_std_path(), FileType::RegularFile, Mode::from_raw_mode(0o4755), 0)?;
        fs::remove_file(path)
    }),
    denied("w25 leave a device by a rename", |place| {
        let (from, to) = (place.rw("whiteout-from"), place.rw("whiteout-to"));
        fs::write(&from, "")?;
        let renamed = renameat_with(CWD, from.as_str(), CWD, to.as_str(), RenameFlags::WHITEOUT);
        let _ = fs::remove_file(&to);
        fs::remove_file(from)?;
        Ok(renamed?)
    }),
];
