//! Finding profiles below directories, and reading them.

use super::Exit;
use super::input::{here, open_regular};
use super::output::fail;
use crate::report::origin::STANDARD_INPUT;
use crate::report::{Problem, ProblemKind};
use crate::source::{FileId, MAX_BYTES, Sources};
use crate::syntax;
use camino::{Utf8Path, Utf8PathBuf};
use std::collections::HashSet;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use walkdir::{DirEntry, WalkDir};

/// Directories in which nobody writes profiles: what version control keeps, and packages of others. Others that begin with a dot are searched: what is
/// passed over is not checked, and nobody is told.
const PASSED_OVER: &[&str] = &[".git", ".hg", ".svn", ".jj", "node_modules"];

/// The profiles below the paths given, in a fixed order, each once. Links to directories are not followed.
pub fn search(paths: &[PathBuf], problems: &mut Vec<Problem>) -> Vec<Utf8PathBuf> {
    let mut profiles = Vec::new();
    let before = problems.len();
    for path in paths {
        if path.as_os_str() == "-" || !path.is_dir() {
            profiles.extend(utf8(path.clone(), problems));
            continue;
        }
        for entry in WalkDir::new(path).sort_by_file_name().into_iter().filter_entry(is_searched) {
            match entry {
                // Whatever has such a name is a profile, a link and a dangling one too: that it cannot be read must be said.
                Ok(entry) if is_profile(&entry) => {
                    let found = entry.into_path();
                    // `./` is said of what was named so, and not of what the current directory holds.
                    let plain = found.strip_prefix(".").unwrap_or(&found).to_path_buf();
                    profiles.extend(utf8(if path.as_os_str() == "." { plain } else { found }, problems));
                }
                Ok(_) => {}
                Err(error) => {
                    let place = error.path().map_or_else(|| path.clone(), Path::to_path_buf);
                    let why = error.io_error().map_or_else(|| error.to_string(), ToString::to_string);
                    let message = format!("`{}` cannot be searched: {why}", place.display());
                    problems.push(Problem::new(ProblemKind::Directory, Some(place), message));
                }
            }
        }
    }
    if profiles.is_empty() && problems.len() == before {
        let problem = Problem::new(ProblemKind::Directory, paths.first().cloned(), "no profile found");
        problems.push(problem.help("name a profile, or a directory that holds `.palisade` files"));
    }
    let mut seen = HashSet::new();
    profiles.retain(|path| seen.insert(path.strip_prefix(".").unwrap_or(path).to_path_buf()));
    profiles
}

fn is_profile(entry: &DirEntry) -> bool {
    !entry.file_type().is_dir() && entry.path().extension().is_some_and(|end| end == "palisade")
}

fn is_searched(entry: &DirEntry) -> bool {
    if entry.depth() == 0 || !entry.file_type().is_dir() {
        return true;
    }
    let name = entry.file_name().to_string_lossy();
    // What Cargo builds in, which may hold copies of the profiles.
    let is_build = name == "target" && entry.path().with_file_name("Cargo.toml").is_file();
    !is_build && !PASSED_OVER.contains(&&*name)
}

fn utf8(path: PathBuf, problems: &mut Vec<Problem>) -> Option<Utf8PathBuf> {
    match Utf8PathBuf::from_path_buf(path) {
        Ok(path) => Some(path),
        Err(path) => {
            let message = format!("`{}` is not UTF-8", path.display());
            problems.push(Problem::new(ProblemKind::Profile, Some(path), message));
            None
        }
    }
}

/// Reads a profile; `-` is standard input.
pub fn read(sources: &mut Sources, path: &Utf8Path) -> Result<FileId, Problem> {
    let problem =
        |message: String| Problem::new(ProblemKind::Profile, Some(path.to_path_buf().into()), message);
    let mut bytes = Vec::new();
    let limit = MAX_BYTES as u64 + 1;
    let (name, place) = if path == "-" {
        std::io::stdin().lock().take(limit).read_to_end(&mut bytes).map(|_| (STANDARD_INPUT, None))
    } else {
        open_regular(path)
            .and_then(|file| file.take(limit).read_to_end(&mut bytes))
            .map(|_| (path.as_str(), Some(path)))
    }
    .map_err(|error| problem(format!("`{path}` cannot be read: {error}")))?;
    let place = match place {
        Some(path) if path.is_absolute() => Some(path.to_path_buf()),
        Some(path) => Some(here()?.join(path)),
        None => None,
    };
    syntax::load(sources, name, place.as_deref(), bytes).map_err(|error| problem(error.to_string()))
}

/// The same for a verb about one profile: what is wrong is said at once.
pub fn read_profile(sources: &mut Sources, path: &Utf8Path) -> Result<FileId, Exit> {
    read(sources, path).map_err(|problem| fail(Exit::Usage, &problem.message, problem.help.as_deref()))
}
