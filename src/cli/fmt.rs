//! `palisade fmt`: the one layout.

use super::Exit;
use super::output::{fail, print, write_atomically};
use super::profiles::{read_profile, search};
use crate::source::Sources;
use crate::syntax;
use camino::{Utf8Path, Utf8PathBuf};
use std::path::PathBuf;

/// Bring profiles into the one layout
///
/// Only blanks, blank lines and needless `;` change. Exits 1 with `--check` where a file would change. A file that cannot be read or does not
/// parse is left as it is; the others are looked at all the same, and the exit code is 2.
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
    let mut unread = None;
    let mut problems = Vec::new();
    let paths: Vec<PathBuf> = args.paths.iter().map(|path| path.clone().into_std_path_buf()).collect();
    let found = search(&paths, &mut problems);
    for problem in problems {
        unread = Some(fail(Exit::Usage, &problem.message, problem.help.as_deref()));
    }
    for path in found {
        match one(&path, args.check) {
            Ok(change) => changed |= change,
            Err(exit) => unread = Some(exit),
        }
    }
    Ok(unread.unwrap_or(if args.check && changed { Exit::Findings } else { Exit::Clean }))
}

/// Whether a file's text is another than that of the one layout. What goes wrong is said.
fn one(path: &Utf8Path, check: bool) -> Result<bool, Exit> {
    let mut sources = Sources::new();
    let file = read_profile(&mut sources, path)?;
    let text = syntax::format(&sources, file);
    let same = *sources.file(file).text == *text;
    match (check, path == "-") {
        (true, _) if !same => print(&format!("would change {path}\n")),
        (true, _) => {}
        // What does not parse passes through, so that nothing is lost behind a pipe.
        (false, true) => print(&text),
        (false, false) if same => {}
        (false, false) => {
            rewrite(path, &text)
                .map_err(|error| fail(Exit::Usage, &format!("`{path}` cannot be written: {error}"), None))?;
            print(&format!("changed {path}\n"));
        }
    }
    if !syntax::is_sound(&sources, file) {
        let message = format!("`{path}` does not parse, and was left as it is");
        return Err(fail(Exit::Usage, &message, Some("`palisade check` says what is wrong")));
    }
    Ok(!same)
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
