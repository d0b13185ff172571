//! In: a path as somebody writes it. Out: the path that the kernel of every Mac sees for it, and what was wrong with the spelling.
//! Only what is the same on every Mac is known here: links at the root, firmlinks, and what `//`, `.` and `..` come to.

use super::PathCase;

/// Links at the root, by the name that they have there, and what they lead to.
const LINKS: [(&str, &[&str]); 4] = [
    ("tmp", &["private", "tmp"]),
    ("var", &["private", "var"]),
    ("etc", &["private", "etc"]),
    // What is below is mounted there.
    ("home", &["System", "Volumes", "Data", "home"]),
];

const DATA: [&str; 3] = ["System", "Volumes", "Data"];

/// Directories of the Data volume that are seen at the root (`/usr/share/firmlinks` of current systems).
const FIRMLINKS: [&str; 18] = [
    "AppleInternal",
    "Applications",
    "Library",
    "System/Library/Assets",
    "System/Library/AssetsV2",
    "System/Library/Caches",
    "System/Library/CoreServices/CoreTypes.bundle/Contents/Library",
    "System/Library/PreinstalledAssets",
    "System/Library/PreinstalledAssetsV2",
    "System/Library/Speech",
    "Users",
    "Volumes",
    "cores",
    "opt",
    "private",
    "usr/libexec/cups",
    "usr/local",
    "usr/share/snmp",
];

/// What is wrong with a spelling.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// `//`, `.` or `..`.
    Unresolved,
    /// It leads through a link at the root.
    Link,
    /// It names the Data volume.
    DataVolume,
    SlashAtEnd,
}

impl Fault {
    /// Why it is one, as half a sentence.
    pub fn why(self) -> &'static str {
        match self {
            Self::Unresolved => "the kernel resolves `//`, `.` and `..` before it compares",
            Self::Link => "it leads through a link",
            Self::DataVolume => "what is on the Data volume is seen without its name",
            Self::SlashAtEnd => "it ends with a slash",
        }
    }
}

/// What the kernel sees for an absolute path, and the first fault of its spelling. A `..` is taken back by name, as it is where no other link
/// stands on the way. With `open_end` the path goes on in a way that is not known: its last component may not be all of one.
pub fn resolved(path: &str, case: PathCase, open_end: bool) -> (String, Option<Fault>) {
    let mut fault = None;
    let mut parts: Vec<&str> = Vec::new();
    let mut written: Vec<&str> = path.strip_prefix('/').unwrap_or(path).split('/').collect();
    let rest = if open_end { written.pop() } else { None };
    if path == "/" {
        written.clear();
    }
    let last = written.len().saturating_sub(1);
    for (at, part) in written.iter().enumerate() {
        match *part {
            "" if at == last && !open_end && at > 0 => _ = fault.get_or_insert(Fault::SlashAtEnd),
            "" | "." => _ = fault.get_or_insert(Fault::Unresolved),
            ".." => {
                fault.get_or_insert(Fault::Unresolved);
                parts.pop();
            }
            other => parts.push(other),
        }
        if let Some((found, to)) = redirected(&parts, case) {
            fault.get_or_insert(found);
            parts = to;
        }
    }
    let mut seen = format!("/{}", parts.join("/"));
    if let Some(rest) = rest {
        if seen != "/" {
            seen.push('/');
        }
        seen.push_str(rest);
    }
    (seen, fault)
}

/// Where a directory of every Mac leads.
fn redirected<'a>(parts: &[&'a str], case: PathCase) -> Option<(Fault, Vec<&'a str>)> {
    let same = |a: &str, b: &str| match case {
        PathCase::Insensitive => a.eq_ignore_ascii_case(b),
        PathCase::Sensitive => a == b,
    };
    let link = |name: &str| LINKS.iter().find(|(link, _)| same(link, name)).map(|(_, to)| to.to_vec());
    if let [name] = parts {
        return link(name).map(|to| (Fault::Link, to));
    }
    let (volume, below) = parts.split_at_checked(DATA.len())?;
    if !volume.iter().zip(DATA).all(|(a, b)| same(a, b)) {
        return None;
    }
    if let [name] = below
        && !same(name, "home")
        && let Some(to) = link(name)
    {
        return Some((Fault::DataVolume, to));
    }
    let is_below = |firmlink: &&&str| {
        let names: Vec<&str> = firmlink.split('/').collect();
        names.len() == below.len() && names.iter().zip(below).all(|(a, b)| same(a, b))
    };
    FIRMLINKS.iter().find(is_below).map(|firmlink| (Fault::DataVolume, firmlink.split('/').collect()))
}

