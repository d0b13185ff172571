//! `deny gitignored PATH`: what git ignores there, by gitignore(5): the `.gitignore` of each directory, from the
//! repository's root down, and `.git/info/exclude`. The user's own `core.excludesFile` is not read: a profile must not mean
//! something else for each reader. A tracked file that a pattern matches counts as ignored here: denying too much is the safe side.

use super::denials::list;
use super::{BoundDenial, DeniedPath, git, worktree};
use crate::host::resolve::resolve;
use crate::host::{Entry, Host, HostError, ResolveError};
use camino::{Utf8Path, Utf8PathBuf};
use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

/// Far above any real `.gitignore`.
const MAX_IGNORE_BYTES: usize = 1 << 20;

/// Every ignored path below `directory`; a directory that is ignored stands for all it holds. `except` are names, or
/// paths relative to `directory`, that stay open.
pub fn ignored(host: &dyn Host, directory: &Utf8Path, except: &[&str]) -> BoundDenial {
    let mut bound = BoundDenial::new(0);
    let top = match resolve(host, directory) {
        Ok(found) if found.entry.as_ref().is_some_and(Entry::is_directory) => found.canonical,
        Ok(found) => {
            bound.found = Some(Err(ResolveError::NotDirectory(found.canonical)));
            return bound;
        }
        Err(ResolveError::Host(error)) => {
            bound.unexamined.push(error);
            return bound;
        }
        Err(error) => {
            bound.found = Some(Err(error));
            return bound;
        }
    };
    let mut rules = Vec::new();
    let above = ancestors_in_repository(host, &top);
    let repository = above.first().unwrap_or(&top);
    let fold = host.case_insensitive() || git::ignores_case(host, &repository.join(".git"));
    for ancestor in &above {
        push_rules(host, ancestor, fold, &mut rules, &mut bound.unexamined);
    }
    let mut walk = Walk { host, fold, top: &top, except, bound: &mut bound };
    walk.directory(&top, &mut rules);
    bound.paths.sort_by(|a, b| a.path.cmp(&b.path));
    bound
}

/// The directories from the repository's root to the parent of `top`, outermost first.
fn ancestors_in_repository(host: &dyn Host, top: &Utf8Path) -> Vec<Utf8PathBuf> {
    let holds_git = |directory: &Utf8Path| matches!(host.lstat(&directory.join(".git")), Ok(Some(_)));
    if holds_git(top) {
        return Vec::new();
    }
    let mut above = Vec::new();
    for ancestor in top.ancestors().skip(1) {
        above.push(ancestor.to_path_buf());
        if holds_git(ancestor) {
            above.reverse();
            return above;
        }
    }
    Vec::new()
}

fn push_rules(
    host: &dyn Host,
    directory: &Utf8Path,
    fold: bool,
    rules: &mut Vec<Gitignore>,
    unexamined: &mut Vec<HostError>,
) -> usize {
    let before = rules.len();
    // Lowest precedence first: the repository's own exclude file, then the directory's.
    for path in [exclude_file(host, directory), directory.join(".gitignore")] {
        match host.lstat(&path) {
            Ok(Some(entry)) if entry.is_file() => {}
            Ok(_) => continue,
            Err(error) => {
                unexamined.push(error);
                continue;
            }
        }
        let read = host.head(&path, MAX_IGNORE_BYTES + 1);
        match read.and_then(|bytes| patterns(directory, fold, &path, &bytes)) {
            Ok(patterns) => rules.push(patterns),
            Err(error) => unexamined.push(error),
        }
    }
    rules.len() - before
}

/// The repository's own exclude file: below `.git`, or where a `.git` file leads. Wherever that is, patterns found there only add to
/// what is denied: nothing has less weight.
fn exclude_file(host: &dyn Host, directory: &Utf8Path) -> Utf8PathBuf {
    let dot_git = directory.join(".git");
    let led = || {
        let named = worktree::line(host, &dot_git).ok()?;
        let git_dir = worktree::directory_at(host, directory, named.strip_prefix("gitdir: ")?).ok()?;
        let common = worktree::line(host, &git_dir.join("commondir"));
        Some(common.and_then(|common| worktree::directory_at(host, &git_dir, &common)).unwrap_or(git_dir))
    };
    led().unwrap_or(dot_git).join("info/exclude")
}

