//! Ways to a denied file, and to what lies outside, through /proc.

use crate::files::read;
use crate::raw::no;
use crate::suite::{Probe, denied, denied_anyway};
use std::fs;
use std::io;

const SECRET: &str = "secret";

pub const PROBES: &[Probe] = &[
    denied("d07 read a denied file through /proc/self/root", |place| {
        read(format!("/proc/self/root{}", place.rw(".env")), SECRET)
    }),
    denied("d08 read outside through the root of any process", |place| {
        through_proc(|process| read(format!("/proc/{process}/root{}", place.outside("o.txt")), "outside"))
    }),
    denied("d09 read a denied file through the root of any process", |place| {
        through_proc(|process| read(format!("/proc/{process}/root{}", place.rw(".env")), SECRET))
    }),
    denied("d10 read outside through a host process", |place| {
        let host = place.host;
        if rustix::process::geteuid().is_root() {
            return read(format!("/proc/{host}/root{}", place.outside("o.txt")), "outside");
        }
        // Another user's process tells less without walls too: its command line.
        fs::read(format!("/proc/{host}/cmdline")).map(drop)
    }),
    denied_anyway("d11 follow an inherited descriptor outside", |place| {
        for fd in 3..1024 {
            if read(format!("/proc/self/fd/{fd}/outside/o.txt"), "outside").is_ok()
                || read(format!("/proc/self/fd/{fd}{}", place.outside("o.txt")), "outside").is_ok()
            {
                return Ok(());
            }
        }
        Err(no("none"))
    }),
    denied("d31 see mounts of the host", |_| {
        let mounts = fs::read_to_string("/proc/self/mountinfo")?;
        let points: Vec<&str> = mounts.lines().filter_map(|line| line.split(' ').nth(4)).collect();
        // Every system has these; the worlds of this suite grant neither.
        let host = ["/sys", "/dev", "/dev/pts", "/run"].iter().any(|point| points.contains(point));
        if host || points.iter().filter(|point| **point == "/").count() > 1 {
            Ok(())
        } else {
            Err(no("none"))
        }
    }),
];

/// Tries every process but this one's own threads' aliases.
fn through_proc(attempt: impl Fn(&str) -> io::Result<()>) -> io::Result<()> {
    let mut last = Err(no("no process"));
    for entry in fs::read_dir("/proc")? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if name.bytes().all(|byte| byte.is_ascii_digit()) {
            last = attempt(&name);
            if last.is_ok() {
                return last;
            }
        }
    }
    last
}
