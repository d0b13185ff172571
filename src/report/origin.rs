//! Where a text comes from, and the URI that machines know it by.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_encode};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

/// What a text is called that was read from standard input.
pub const STANDARD_INPUT: &str = "standard input";

/// Where a text comes from.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Origin {
    /// A path below the root of the repository, relative to that.
    Repository(PathBuf),
    /// An absolute path elsewhere.
    Elsewhere(PathBuf),
    /// A fragment that ships with the program: `std/git`.
    Shipped(String),
    /// Standard input.
    Input,
}

/// All but what RFC 3986 (section 2.3) calls unreserved, and the slash. The colon too: a relative reference must not look as if it had a scheme.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b'/');

impl Origin {
    /// A URI reference (RFC 3986): relative to the root of the repository where the text is in it, else `file:///…`; `palisade:std/git` and
    /// `palisade:standard-input` for what is no file. Bytes that are not UTF-8 are kept.
    pub fn uri(&self) -> String {
        match self {
            Self::Repository(path) => escaped(path.as_os_str().as_bytes()),
            Self::Elsewhere(path) => format!("file://{}", escaped(path.as_os_str().as_bytes())),
            Self::Shipped(name) => format!("palisade:{}", escaped(name.as_bytes())),
            Self::Input => "palisade:standard-input".to_owned(),
        }
    }

    /// Whether the text is a file, which others can open and a fix can change.
    pub fn is_file(&self) -> bool {
        matches!(self, Self::Repository(_) | Self::Elsewhere(_))
    }

    /// The path, where it is a file.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::Repository(path) | Self::Elsewhere(path) => Some(path),
            Self::Shipped(_) | Self::Input => None,
        }
    }
}

fn escaped(bytes: &[u8]) -> String {
    percent_encode(bytes, ESCAPED).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::ffi::OsStr;

    #[test]
    fn what_is_no_file_has_a_scheme_of_its_own() {
        assert_eq!(Origin::Repository("policies/a b.palisade".into()).uri(), "policies/a%20b.palisade");
        assert_eq!(Origin::Repository("c:x".into()).uri(), "c%3Ax");
        assert_eq!(Origin::Elsewhere("/é".into()).uri(), "file:///%C3%A9");
        assert_eq!(Origin::Shipped("std/git".into()).uri(), "palisade:std/git");
        assert_eq!(Origin::Input.uri(), "palisade:standard-input");
    }

    proptest! {
        /// Whatever the bytes of a name, its URI is made of few characters and leads back to the name.
        #[test]
        fn any_name_has_a_uri_that_leads_back(bytes in proptest::collection::vec(1u8..=255, 1..40)) {
            let uri = Origin::Repository(OsStr::from_bytes(&bytes).into()).uri();
            let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/%".contains(&byte);
            prop_assert!(uri.bytes().all(plain), "{uri}");
            let back: Vec<u8> = percent_encoding::percent_decode_str(&uri).collect();
            prop_assert_eq!(back, bytes);
        }
    }
}
