//! What git itself acts on in a repository: hooks, and configuration that names commands; and where it looks for them (git-config(1),
//! gitrepository-layout(5)). All of it is guarded wherever it lies in a writable root.

use super::Guard;
use super::guards::guard;
use super::walk::walk;
use super::worktree::{directory_at, line};
use crate::host::Host;
use crate::host::resolve::resolve;
use camino::{Utf8Path, Utf8PathBuf};

const HOOKS: &str = "git runs the hooks in it";
const GIT_CONFIG: &str = "git runs the commands it names";
const INCLUDED: &str = "git's configuration includes it";
const NEW_GIT: &str = "git would run the hooks and commands that a new repository here names";
const GIT_FILE: &str = "it says which repository git uses here";

/// Far above any configuration that people write.
const MAX_CONFIG_BYTES: usize = 1 << 20;

/// How deep included files include others; git stops at 10 (git-config(1), "Includes").
const MAX_INCLUDES: usize = 10;

/// The guards of one repository, given its `.git`. Where that is missing, all of it is guarded: a `.git` made by
/// the command would name hooks and commands of its own (CVE-2026-25725 is this kind).
pub fn guards(host: &dyn Host, git: &Utf8Path) -> Vec<Guard> {
    match host.lstat(git) {
        Ok(Some(entry)) if entry.is_directory() => {
            let mut guards = repository_guards(host, git);
            modules(host, &git.join("modules"), &mut guards);
            let worktrees = git.join("worktrees");
            match directories(host, &worktrees) {
                Some(worktrees) => {
                    guards.extend(worktrees.iter().flat_map(|worktree| linked_guards(host, worktree)));
                }
                None => guards.push(guard(host, worktrees, GIT_FILE)),
            }
            guards
        }
        Ok(Some(_)) => vec![guard(host, git.to_path_buf(), GIT_FILE)],
        _ => vec![guard(host, git.to_path_buf(), NEW_GIT)],
    }
}

/// Of a directory that git takes for a repository (gitrepository-layout(5)).
fn repository_guards(host: &dyn Host, git: &Utf8Path) -> Vec<Guard> {
    vec![
        guard(host, git.join("hooks"), HOOKS),
        guard(host, git.join("config"), GIT_CONFIG),
        guard(host, git.join("config.worktree"), GIT_CONFIG),
        unless_there(host, git.join("commondir"), GIT_FILE),
    ]
}

/// Of a linked worktree's own part of a repository: what says where the rest is.
pub fn linked_guards(host: &dyn Host, git_dir: &Utf8Path) -> Vec<Guard> {
    vec![
        guard(host, git_dir.join("commondir"), GIT_FILE),
        guard(host, git_dir.join("gitdir"), GIT_FILE),
        guard(host, git_dir.join("config.worktree"), GIT_CONFIG),
    ]
}

/// Of the repositories of submodules, whose names may hold slashes.
fn modules(host: &dyn Host, directory: &Utf8Path, guards: &mut Vec<Guard>) {
    let Some(found) = directories(host, directory) else {
        guards.push(guard(host, directory.to_path_buf(), GIT_CONFIG));
        return;
    };
    for module in found {
        if matches!(host.lstat(&module.join("HEAD")), Ok(Some(_))) {
            guards.extend(self::guards(host, &module));
        } else {
            modules(host, &module, guards);
        }
    }
}

/// The directories in a directory; `None` where that cannot be told, and then all of it is to be guarded.
fn directories(host: &dyn Host, directory: &Utf8Path) -> Option<Vec<Utf8PathBuf>> {
    match host.lstat(directory) {
        Ok(Some(entry)) if entry.is_directory() => {}
        Ok(None) => return Some(Vec::new()),
        _ => return None,
    }
    let paths = host.read_dir(directory).ok()?.into_iter().map(|name| directory.join(name));
    Some(paths.filter(|path| matches!(host.lstat(path), Ok(Some(entry)) if entry.is_directory())).collect())
}

/// A guard on a path at which, where it is missing, not even an empty directory may stand: git would stop at it.
fn unless_there(host: &dyn Host, path: Utf8PathBuf, reason: &'static str) -> Guard {
    let guard = guard(host, path, reason);
    let keep_absent = guard.entry.is_none();
    Guard { keep_absent, ..guard }
}

/// What git goes through from a working tree whose `.git` is `git`: the repository that a `.git` file names, and the files and
/// directories that the configuration names. Those outside every writable root need no guard; the caller leaves them out.
pub fn behind(host: &dyn Host, git: &Utf8Path) -> Vec<Guard> {
    let Some(top) = git.parent() else { return Vec::new() };
    let mut repositories = vec![git.to_path_buf()];
    let mut guards = Vec::new();
    let named = line(host, git).ok();
    if let Some(named) = named.as_deref().and_then(|line| line.strip_prefix("gitdir: "))
        && let Ok(git_dir) = directory_at(host, top, named)
    {
        guards.extend(linked_guards(host, &git_dir));
        guards.extend(repository_guards(host, &git_dir));
        let common = line(host, &git_dir.join("commondir"));
        if let Ok(common) = common.and_then(|common| directory_at(host, &git_dir, &common)) {
            guards.extend(self::guards(host, &common));
            repositories.push(common);
        }
        repositories.push(git_dir);
    }
    for repository in repositories {
        for name in ["config", "config.worktree"] {
            configured(host, &repository.join(name), top, MAX_INCLUDES, &mut guards);
        }
    }
    guards
}

