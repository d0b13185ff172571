//! Shared memory as files, and a namespace that makes segments one's own.

use crate::ipc::{make_segment, remove_segment};
use crate::raw::no;
use crate::suite::{Probe, Scenario, denied, show, works};
use palisade::plan::{OriginKind, Scope};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

/// A file of shared memory that exists while the suite runs.
pub struct SharedFile(PathBuf);

fn file(host: i32) -> PathBuf {
    format!("/dev/shm/palisade-suite-{host}").into()
}

impl SharedFile {
    pub fn new() -> Self {
        let path = file(std::process::id() as i32);
        fs::write(&path, "shared").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        Self(path)
    }
}

impl Drop for SharedFile {
    fn drop(&mut self) {
        fs::remove_file(&self.0).unwrap();
    }
}

pub const PROBES: &[Probe] = &[
    denied("i01 make a file of shared memory", |place| {
        let path = format!("/dev/shm/palisade-suite-probe-{}-{}", place.host, std::process::id());
        fs::write(&path, "")?;
        fs::remove_file(&path)
    }),
    denied("i03 read a file of the host's shared memory", |place| {
        let text = fs::read_to_string(file(place.host))?;
        if text == "shared" { Ok(()) } else { Err(no("another text")) }
    }),
    works("i04 keep to a segment of one's own", |_| remove_segment(make_segment(libc::IPC_PRIVATE, 0o600)?)),
];

pub const SCENARIOS: &[Scenario] = &[Scenario {
    name: "shared memory that is granted is private",
    run: |world| {
        let operations = "read metadata write create remove link connect";
        world.rule(super::world::rule(true, operations, Scope::Subtree, "/dev/shm", OriginKind::Scratch));
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
