//! A small world for one run: roots with denied and protected paths, a tool, and the manifest that goes with them.

use camino::{Utf8Path, Utf8PathBuf};
use palisade::manifest::{
    CacheLine, Environment, Limits, Link, Manifest, ManifestRule, Network, Protected, Root, SCHEMA,
};
use palisade::plan::{Effect, Operations, Origin, OriginKind, Presence, Protection, Rule, Scope};
use palisade::policy::{Access, Ipc, System};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::process::{Command, Output, Stdio};
use std::sync::LazyLock;

/// Somebody who is not root.
pub const NOBODY: u32 = 65534;

/// The programs of all worlds, where every user can read them. A static is never dropped: see [`remove_programs`].
pub struct Programs {
    pub palisade: Utf8PathBuf,
    /// The listed tool: this test's own binary.
    pub probe: Utf8PathBuf,
    /// The same, not listed.
    pub unlisted: Utf8PathBuf,
    /// A listed script for `/bin/sh`.
    pub script: Utf8PathBuf,
}

pub static PROGRAMS: LazyLock<Programs> = LazyLock::new(|| {
    let directory = tempfile::Builder::new().prefix("palisade-programs-").tempdir().unwrap().keep();
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
    Programs {
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

/// What a program maps: its loader and libraries, as the kernel shows them.
fn mapped(maps: &str) -> BTreeSet<Utf8PathBuf> {
    let files = maps.lines().filter_map(|line| Some(Utf8Path::new(&line[line.find('/')?..])));
    files.filter(|path| path.is_file()).map(Utf8Path::to_path_buf).collect()
}

fn libraries() -> BTreeSet<Utf8PathBuf> {
    let own = fs::read_to_string("/proc/self/maps").unwrap();
    let shell = Command::new("/bin/sh")
        .args(["-c", "while read line; do echo \"$line\"; done < /proc/self/maps"])
        .output()
        .unwrap();
    let here = Utf8PathBuf::from_path_buf(std::env::current_exe().unwrap()).unwrap();
    let mut all = mapped(&own);
    all.extend(mapped(&String::from_utf8(shell.stdout).unwrap()));
    all.remove(&here);
    all.remove(&shell_path());
    all
}

pub fn shell_path() -> Utf8PathBuf {
    Utf8Path::new("/bin/sh").canonicalize_utf8().unwrap()
}

fn is_loader(path: &Utf8Path) -> bool {
    path.file_name().is_some_and(|name| name.starts_with("ld-"))
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
    pub manifest: Manifest,
    uid: u32,
}

fn open_up(path: &Utf8Path) {
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

pub fn rule(
    allow: bool,
    operations: &str,
    scope: Scope,
    path: impl AsRef<Utf8Path>,
    kind: OriginKind,
) -> Rule {
    Rule {
        effect: if allow { Effect::Allow } else { Effect::Deny },
        operations: operations.parse::<Operations>().unwrap(),
        scope,
        path: path.as_ref().to_path_buf(),
        origin: Origin { kind, text: "suite".into(), span: None },
    }
}

const WRITING: &str = "write create remove link";
const PRIVATE: &str = "read metadata write create remove link connect";

impl World {
    /// A world that belongs to `uid`.
    pub fn new(uid: u32) -> Self {
        let directory = tempfile::Builder::new().prefix("palisade-world-").tempdir().unwrap();
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
        let manifest = manifest(&place);
        Self { _directory: directory, place, manifest, uid }
    }

    /// The user that everything runs as.
    pub fn uid(&self) -> u32 {
        self.uid
    }

    pub fn rule(&mut self, rule: Rule) {
        self.manifest.rules.push(ManifestRule::from(&rule));
    }

    pub fn protect(&mut self, path: &Utf8Path, protection: Protection, presence: Presence) {
        let (kind, operations) = match protection {
            Protection::Denied => (OriginKind::Denial, "everything"),
            Protection::ReadOnly => (OriginKind::Root, WRITING),
            Protection::Guarded => (OriginKind::Guard, WRITING),
        };
        self.rule(rule(false, operations, Scope::Subtree, path, kind));
        self.manifest.protected.push(Protected {
            path: path.into(),
            protection,
            presence,
            from: "suite".into(),
        });
        let root = self.place.base.join("rw");
        for ancestor in path.ancestors().skip(1).take_while(|at| at.starts_with(&root) && **at != root) {
            self.rule(rule(false, "create remove link", Scope::Literal, ancestor, OriginKind::Pin));
        }
    }

    /// The command line of `palisade exec` with this world's manifest, as the world's user.
    pub fn palisade(&self, how: &[&str]) -> Command {
        let path = self.place.base.join("manifest.yaml");
        fs::write(&path, palisade::manifest::write(&self.manifest).unwrap()).unwrap();
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

/// The rules that binding would write for this world.
fn manifest(place: &Place) -> Manifest {
    use OriginKind::{
        Ancestor, Denial, Executable, Guard, Pin, Root as RootKind, Scratch, System as Base, Tool,
    };
    use Scope::{Literal, Subtree};
    let allow = |operations, scope, path: &Utf8Path, kind| rule(true, operations, scope, path, kind);
    let deny = |operations, scope, path: &Utf8Path, kind| rule(false, operations, scope, path, kind);
    let mut links: BTreeMap<Utf8PathBuf, Utf8PathBuf> = BTreeMap::new();
    let mut rules = vec![allow("read metadata", Literal, "/".into(), Ancestor)];
    for path in
        ["/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc/passwd", "/etc/ld.so.cache"].map(Utf8Path::new)
    {
        if let Ok(target) = path.read_link_utf8() {
            links.insert(path.into(), target);
            rules.push(allow("read metadata", Literal, path, Base));
        } else if path.exists() {
            rules.push(allow("read metadata", Subtree, path, Base));
        }
    }
    let shell = shell_path();
    for path in Utf8Path::new("/bin/sh").ancestors().chain([Utf8Path::new("/usr/bin/sh")]) {
        if let Ok(target) = path.read_link_utf8() {
            links.insert(path.into(), target);
        }
    }
    rules.push(allow("read metadata", Subtree, "/proc".into(), Base));
    for device in ["null", "zero", "full", "random", "urandom", "tty"] {
        rules.push(allow("read write metadata", Literal, &Utf8Path::new("/dev").join(device), Base));
    }
    for link in ["fd", "stdin", "stdout", "stderr"] {
        rules.push(allow("read metadata", Literal, &Utf8Path::new("/dev").join(link), Base));
    }
    rules.push(allow("read metadata", Literal, "/var/empty".into(), Scratch));
    rules.push(allow(PRIVATE, Subtree, "/tmp".into(), Scratch));
    let bin = PROGRAMS.probe.parent().unwrap();
    for root in [bin, &place.base] {
        // What of a root's path lies below the private directory is not the host's.
        if let Some(first) = root.ancestors().find(|at| at.parent() == Some("/tmp".into())) {
            rules.push(deny(WRITING, Subtree, first, Ancestor));
        }
        for ancestor in root.ancestors().filter(|at| *at != "/" && *at != "/tmp") {
            rules.push(allow("read metadata", Literal, ancestor, Ancestor));
        }
    }
    let root = |path: &str| place.base.join(path);
    rules.push(allow("read metadata", Subtree, bin, Base));
    for program in [&PROGRAMS.probe, &PROGRAMS.script, &shell] {
        rules.push(allow("read metadata exec map", Literal, program, Tool));
    }
    for library in libraries() {
        let operations = if is_loader(&library) { "read metadata exec map" } else { "read metadata map" };
        rules.push(allow(operations, Literal, &library, Tool));
    }
    rules.push(allow(PRIVATE, Subtree, &root("rw"), RootKind));
    rules.push(deny("create remove link", Literal, &root("rw"), RootKind));
    rules.push(allow("read metadata", Subtree, &root("ro"), RootKind));
    rules.push(deny("create remove link", Literal, &root("ro"), RootKind));
    rules.push(deny(WRITING, Subtree, &root("rw/vendor"), RootKind));
    rules.push(deny(WRITING, Subtree, &root("rw/deep/x/kept"), RootKind));
    rules.push(allow("exec map", Subtree, &root("rw/target"), Executable));
    rules.push(deny(WRITING, Subtree, &root("rw/.git/hooks"), Guard));
    rules.push(deny(WRITING, Subtree, &root("rw/.git/config"), Guard));
    for pin in ["rw/.git", "rw/a", "rw/a/b", "rw/deep", "rw/deep/x"] {
        rules.push(deny("create remove link", Literal, &root(pin), Pin));
    }
    for denied in ["rw/a/b/secret.txt", "rw/.env", "rw/secrets", "ro/hidden.txt"] {
        rules.push(deny("everything", Subtree, &root(denied), Denial));
    }
    let protected = |path: &str, protection, presence| Protected {
        path: root(path),
        protection,
        presence,
        from: "suite".into(),
    };
    let access = |path: &str, access| Root { path: root(path), access, from: "suite".into() };
    Manifest {
        schema: SCHEMA,
        palisade: env!("CARGO_PKG_VERSION").into(),
        profile: "suite".into(),
        description: None,
        target: System::Linux,
        architecture: std::env::consts::ARCH.into(),
        sources: Vec::new(),
        seatbelt: None,
        parameters_of_seatbelt: BTreeMap::new(),
        workspace: root("rw"),
        parameters: BTreeMap::new(),
        working_directory: root("rw"),
        roots: vec![access("rw", Access::ReadWrite), access("ro", Access::ReadOnly)],
        protected: vec![
            protected("rw/a/b/secret.txt", Protection::Denied, Presence::File),
            protected("rw/.env", Protection::Denied, Presence::File),
            protected("rw/secrets", Protection::Denied, Presence::Directory),
            protected("ro/hidden.txt", Protection::Denied, Presence::File),
            protected("rw/vendor", Protection::ReadOnly, Presence::Directory),
            protected("rw/deep/x/kept", Protection::ReadOnly, Presence::Directory),
            protected("rw/.git/hooks", Protection::Guarded, Presence::Directory),
            protected("rw/.git/config", Protection::Guarded, Presence::File),
        ],
        network: Network::Off,
        ipc: Ipc::Off,
        needs: Vec::new(),
        seatbelt_rules: Vec::new(),
        limits: Limits::default(),
        environment: Environment {
            set: BTreeMap::from([
                ("HOME".into(), "/var/empty".into()),
                ("PATH".into(), format!("{bin}:/usr/bin:/bin")),
                ("TMPDIR".into(), "/tmp".into()),
            ]),
            pass: Vec::new(),
        },
        shell,
        tools: Vec::new(),
        skipped_tools: Vec::new(),
        losses: Vec::new(),
        assumptions: Vec::new(),
        checks: Vec::new(),
        links: links.into_iter().map(|(link, target)| Link { link, target }).collect(),
        rules: rules.iter().map(ManifestRule::from).collect(),
        files: Vec::new(),
        cache: [root("rw"), root("ro")].map(cached).to_vec(),
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
