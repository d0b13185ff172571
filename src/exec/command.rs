//! What is to be run, and the environment it gets. The same on every system.

use super::Refusal;
use crate::manifest::Manifest;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

/// What a user asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// `-- ARGV…`: a program and its arguments. A name without a slash is looked up in the manifest's PATH.
    Argv(Vec<OsString>),
    /// `-c LINE`: a line for the manifest's shell.
    Shell(String),
}

/// A command as it is started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prepared {
    /// Where the program may be, in the order in which the places are tried.
    pub programs: Vec<PathBuf>,
    /// The name it is called by, then its arguments.
    pub arguments: Vec<OsString>,
    pub environment: Vec<(OsString, OsString)>,
}

impl Prepared {
    /// Adds variables that the manifest does not speak of.
    pub fn add_missing(&mut self, variables: Vec<(&'static str, String)>) {
        for (name, value) in variables {
            if !self.environment.iter().any(|(known, _)| known == name) {
                self.environment.push((name.into(), value.into()));
            }
        }
    }

    /// Gives variables their values, whatever they had.
    pub fn set(&mut self, variables: Vec<(String, String)>) {
        for (name, value) in variables {
            self.environment.retain(|(known, _)| *known != *name);
            self.environment.push((name.into(), value.into()));
        }
    }
}

impl Command {
    /// The program as the user named it.
    pub fn name(&self) -> &OsStr {
        match self {
            Self::Argv(words) => words.first().map_or(OsStr::new(""), |word| word),
            Self::Shell(line) => OsStr::new(line),
        }
    }

    /// Checks the command and looks up where its program may be.
    ///
    /// # Errors
    /// An empty or blank command, or one that holds a NUL.
    pub fn prepare(&self, manifest: &Manifest) -> Result<Prepared, Refusal> {
        let environment = environment(manifest)?;
        let (programs, arguments) = match self {
            Self::Argv(words) => {
                let program = words.first().filter(|word| !word.is_empty());
                let program = program.ok_or(Refusal::Command("no command is given"))?;
                if words.iter().any(|word| word.as_bytes().contains(&0)) {
                    return Err(Refusal::Command("the command holds a NUL character"));
                }
                (places(program, manifest), words.clone())
            }
            Self::Shell(line) => {
                if line.trim().is_empty() {
                    return Err(Refusal::Command("the command line is blank"));
                }
                if line.contains('\0') {
                    return Err(Refusal::Command("the command line holds a NUL character"));
                }
                let shell = manifest.shell.as_std_path();
                let arguments = vec![shell.into(), "-c".into(), line.into()];
                (vec![shell.to_path_buf()], arguments)
            }
        };
        Ok(Prepared { programs, arguments, environment })
    }
}

/// As execvp(3) would look, but in the manifest's PATH, and in the caller's only where the manifest passes that on. Empty and relative entries are skipped.
fn places(program: &OsStr, manifest: &Manifest) -> Vec<PathBuf> {
    if program.as_bytes().contains(&b'/') {
        return vec![program.into()];
    }
    let passed = || {
        let passes = manifest.environment.pass.iter().any(|name| name == "PATH");
        passes.then(|| std::env::var_os("PATH")).flatten()
    };
    let set = manifest.environment.set.get("PATH").map(OsString::from);
    let path = set.or_else(passed).unwrap_or_default();
    std::env::split_paths(&path)
        .filter(|place| place.is_absolute())
        .map(|place| place.join(program))
        .collect()
}

/// What the manifest sets, and what it passes on where the caller has it. What is set wins.
fn environment(manifest: &Manifest) -> Result<Vec<(OsString, OsString)>, Refusal> {
    let set = &manifest.environment.set;
    let passed = manifest.environment.pass.iter().filter(|name| !set.contains_key(*name));
    let passed = passed.filter_map(|name| Some((name.into(), std::env::var_os(name)?)));
    let all: Vec<(OsString, OsString)> =
        set.iter().map(|(name, value)| (name.into(), value.into())).chain(passed).collect();
    let sound = |(name, value): &(OsString, OsString)| {
        let name = name.as_bytes();
        !name.is_empty() && !name.contains(&b'=') && !name.contains(&0) && !value.as_bytes().contains(&0)
    };
    if all.iter().all(sound) {
        Ok(all)
    } else {
        Err(Refusal::Manifest("a variable of the environment has no name, or holds a NUL character".into()))
    }
}
