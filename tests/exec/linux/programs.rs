//! Ways to run programs that are not listed: by the loader, from memory, from a file without a name.

use crate::programs::{HELLO, beside, copy, run, succeeded};
use crate::raw::no;
use crate::suite::{Probe, denied, denied_anyway, show};
use crate::world::Place;
use camino::{Utf8Path, Utf8PathBuf};
use std::fs;
use std::io::{self, Write as _};
use std::os::fd::AsRawFd;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

pub const PROBES: &[Probe] = &[
    denied("e08 load an unlisted program", |place| load(&beside("unlisted"), place)),
    denied("e09 load a program copied into a root", |place| {
        copy(beside("probe"), place.rw("copy"))?;
        load(&place.rw("copy"), place)
    }),
    denied("e10 run a library", |_| {
        // The C library is a program of its own on most systems; where it is not, the right to run it is what is asked.
        let library = libc_path()?;
        Command::new(&library).output().map(drop)
    }),
    denied("e11 load a program among a tool's modules", |place| load(&beside("modules/program"), place)),
    denied("e12 run from memory", |place| {
        let fd = rustix::fs::memfd_create("copy", rustix::fs::MemfdFlags::empty())?;
        let mut file = fs::File::from(fd);
        file.write_all(&fs::read(beside("probe"))?)?;
        run(format!("/proc/self/fd/{}", file.as_raw_fd()), place)
    }),
    denied_anyway("e13 make sealed memory executable", |_| {
        let fd = rustix::fs::memfd_create("copy", rustix::fs::MemfdFlags::NOEXEC_SEAL)?;
        let file = fs::File::from(fd);
        file.set_permissions(fs::Permissions::from_mode(0o755))
    }),
    denied("e14 run a nameless file of TMPDIR", |place| {
        let flags = rustix::fs::OFlags::TMPFILE | rustix::fs::OFlags::RDWR;
        let directory = std::env::temp_dir();
        let mut file = fs::File::from(rustix::fs::open(&directory, flags, 0o755.into())?);
        file.write_all(&fs::read(beside("probe"))?)?;
        let reopened = fs::File::open(format!("/proc/self/fd/{}", file.as_raw_fd()))?;
        drop(file);
        run(format!("/proc/self/fd/{}", reopened.as_raw_fd()), place)
    }),
    denied("e21 preload a library of a root", |place| {
        copy(libc_path()?, place.rw("preload.so"))?;
        let preload = Command::new(beside("probe"))
            .args(["--probe", "e22 see what is preloaded", place.base.as_str(), "1"])
            .env("LD_PRELOAD", place.rw("preload.so"))
            .output()?;
        if preload.status.success() { Ok(()) } else { Err(no(&show(&preload))) }
    }),
];

/// Asked by another probe, never by itself.
pub const ASKED: Probe = denied_anyway("e22 see what is preloaded", |_| {
    let maps = fs::read_to_string("/proc/self/maps")?;
    let runs = |line: &str| line.ends_with("preload.so") && line.contains("r-xp");
    if maps.lines().any(runs) { Ok(()) } else { Err(no("nothing")) }
});

fn load(program: &Utf8Path, place: &Place) -> io::Result<()> {
    let maps = fs::read_to_string("/proc/self/maps")?;
    let loader = maps.lines().find_map(|line| {
        let path = Utf8Path::new(line.get(line.find('/')?..)?);
        path.file_name()?.starts_with("ld-").then_some(path)
    });
    let loader = loader.ok_or_else(|| no("no loader"))?;
    succeeded(Command::new(loader).arg(program).args(["--probe", HELLO, place.base.as_str(), "1"]))
}

fn libc_path() -> io::Result<Utf8PathBuf> {
    let maps = fs::read_to_string("/proc/self/maps")?;
    let path = maps.lines().find_map(|line| {
        let path = Utf8Path::new(line.get(line.find('/')?..)?);
        path.file_name()?.starts_with("libc.").then(|| path.to_path_buf())
    });
    path.ok_or_else(|| no("no C library"))
}