/// The patterns of one file.
///
/// # Errors
/// A file that is too large, and a line that this program does not read as git does: to pass over it would leave open what git ignores.
fn patterns(directory: &Utf8Path, fold: bool, path: &Utf8Path, bytes: &[u8]) -> Result<Gitignore, HostError> {
    let refuse = |reason: String| HostError::Other { path: path.to_path_buf(), reason };
    if bytes.len() > MAX_IGNORE_BYTES {
        return Err(refuse("it is larger than 1 MiB".into()));
    }
    let text = String::from_utf8_lossy(bytes);
    let mut builder = GitignoreBuilder::new(directory);
    let _ = builder.case_insensitive(fold);
    for (number, line) in text.strip_prefix('\u{feff}').unwrap_or(&text).lines().enumerate() {
        let added = as_glob(line).is_some_and(|line| builder.add_line(None, &line).is_ok());
        if !added {
            return Err(refuse(format!("line {} holds a pattern that is not understood", number + 1)));
        }
    }
    builder.build().map_err(|error| refuse(error.to_string()))
}

/// A line of git's as `ignore` reads it, which gives braces a meaning that they do not have to git (gitignore(5)). `None` for what the two
/// read differently in another way: classes of classes (`[[:alpha:]]`) and escapes in classes.
fn as_glob(line: &str) -> Option<String> {
    if line.starts_with('#') {
        return Some(line.to_owned());
    }
    let mut glob = String::with_capacity(line.len());
    let mut characters = line.chars().peekable();
    let mut class: Option<usize> = None;
    while let Some(character) = characters.next() {
        match (character, class) {
            ('\\', Some(_)) => return None,
            ('[', Some(_)) if matches!(characters.peek(), Some(':' | '.' | '=')) => return None,
            ('\\', None) => {
                glob.push(character);
                glob.extend(characters.next());
                continue;
            }
            ('[', None) => class = Some(0),
            // The first in a class means itself, also behind its negation.
            (']', Some(length)) if length > 0 => class = None,
            ('!' | '^', Some(0)) => {}
            (_, Some(length)) => class = Some(length + 1),
            ('{' | '}', None) => glob.push('\\'),
            (_, None) => {}
        }
        glob.push(character);
    }
    Some(glob)
}

struct Walk<'a> {
    host: &'a dyn Host,
    /// Whether names that differ only in case match.
    fold: bool,
    top: &'a Utf8Path,
    except: &'a [&'a str],
    bound: &'a mut BoundDenial,
}

impl Walk<'_> {
    fn directory(&mut self, directory: &Utf8Path, rules: &mut Vec<Gitignore>) {
        let added = push_rules(self.host, directory, self.fold, rules, &mut self.bound.unexamined);
        for (path, entry) in list(self.host, directory, &mut self.bound.unexamined) {
            if path.file_name() == Some(".git") || self.is_excepted(&path) {
                continue;
            }
            if is_ignored(rules, &path, entry.is_directory()) {
                self.bound.paths.push(DeniedPath { path, entry: Some(entry) });
            } else if entry.is_directory() {
                self.directory(&path, rules);
            }
        }
        rules.truncate(rules.len() - added);
    }

    fn is_excepted(&self, path: &Utf8Path) -> bool {
        let relative = path.strip_prefix(self.top).unwrap_or(path);
        self.except.iter().any(|except| {
            let except = except.trim_end_matches('/');
            path.file_name() == Some(except) || relative == except
        })
    }
}

/// The innermost file that says anything decides.
fn is_ignored(rules: &[Gitignore], path: &Utf8Path, is_directory: bool) -> bool {
    for file in rules.iter().rev() {
        match file.matched(path, is_directory) {
            Match::Ignore(_) => return true,
            Match::Whitelist(_) => return false,
            Match::None => {}
        }
    }
    false
}
