//! Shared memory of the host.

use crate::raw::{call, no};
use crate::suite::{Probe, Scenario, denied, show, works};
use palisade::plan::{OriginKind, Scope};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

/// A segment and a file of shared memory that exist while the suite runs.
pub struct Shared {
    segment: i64,
    file: PathBuf,
}

fn key(host: i32) -> usize {
    0x7061_0000 + host as usize % 0xffff
}

fn file(host: i32) -> PathBuf {
    format!("/dev/shm/palisade-suite-{host}").into()
}

impl Shared {
    pub fn new() -> Self {
        let host = std::process::id() as i32;
        let create = (libc::IPC_CREAT | 0o666) as usize;
        let segment = call(libc::SYS_shmget, [key(host), 4096, create, 0, 0, 0]).unwrap();
        fs::write(file(host), "shared").unwrap();
        fs::set_permissions(file(host), fs::Permissions::from_mode(0o644)).unwrap();
        Self { segment, file: file(host) }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        call(libc::SYS_shmctl, [self.segment as usize, libc::IPC_RMID as usize, 0, 0, 0, 0]).unwrap();
        fs::remove_file(&self.file).unwrap();
    }
}

pub const PROBES: &[Probe] = &[
    denied("i01 make a file of shared memory", |place| {
        let path = format!("/dev/shm/palisade-suite-probe-{}-{}", place.host, std::process::id());
        fs::write(&path, "")?;
        fs::remove_file(&path)
    }),
    denied("i02 reach a segment of the host", |place| {
        call(libc::SYS_shmget, [key(place.host), 4096, 0o444, 0, 0, 0]).map(drop)
    }),
    denied("i03 read a file of the host's shared memory", |place| {
        let text = fs::read_to_string(file(place.host))?;
        if text == "shared" { Ok(()) } else { Err(no("another text")) }
    }),
    works("i04 keep to a segment of one's own", |_| {
        const PRIVATE: usize = 0;
        let segment = call(libc::SYS_shmget, [PRIVATE, 4096, 0o600, 0, 0, 0])?;
        call(libc::SYS_shmctl, [segment as usize, libc::IPC_RMID as usize, 0, 0, 0, 0]).map(drop)
    }),
];

pub const SCENARIOS: &[Scenario] = &[Scenario {
    name: "shared memory that is granted is private",
    run: |world| {
        let operations = "read metadata write create remove link connect";
        world.rule(crate::world::rule(true, operations, Scope::Subtree, "/dev/shm", OriginKind::Scratch));
        for (probe, code) in [
            ("i01 make a file of shared memory", 0),
            ("i02 reach a segment of the host", 1),
            ("i03 read a file of the host's shared memory", 1),
        ] {
            let output = world.walled(probe);
            assert_eq!(output.status.code(), Some(code), "{probe}: {}", show(&output));
        }
    },
}];
