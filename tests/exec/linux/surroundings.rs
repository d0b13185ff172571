//! What a command sees of /proc, and streams that only Linux has.

use crate::suite::{Probe, Scenario, works};
use std::fs;
use std::io::{Read as _, Seek as _};

pub const PROBES: &[Probe] = &[works("v06 read about oneself in /proc", |_| {
    fs::read("/proc/self/status")?;
    fs::read("/proc/meminfo")?;
    fs::read_dir("/proc/self/fd").map(drop)
})];

pub const SCENARIOS: &[Scenario] = &[Scenario {
    name: "a stream may be a file without a path",
    run: |world| {
        let fd = rustix::fs::memfd_create("output", rustix::fs::MemfdFlags::CLOEXEC).unwrap();
        let mut file = fs::File::from(fd);
        let mut command = world.palisade(&["-c", "echo text"]);
        let status = command.stdout(file.try_clone().unwrap()).status().unwrap();
        assert_eq!(status.code(), Some(0));
        let mut text = String::new();
        file.rewind().unwrap();
        file.read_to_string(&mut text).unwrap();
        assert_eq!(text, "text\n");
    },
}];
