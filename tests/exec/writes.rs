//! Ways to change what may only be read.

use crate::suite::{Probe, denied};
use camino::Utf8Path;
use std::fs;
use std::io;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};

pub const PROBES: &[Probe] = &[
    denied("w01 write a file of a read-only root", |place| append(&place.ro("r.txt"))),
    denied("w02 create a file in a read-only root", |place| fs::write(place.ro("new"), "")),
    denied("w03 write a file of a nested read-only root", |place| append(&place.rw("vendor/lib/v.txt"))),
    denied("w04 create a hook", |place| fs::write(place.rw(".git/hooks/post-merge"), "")),
    denied("w05 append to a guarded file", |place| append(&place.rw(".git/config"))),
    denied("w06 rename over a guarded file", |place| {
        fs::write(place.rw(".git/new"), "")?;
        fs::rename(place.rw(".git/new"), place.rw(".git/config"))
    }),
    denied("w07 rename the parent of guarded paths", |place| fs::rename(place.rw(".git"), place.rw("git"))),
    denied("w08 rename a guarded directory", |place| {
        fs::rename(place.rw(".git/hooks"), place.rw(".git/old"))
    }),
    denied("w09 rename an ancestor of a nested read-only root", |place| {
        fs::rename(place.rw("deep/x"), place.rw("deep/y"))
    }),
    denied("w10 change the mode in a nested read-only root", |place| mode(&place.rw("vendor/lib/v.txt"))),
    denied("w11 hard-link a read-only file and write it", |place| {
        fs::hard_link(place.rw("vendor/lib/v.txt"), place.rw("v.txt"))?;
        append(&place.rw("v.txt"))
    }),
    denied("w12 change mode and times in a read-only root", |place| {
        mode(&place.ro("r.txt"))?;
        let now = fs::FileTimes::new().set_modified(std::time::SystemTime::UNIX_EPOCH);
        fs::File::open(place.ro("r.txt"))?.set_times(now)
    }),
    denied("w13 write outside", |place| fs::write(place.outside("new"), "")),
    denied("w14 remove in a nested read-only root", |place| fs::remove_file(place.rw("vendor/lib/v.txt"))),
    denied("w15 rename within a nested read-only root", |place| {
        fs::rename(place.rw("vendor/lib"), place.rw("vendor/bil"))
    }),
    denied("w16 rename a nested read-only root", |place| fs::rename(place.rw("vendor"), place.rw("old"))),
    denied("w17 remove a guarded directory and make it anew", |place| {
        fs::remove_dir_all(place.rw(".git/hooks"))?;
        fs::create_dir(place.rw(".git/hooks"))
    }),
    denied("w18 move a file into a nested read-only root", |place| {
        fs::rename(place.rw("f.txt"), place.rw("vendor/f.txt"))
    }),
    denied("w21 make a set-user-id file by a mode", |place| {
        let modes = [0o4755, 0o2755, 0o6755, 0o4000];
        let path = place.rw("f.txt");
        let tried = modes.map(|mode| fs::set_permissions(&path, fs::Permissions::from_mode(mode)));
        tried.into_iter().reduce(|one, other| one.or(other)).unwrap_or(Ok(()))
    }),
    // Of a Mac it is known that a mode set by path is asked for; for the next two it is a question.
    denied("w22 make a set-user-id file by an open file", |place| {
        fs::File::open(place.rw("f.txt"))?.set_permissions(fs::Permissions::from_mode(0o4755))
    }),
    denied("w23 make a set-user-id file by creating it", |place| {
        let path = place.rw("set-id");
        fs::OpenOptions::new().write(true).create_new(true).mode(0o4755).open(&path)?;
        fs::remove_file(path)
    }),
    denied("w19 rename the root", |place| fs::rename(place.rw(""), place.base.join("other"))),
    denied("w20 write beside the roots", |place| fs::write(place.base.join("new"), "")),
    denied("w21 set an attribute in a read-only root", |place| {
        let flags = rustix::fs::XattrFlags::empty();
        Ok(rustix::fs::setxattr(place.ro("r.txt").as_str(), "user.suite", b"x", flags)?)
    }),
    denied("w22 bind a guarded path's name by a symlink", |place| {
        fs::remove_file(place.rw(".git/config"))?;
        std::os::unix::fs::symlink("../f.txt", place.rw(".git/config"))
    }),
];

fn append(path: &Utf8Path) -> io::Result<()> {
    io::Write::write_all(&mut fs::OpenOptions::new().append(true).open(path)?, b"more")
}

fn mode(path: &Utf8Path) -> io::Result<()> {
    fs::set_permissions(path, fs::Permissions::from_mode(0o777))
}
