//! A workspace with something to lose, the program run on it, and everything that a run could leave over.

use camino::{Utf8Path, Utf8PathBuf};
use palisade::manifest::{self, Manifest};
use palisade::plan::OriginKind;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::process::{Child, Command, Output, Stdio};
use std::sync::LazyLock;
use std::thread::sleep;
use std::time::Duration;
use tempfile::TempDir;

/// Outside the temporary directories that commands get for their own, and kept on the disk.
const PLACE: &str = "/var/tmp";

pub struct Programs {
    pub palisade: Utf8PathBuf,
    pub suite: Utf8PathBuf,
}

/// Copies where every user can read them. A static is never dropped: see [`remove_programs`].
pub fn programs() -> &'static Programs {
    static PROGRAMS: LazyLock<Programs> = LazyLock::new(|| {
        let directory =
            tempfile::Builder::new().prefix("palisade-weather-").tempdir_in(PLACE).unwrap().keep();
        let bin = Utf8PathBuf::from_path_buf(directory.canonicalize().unwrap()).unwrap();
        let copy = |from: &std::path::Path, name: &str| {
            // They are large: a link where it can be one.
            fs::hard_link(from, bin.join(name))
                .or_else(|_| fs::copy(from, bin.join(name)).map(drop))
                .unwrap();
            bin.join(name)
        };
        fs::set_permissions(&bin, fs::Permissions::from_mode(0o755)).unwrap();
        Programs {
            palisade: copy(env!("CARGO_BIN_EXE_palisade").as_ref(), "palisade"),
            suite: copy(&std::env::current_exe().unwrap(), "suite"),
        }
    });
    &PROGRAMS
}

pub fn remove_programs() {
    fs::remove_dir_all(programs().suite.parent().unwrap()).unwrap();
}

/// A directory for one scenario that belongs to `uid`. Where this is root, it holds what only root can make: a device.
pub fn prepare(uid: u32) -> TempDir {
    let directory = tempfile::Builder::new().prefix("palisade-weather-").tempdir_in(PLACE).unwrap();
    let base = Utf8Path::from_path(directory.path()).unwrap();
    for name in ["", "project", "home", "state"] {
        fs::create_dir_all(base.join(name)).unwrap();
        std::os::unix::fs::chown(base.join(name), Some(uid), Some(uid)).unwrap();
    }
    if rustix::process::geteuid().is_root() {
        let device = rustix::fs::makedev(1, 3);
        let mode = rustix::fs::Mode::from_raw_mode(0o666);
        let kind = rustix::fs::FileType::CharacterDevice;
        let place = base.join("project/device");
        rustix::fs::mknodat(rustix::fs::CWD, place.as_str(), kind, mode, device).unwrap();
        std::os::unix::fs::chown(&place, Some(uid), Some(uid)).unwrap();
    }
    directory
}

pub struct World {
    pub base: Utf8PathBuf,
    /// What this machine does not let be made.
    pub untried: RefCell<Vec<String>>,
}

/// How a run ended and what it printed.
#[derive(Debug)]
pub struct Ran {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        Self { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }
}

impl Ran {
    #[track_caller]
    pub fn ended(&self, code: i32) {
        assert_eq!(self.code, Some(code), "{self:?}");
    }

    /// Nothing was run, and it is said why and what there is to do.
    #[track_caller]
    pub fn refused(&self, saying: &str, help: &str) {
        assert_eq!((self.code, self.out.as_str()), (Some(125), ""), "{self:?}");
        assert!(self.err.contains(saying), "`{saying}`: {self:?}");
        self.helps(help);
    }

    #[track_caller]
    pub fn helps(&self, help: &str) {
        let said = self.err.split_once("help: ").map_or("", |(_, help)| help);
        assert!(said.contains(help), "`{help}`: {self:?}");
    }
}

/// Everything that a run could leave behind: the tree with its contents, and the mounts of the host.
#[derive(Debug, PartialEq, Eq)]
pub struct Before {
    tree: BTreeMap<Utf8PathBuf, String>,
    mounts: Option<String>,
}

pub const PROFILE: &str = r#"
    root "$workspace" read-write
    root "$workspace/vendor" read-only
    deny "$workspace/.env"
    deny "$workspace/keys"
    deny "$workspace/not/yet/here"
"#;

impl World {
    /// The world in a directory that was prepared.
    pub fn at(base: Utf8PathBuf) -> Self {
        let world = Self { base, untried: RefCell::default() };
        world.populate();
        world
    }

    /// Writes what there is in the workspace.
    pub fn populate(&self) {
        for (path, text) in [
            ("project/src/main.c", "int main;\n"),
            ("project/.env", "KEY=secret\n"),
            ("project/keys/deep/id", "secret\n"),
            ("project/vendor/lib.c", "int lib;\n"),
        ] {
            self.write(path, text);
        }
    }

    pub fn path(&self, relative: &str) -> Utf8PathBuf {
        self.base.join(relative)
    }

