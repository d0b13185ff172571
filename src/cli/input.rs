//! What the verbs are told: which machine a profile is for, and what its parameters are.

use super::Exit;
use super::output::fail;
use crate::baseline::Workspace;
use crate::host::Host;
use crate::host::live::LiveHost;
use crate::host::recorded::RecordedHost;
use crate::pipeline::Request;
use crate::policy::System;
use crate::report::{Problem, ProblemKind};
use crate::syntax;
use camino::{Utf8Component, Utf8Path, Utf8PathBuf};
use std::collections::BTreeMap;
use std::io::Read as _;

/// Options that say what a profile is bound to, whatever the machine.
#[derive(clap::Args, Clone, Debug)]
pub struct RequestArgs {
    /// What `$workspace` is [default: the current directory]
    #[arg(long, value_name = "DIR")]
    pub workspace: Option<Utf8PathBuf>,
    /// Set a parameter that the profile declares
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = parse_set)]
    pub set: Vec<(String, String)>,
    /// The system to compile for [default: that of the host]
    #[arg(long, value_name = "SYSTEM", value_parser = parse_system)]
    pub target: Option<System>,
}

/// Options that say which machine a profile is for and what its parameters are.
#[derive(clap::Args, Clone, Debug)]
pub struct BindArgs {
    #[command(flatten)]
    pub request: RequestArgs,
    /// A recorded machine to look at instead of this one
    #[arg(long, value_name = "FILE")]
    pub host: Option<Utf8PathBuf>,
}

/// `NAME=VALUE`, as options that set something take it.
pub fn parse_set(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("expected NAME=VALUE")?;
    Ok((name.to_owned(), value.to_owned()))
}

fn parse_system(text: &str) -> Result<System, String> {
    [System::Linux, System::Macos]
        .into_iter()
        .find(|system| system.name() == text)
        .ok_or_else(|| "expected `linux` or `macos`".into())
}

/// A machine and what was asked of it.
pub struct Machine {
    pub host: Box<dyn Host>,
    pub request: Request,
    /// The workspace, as a baseline tells it from others.
    pub workspace: Workspace,
}

impl BindArgs {
    /// Opens the host, and settles workspace and target.
    pub fn machine(&self) -> Result<Machine, Exit> {
        self.request
            .machine(self.host.as_deref())
            .map_err(|problem| fail(Exit::Usage, &problem.message, problem.help.as_deref()))
    }
}

impl RequestArgs {
    /// Opens a recorded host, or this machine, and settles workspace and target.
    pub fn machine(&self, recorded: Option<&Utf8Path>) -> Result<Machine, Problem> {
        let (host, recorded_workspace): (Box<dyn Host>, Option<Utf8PathBuf>) = match recorded {
            Some(path) => {
                let problem = |message: String| {
                    Problem::new(ProblemKind::Host, Some(path.to_path_buf().into()), message)
                };
                let text =
                    read_text(path).map_err(|error| problem(format!("`{path}` cannot be read: {error}")))?;
                let host = RecordedHost::from_yaml(&text, path.as_str())
                    .map_err(|error| problem(error.to_string()))?;
                let workspace = host.workspace().map(Utf8Path::to_path_buf);
                (Box::new(host), workspace)
            }
            None => {
                let host = LiveHost::new()
                    .map_err(|error| Problem::new(ProblemKind::Host, None, error.to_string()))?;
                (Box::new(host), None)
            }
        };
        let usual = recorded_workspace.map_or_else(here, Ok);
        let workspace = match &self.workspace {
            Some(stated) if stated.is_absolute() && recorded.is_some() => stated.clone(),
            Some(stated) if stated.is_absolute() => without_parents(stated.clone()),
            // On this machine, whichever is looked at.
            Some(stated) => without_parents(here()?.join(stated)),
            None => usual.clone()?,
        };
        let known = match recorded {
            Some(_) if usual.as_ref() == Ok(&workspace) => Workspace::Recorded,
            Some(_) => Workspace::Stated(workspace.clone().into()),
            None => Workspace::Here(workspace.canonicalize().unwrap_or_else(|_| workspace.clone().into())),
        };
        let target = self.target.unwrap_or_else(|| host.system());
        let mut set = BTreeMap::new();
        for (name, value) in &self.set {
            if set.insert(name.clone(), value.clone()).is_some() {
                let message = format!("`--set {}` is given twice", syntax::shown(name));
                let problem = Problem::new(ProblemKind::Usage, None, message);
                return Err(problem.help("give each parameter one value"));
            }
        }
        let request = Request { workspace, set, target, artifacts: Vec::new() };
        Ok(Machine { host, request, workspace: known })
    }
}

/// A directory of this machine without `..` in its name, so that messages about it name it as they do from elsewhere.
fn without_parents(directory: Utf8PathBuf) -> Utf8PathBuf {
    let goes_up = directory.components().any(|part| part == Utf8Component::ParentDir);
    let canonical = goes_up.then(|| directory.canonicalize_utf8().ok()).flatten();
    canonical.unwrap_or(directory)
}

/// The current directory, as the kernel names it.
pub fn here() -> Result<Utf8PathBuf, Problem> {
    let directory = std::env::current_dir().map_err(|error| {
        let message = format!("the current directory cannot be found: {error}");
        Problem::new(ProblemKind::Usage, None, message).help("change to one that exists")
    })?;
    Utf8PathBuf::from_path_buf(directory)
        .map_err(|path| Problem::new(ProblemKind::Usage, None, format!("`{}` is not UTF-8", path.display())))
}

/// The same for a verb that can do nothing without it.
pub fn current_directory() -> Result<Utf8PathBuf, Exit> {
    here().map_err(|problem| fail(Exit::Usage, &problem.message, problem.help.as_deref()))
}

/// A path as given on the command line, made absolute.
pub fn absolute(path: &Utf8Path) -> Result<Utf8PathBuf, Exit> {
    if path.is_absolute() { Ok(path.to_path_buf()) } else { Ok(current_directory()?.join(path)) }
}

/// The text of a plain file.
pub fn read_text(path: &Utf8Path) -> std::io::Result<String> {
    let mut text = String::new();
    open_regular(path)?.read_to_string(&mut text)?;
    Ok(text)
}

/// Opens what must be a plain file. A pipe or a device in a repository must not hang or feed a check.
pub fn open_regular(path: &Utf8Path) -> std::io::Result<std::fs::File> {
    use std::os::unix::fs::OpenOptionsExt as _;
    let nonblocking = rustix::fs::OFlags::NONBLOCK.bits() as i32;
    let file = std::fs::File::options().read(true).custom_flags(nonblocking).open(path)?;
    let metadata = file.metadata()?;
    if metadata.is_dir() {
        return Err(std::io::Error::other("it is a directory"));
    }
    if !metadata.is_file() {
        return Err(std::io::Error::other("it is not a plain file"));
    }
    Ok(file)
}
