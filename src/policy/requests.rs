//! What may be asked of a host by HTTP, where not everything may be: methods and paths. One strict reading of a request's path, for patterns
//! and requests alike: what two servers would take for two paths is none here.

use std::fmt;

/// A character of a method or of a field's name (RFC 9110, 5.6.2).
pub fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

/// Methods and paths that a statement allows. No method means every method, no path every path.
#[derive(Debug, Clone, PartialEq, Eq, Default, Hash)]
pub struct Requests {
    /// As they stand in a request: they are case-sensitive (RFC 9110, 9.1).
    pub methods: Vec<String>,
    pub paths: Vec<PathPattern>,
}

impl Requests {
    /// Whether a request is one of them. `path` is what stands before the `?`, as it was sent.
    pub fn hold(&self, method: &str, path: &str) -> bool {
        let method = self.methods.is_empty() || self.methods.iter().any(|allowed| allowed == method);
        method && self.hold_path(path)
    }

    fn hold_path(&self, path: &str) -> bool {
        if self.paths.is_empty() {
            return true;
        }
        segments(path).is_ok_and(|asked| self.paths.iter().any(|pattern| pattern.matches(&asked)))
    }

    /// Whether every request that the other one holds, this one holds too. A no may be a yes that takes two patterns to see.
    pub fn cover(&self, other: &Self) -> bool {
        let all = |method: &String| self.methods.contains(method);
        let methods = self.methods.is_empty() || !other.methods.is_empty() && other.methods.iter().all(all);
        let path = |path: &PathPattern| self.paths.iter().any(|outer| outer.covers(path));
        let paths = self.paths.is_empty() || !other.paths.is_empty() && other.paths.iter().all(path);
        methods && paths
    }

    /// Whether everything may be asked.
    pub fn is_any(&self) -> bool {
        self.methods.is_empty() && self.paths.is_empty()
    }
}

impl fmt::Display for Requests {
    /// As a profile has it, after the host.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        if !self.methods.is_empty() {
            write!(f, "methods {}", self.methods.join(" "))?;
            separator = " ";
        }
        if !self.paths.is_empty() {
            let paths: Vec<String> = self.paths.iter().map(|path| format!("\"{path}\"")).collect();
            write!(f, "{separator}paths {}", paths.join(" "))?;
        }
        Ok(())
    }
}

/// A path of requests: its segments, of which `*` is any one and `**`, which stands last, any one or more.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct PathPattern {
    text: String,
    segments: Vec<Vec<u8>>,
}

/// Why a path is not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PathFault {
    #[error("a path that does not begin with `/`")]
    Relative,
    #[error("an empty segment in a path")]
    Empty,
    /// `.` and `..`, also behind which parameters follow: some servers pass over those.
    #[error("a segment of dots in a path")]
    Dots,
    #[error("`%` without two hexadecimal digits in a path")]
    Escape,
    #[error("a character in a path that servers read differently")]
    Character,
    #[error("`**` in a path that goes on after it")]
    Deep,
    #[error("`*` in a segment that is more than that")]
    Star,
}

impl PathPattern {
    /// Reads `/segment/*/segment` or `/segment/**`.
    ///
    /// # Errors
    /// What is no path, and stars in other places.
    pub fn parse(text: &str) -> Result<Self, PathFault> {
        let segments = segments(text)?;
        let stars = |segment: &Vec<u8>| segment.contains(&b'*');
        if segments.iter().any(|segment| stars(segment) && !matches!(segment.as_slice(), b"*" | b"**")) {
            return Err(PathFault::Star);
        }
        if segments.iter().rev().skip(1).any(|segment| segment == b"**") {
            return Err(PathFault::Deep);
        }
        Ok(Self { text: text.to_owned(), segments })
    }

    /// Whether the other pattern is another spelling of this one.
    pub fn same(&self, other: &Self) -> bool {
        self.segments == other.segments
    }

    /// The segments, with what is escaped as what it stands for.
    pub fn segments(&self) -> impl Iterator<Item = &[u8]> {
        self.segments.iter().map(Vec::as_slice)
    }