    pub fn write(&self, relative: &str, text: &str) {
        let path = self.path(relative);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub fn read(&self, relative: &str) -> String {
        fs::read_to_string(self.path(relative)).unwrap()
    }

    /// The program in the workspace, with nothing of the suite's own surroundings.
    pub fn palisade(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(std::env::var_os("PALISADE_UNDER_TEST").unwrap());
        command.args(arguments).env_clear().current_dir(self.path("project"));
        command.env("HOME", self.path("home")).env("XDG_STATE_HOME", self.path("state"));
        command.stdin(Stdio::null());
        command
    }

    pub fn ran(&self, arguments: &[&str]) -> Ran {
        self.palisade(arguments).output().unwrap().into()
    }

    /// Compiles a profile of these statements, beside the workspace.
    #[track_caller]
    pub fn compiled(&self, statements: &str) {
        self.write("agent.palisade", &format!("edition 1\nprofile \"agent\" {{\n{statements}\n}}\n"));
        let ran = self.ran(&["compile", "../agent.palisade"]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
    }

    /// `exec` of a line for the shell. Every process of it bears the directory of this world in its command line.
    pub fn line(&self, line: &str) -> Command {
        let manifest = self.path("agent.manifest.yaml");
        self.palisade(&["exec", manifest.as_str(), "-c", &format!("{line}\n# {}", self.base)])
    }

    pub fn exec(&self, line: &str) -> Ran {
        self.line(line).output().unwrap().into()
    }

    /// Starts a line that makes the file `mark` in the workspace, and then reads from standard input; waits until it is there.
    pub fn started(&self, line: &str) -> Child {
        let mut command = self.line(line);
        let child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        self.wait_for("project/mark");
        child
    }

    /// Waits until a command has come so far as to make a file.
    #[track_caller]
    pub fn wait_for(&self, relative: &str) {
        let there = (0..3000).any(|_| {
            sleep(Duration::from_millis(10));
            self.path(relative).exists()
        });
        assert!(there, "no `{relative}`");
    }

    /// The compiled manifest with a change, sealed anew.
    pub fn edit(&self, change: impl FnOnce(&mut Manifest)) {
        let mut manifest = manifest::read(&self.read("agent.manifest.yaml")).unwrap();
        change(&mut manifest);
        self.write("agent.manifest.yaml", &manifest::write(&manifest).unwrap());
    }

    /// Leaves only these of the guards, so that a run has fewer steps.
    pub fn keep_guards(&self, kept: &[&str]) {
        let is_kept = |path: &Utf8Path| kept.iter().any(|name| path == self.path("project").join(name));
        self.edit(|manifest| {
            let guarded = palisade::plan::Protection::Guarded;
            manifest.protected.retain(|entry| entry.protection != guarded || is_kept(&entry.path));
            manifest.rules.retain(|rule| {
                let rule = palisade::plan::Rule::try_from(rule.clone()).unwrap();
                rule.origin.kind != OriginKind::Guard || is_kept(&rule.path)
            });
        });
    }

    /// Says that something cannot be made on this machine, which the suite says aloud in the end.
    pub fn cannot(&self, what: &str) {
        self.untried.borrow_mut().push(what.to_owned());
    }

    pub fn before(&self) -> Before {
        let mut tree = BTreeMap::new();
        for entry in walkdir::WalkDir::new(&self.base) {
            let entry = entry.unwrap();
            let path = entry.path();
            let metadata = entry.metadata().unwrap();
            let content = match metadata.file_type() {
                kind if kind.is_file() => fs::read(path).map_or_else(
                    |error| error.to_string(),
                    |bytes| manifest::hex(&<sha2::Sha256 as sha2::Digest>::digest(bytes)),
                ),
                kind if kind.is_symlink() => fs::read_link(path).unwrap().display().to_string(),
                _ => String::new(),
            };
            let facts = format!("{:o} {} {} {content}", metadata.mode(), metadata.uid(), metadata.nlink());
            tree.insert(Utf8PathBuf::from(path.to_string_lossy().into_owned()), facts);
        }
        let mounts = std::env::var_os(crate::suite::OWN_MOUNTS).map(|_| "/proc/self/mountinfo");
        Before { tree, mounts: mounts.map(|mounts| fs::read_to_string(mounts).unwrap()) }
    }

    /// Nothing but what was there, and no process that belongs to this world.
    #[track_caller]
    pub fn nothing_left(&self, before: &Before) {
        let now = self.before();
        let differing: Vec<_> =
            (now.tree.iter().filter(|(path, facts)| before.tree.get(*path) != Some(facts)))
                .chain(before.tree.iter().filter(|(path, _)| !now.tree.contains_key(*path)))
                .collect();
        assert!(differing.is_empty(), "{differing:#?}");
        assert_eq!(now.mounts, before.mounts);
        self.nobody_left();
    }

    /// A killed process takes a moment to go.
    #[track_caller]
    pub fn nobody_left(&self) {
        let mut left = self.processes();
        for _ in 0..500 {
            if left.is_empty() {
                return;
            }
            sleep(Duration::from_millis(20));
            left = self.processes();
        }
        panic!("still there: {left:#?}");
    }

    /// The command lines that bear the directory of this world, but for this process's own.
    fn processes(&self) -> Vec<String> {
        let mut found = Vec::new();
        for entry in fs::read_dir("/proc").unwrap().map(Result::unwrap) {
            let Ok(pid) = entry.file_name().to_string_lossy().parse::<u32>() else { continue };
            let line = fs::read(entry.path().join("cmdline")).unwrap_or_default();
            let line = String::from_utf8_lossy(&line).replace('\0', " ");
            if pid != std::process::id() && line.contains(self.base.as_str()) {
                found.push(format!("{pid}: {line}"));
            }
        }
        found
    }
}

/// What a process that was started says in the end.
pub fn finished(child: Child) -> Ran {
    child.wait_with_output().unwrap().into()
}

impl Before {
    pub fn knows(&self, path: &std::path::Path) -> bool {
        self.tree.contains_key(Utf8Path::from_path(path).unwrap())
    }
}
