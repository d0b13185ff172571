//! Shared memory of the host.

use crate::raw;
use crate::suite::{Probe, denied};
use std::io;

const BYTES: usize = 4096;

/// A segment (shmget(2)) that exists while the suite runs.
pub struct Segment(i32);

fn key(host: i32) -> libc::key_t {
    0x7061_0000 + host % 0xffff
}

impl Segment {
    pub fn new() -> Self {
        let key = key(std::process::id() as i32);
        Self(make_segment(key, libc::IPC_CREAT | 0o666).unwrap())
    }
}

impl Drop for Segment {
    fn drop(&mut self) {
        remove_segment(self.0).unwrap();
    }
}

pub fn make_segment(key: libc::key_t, flags: i32) -> io::Result<i32> {
    raw::shmget(key, BYTES, flags)
}

pub fn remove_segment(segment: i32) -> io::Result<()> {
    raw::shmctl_remove(segment)
}

pub const PROBES: &[Probe] = &[denied("i02 reach a segment of the host", |place| {
    raw::shmget(key(place.host), BYTES, 0o444).map(drop)
})];