/// Every `.git` below a directory, but for the directory's own: repositories inside repositories. Links are not followed.
pub fn nested(host: &dyn Host, root: &Utf8Path) -> Vec<Utf8PathBuf> {
    // What the compiler may not list, the command may not either.
    let walked = walk(host, vec![(root.to_path_buf(), ())], &|found: &mut Vec<Utf8PathBuf>, &(), path, _| {
        let repository = path.file_name() == Some(".git");
        if repository && path.parent() != Some(root) {
            found.push(path.to_path_buf());
        }
        !repository
    });
    let mut found: Vec<Utf8PathBuf> = walked.found.into_iter().flatten().collect();
    found.sort();
    found
}

/// Guards what a configuration file names: hooks elsewhere and files that it includes, and what those name.
fn configured(host: &dyn Host, config: &Utf8Path, top: &Utf8Path, depth: usize, guards: &mut Vec<Guard>) {
    if depth == 0 || !matches!(host.lstat(config), Ok(Some(entry)) if entry.is_file()) {
        return;
    }
    let Ok(bytes) = host.head(config, MAX_CONFIG_BYTES) else { return };
    let beside = config.parent().unwrap_or(top);
    for (section, key, value) in entries(&String::from_utf8_lossy(&bytes)) {
        let at = |base: &Utf8Path| match value.strip_prefix("~/") {
            Some(below) => host.home().join(below),
            None => base.join(&value),
        };
        match (section.as_str(), key.as_str()) {
            ("core", "hookspath") => guards.push(guard(host, at(top), HOOKS)),
            ("include" | "includeif", "path") => {
                let included = at(beside);
                guards.push(guard(host, included.clone(), INCLUDED));
                let file = resolve(host, &included).map_or(included, |found| found.canonical);
                guards.push(guard(host, file.clone(), INCLUDED));
                configured(host, &file, top, depth - 1, guards);
            }
            _ => {}
        }
    }
}

/// Whether a repository's configuration says that names differ by more than case (`core.ignoreCase`).
pub fn ignores_case(host: &dyn Host, git: &Utf8Path) -> bool {
    let Ok(bytes) = host.head(&git.join("config"), MAX_CONFIG_BYTES) else { return false };
    let text = String::from_utf8_lossy(&bytes);
    entries(&text).iter().any(|(section, key, value)| {
        section == "core"
            && key == "ignorecase"
            && !matches!(value.to_ascii_lowercase().as_str(), "false" | "no" | "off" | "0")
    })
}

/// The section, key and value of each line of a configuration, the first two in lower case. A subsection is left out, and of a value
/// only quotes are taken off: no path that git takes needs more to be told.
fn entries(text: &str) -> Vec<(String, String, String)> {
    let mut section = String::new();
    let mut found = Vec::new();
    for text in text.lines() {
        let mut text = text.trim();
        if let Some(header) = text.strip_prefix('[') {
            let end = header.find(']').unwrap_or(header.len());
            let name =
                header[..end].split(|letter: char| letter.is_whitespace() || letter == '"' || letter == '.');
            section = name.into_iter().next().unwrap_or_default().to_ascii_lowercase();
            // An entry may stand on the line of its section's header.
            text = header.get(end + 1..).unwrap_or_default().trim();
        }
        if text.is_empty() || text.starts_with(['#', ';']) {
            continue;
        }
        let (key, value) = text.split_once('=').unwrap_or((text, "true"));
        let value = value.trim();
        let value = match value.strip_prefix('"') {
            Some(quoted) => quoted.split('"').next().unwrap_or_default(),
            None => value.split(['#', ';']).next().unwrap_or_default().trim(),
        };
        found.push((section.clone(), key.trim().to_ascii_lowercase(), value.to_owned()));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_git_writes_and_what_people_do() {
        let text = "# c\n[core]\n\thooksPath = .githooks ; c\n[includeIf \"gitdir:~/x/\"] path = \"a b.cfg\"\n[include]\npath=../c\n[Core] ignoreCase\n";
        let entries = entries(text);
        let entries: Vec<(&str, &str, &str)> =
            entries.iter().map(|(a, b, c)| (a.as_str(), b.as_str(), c.as_str())).collect();
        assert_eq!(
            entries,
            [
                ("core", "hookspath", ".githooks"),
                ("includeif", "path", "a b.cfg"),
                ("include", "path", "../c"),
                ("core", "ignorecase", "true"),
            ]
        );
    }
}
