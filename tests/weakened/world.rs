//! A directory with compiled profiles, and the program run in it on a weakened machine.

use camino::{Utf8Path, Utf8PathBuf};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::process::{Command, Output, Stdio};
use std::sync::LazyLock;
use tempfile::TempDir;

/// Somebody who is not root.
pub const NOBODY: u32 = 65534;

struct Programs {
    palisade: Utf8PathBuf,
    weaken: Utf8PathBuf,
}

/// Copies where every user can read them.
static PROGRAMS: LazyLock<Programs> = LazyLock::new(|| {
    let directory = tempfile::Builder::new().prefix("palisade-weakened-").tempdir().unwrap().keep();
    let bin = Utf8PathBuf::from_path_buf(directory.canonicalize().unwrap()).unwrap();
    let copy = |from: &std::path::Path, name: &str| {
        fs::copy(from, bin.join(name)).unwrap();
        open_up(&bin.join(name));
        bin.join(name)
    };
    open_up(&bin);
    Programs {
        palisade: copy(env!("CARGO_BIN_EXE_palisade").as_ref(), "palisade"),
        weaken: copy(&std::env::current_exe().unwrap(), "weaken"),
    }
});

pub fn remove_programs() {
    fs::remove_dir_all(PROGRAMS.palisade.parent().unwrap()).unwrap();
}

fn open_up(path: &Utf8Path) {
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// What a profile can ask for and a machine be unable to give, by the names that `doctor` gives it. The first asks for nothing of it.
pub const PROFILES: [(&str, &str); 6] = [
    ("bare", "root \"$workspace\" read-only; network all"),
    ("network-off", "root \"$workspace\" read-only; network off"),
    ("writable-root", "root \"$workspace\" read-write; network all"),
    ("denial", "root \"$workspace\" read-only; network all; deny \"$workspace/hidden\""),
    ("process-limit", "root \"$workspace\" read-only; network all; limits { processes 50 }"),
    ("terminal", "root \"$workspace\" read-only; network all; needs terminal"),
];

pub struct World {
    _directory: TempDir,
    pub path: Utf8PathBuf,
    uid: u32,
}

pub struct Ran {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        Self { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }
}

impl World {
    /// A workspace, and every profile compiled for it while nothing is missing yet.
    pub fn new(uid: u32) -> Self {
        let directory = tempfile::Builder::new().prefix("palisade-weakened-").tempdir().unwrap();
        let path = Utf8PathBuf::from_path_buf(directory.path().canonicalize().unwrap()).unwrap();
        for name in ["workspace", "profiles", "home", "tmp"] {
            fs::create_dir(path.join(name)).unwrap();
        }
        fs::write(path.join("workspace/hidden"), "secret").unwrap();
        for (name, statements) in PROFILES {
            let text = format!("edition 1\nprofile \"{name}\" {{ {statements} }}\n");
            fs::write(path.join(format!("profiles/{name}.palisade")), text).unwrap();
        }
        for entry in walkdir::WalkDir::new(&path) {
            std::os::unix::fs::lchown(entry.unwrap().path(), Some(uid), Some(uid)).unwrap();
        }
        let world = Self { _directory: directory, path, uid };
        for (name, _) in PROFILES {
            let ran = world.palisade("nothing", &["compile", &format!("../profiles/{name}.palisade")]);
            assert_eq!(ran.code, Some(0), "{name}: {}{}", ran.out, ran.err);
        }
        world
    }

    /// The program, in the workspace, on a machine without something.
    pub fn palisade(&self, weakness: &str, arguments: &[&str]) -> Ran {
        let mut command = Command::new(&PROGRAMS.weaken);
        if rustix::process::geteuid().as_raw() != self.uid {
            command.uid(self.uid).gid(self.uid);
        }
        command
            .args(["--weaken", weakness, PROGRAMS.palisade.as_str()])
            .args(arguments)
            .current_dir(self.path.join("workspace"))
            .env("HOME", self.path.join("home"))
            .env("TMPDIR", self.path.join("tmp"))
            .env_remove("XDG_STATE_HOME")
            .env_remove("XDG_RUNTIME_DIR")
            .stdin(Stdio::null());
        command.output().unwrap().into()
    }

    /// What `doctor` says to machines, and its exit code.
    pub fn doctor(&self, weakness: &str) -> Report {
        let ran = self.palisade(weakness, &["doctor", "--format", "json"]);
        assert!(ran.err.is_empty(), "{}", ran.err);
        Report { code: ran.code.unwrap(), json: serde_json::from_str(&ran.out).unwrap() }
    }

    /// Runs a command behind one of [`PROFILES`].
    pub fn exec(&self, weakness: &str, profile: &str) -> Ran {
        self.palisade(weakness, &["exec", &format!("../profiles/{profile}.manifest.yaml"), "-c", "exit 7"])
    }

    /// What is in one of its directories.
    pub fn names(&self, place: &str) -> Vec<String> {
        let entries = fs::read_dir(self.path.join(place)).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    pub fn program(&self) -> &Utf8Path {
        &PROGRAMS.palisade
    }
}

/// What `doctor` said.
pub struct Report {
    pub code: i32,
    pub json: Value,
}

impl Report {
    pub fn wall(&self, name: &str) -> &Value {
        let walls = self.json["walls"].as_array().unwrap();
        walls
            .iter()
            .find(|wall| wall["wall"] == name)
            .unwrap_or_else(|| panic!("no `{name}` in {}", self.json))
    }

    pub fn enforces(&self) -> &str {
        self.json["verdict"]["enforces"].as_str().unwrap()
    }

    /// Whether it says that profiles with this can be enforced.
    pub fn promises(&self, profile: &str) -> bool {
        let but = self.json["verdict"]["but"].as_array().unwrap();
        match self.enforces() {
            "every" => true,
            "nothing" => false,
            _ => !but.iter().any(|name| name == profile),
        }
    }
}
