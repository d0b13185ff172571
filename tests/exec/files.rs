//! What must keep working in roots.

use crate::suite::{Probe, works};
use std::fs;
use std::io;

pub const PROBES: &[Probe] = &[
    works("f01 read a file of a writable root", |place| read(place.rw("f.txt"), "f")),
    works("f02 read a file of a read-only root", |place| read(place.ro("r.txt"), "r")),
    works("f03 create a file at the top of a writable root", |place| fs::write(place.rw("new"), "")),
    works("f04 create a file in a new directory", |place| {
        fs::create_dir(place.rw("new"))?;
        fs::write(place.rw("new/file"), "")
    }),
    works("f05 create a file beside a denied one", |place| fs::write(place.rw("a/b/new"), "")),
    works("f06 create a file beside guarded ones", |place| {
        fs::write(place.rw(".git/index.lock"), "")?;
        fs::rename(place.rw(".git/index.lock"), place.rw(".git/index"))
    }),
    works("f07 rename within a directory", |place| fs::rename(place.rw("f.txt"), place.rw("g.txt"))),
    // On Linux a directory that holds something protected is a mount of its own: rename(2) says EXDEV, as between disks, and programs copy.
    works("f08 move a file out of a directory that is pinned", |place| {
        let (from, to) = (place.rw("a/b/open.txt"), place.rw("moved"));
        match fs::rename(&from, &to) {
            Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {
                fs::copy(&from, &to)?;
                fs::remove_file(&from)?;
            }
            other => other?,
        }
        if to.exists() && !from.exists() { Ok(()) } else { Err(io::Error::other("not moved")) }
    }),
    works("f09 list a writable root", |place| {
        let names: Vec<_> = fs::read_dir(place.rw(""))?.map(|entry| entry.unwrap().file_name()).collect();
        if names.iter().any(|name| name == ".env") { Ok(()) } else { Err(io::Error::other("no .env")) }
    }),
    works("f10 write, truncate, append, change the mode, remove", |place| {
        use std::os::unix::fs::PermissionsExt;
        let path = place.rw("f.txt");
        fs::write(&path, "longer than before")?;
        io::Write::write_all(&mut fs::OpenOptions::new().append(true).open(&path)?, b"more")?;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600))?;
        fs::remove_file(&path)
    }),
    works("f11 link and symlink within a directory", |place| {
        fs::hard_link(place.rw("f.txt"), place.rw("hard"))?;
        std::os::unix::fs::symlink("f.txt", place.rw("soft"))?;
        read(place.rw("soft"), "f")
    }),
    works("f12 read what stands beside a denied file", |place| read(place.rw("a/b/open.txt"), "open")),
    works("f13 read a guarded and a read-only file", |place| {
        read(place.rw(".git/config"), "config")?;
        read(place.rw("vendor/lib/v.txt"), "vendor")
    }),
    works("f14 start in the working directory", |place| {
        let here = std::env::current_dir()?;
        if here == place.rw("") { Ok(()) } else { Err(io::Error::other(here.display().to_string())) }
    }),
];

pub fn read(path: impl AsRef<camino::Utf8Path>, text: &str) -> io::Result<()> {
    let found = fs::read_to_string(path.as_ref())?;
    if found == text { Ok(()) } else { Err(io::Error::other(format!("{found:?}"))) }
}
