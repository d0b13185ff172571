//! What the verbs read: profiles, hosts, and the options that say what to do with them.

use super::Exit;
use super::output::fail;
use crate::host::Host;
use crate::host::live::LiveHost;
use crate::host::recorded::RecordedHost;
use crate::pipeline::Request;
use crate::policy::System;
use crate::source::{FileId, MAX_BYTES, Sources};
use crate::syntax;
use camino::{Utf8Path, Utf8PathBuf};
use std::collections::BTreeMap;
use std::io::Read as _;
use walkdir::WalkDir;

/// Options that say which machine a profile is for and what its parameters are.
#[derive(clap::Args, Clone, Debug)]
pub struct BindArgs {
    /// What `$workspace` is [default: the current directory]
    #[arg(long, value_name = "DIR")]
    pub workspace: Option<Utf8PathBuf>,
    /// Set a parameter that the profile declares
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = parse_set)]
    pub set: Vec<(String, String)>,
    /// The system to compile for [default: that of the host]
    #[arg(long, value_name = "SYSTEM", value_parser = parse_system)]
    pub target: Option<System>,
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
}

impl BindArgs {
    /// Opens the host, and settles workspace and target.
    pub fn machine(&self) -> Result<Machine, Exit> {
        let (host, recorded_workspace): (Box<dyn Host>, Option<Utf8PathBuf>) = match &self.host {
            Some(path) => {
                let text = read_text(path)
                    .map_err(|error| fail(Exit::Usage, &format!("`{path}` cannot be read: {error}"), None))?;
                let host = RecordedHost::from_yaml(&text, path.as_str())
                    .map_err(|error| fail(Exit::Usage, &error.to_string(), None))?;
                let workspace = host.workspace().map(Utf8Path::to_path_buf);
                (Box::new(host), workspace)
            }
            None => {
                let host = LiveHost::new().map_err(|error| fail(Exit::Usage, &error.to_string(), None))?;
                (Box::new(host), None)
            }
        };
        let workspace = match (&self.workspace, recorded_workspace) {
            (Some(stated), _) => absolute(stated)?,
            (None, Some(recorded)) => recorded,
            (None, None) => current_directory()?,
        };
        let target = self.target.unwrap_or_else(|| host.system());
        let mut set = BTreeMap::new();
        for (name, value) in &self.set {
            if set.insert(name.clone(), value.clone()).is_some() {
                let message = format!("`--set {}` is given twice", syntax::shown(name));
                return Err(fail(Exit::Usage, &message, Some("give each parameter one value")));
            }
        }
        Ok(Machine { host, request: Request { workspace, set, target, artifacts: Vec::new() } })
    }
}

/// The current directory, as the kernel names it.
pub fn current_directory() -> Result<Utf8PathBuf, Exit> {
    let directory = std::env::current_dir().map_err(|error| {
        fail(
            Exit::Usage,
            &format!("the current directory cannot be found: {error}"),
            Some("change to one that exists"),
        )
    })?;
    Utf8PathBuf::from_path_buf(directory)
        .map_err(|path| fail(Exit::Usage, &format!("`{}` is not UTF-8", path.display()), None))
}

/// A path as given on the command line, made absolute.
pub fn absolute(path: &Utf8Path) -> Result<Utf8PathBuf, Exit> {
    if path.is_absolute() { Ok(path.to_path_buf()) } else { Ok(current_directory()?.join(path)) }
}

/// Reads a profile; `-` is standard input.
pub fn read_profile(sources: &mut Sources, path: &Utf8Path) -> Result<FileId, Exit> {
    let mut bytes = Vec::new();
    let limit = MAX_BYTES as u64 + 1;
    let (name, place) = if path == "-" {
        std::io::stdin().lock().take(limit).read_to_end(&mut bytes).map(|_| ("standard input", None))
    } else {
        open_regular(path)
            .and_then(|file| file.take(limit).read_to_end(&mut bytes))
            .map(|_| (path.as_str(), Some(path)))
    }
    .map_err(|error| fail(Exit::Usage, &format!("`{path}` cannot be read: {error}"), None))?;
    let place = place.map(absolute).transpose()?;
    syntax::load(sources, name, place.as_deref(), bytes)
        .map_err(|error| fail(Exit::Usage, &error.to_string(), None))
}

/// The text of a plain file.
pub fn read_text(path: &Utf8Path) -> std::io::Result<String> {
    let mut text = String::new();
    open_regular(path)?.read_to_string(&mut text)?;
    Ok(text)
}

/// Opens what must be a plain file. A pipe or a device in a repository must not hang or feed a check.
fn open_regular(path: &Utf8Path) -> std::io::Result<std::fs::File> {
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

/// The profiles below the paths given, in a fixed order. Links to directories are not followed, and directories whose names begin with a dot
/// are passed over.
pub fn find_profiles(paths: &[Utf8PathBuf]) -> Result<Vec<Utf8PathBuf>, Exit> {
    let mut profiles = Vec::new();
    for path in paths {
        if path == "-" || !path.is_dir() {
            profiles.push(path.clone());
            continue;
        }
        let walk = WalkDir::new(path).sort_by_file_name().into_iter().filter_entry(|entry| {
            let hidden = entry.file_name().to_string_lossy().starts_with('.');
            entry.depth() == 0 || !hidden || !entry.file_type().is_dir()
        });
        for entry in walk {
            let entry = entry.map_err(|error| fail(Exit::Usage, &error.to_string(), None))?;
            // Whatever has such a name is a profile, a link and a dangling one too: that it cannot be read must be said.
            if entry.file_type().is_dir() || entry.path().extension().is_none_or(|end| end != "palisade") {
                continue;
            }
            let found = Utf8PathBuf::from_path_buf(entry.into_path())
                .map_err(|path| fail(Exit::Usage, &format!("`{}` is not UTF-8", path.display()), None))?;
            profiles.push(found);
        }
    }
    if profiles.is_empty() {
        let help = "name a profile, or a directory that holds `.palisade` files";
        return Err(fail(Exit::Usage, "no profile found", Some(help)));
    }
    Ok(profiles)
}
