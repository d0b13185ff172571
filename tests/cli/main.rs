//! The program as people run it: verbs, exit codes, and what they print.

mod artifacts;
mod baseline;
mod first_steps;
mod fixes;
mod formats;
mod input;
mod recording;
mod settings;
mod verbs;
mod why;

use camino::{Utf8Path, Utf8PathBuf};
use std::process::Output;
use tempfile::TempDir;

pub const HOSTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/hosts");

/// A directory to run the program in.
pub struct Place {
    _keep: TempDir,
    pub path: Utf8PathBuf,
}

/// What a run gave.
pub struct Ran {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Place {
    pub fn empty() -> Self {
        let keep = tempfile::tempdir().unwrap();
        let path = Utf8Path::from_path(keep.path()).unwrap().canonicalize_utf8().unwrap();
        Self { _keep: keep, path }
    }

    pub fn with(name: &str, statements: &str) -> Self {
        let place = Self::empty();
        place.profile(name, statements);
        place
    }

    pub fn profile(&self, name: &str, statements: &str) {
        self.write(
            name,
            &format!("edition 1\nprofile \"case\" {{\n    {}\n}}\n", statements.replace('\n', "\n    ")),
        );
    }

    pub fn write(&self, name: &str, text: &str) {
        let path = self.path.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path.join(name)).unwrap()
    }

    pub fn exists(&self, name: &str) -> bool {
        self.path.join(name).symlink_metadata().is_ok()
    }

    /// Runs the program here.
    pub fn run(&self, arguments: &[&str]) -> Ran {
        self.run_with(arguments, "")
    }

    pub fn run_with(&self, arguments: &[&str], input: &str) -> Ran {
        self.run_in("", arguments, input)
    }

    /// The same in a directory below.
    pub fn run_at(&self, directory: &str, arguments: &[&str]) -> Ran {
        self.run_in(directory, arguments, "")
    }

    fn run_in(&self, directory: &str, arguments: &[&str], input: &str) -> Ran {
        let mut command = assert_cmd::Command::cargo_bin("palisade").unwrap();
        command
            .current_dir(self.path.join(directory))
            .args(arguments)
            .env("HOME", "/home/dev")
            .env_remove("NO_COLOR");
        // A run that waits for something fails here instead of for ever.
        let output = command.timeout(std::time::Duration::from_secs(60)).write_stdin(input).output().unwrap();
        Ran::of(output)
    }

    /// The same on the recorded machine of the examples.
    pub fn on_examples(&self, arguments: &[&str]) -> Ran {
        let host = format!("--host={HOSTS}/examples.yaml");
        self.run(&[arguments, &[&host]].concat())
    }

    pub fn on_mac(&self, arguments: &[&str]) -> Ran {
        let host = format!("--host={HOSTS}/mac.yaml");
        self.run(&[arguments, &[&host]].concat())
    }
}

impl Ran {
    fn of(output: Output) -> Self {
        Self {
            code: output.status.code().expect("it ends by itself"),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }

    #[track_caller]
    pub fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, code, "out: {}\nerr: {}", self.out, self.err);
        self
    }

    #[track_caller]
    /// Whether it is said, over however many lines.
    pub fn says(self, text: &str) -> Self {
        let one_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let said = |stream: &str| stream.contains(text) || one_line(stream).contains(&one_line(text));
        assert!(said(&self.out) || said(&self.err), "no {text:?}\nout: {}\nerr: {}", self.out, self.err);
        self
    }
}

/// A snapshot in which the directory of the run has a fixed name.
pub fn snapshot(name: &str, place: &Place, text: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../../snapshots");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    let text = text.replace(place.path.as_str(), "/place");
    settings.bind(|| insta::assert_snapshot!(format!("cli-{name}"), text));
}
