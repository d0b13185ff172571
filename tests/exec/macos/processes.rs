//! Ways to other processes, to services of the system, and into the kernel.

use super::raw::{arguments_of, can_look_up, describe, process_count, process_table, set_hostname};
use crate::raw::no;
use crate::suite::{Probe, denied, denied_anyway};
use rustix::process::{Pid, test_kill_process};
use std::fs;
use std::io;

pub const PROBES: &[Probe] = &[
    denied("p40 signal a host process", |place| {
        let host = Pid::from_raw(place.host).ok_or_else(|| no("no process"))?;
        Ok(test_kill_process(host)?)
    }),
    // Its environment comes with it.
    denied("p41 read a host process's arguments", |place| arguments_of(place.host).map(drop)),
    denied("p42 list all processes", |_| if process_count()? > 1 { Ok(()) } else { Err(no("only itself")) }),
    denied("p42a read the table of processes", |_| process_table().map(drop)),
    denied("p43 ask about a host process", |place| describe(place.host)),
    // Both hold keys or start programs outside. A question to a Mac: that both have these names on every release.
    denied("p44 look up the service of keychains", |_| can_look_up(c"com.apple.SecurityServer")),
    denied("p45 look up the service that starts applications", |_| {
        can_look_up(c"com.apple.coreservices.launchservicesd")
    }),
    denied_anyway("p46 change a setting of the kernel", |_| set_hostname()),
    denied_anyway("p47 open a disk", |_| {
        let disks = ["/dev/disk0", "/dev/rdisk0", "/dev/disk1", "/dev/rdisk1"];
        let opened = disks.map(|disk| fs::File::open(disk).map(drop));
        opened.into_iter().reduce(io::Result::or).unwrap_or(Ok(()))
    }),
    denied_anyway("p48 make a device", |place| super::raw::make_device(&place.rw("disk"))),
    denied_anyway("p49 enter another root", |place| Ok(rustix::process::chroot(place.rw("").as_std_path())?)),
];
