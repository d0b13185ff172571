//! Shared memory and semaphores by name (shm_open(2), sem_open(2)). Names have 31 bytes at most.

use super::raw::{make_semaphore, open_region, remove_region};
use crate::ipc::{make_segment, remove_segment};
use crate::suite::{Probe, denied};
use std::ffi::CString;

/// A region of shared memory that exists while the suite runs.
pub struct Region(CString);

fn name(host: i32) -> CString {
    CString::new(format!("/palisade-suite-{host}")).unwrap_or_default()
}

impl Region {
    pub fn new() -> Self {
        let name = name(std::process::id() as i32);
        open_region(&name, libc::O_CREAT | libc::O_EXCL | libc::O_RDWR).unwrap();
        Self(name)
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        remove_region(&self.0).unwrap();
    }
}

pub const PROBES: &[Probe] = &[
    denied("i40 make a segment of shared memory", |_| {
        remove_segment(make_segment(libc::IPC_PRIVATE, 0o600)?)
    }),
    denied("i41 open a region of the host", |place| open_region(&name(place.host), libc::O_RDONLY)),
    denied("i42 make a region of shared memory", |_| {
        let name = name(-(std::process::id() as i32));
        open_region(&name, libc::O_CREAT | libc::O_RDWR)?;
        remove_region(&name)
    }),
    denied("i43 make a semaphore", |_| make_semaphore(&name(std::process::id() as i32))),
];