    /// Whether every path that the other pattern matches, this one matches too.
    fn covers(&self, other: &Self) -> bool {
        if self.segments == other.segments {
            return true;
        }
        let is_deep = |pattern: &Self| pattern.segments.last().is_some_and(|last| last == b"**");
        // What stands for many segments is matched by what does, at no greater depth.
        let (own, others) = (self.segments.len(), other.segments.len());
        if is_deep(other) && !(is_deep(self) && own <= others) {
            return false;
        }
        self.matches(&other.segments)
    }

    fn matches(&self, asked: &[Vec<u8>]) -> bool {
        let same = |(pattern, asked): (&Vec<u8>, &Vec<u8>)| match pattern.as_slice() {
            // An empty last one is what stands after a last `/`.
            b"*" => !asked.is_empty(),
            pattern => pattern == asked.as_slice(),
        };
        match self.segments.split_last() {
            Some((last, before)) if last == b"**" => {
                asked.len() > before.len() && before.iter().zip(asked).all(same)
            }
            _ => self.segments.len() == asked.len() && self.segments.iter().zip(asked).all(same),
        }
    }
}

impl fmt::Display for PathPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// The segments of a path, with what is escaped as what it stands for (RFC 3986, 2.1). One that ends with `/` has an empty last one.
///
/// # Errors
/// What servers do not agree on: dots, empty segments, an escaped `/`, `\`, control characters.
fn segments(path: &str) -> Result<Vec<Vec<u8>>, PathFault> {
    let inner = path.strip_prefix('/').ok_or(PathFault::Relative)?;
    let count = inner.split('/').count();
    inner
        .split('/')
        .enumerate()
        .map(|(at, segment)| {
            if segment.is_empty() && at + 1 < count {
                return Err(PathFault::Empty);
            }
            let segment = unescape(segment)?;
            let name = segment.split(|byte| *byte == b';').next().unwrap_or_default();
            if matches!(name, b"." | b"..") {
                return Err(PathFault::Dots);
            }
            Ok(segment)
        })
        .collect()
}

