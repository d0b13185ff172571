//! Which programs run, and ways to run others.

use crate::raw::{map_executable, no};
use crate::suite::{Probe, Scenario, denied, show, works};
use crate::world::{PROGRAMS, Place};
use camino::{Utf8Path, Utf8PathBuf};
use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt;
use std::process::Command;

/// A probe that has no needs: shows that a program runs at all.
pub const HELLO: &str = "e00 run";

pub const PROBES: &[Probe] = &[
    works(HELLO, |_| Ok(())),
    works("e01 run a listed tool", |place| run(beside("probe"), place)),
    works("e02 run a listed script", |_| {
        let output = Command::new(beside("script")).output()?;
        if output.stdout == b"from the script\n" { Ok(()) } else { Err(no(&show(&output))) }
    }),
    denied("e03 run an unlisted program", |place| run(beside("unlisted"), place)),
    denied("e04 run an unlisted program from the shell", |place| {
        let line = format!("exec {} --probe '{HELLO}' {} 1", beside("unlisted"), place.base);
        succeeded(Command::new("/bin/sh").args(["-c", &line]))
    }),
    denied("e05 run a program copied into a root", |place| {
        copy(beside("probe"), place.rw("copy"))?;
        run(place.rw("copy"), place)
    }),
    denied("e06 run a script written into a root", |place| {
        write_script(&place.rw("new.sh"))?;
        succeeded(&mut Command::new(place.rw("new.sh")))
    }),
    denied("e07 run a program copied into TMPDIR", |place| {
        let file = temporary("copy");
        copy(beside("probe"), &file)?;
        let ran = run(&file, place);
        fs::remove_file(&file)?;
        ran
    }),
    // Whether a Mac lets a file be mapped so without walls, where code must be signed, is a question to one.
    denied("e15 map a file of a root executable", |place| {
        copy(beside("probe"), place.rw("copy"))?;
        map_executable(&fs::File::open(place.rw("copy"))?)
    }),
    denied("e16 map an unlisted program executable", |_| {
        map_executable(&fs::File::open(beside("unlisted"))?)
    }),
    works("e17 run a program where programs may run", |place| {
        copy(beside("probe"), place.rw("target/copy"))?;
        run(place.rw("target/copy"), place)
    }),
    works("e18 let a listed shell read a script", |place| {
        write_script(&place.rw("new.sh"))?;
        succeeded(Command::new("/bin/sh").arg(place.rw("new.sh")))
    }),
    denied("e19 run through a symlink in a root", |place| {
        std::os::unix::fs::symlink(beside("unlisted"), place.rw("link"))?;
        run(place.rw("link"), place)
    }),
];

pub const SCENARIOS: &[Scenario] = &[
    Scenario {
        name: "a program that is not there is 127",
        run: |world| {
            let output = world.palisade(&["--", "no-such-program"]).output().unwrap();
            assert_eq!(output.status.code(), Some(127), "{}", show(&output));
            assert!(
                String::from_utf8_lossy(&output.stderr).contains("cannot run `no-such-program`: not found")
            );
        },
    },
    Scenario {
        name: "an unlisted program is 126 and the help says why",
        run: |world| {
            let output = world.palisade(&["--", PROGRAMS.unlisted.as_str()]).output().unwrap();
            assert_eq!(output.status.code(), Some(126), "{}", show(&output));
            let errors = String::from_utf8_lossy(&output.stderr);
            assert!(errors.contains("only the tools listed in the profile may be started"), "{errors}");
        },
    },
    Scenario {
        name: "a name is looked up in the manifest's PATH",
        run: |world| {
            let base = world.place.base.clone();
            let mut command = world.palisade(&["--", "probe", "--probe", HELLO, base.as_str(), "1"]);
            let output = command.env("PATH", "/nowhere").output().unwrap();
            assert_eq!(output.status.code(), Some(0), "{}", show(&output));
        },
    },
    Scenario {
        name: "codes and signals of the command are its own",
        run: |world| {
            for (line, code) in [("exit 0", 0), ("exit 7", 7), ("kill -9 $$", 137), ("kill -15 $$", 143)] {
                let output = world.shell(line);
                assert_eq!(output.status.code(), Some(code), "{line}: {}", show(&output));
                assert!(output.stderr.is_empty(), "{}", show(&output));
            }
        },
    },
];

/// A program of the suite.
pub fn beside(name: &str) -> Utf8PathBuf {
    let here = Utf8PathBuf::from_path_buf(std::env::current_exe().unwrap()).unwrap();
    // Where programs may run this is a copy; the originals' place stands in the environment's PATH.
    match here.with_file_name(name) {
        path if path.exists() => path,
        _ => std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())
            .map(|place| Utf8PathBuf::from_path_buf(place.join(name)).unwrap())
            .find(|path| path.exists())
            .unwrap(),
    }
}

pub fn run(program: impl AsRef<Utf8Path>, place: &Place) -> io::Result<()> {
    succeeded(Command::new(program.as_ref()).args(["--probe", HELLO, place.base.as_str(), "1"]))
}

pub fn succeeded(command: &mut Command) -> io::Result<()> {
    let output = command.output()?;
    if output.status.success() { Ok(()) } else { Err(no(&show(&output))) }
}

/// Copies by reading and writing: a clone (clonefile(2)) of what may not be linked would be stopped before anything runs.
pub fn copy(from: impl AsRef<Utf8Path>, to: impl AsRef<Utf8Path>) -> io::Result<()> {
    let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(0o755).open(to.as_ref())?;
    file.write_all(&fs::read(from.as_ref())?)
}

fn write_script(path: &Utf8Path) -> io::Result<()> {
    let mut file = fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o755).open(path)?;
    file.write_all(b"#!/bin/sh\nexit 0\n")
}

fn temporary(name: &str) -> Utf8PathBuf {
    let name = format!("palisade-suite-{}-{name}", std::process::id());
    Utf8PathBuf::from_path_buf(std::env::temp_dir().join(name)).unwrap()
}
