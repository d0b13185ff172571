//! Why a command was not run. Nothing ran in any of these cases, and the exit code is 125.

use camino::Utf8PathBuf;
use std::io;

/// The reason, as a message; [`Refusal::help`] says what to do.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    #[error("the manifest was compiled for {manifest}, and this is {here}")]
    Target { manifest: String, here: String },
    #[error("the manifest makes no sense: {0}")]
    Manifest(String),
    /// The `.sb` of a manifest for macOS.
    #[error("the `.sb` {0}")]
    Seatbelt(String),
    #[error("{0}")]
    Command(&'static str),
    #[error("root `{0}` cannot be walled")]
    Root(Utf8PathBuf),
    #[error("root `{path}` has changed since it was compiled: {how}")]
    RootChanged { path: Utf8PathBuf, how: String },
    #[error("the socket `{path}` has changed since it was compiled: {how}")]
    SocketChanged { path: Utf8PathBuf, how: String },
    #[error("`{link}` is no longer a symlink to `{target}`")]
    LinkChanged { link: Utf8PathBuf, target: Utf8PathBuf },
    #[error("{what} `{path}` has changed since it was compiled: {how}")]
    FileChanged { what: String, path: Utf8PathBuf, how: String },
    #[error("protected path `{path}` has changed since it was compiled: {how}")]
    ProtectedChanged { path: Utf8PathBuf, how: &'static str },
    #[error("the machine has changed since the manifest was compiled: `{0}` is not what it was")]
    Changed(String),
    #[error("protected file `{path}` has {links} hard links; another name may expose it")]
    HardLinks { path: Utf8PathBuf, links: u64 },
    #[error(
        "more than {most} protected paths would have to be looked at for hard links, up to those in `{path}`"
    )]
    TooMany { path: Utf8PathBuf, most: usize },
    /// A mount of the host shows what is protected.
    #[error("protected path `{path}` is also `{name}`, which is not protected, by the mount at `{mount}`")]
    Mounted { path: Utf8PathBuf, name: Utf8PathBuf, mount: Utf8PathBuf },
    #[error("`{path}` cannot be examined: {error}")]
    Unexamined { path: Utf8PathBuf, error: io::Error },
    #[error("`{path}` is missing and cannot be kept from being created: {error}")]
    Placeholder { path: Utf8PathBuf, error: io::Error },
    #[error("`{path}` cannot be watched: {error}")]
    Watch { path: Utf8PathBuf, error: io::Error },
    #[error(
        "the directory `{state}`, where this program keeps its records, lies in the writable root `{root}`"
    )]
    StateInRoot { state: Utf8PathBuf, root: Utf8PathBuf },
    /// The value of a masked variable, which the message does not hold.
    #[error("`{name}`: {what}")]
    Secret { name: String, what: String, help: String },
    #[error("standard {0} is a directory")]
    DirectoryStream(&'static str),
    #[error("standard {0} is a socket that the command could connect elsewhere")]
    SocketStream(&'static str),
    #[error("the program has threads, and cannot fork safely")]
    Threads,
    /// The kernel does not give a wall.
    #[error("{message}")]
    Kernel { message: String, help: String },
    #[error("{what}: {error}")]
    System { what: String, error: io::Error },
}

impl Refusal {
    /// The exit code of a refusal.
    pub const CODE: i32 = 125;

    pub(crate) fn system(what: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let what = what.into();
        move |error| Self::System { what, error }
    }

    /// What to do about it, and that nothing was run.
    pub fn help(&self) -> Option<String> {
        const NOTHING: &str = "nothing was run";
        self.advice().map(|advice| match advice.ends_with(NOTHING) {
            true => advice,
            false => format!("{advice}; {NOTHING}"),
        })
    }

    fn advice(&self) -> Option<String> {
        let error = match self {
            Self::Unexamined { error, .. }
            | Self::Placeholder { error, .. }
            | Self::Watch { error, .. }
            | Self::System { error, .. } => Some(error),
            _ => None,
        };
        if let Some(used_up) = error.and_then(used_up) {
            return Some(used_up.to_owned());
        }
        let compile = "run `palisade compile` again";
        Some(match self {
            Self::Target { .. } => "compile the profile on this machine, or for it".into(),
            Self::Manifest(_) | Self::Changed(_) | Self::Seatbelt(_) => compile.into(),
            Self::Command(_) | Self::Threads => return None,
            Self::System { .. } => "`palisade doctor` tries what a sandbox needs".into(),
            Self::Root(_) => "state the directories below it that are needed".into(),
            Self::RootChanged { .. }
            | Self::SocketChanged { .. }
            | Self::LinkChanged { .. }
            | Self::FileChanged { .. } => compile.into(),
            Self::ProtectedChanged { .. } => format!("check what stands there, then {compile}"),
            Self::HardLinks { path, .. } => {
                format!("break the link: `cp -p {path} {path}.x && mv {path}.x {path}`")
            }
            Self::TooMany { .. } => {
                "keep what is protected smaller, or outside every root: it is looked at before each command, and a look that gives up \
                 would protect nothing"
                    .into()
            }
            Self::Mounted { mount, .. } => {
                format!("unmount it (`umount {mount}`), or protect the other name as well and {compile}")
            }
            Self::Unexamined { .. } => "give yourself the right to read it, or move it out of the root".into(),
            Self::Placeholder { .. } => {
                "an empty directory must stand there while a command runs: make room for it, or create the path".into()
            }
            Self::Watch { .. } => {
                "the directory must be readable and `fs.dir-notify-enable` be 1: without a watch, a replacement on the \
                 host would go unnoticed; `palisade doctor` tries it"
                    .into()
            }
            Self::StateInRoot { .. } => {
                "set XDG_STATE_HOME to a directory outside every root, or state narrower roots".into()
            }
            Self::DirectoryStream(_) => "redirect it to a file: an open directory leads out of the walls".into(),
            Self::SocketStream(_) => {
                "put a pipe between: `cat | palisade exec … | cat`; a connected pair of unix sockets is fine".into()
            }
            Self::Kernel { help, .. } | Self::Secret { help, .. } => help.clone(),
        })
    }
}

/// What there is to do where an error is about something that has run out, whatever it was wanted for.
pub(crate) fn used_up(error: &io::Error) -> Option<&'static str> {
    // A walk of directories wraps the error of the system.
    let inner = || error.get_ref()?.source()?.downcast_ref::<io::Error>()?.raw_os_error();
    match error.raw_os_error().or_else(inner)? {
        libc::EMFILE => Some("a limit on open files is reached: `ulimit -n`; raise it"),
        libc::ENFILE => Some("the system has as many open files as it may: `fs.file-max`; raise it"),
        libc::ENOSPC | libc::EDQUOT => {
            Some("there is no space left, or no room for another file (`df`, `df -i`): make room")
        }
        libc::ENOMEM => Some("memory has run out"),
        _ => None,
    }
}
