//! The manifest of a world, by hand: `exec` is tested here apart from binding. The road from a profile is walked by other tests.

use crate::world::{PROGRAMS, Place, World, cached, shell_path};
use camino::{Utf8Path, Utf8PathBuf};
use palisade::manifest::{
    Environment, Limits, Link, Manifest, ManifestRule, Network, Protected, Root, SCHEMA,
};
use palisade::plan::{Effect, Operations, Origin, OriginKind, Presence, Protection, Rule, Scope};
use palisade::policy::{Access, Ipc, System};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;
use std::process::Command;

/// Where worlds are made.
pub fn place() -> PathBuf {
    std::env::temp_dir()
}

/// The manifest alone is what walls are built from.
pub struct Compiled;

impl Compiled {
    pub fn write(&self, _place: &Place) {}
}

pub fn compile(place: &Place) -> (Manifest, Compiled) {
    (manifest(place), Compiled)
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

fn is_loader(path: &Utf8Path) -> bool {
    path.file_name().is_some_and(|name| name.starts_with("ld-"))
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
    pub fn open_network(&mut self) {
        self.manifest.network = Network::All;
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
    rules.push(allow("read metadata map", Subtree, &bin.join("modules"), Tool));
    rules.push(deny("map", Literal, &PROGRAMS.among_modules, Tool));
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
        hosts: Vec::new(),
        localhost: Vec::new(),
        unix: Vec::new(),
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
            mask: Vec::new(),
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