fn unescape(segment: &str) -> Result<Vec<u8>, PathFault> {
    let mut bytes = segment.bytes();
    let mut out = Vec::with_capacity(segment.len());
    while let Some(byte) = bytes.next() {
        let byte = match byte {
            b'%' => {
                let mut digit =
                    || bytes.next().and_then(|digit| char::from(digit).to_digit(16)).ok_or(PathFault::Escape);
                let byte = u8::try_from(digit()? * 16 + digit()?).map_err(|_| PathFault::Escape)?;
                // Once more unescaped somewhere, it would be another path.
                if matches!(byte, b'/' | b'%') {
                    return Err(PathFault::Character);
                }
                byte
            }
            byte => byte,
        };
        if byte.is_ascii_control() || matches!(byte, b'\\' | b'?' | b'#') {
            return Err(PathFault::Character);
        }
        out.push(byte);
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn requests(methods: &[&str], paths: &[&str]) -> Requests {
        Requests {
            methods: methods.iter().map(|&method| method.to_owned()).collect(),
            paths: paths.iter().map(|path| PathPattern::parse(path).unwrap()).collect(),
        }
    }

    #[test]
    fn methods_and_paths_must_both_be_allowed() {
        let requests = requests(&["GET", "HEAD"], &["/repos/acme/*/pulls", "/meta", "/raw/**"]);
        for (method, path, allowed) in [
            ("GET", "/repos/acme/x/pulls", true),
            ("HEAD", "/meta", true),
            ("GET", "/raw/a", true),
            ("GET", "/raw/", true),
            ("GET", "/raw/a/b/c", true),
            ("GET", "/%6deta", true),
            ("POST", "/meta", false),
            ("get", "/meta", false),
            ("GET", "/meta/", false),
            ("GET", "/Meta", false),
            ("GET", "/raw", false),
            ("GET", "/repos/acme//pulls", false),
            ("GET", "/repos/acme/x/y/pulls", false),
            ("GET", "/raw/../admin", false),
            ("GET", "/raw/%2e%2e/admin", false),
            ("GET", "/raw/.%2E;x/admin", false),
            ("GET", "/raw/..;/admin", false),
            ("GET", "/raw/%2fadmin", false),
            ("GET", "/raw/%252e", false),
            ("GET", "/raw/a\\b", false),
            ("GET", "/raw/%5cb", false),
            ("GET", "/raw/%zz", false),
            ("GET", "/raw/%0", false),
            ("GET", "/raw/%00", false),
            ("OPTIONS", "*", false),
            ("GET", "raw/a", false),
            ("GET", "", false),
        ] {
            assert_eq!(requests.hold(method, path), allowed, "{method} {path}");
        }
    }

    #[test]
    fn nothing_said_is_everything() {
        assert!(Requests::default().hold("DELETE", "/a/../b") && Requests::default().is_any());
        assert!(requests(&["GET"], &[]).hold("GET", "/a/../b"));
        assert!(!requests(&["GET"], &[]).is_any());
    }

    #[test]
    fn stars_stand_for_whole_segments() {
        for (text, fault) in [
            ("/a*", PathFault::Star),
            ("/**/a", PathFault::Deep),
            ("a", PathFault::Relative),
            ("/a//b", PathFault::Empty),
            ("/a/..", PathFault::Dots),
            ("/a?b", PathFault::Character),
        ] {
            assert_eq!(PathPattern::parse(text), Err(fault), "{text}");
        }
    }

    #[test]
    fn one_statement_covers_another() {
        for (outer, inner, covered) in [
            (requests(&[], &[]), requests(&["GET"], &["/a"]), true),
            (requests(&["GET"], &[]), requests(&[], &[]), false),
            (requests(&["GET", "HEAD"], &[]), requests(&["GET"], &["/a"]), true),
            (requests(&["GET"], &["/a"]), requests(&["GET"], &[]), false),
            (requests(&[], &["/a/**"]), requests(&[], &["/a/*", "/a/b/**", "/a/"]), true),
            (requests(&[], &["/a/**"]), requests(&[], &["/a"]), false),
            (requests(&[], &["/a/*"]), requests(&[], &["/a/**"]), false),
            (requests(&[], &["/a/*"]), requests(&[], &["/a/"]), false),
            (requests(&[], &["/*/b"]), requests(&[], &["/a/b"]), true),
            (requests(&[], &["/*/b"]), requests(&[], &["/*/*"]), false),
            (requests(&[], &["/a/b/**"]), requests(&[], &["/a/**"]), false),
            (requests(&[], &["/%61"]), requests(&[], &["/a"]), true),
        ] {
            assert_eq!(outer.cover(&inner), covered, "{outer} covers {inner}");
        }
    }

    proptest! {
        /// What covers something holds all of it.
        #[test]
        fn what_covers_holds_as_much(
            outer in "(/([ab]|\\*)){1,3}(/\\*\\*)?",
            inner in "(/([ab]|\\*)){1,3}(/\\*\\*)?",
            asked in "(/[ab]?[ab]){1,4}/?",
        ) {
            let (outer, inner) = (requests(&[], &[&outer]), requests(&[], &[&inner]));
            if outer.cover(&inner) && inner.hold("GET", &asked) {
                prop_assert!(outer.hold("GET", &asked), "{} {} {}", outer, inner, asked);
            }
        }

        /// However much of a path is escaped, it is the same path.
        #[test]
        fn escapes_change_nothing(name in "[a-z]{1,8}", escaped in proptest::collection::vec(any::<bool>(), 8)) {
            let sent: String = name
                .bytes()
                .zip(escaped)
                .map(|(byte, escape)| if escape { format!("%{byte:02X}") } else { char::from(byte).to_string() })
                .collect();
            let wanted = requests(&[], &[&format!("/x/{name}")]);
            let (same, longer) = (format!("/x/{sent}"), format!("/x/{sent}a"));
            prop_assert!(wanted.hold("GET", &same) && !wanted.hold("GET", &longer));
        }
    }
}
