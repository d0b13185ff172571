//! `git-worktree PATH`: where a linked worktree's own repository is. A `.git` file is followed only where the
//! repository it names points back at this worktree (gitrepository-layout(5): `worktrees/<id>/gitdir`), so that a planted one grants nothing.

use super::Worktree;
use crate::host::resolve::resolve;
use crate::host::{Host, Kind};
use camino::{Utf8Path, Utf8PathBuf};

/// Far above what any of these one-line files holds.
const MAX_BYTES: usize = 8192;

/// What `directory` is to git.
pub fn find(host: &dyn Host, directory: &Utf8Path) -> Worktree {
    look(host, directory).unwrap_or_else(Worktree::Refused)
}

fn look(host: &dyn Host, directory: &Utf8Path) -> Result<Worktree, String> {
    let top = resolve(host, directory).map_err(|error| error.to_string())?.canonical;
    let dot_git = top.join(".git");
    match host.lstat(&dot_git).map_err(|error| error.to_string())?.map(|entry| entry.kind) {
        Some(Kind::Directory) => return Ok(Worktree::Own),
        Some(Kind::File) => {}
        Some(_) => return Err(format!("`{dot_git}` is neither a file nor a directory")),
        None => return Err(format!("`{dot_git}` does not exist")),
    }
    let named = line(host, &dot_git)?;
    let named = named
        .strip_prefix("gitdir: ")
        .ok_or_else(|| format!("`{dot_git}` does not begin with `gitdir: `"))?;
    let git_dir = directory_at(host, &top, named)?;
    let back = path_in(host, &git_dir.join("gitdir"), &git_dir)?;
    if back != dot_git {
        return Err(format!("`{git_dir}` belongs to the worktree at `{back}`, not to this one"));
    }
    let common_dir = directory_at(host, &git_dir, &line(host, &git_dir.join("commondir"))?)?;
    // Git itself always keeps them so; anything else was made by hand.
    if git_dir.parent() != Some(&common_dir.join("worktrees")) {
        return Err(format!("`{git_dir}` does not lie in the worktrees of `{common_dir}`"));
    }
    Ok(Worktree::Linked { git_dir, common_dir })
}

/// The one line of a file, without its end.
pub(super) fn line(host: &dyn Host, path: &Utf8Path) -> Result<String, String> {
    let entry = host.lstat(path).map_err(|error| error.to_string())?;
    if !entry.is_some_and(|entry| entry.is_file()) {
        return Err(format!("`{path}` is not a file"));
    }
    let bytes = host.head(path, MAX_BYTES).map_err(|error| error.to_string())?;
    let text = String::from_utf8(bytes).map_err(|_| format!("`{path}` is not UTF-8"))?;
    Ok(text.trim_end_matches(['\n', '\r']).to_owned())
}

/// The directory at a path as git writes it: relative to `base`.
pub(super) fn directory_at(host: &dyn Host, base: &Utf8Path, written: &str) -> Result<Utf8PathBuf, String> {
    let found = resolve(host, &base.join(written)).map_err(|error| error.to_string())?;
    match found.entry {
        Some(entry) if entry.is_directory() => Ok(found.canonical),
        _ => Err(format!("`{}` is not a directory", found.canonical)),
    }
}

fn path_in(host: &dyn Host, file: &Utf8Path, base: &Utf8Path) -> Result<Utf8PathBuf, String> {
    let written = line(host, file)?;
    Ok(resolve(host, &base.join(written)).map_err(|error| error.to_string())?.canonical)
}

/// The directory in which git changes `packed-refs`, where its user has made that a link into one: `.git/packed-refs` a link to, say,
/// `packed/packed-refs`. git follows it, and makes its lock and the new file beside what it leads to (`refs/packed-backend.c`).
///
/// Beside `packed-refs` itself lie the configuration, the hooks and the state of a rebase that runs commands, so without such a link
/// nothing there may be written. The directory holds `packed-refs` and nothing else, else it is not one.
pub fn packed_references(host: &dyn Host, common_dir: &Utf8Path) -> Option<Utf8PathBuf> {
    const NAME: &str = "packed-refs";
    let link = common_dir.join(NAME);
    let found = resolve(host, &link).ok()?;
    let directory = found.canonical.parent()?;
    let is_one_link = matches!(found.hops.as_slice(), [hop] if hop.link == link);
    if !is_one_link || found.canonical.file_name() != Some(NAME) || directory.parent() != Some(common_dir) {
        return None;
    }
    let own =
        |name: &String| name.strip_prefix(NAME).is_some_and(|rest| matches!(rest, "" | ".lock" | ".new"));
    host.read_dir(directory).ok()?.iter().all(own).then(|| directory.to_path_buf())
}
