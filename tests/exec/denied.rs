//! Ways to a denied file, and to what lies outside every root.

use crate::files::read;
use crate::raw::no;
use crate::suite::{Probe, denied};
use crate::world::Place;
use std::fs;
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};

const SECRET: &str = "secret";

pub const PROBES: &[Probe] = &[
    denied("d01 read a denied file", |place| read(place.rw(".env"), SECRET)),
    denied("d02 read a denied file through a symlink", |place| read(place.rw("to-env"), SECRET)),
    denied("d03 read a file outside through a symlink", |place| read(place.rw("to-outside"), "outside")),
    denied("d04 read in a denied directory through a symlink", |place| {
        read(place.rw("to-secrets/key"), SECRET)
    }),
    denied("d06 hard-link a denied file and read it", |place| {
        fs::hard_link(place.rw(".env"), place.rw("hard"))?;
        read(place.rw("hard"), SECRET)
    }),
    denied("d12 rename the grandparent of a denied file", |place| {
        fs::rename(place.rw("a"), place.rw("a2"))?;
        read(place.rw("a2/b/secret.txt"), SECRET)
    }),
    denied("d13 rename the parent of a denied file", |place| {
        fs::rename(place.rw("a/b"), place.rw("a/c"))?;
        read(place.rw("a/c/secret.txt"), SECRET)
    }),
    denied("d14 rename a denied file", |place| fs::rename(place.rw(".env"), place.rw("env"))),
    denied("d15 rename a denied directory", |place| fs::rename(place.rw("secrets"), place.rw("open"))),
    denied("d16 unlink a denied file", |place| fs::remove_file(place.rw(".env"))),
    denied("d17 rename a new file over a denied one", |place| {
        fs::write(place.rw("new"), "")?;
        fs::rename(place.rw("new"), place.rw(".env"))
    }),
    denied("d18 list a denied directory", |place| fs::read_dir(place.rw("secrets")).map(drop)),
    denied("d19 see the size of a denied file", |place| {
        let size = fs::metadata(place.rw(".env"))?.size();
        if size == SECRET.len() as u64 { Ok(()) } else { Err(no("another size")) }
    }),
    denied("d20 read a denied file of a read-only root", |place| read(place.ro("hidden.txt"), SECRET)),
    denied("d21 change the mode of a denied file and read it", |place| {
        fs::set_permissions(place.rw(".env"), fs::Permissions::from_mode(0o644))?;
        read(place.rw(".env"), SECRET)
    }),
    denied("d22 read outside every root", |place| read(place.outside("o.txt"), "outside")),
    denied("d23 list the directory that holds the roots", |place| {
        let names = fs::read_dir(&place.base)?.map(|entry| entry.map(|entry| entry.file_name()));
        let names: io::Result<Vec<_>> = names.collect();
        if names?.iter().any(|name| name == "outside") { Ok(()) } else { Err(no("only the roots")) }
    }),
    denied("d24 read a file in a denied directory", |place| read(place.rw("secrets/key"), SECRET)),
    denied("d25 rename a file out of a denied directory", |place| {
        fs::rename(place.rw("secrets/key"), place.rw("key"))
    }),
    denied("d26 exchange a denied file with another", |place| exchange(place, ".env", "f.txt")),
    denied("d27 read outside through a new symlink", |place| {
        std::os::unix::fs::symlink(place.outside("o.txt"), place.rw("link"))?;
        read(place.rw("link"), "outside")
    }),
    denied("d28 read the real home", |place| read(place.base.join("home/h.txt"), "home")),
    denied("d29 climb out with ..", |place| {
        std::env::set_current_dir(place.rw("a"))?;
        read("../../outside/o.txt", "outside")
    }),
    denied("d30 climb over the top of the root", |place| {
        let outside = place.outside("o.txt");
        for way in ["/..", "/../..", "/tmp/..", "/usr/..", "/proc/../.."] {
            if read(format!("{way}{outside}"), "outside").is_ok() {
                return Ok(());
            }
        }
        std::env::set_current_dir("/")?;
        std::env::set_current_dir("..")?;
        read(outside.as_str().trim_start_matches('/'), "outside")
    }),
];

fn exchange(place: &Place, one: &str, other: &str) -> io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    let (one, other) = (place.rw(one), place.rw(other));
    renameat_with(CWD, one.as_str(), CWD, other.as_str(), RenameFlags::EXCHANGE)?;
    read(other, SECRET)
}
