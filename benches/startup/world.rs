//! A workspace, a profile and what it compiles to.

use palisade::manifest::{self, Manifest};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What stands in a workspace besides a few sources.
#[derive(Debug, Clone, Copy, Default)]
pub struct Shape {
    /// Everything that is guarded is there, so that both sides mount over the same things. Otherwise palisade makes, shares and removes a
    /// placeholder for each guard, which other programs have no word for.
    pub guarded: bool,
    /// So many files that are denied one by one.
    pub denied: usize,
    /// A directory of programs of its own.
    pub programs: bool,
    /// A network of a few hosts.
    pub listed: bool,
}

/// One compiled workspace. Everything goes with it.
pub struct World {
    _scratch: tempfile::TempDir,
    pub workspace: PathBuf,
    pub manifest_path: PathBuf,
    pub manifest: Manifest,
    /// Files and directories that may not be read.
    pub denied: Vec<PathBuf>,
}

impl World {
    /// Makes it in a directory of this machine, and compiles it.
    pub fn new(place: &Path, shape: Shape) -> Self {
        let scratch = tempfile::tempdir_in(place).expect("a place to work");
        let workspace = scratch.path().join("project");
        for directory in ["src", ".git/hooks", "secrets", "vendor", "keys", "bin"] {
            fs::create_dir_all(workspace.join(directory)).expect("a workspace");
        }
        for file in ["src/main.rs", ".git/config", ".git/HEAD", ".env", "secrets/token", "vendor/lib.c"] {
            fs::write(workspace.join(file), "x\n").expect("a file");
        }
        if shape.guarded {
            for guarded in palisade::bind::guards::GUARDED {
                fs::create_dir(workspace.join(guarded.name)).expect("a guarded directory");
            }
            fs::write(workspace.join(".git/config.worktree"), "").expect("a file");
        }
        let mut names = vec![".env".to_owned(), "secrets".to_owned()];
        for number in 0..shape.denied {
            let name = format!("keys/{number}.pem");
            fs::write(workspace.join(&name), "x\n").expect("a file");
            names.push(name);
        }
        let programs = if shape.programs { "    executable \"$workspace/bin\"\n" } else { "" };
        let hosts = "    network only { allow \"example.com\"; allow \"*.example.org\"; allow \"example.net:8080\" }\n";
        let hosts = if shape.listed { hosts } else { "" };
        let denials: String = names.iter().map(|name| format!("    deny \"$workspace/{name}\"\n")).collect();
        let profile = scratch.path().join("bench.palisade");
        let text = format!(
            "edition 1\nprofile \"bench\" {{\n    root \"$workspace\" read-write\n    root \"$workspace/vendor\" read-only\n\
             {denials}{programs}{hosts}    tools true sleep cat ls grep sed awk find sort head tail\n}}\n"
        );
        fs::write(&profile, text).expect("a profile");
        let compiled = Command::new(PALISADE)
            .args(["compile", "--workspace"])
            .args([&workspace, &profile])
            .stdout(Stdio::null())
            .status()
            .expect("palisade runs");
        assert!(compiled.success(), "the profile compiles");
        let manifest_path = scratch.path().join("bench.manifest.yaml");
        let manifest =
            manifest::read(&fs::read_to_string(&manifest_path).expect("a manifest")).expect("sound");
        let denied = names.iter().map(|name| workspace.join(name)).collect();
        Self { _scratch: scratch, workspace, manifest_path, manifest, denied }
    }

    /// `palisade exec` of a command.
    pub fn palisade(&self, command: &[&str]) -> Command {
        let mut palisade = Command::new(PALISADE);
        palisade.arg("exec").arg(&self.manifest_path).arg("--").args(command);
        palisade
    }
}

const PALISADE: &str = env!("CARGO_BIN_EXE_palisade");
