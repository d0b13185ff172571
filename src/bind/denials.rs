//! What each `deny` covers on this machine: a path, what a pattern matches, what git ignores.

use super::walk::walk;
use super::{BoundDenial, DeniedPath, gitignored};
use crate::host::resolve::{resolve, resolve_parent};
use crate::host::spelling::fold_name;
use crate::host::{Host, HostError, ResolveError};
use crate::policy::{DenialKind, Policy, PolicyPath};
use camino::{Utf8Path, Utf8PathBuf};
use globset::{GlobBuilder, GlobMatcher};
use unicode_normalization::UnicodeNormalization as _;

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
    let Some(pattern) = Pattern::new(pattern, &head, host.case_insensitive()) else {
        let reason = "the pattern cannot be matched below it".into();
        bound.unexamined.push(HostError::Other { path: head, reason });
        return bound;
    };
    let walked = walk(host, vec![(head, ())], &|matched: &mut Vec<DeniedPath>, &(), path, entry| {
        let matches = pattern.is_match(path);
        if matches {
            matched.push(DeniedPath { path: path.to_path_buf(), entry: Some(entry.clone()) });
        }
        !matches
    });
    bound.paths = walked.found.into_iter().flatten().collect();
    bound.unexamined.extend(walked.unexamined.into_iter().map(|((), error)| error));
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

/// A pattern on one machine. What any of its readings matches is denied: a doubt denies.
struct Pattern {
    exact: GlobMatcher,
    /// `globset` takes `?` and `[…]` to stand for one byte. Here every character beyond ASCII is one byte, and any of them matches any.
    characters: Option<GlobMatcher>,
    /// Where case does not matter: for folded paths.
    folded: Vec<GlobMatcher>,
}

impl Pattern {
    /// The pattern with its literal head replaced by where that head leads.
    fn new(pattern: &str, head: &Utf8Path, fold_case: bool) -> Option<Self> {
        let depth = literal_head(pattern).components().count() - 1;
        let tail =
            pattern.split('/').filter(|part| !part.is_empty()).skip(depth).collect::<Vec<_>>().join("/");
        let pattern = format!("{}/{tail}", globset::escape(head.as_str().trim_end_matches('/')));
        let compile = |pattern: &str| {
            let mut builder = GlobBuilder::new(pattern);
            builder
                .literal_separator(true)
                .backslash_escape(true)
                .empty_alternates(true)
                .case_insensitive(fold_case);
            builder.build().ok().map(|glob| glob.compile_matcher())
        };
        let characters = if tail.contains(['?', '[']) { compile(&one_byte_each(&pattern)) } else { None };
        let mut folded = Vec::new();
        if fold_case {
            let pattern = folded_text(&pattern);
            folded.extend(compile(&pattern));
            folded.extend(compile(&one_byte_each(&pattern)));
        }
        Some(Self { exact: compile(&pattern)?, characters, folded })
    }

    fn is_match(&self, path: &Utf8Path) -> bool {
        let path = path.as_str();
        if self.exact.is_match(path)
            || self.characters.as_ref().is_some_and(|pattern| pattern.is_match(one_byte_each(path)))
        {
            return true;
        }
        let [plain, characters] = self.folded.as_slice() else { return false };
        let path = folded_text(path);
        plain.is_match(&path) || (!path.is_ascii() && characters.is_match(one_byte_each(&path)))
    }
}

/// A text in which every character beyond ASCII is the one byte DEL, which stands behind all of ASCII, so that ranges stay ranges.
fn one_byte_each(text: &str) -> String {
    text.chars().map(|character| if character.is_ascii() { character } else { '\x7f' }).collect()
}

/// One spelling for all that a disk without case takes for the same, composed, so that `?` stands for what a person calls a character.
fn folded_text(text: &str) -> String {
    fold_name(text).nfc().collect()
}

/// The entries of a directory. What cannot be examined is noted and left out.
pub fn list(
    host: &dyn Host,
    directory: &Utf8Path,
    unexamined: &mut Vec<HostError>,
) -> Vec<(Utf8PathBuf, crate::host::Entry)> {
    let listed = match host.list(directory) {
        Ok(listed) => listed,
        Err(error) => {
            unexamined.push(error);
            return Vec::new();
        }
    };
    let mut entries = Vec::with_capacity(listed.len());
    for (path, entry) in listed.iter() {
        match entry {
            Ok(entry) => entries.push((path.clone(), entry.clone())),
            Err(error) => unexamined.push(error.clone()),
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
        let glob = Pattern::new("/w\\[1\\]/*.pem", "/real[1]".into(), false).unwrap();
        assert!(glob.is_match("/real[1]/a.pem".into()));
        assert!(!glob.is_match("/real1/a.pem".into()));
        assert!(!glob.is_match("/real[1]/b/a.pem".into()), "a star does not cross a slash");
        assert!(!glob.is_match("/real[1]/A.PEM".into()));
    }

    #[test]
    fn an_alternative_may_be_empty() {
        let glob = |pattern| Pattern::new(pattern, "/w".into(), false).unwrap();
        assert!(glob("/w/.env{,.local}").is_match("/w/.env".into()));
        assert!(glob("/w/.env{,.local}").is_match("/w/.env.local".into()));
        assert!(glob("/w/{,a/}x.pem").is_match("/w/x.pem".into()));
        assert!(glob("/w/{,a/}x.pem").is_match("/w/a/x.pem".into()));
        for path in ["/w/x.pem", "/w/xy.pem", "/w/z.pem"] {
            assert!(glob("/w/{x{,y},z}.pem").is_match(path.into()), "{path}");
        }
        assert!(!glob("/w/.env{,.local}").is_match("/w/.env.other".into()));
    }

    #[test]
    fn a_question_mark_is_one_character_and_not_one_byte() {
        let glob = |pattern| Pattern::new(pattern, "/w".into(), false).unwrap();
        assert!(glob("/w/?.pem").is_match("/w/ä.pem".into()));
        assert!(!glob("/w/?.pem").is_match("/w/ab.pem".into()));
        assert!(glob("/w/[äö].pem").is_match("/w/ö.pem".into()));
        assert!(glob("/w/[a-ö].pem").is_match("/w/ä.pem".into()));
        assert!(glob("/w/[!a].pem").is_match("/w/ä.pem".into()));
        assert!(!glob("/w/ä*").is_match("/w/öx".into()));
    }

    #[test]
    fn where_case_does_not_matter_it_does_not_matter_to_patterns() {
        let glob = |pattern| Pattern::new(pattern, "/W".into(), true).unwrap();
        assert!(glob("/W/*.pem").is_match("/W/KEY.PEM".into()));
        assert!(glob("/W/\u{e9}*").is_match("/W/E\u{301}x".into()));
        assert!(glob("/W/?.pem").is_match("/W/E\u{301}.pem".into()));
        assert!(!glob("/W/*.pem").is_match("/W/KEY.PEN".into()));
    }
}
