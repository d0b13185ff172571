//! What each `deny` covers on this machine: a path, what a pattern matches, what git ignores.

use super::{BoundDenial, DeniedPath, gitignored};
use crate::host::resolve::{resolve, resolve_parent};
use crate::host::{Host, HostError, ResolveError};
use crate::policy::{DenialKind, Policy, PolicyPath};
use camino::{Utf8Path, Utf8PathBuf};
use globset::{GlobBuilder, GlobMatcher};

/// Finds every path that the policy's denials cover, in the policy's order.
pub fn bind(host: &dyn Host, policy: &Policy) -> Vec<BoundDenial> {
    policy
        .denials
        .iter()
        .enumerate()
        .map(|(statement, denial)| match &denial.kind {
            DenialKind::Path(path) => literal(host, statement, path),
            DenialKind::Glob(pattern) => glob(host, statement, &pattern.value),
            DenialKind::Gitignored { path, except } => {
                let except: Vec<&str> = except.iter().map(|name| name.value.as_str()).collect();
                let mut bound = gitignored::ignored(host, &path.path, &except);
                bound.statement = statement;
                bound
            }
        })
        .collect()
}

fn literal(host: &dyn Host, statement: usize, path: &PolicyPath) -> BoundDenial {
    let mut bound = BoundDenial::new(statement);
    // The last component is not followed: what is denied is the name that was written, and where that is a link,
    // lint says so rather than have the denial silently mean another file.
    match resolve_parent(host, &path.path) {
        Ok(found) => bound.paths.push(DeniedPath { path: found.canonical, entry: found.entry }),
        Err(ResolveError::Host(error)) => bound.unexamined.push(error),
        Err(_) => {}
    }
    bound.found = Some(resolve(host, &path.path));
    bound
}

fn glob(host: &dyn Host, statement: usize, pattern: &str) -> BoundDenial {
    let mut bound = BoundDenial::new(statement);
    let head = match resolve(host, &literal_head(pattern)) {
        Ok(head) if head.exists() => head.canonical,
        Ok(_) => return bound,
        Err(ResolveError::Host(error)) => {
            bound.unexamined.push(error);
            return bound;
        }
        Err(error) => {
            bound.found = Some(Err(error));
            return bound;
        }
    };
    let Some(matcher) = matcher(pattern, &head) else { return bound };
    let mut pending = vec![head];
    while let Some(directory) = pending.pop() {
        for (path, entry) in list(host, &directory, &mut bound.unexamined) {
            if matcher.is_match(path.as_std_path()) {
                bound.paths.push(DeniedPath { path, entry: Some(entry) });
            } else if entry.is_directory() {
                pending.push(path);
            }
        }
    }
    bound.paths.sort_by(|a, b| a.path.cmp(&b.path));
    bound
}

/// The components of a pattern before the first that holds a special character, unescaped.
pub fn literal_head(pattern: &str) -> Utf8PathBuf {
    let mut head = Utf8PathBuf::from("/");
    let mut parts = pattern.split('/').filter(|part| !part.is_empty()).peekable();
    while let Some(part) = parts.next() {
        let Some(plain) = unescape(part) else { break };
        if parts.peek().is_none() {
            break;
        }
        head.push(plain);
    }
    head
}

/// A pattern component as a plain name; `None` where it holds anything special.
fn unescape(part: &str) -> Option<String> {
    let mut plain = String::new();
    let mut characters = part.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' => plain.push(characters.next()?),
            '*' | '?' | '[' | ']' | '{' | '}' | '!' => return None,
            other => plain.push(other),
        }
    }
    Some(plain)
}

/// The pattern with its literal head replaced by where that head leads.
fn matcher(pattern: &str, head: &Utf8Path) -> Option<GlobMatcher> {
    let depth = literal_head(pattern).components().count() - 1;
    let tail = pattern.split('/').filter(|part| !part.is_empty()).skip(depth).collect::<Vec<_>>().join("/");
    let head = globset::escape(head.as_str().trim_end_matches('/'));
    GlobBuilder::new(&format!("{head}/{tail}"))
        .literal_separator(true)
        .backslash_escape(true)
        .build()
        .ok()
        .map(|glob| glob.compile_matcher())
}

/// The entries of a directory. What cannot be examined is noted and left out.
pub fn list(
    host: &dyn Host,
    directory: &Utf8Path,
    unexamined: &mut Vec<HostError>,
) -> Vec<(Utf8PathBuf, crate::host::Entry)> {
    let names = match host.read_dir(directory) {
        Ok(names) => names,
        Err(error) => {
            unexamined.push(error);
            return Vec::new();
        }
    };
    let mut entries = Vec::with_capacity(names.len());
    for name in names {
        let path = directory.join(name);
        match host.lstat(&path) {
            Ok(Some(entry)) => entries.push((path, entry)),
            // Vanished between the two looks: nothing to protect.
            Ok(None) => {}
            Err(error) => unexamined.push(error),
        }
    }
    entries
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_literal_head_stops_before_anything_special() {
        assert_eq!(literal_head("/w/**/*.pem"), "/w");
        assert_eq!(literal_head("/w/a\\*b/x*"), "/w/a*b");
        assert_eq!(literal_head("/w/plain"), "/w");
        assert_eq!(literal_head("/*"), "/");
    }

    #[test]
    fn special_characters_of_the_head_mean_themselves() {
        let glob = matcher("/w\\[1\\]/*.pem", "/real[1]".into()).unwrap();
        assert!(glob.is_match("/real[1]/a.pem"));
        assert!(!glob.is_match("/real1/a.pem"));
        assert!(!glob.is_match("/real[1]/b/a.pem"), "a star does not cross a slash");
    }
}
