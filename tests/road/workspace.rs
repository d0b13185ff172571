//! A workspace in a temporary directory, and the program run on it.

use crate::system::PLACE;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

pub struct Workspace {
    directory: tempfile::TempDir,
}

/// How a run ended and what it printed.
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

impl Workspace {
    /// A workspace `project` with a source file, a key and a directory of third-party code; beside it, a file that nothing grants.
    pub fn new() -> Self {
        let directory = tempfile::tempdir_in(PLACE).unwrap();
        let workspace = Self { directory };
        for (path, text) in [
            ("project/src/main.c", "int main;\n"),
            ("project/.env", "KEY=secret\n"),
            ("project/keys/deep/id", "secret\n"),
            ("project/vendor/lib.c", "int lib;\n"),
            ("outside/note", "secret\n"),
        ] {
            workspace.write(path, text);
        }
        workspace
    }

    pub fn path(&self, relative: &str) -> PathBuf {
        // What the kernel calls it: a temporary directory may be reached through a link.
        self.directory.path().canonicalize().unwrap().join(relative)
    }

    pub fn write(&self, relative: &str, text: &str) {
        let path = self.path(relative);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// An executable script.
    pub fn script(&self, relative: &str, text: &str) {
        self.write(relative, text);
        fs::set_permissions(self.path(relative), fs::Permissions::from_mode(0o755)).unwrap();
    }

    pub fn palisade(&self, arguments: &[&str]) -> Ran {
        let mut command = Command::new(env!("CARGO_BIN_EXE_palisade"));
        command.args(arguments).current_dir(self.path("project"));
        // So that what is left behind is left here.
        command.env("XDG_STATE_HOME", self.path("state"));
        command.output().unwrap().into()
    }

    /// Writes a profile of these statements beside the workspace and compiles it.
    pub fn compile(&self, statements: &str) -> Ran {
        self.write("agent.palisade", &format!("edition 1\nprofile \"agent\" {{\n{statements}\n}}\n"));
        self.palisade(&["compile", "../agent.palisade"])
    }

    /// [`Workspace::compile`], which must succeed.
    #[track_caller]
    pub fn compiled(&self, statements: &str) {
        let ran = self.compile(statements);
        assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    }

    /// A shell line behind the compiled profile.
    pub fn exec(&self, line: &str) -> Ran {
        self.palisade(&["exec", "../agent.manifest.yaml", "-c", line])
    }

    /// Everything that is in the workspace, for seeing that nothing was left behind.
    pub fn listing(&self) -> Vec<PathBuf> {
        fn list(directory: &Path, found: &mut Vec<PathBuf>) {
            for entry in fs::read_dir(directory).unwrap().map(Result::unwrap) {
                found.push(entry.path());
                if entry.file_type().unwrap().is_dir() {
                    list(&entry.path(), found);
                }
            }
        }
        let mut found = Vec::new();
        list(&self.path("project"), &mut found);
        found.sort();
        found
    }
}