/// What follows the name of the Data volume in a path, `/` itself where nothing does. Outside of the firmlinks it is disputed how that is seen;
/// `/home` is seen there and nowhere else.
pub fn on_data_volume(path: &str, case: PathCase) -> Option<&str> {
    let name = format!("/{}", DATA.join("/"));
    let (head, below) = path.split_at_checked(name.len())?;
    let is_data = match case {
        PathCase::Insensitive => head.eq_ignore_ascii_case(&name),
        PathCase::Sensitive => head == name,
    };
    let home = below.get(..5).is_some_and(|start| start.eq_ignore_ascii_case("/home"))
        && below.get(5..).is_none_or(|rest| rest.is_empty() || rest.starts_with('/'));
    match below {
        "" => is_data.then_some("/"),
        _ => (is_data && !home && below.starts_with('/')).then_some(below),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Fault::{DataVolume, Link, SlashAtEnd, Unresolved};

    #[test]
    fn paths_are_taken_as_the_kernel_sees_them() {
        for (path, seen, fault) in [
            ("/tmp/x", "/private/tmp/x", Some(Link)),
            ("/tmp", "/private/tmp", Some(Link)),
            ("/TMP/X", "/private/tmp/X", Some(Link)),
            ("/a/../var/x/", "/private/var/x", Some(Unresolved)),
            ("/tmp/../x", "/private/x", Some(Link)),
            ("//Users/./dev/", "/Users/dev", Some(Unresolved)),
            ("/Users/dev/", "/Users/dev", Some(SlashAtEnd)),
            ("/", "/", None),
            ("//", "/", Some(Unresolved)),
            ("/..", "/", Some(Unresolved)),
            ("/tmpx", "/tmpx", None),
            ("/a/.b/...", "/a/.b/...", None),
            ("/System/Volumes/Data/private/tmp/s", "/private/tmp/s", Some(DataVolume)),
            ("/system/volumes/DATA/users/d", "/Users/d", Some(DataVolume)),
            ("/System/Volumes/Data/tmp/q", "/private/tmp/q", Some(DataVolume)),
            ("/System/Volumes/Data/usr/local/bin", "/usr/local/bin", Some(DataVolume)),
            ("/System/Volumes/Data/usr/bin", "/System/Volumes/Data/usr/bin", None),
            ("/System/Volumes/Data", "/System/Volumes/Data", None),
            ("/System/Volumes/Preboot", "/System/Volumes/Preboot", None),
            ("/home/x", "/System/Volumes/Data/home/x", Some(Link)),
            ("/var//a/../c", "/private/var/c", Some(Link)),
        ] {
            assert_eq!(resolved(path, PathCase::Insensitive, false), (seen.to_owned(), fault), "{path}");
        }
        assert_eq!(resolved("/TMP/x", PathCase::Sensitive, false), ("/TMP/x".into(), None));
    }

    #[test]
    fn an_open_end_may_go_on_as_another_name() {
        for (path, seen, fault) in [
            ("/tmp", "/tmp", None),
            ("/tmp/", "/private/tmp/", Some(Link)),
            ("/a/", "/a/", None),
            ("/a//", "/a/", Some(Unresolved)),
            ("/a/..", "/a/..", None),
            ("/a/../", "/", Some(Unresolved)),
            ("/", "/", None),
            ("/System/Volumes/Data/Users/", "/Users/", Some(DataVolume)),
        ] {
            assert_eq!(resolved(path, PathCase::Insensitive, true), (seen.to_owned(), fault), "{path}");
        }
    }

    #[test]
    fn the_data_volume_by_its_name() {
        for (path, below) in [
            ("/System/Volumes/Data", Some("/")),
            ("/system/volumes/data/x", Some("/x")),
            ("/System/Volumes/Database", None),
            ("/System/Volumes/Data/home/x", None),
            ("/System/Volumes/Data/homes", Some("/homes")),
            ("/x", None),
        ] {
            assert_eq!(on_data_volume(path, PathCase::Insensitive), below, "{path}");
        }
    }
}
