//! The near side of a network whose other side plays the rest of the world.

use crate::{lay, raw};
use camino::Utf8Path;
use rustix::mount::{MountPropagationFlags, mount_change};
use rustix::process::{Signal, getegid, geteuid, set_parent_process_death_signal};
use std::fs;
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

/// Into a network and mounts of our own, with the rights to make something of them.
pub fn apart() -> std::io::Result<()> {
    let (uid, gid) = (geteuid().as_raw(), getegid().as_raw());
    if geteuid().is_root() {
        raw::unshare(libc::CLONE_NEWNET | libc::CLONE_NEWNS)?;
    } else {
        raw::unshare(libc::CLONE_NEWUSER | libc::CLONE_NEWNET | libc::CLONE_NEWNS)?;
        fs::write("/proc/self/setgroups", "deny")?;
        fs::write("/proc/self/uid_map", format!("{uid} {uid} 1"))?;
        fs::write("/proc/self/gid_map", format!("{gid} {gid} 1"))?;
    }
    Ok(mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)?)
}

/// Starts the rest of the world, and lays the cable to it. `serve` is given a file to write down in what arrives there, and one to make when it
/// serves.
pub fn beyond(top: &Utf8Path, serve: fn(&Path, &Path) -> !) -> rustix::process::Pid {
    let (there, ready, book) = (top.join("apart"), top.join("ready"), top.join("book"));
    let wait = |path: &Utf8Path| {
        for _ in 0..1000 {
            if path.exists() {
                return;
            }
            sleep(Duration::from_millis(10));
        }
        panic!("{path} never came");
    };
    let Some(pid) = raw::fork() else {
        // Whatever happens here, the directory is not this process's to remove.
        let _ = std::panic::catch_unwind(|| {
            set_parent_process_death_signal(Some(Signal::KILL)).unwrap();
            raw::unshare(libc::CLONE_NEWNET).unwrap();
            fs::write(&there, "").unwrap();
            wait(&top.join("laid"));
            lay::up(lay::FAR);
            lay::answer_for_everybody();
            serve(book.as_std_path(), ready.as_std_path())
        });
        std::process::exit(1);
    };
    wait(&there);
    lay::cable(u32::try_from(pid.as_raw_pid()).unwrap());
    fs::write(top.join("laid"), "").unwrap();
    lay::up(lay::NEAR);
    lay::default_route(lay::FAR);
    wait(&ready);
    pid
}
