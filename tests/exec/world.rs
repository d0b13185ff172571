//! A small world for one run: roots with denied and protected paths, a tool, and the manifest that goes with them.

use crate::system::world::{self as own, Compiled};
use camino::{Utf8Path, Utf8PathBuf};
use palisade::manifest::{CacheLine, Manifest};
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::process::{Command, Output, Stdio};
use std::sync::LazyLock;

/// The programs of all worlds, where every user can read them. A static is never dropped: see [`remove_programs`].
pub struct Programs {
    pub palisade: Utf8PathBuf,
    /// The listed tool: this test's own binary.
    pub probe: Utf8PathBuf,
    /// The same, not listed.
    pub unlisted: Utf8PathBuf,
    /// The same, among the modules of a tool.
    #[cfg(target_os = "linux")]
    pub among_modules: Utf8PathBuf,
    /// A listed script for `/bin/sh`.
    pub script: Utf8PathBuf,
}

pub static PROGRAMS: LazyLock<Programs> = LazyLock::new(|| {
    let directory =
        tempfile::Builder::new().prefix("palisade-programs-").tempdir_in(own::place()).unwrap().keep();
    let bin = Utf8PathBuf::from_path_buf(directory.canonicalize().unwrap()).unwrap();
    open_up(&bin);
    let here = std::env::current_exe().unwrap();
    let place = |name: &str, from: &std::path::Path| {
        fs::copy(from, bin.join(name)).unwrap();
        open_up(&bin.join(name));
        bin.join(name)
    };
    let script = bin.join("script");
    fs::write(&script, "#!/bin/sh\necho from the script\n").unwrap();
    open_up(&script);
    fs::create_dir(bin.join("modules")).unwrap();
    open_up(&bin.join("modules"));
    Programs {
        #[cfg(target_os = "linux")]
        among_modules: place("modules/program", &here),
        palisade: place("palisade", env!("CARGO_BIN_EXE_palisade").as_ref()),
        probe: place("probe", &here),
        unlisted: place("unlisted", &here),
        script,
    }
});

/// To be called when no world is needed any more.
pub fn remove_programs() {
    fs::remove_dir_all(PROGRAMS.probe.parent().unwrap()).unwrap();
}

pub fn shell_path() -> Utf8PathBuf {
    Utf8Path::new("/bin/sh").canonicalize_utf8().unwrap()
}

/// Where everything is; what probes get to know.
#[derive(Debug, Clone)]
pub struct Place {
    pub base: Utf8PathBuf,
    /// A process of the host: the one that runs the suite.
    pub host: i32,
}

impl Place {
    pub fn rw(&self, path: &str) -> Utf8PathBuf {
        self.base.join("rw").join(path)
    }

    pub fn ro(&self, path: &str) -> Utf8PathBuf {
        self.base.join("ro").join(path)
    }

    pub fn outside(&self, path: &str) -> Utf8PathBuf {
        self.base.join("outside").join(path)
    }
}

/// One world on the disk, and what may be done in it.
pub struct World {
    _directory: tempfile::TempDir,
    pub place: Place,
    /// What compiling gave. Limits and environment may be changed in it: on every system, walls take them from here.
    pub manifest: Manifest,
    /// What else compiling gave, which goes with the rules in the manifest.
    pub compiled: Compiled,
    uid: u32,
}

fn open_up(path: &Utf8Path) {
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

impl World {
    /// A world that belongs to `uid`.
    pub fn new(uid: u32) -> Self {
        let directory = tempfile::Builder::new().prefix("palisade-world-").tempdir_in(own::place()).unwrap();
        let base = Utf8PathBuf::from_path_buf(directory.path().canonicalize().unwrap()).unwrap();
        for (path, text) in [
            ("rw/f.txt", "f"),
            ("rw/a/b/secret.txt", "secret"),
            ("rw/a/b/open.txt", "open"),
            ("rw/.env", "secret"),
            ("rw/secrets/key", "secret"),
            ("rw/.git/config", "config"),
            ("rw/.git/HEAD", "head"),
            ("rw/.git/hooks/sample", "hook"),
            ("rw/vendor/lib/v.txt", "vendor"),
            ("rw/deep/x/kept/k.txt", "kept"),
            ("rw/target/readme", "target"),
            ("ro/r.txt", "r"),
            ("ro/hidden.txt", "secret"),
            ("outside/o.txt", "outside"),
            ("home/h.txt", "home"),
        ] {
            fs::create_dir_all(base.join(path).parent().unwrap()).unwrap();
            fs::write(base.join(path), text).unwrap();
        }
        symlink(".env", base.join("rw/to-env")).unwrap();
        symlink("secrets", base.join("rw/to-secrets")).unwrap();
        symlink("../outside/o.txt", base.join("rw/to-outside")).unwrap();
        for entry in walkdir::WalkDir::new(&base) {
            std::os::unix::fs::lchown(entry.unwrap().path(), Some(uid), None).unwrap();
        }
        open_up(&base);
        let place = Place { base, host: std::process::id() as i32 };
        let (manifest, compiled) = own::compile(&place);
        Self { _directory: directory, place, manifest, compiled, uid }
    }

    /// The user that everything runs as.
    pub fn uid(&self) -> u32 {
        self.uid
    }

    /// The command line of `palisade exec` with this world's manifest, as the world's user.
    pub fn palisade(&self, how: &[&str]) -> Command {
        let path = self.place.base.join("manifest.yaml");
        fs::write(&path, palisade::manifest::write(&self.manifest).unwrap()).unwrap();
        self.compiled.write(&self.place);
        let mut command = self.user(&PROGRAMS.palisade);
        command.args(["exec", path.as_str()]).args(how);
        command
    }

    /// A command of the world's user.
    pub fn user(&self, program: &Utf8Path) -> Command {
        let mut command = Command::new(program);
        if rustix::process::geteuid().as_raw() != self.uid {
            command.uid(self.uid).gid(self.uid);
        }
        command
            .current_dir(&self.place.base)
            .env("HOME", self.place.base.join("home"))
            .env_remove("XDG_STATE_HOME")
            .env("SUITE_SECRET", "leaked")
            .stdin(Stdio::null());
        command
    }

    /// Runs a line in the walls' shell.
    pub fn shell(&self, line: &str) -> Output {
        self.palisade(&["-c", line]).output().unwrap()
    }

    /// Runs a probe behind the walls.
    pub fn walled(&self, probe: &str) -> Output {
        let (base, host) = (self.place.base.as_str(), self.place.host.to_string());
        self.palisade(&["--", PROGRAMS.probe.as_str(), "--probe", probe, base, &host]).output().unwrap()
    }

    /// Runs a probe without walls, in its own process all the same.
    pub fn unwalled(&self, probe: &str) -> Output {
        let (base, host) = (self.place.base.as_str(), self.place.host.to_string());
        self.user(&PROGRAMS.probe)
            .current_dir(self.place.base.join("rw"))
            .args(["--probe", probe, base, &host])
            .output()
            .unwrap()
    }
}

/// The quick check of a path, as compiling would write it.
pub fn cached(path: Utf8PathBuf) -> CacheLine {
    let metadata = fs::symlink_metadata(&path).unwrap();
    CacheLine {
        identity: palisade::host::Identity { device: metadata.dev(), inode: metadata.ino() },
        size: metadata.size(),
        modified: i128::from(metadata.mtime()) * 1_000_000_000 + i128::from(metadata.mtime_nsec()),
        path,
    }
}
