//! `palisade fmt`: the one layout.

use super::Exit;
use super::output::{fail, print, write_atomically};
use super::profiles::{find_profiles, read_profile};
use crate::source::Sources;
use crate::syntax;
use camino::{Utf8Path, Utf8PathBuf};

/// Bring profiles into the one layout
///
/// Only blanks and blank lines change. A file that does not parse is left as it is. Exits 1 with `--check` where a file would change.
#[derive(clap::Args)]
pub struct Args {
    /// Profiles, or directories that hold them; `-` reads standard input and writes standard output
    #[arg(default_value = ".", value_name = "PATH")]
    paths: Vec<Utf8PathBuf>,
    /// Write nothing; name the files that would change
    #[arg(long)]
    check: bool,
}

pub fn run(args: &Args) -> Exit {
    try_run(args).unwrap_or_else(|exit| exit)
}

fn try_run(args: &Args) -> Result<Exit, Exit> {
    let mut changed = false;
    for path in find_profiles(&args.paths)? {
        let mut sources = Sources::new();
        let file = read_profile(&mut sources, &path)?;
        let text = syntax::format(&sources, file);
        let same = *sources.file(file).text == *text;
        changed |= !same;
        match (args.check, path == "-") {
            (true, _) if !same => print(&format!("would change {path}\n")),
            (true, _) => {}
            (false, true) => print(&text),
            (false, false) if same => {}
            (false, false) => {
                rewrite(&path, &text).map_err(|error| {
                    fail(Exit::Usage, &format!("`{path}` cannot be written: {error}"), None)
                })?;
                print(&format!("changed {path}\n"));
            }
        }
    }
    Ok(if args.check && changed { Exit::Findings } else { Exit::Clean })
}

/// Replaces a file's text and keeps what else it is: where a link leads to it, and its permissions.
pub fn rewrite(path: &Utf8Path, text: &str) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    let path = path.canonicalize_utf8()?;
    let mode = path.metadata()?.permissions().mode();
    // Writing takes such bits away, or gives them to what somebody else wrote.
    if mode & 0o7000 != 0 {
        return Err(std::io::Error::other("it has a set-user-ID, set-group-ID or sticky bit"));
    }
    write_atomically(&path, text, mode & 0o777)
}
