use super::*;
use crate::host::{LiveHost, RecordedHost};
use proptest::prelude::*;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::symlink;

fn host(entries: &str) -> RecordedHost {
    let head = "system: linux\narchitecture: x86_64\nhome: /home/dev\nunlisted: missing\nentries:\n";
    let lines: String = entries.lines().map(|line| format!("  {}\n", line.trim())).collect();
    RecordedHost::from_yaml(&format!("{head}{lines}"), "test").unwrap()
}

fn canonical(host: &RecordedHost, path: &str) -> String {
    resolve(host, path.into()).unwrap().canonical.into_string()
}

#[test]
fn keeps_every_hop_of_a_chain() {
    let host = host("/w/a: -> b\n/w/b: -> ../x/c\n/x/c: -> /y\n/y/z: file");
    let found = resolve(&host, "/w/a/z".into()).unwrap();
    assert_eq!(found.canonical, "/y/z");
    let hops: Vec<_> = found.hops.iter().map(|hop| format!("{} {}", hop.link, hop.target)).collect();
    assert_eq!(hops, ["/w/a b", "/w/b ../x/c", "/x/c /y"]);
    assert!(found.entry.unwrap().is_file());
}

#[test]
fn dots_climb_from_where_a_link_leads() {
    let host = host("/w/link: -> /x/y\n/x/y/a: file\n/x/b: file\n/w/b: directory");
    assert_eq!(canonical(&host, "/w/link/../b"), "/x/b");
    assert_eq!(canonical(&host, "/w/./link/./a"), "/x/y/a");
    assert_eq!(canonical(&host, "/../../w/link/.."), "/x");
}

#[test]
fn a_missing_leaf_is_resolved_through_its_deepest_existing_ancestor() {
    let host = host("/w/link: -> /x\n/x: directory\n/w/dangling: -> /x/new/leaf");
    let found = resolve(&host, "/w/link/a/./b".into()).unwrap();
    assert_eq!((found.canonical.as_str(), found.existing.as_str(), found.exists()), ("/x/a/b", "/x", false));
    let found = resolve(&host, "/w/dangling".into()).unwrap();
    assert_eq!((found.canonical.as_str(), found.existing.as_str()), ("/x/new/leaf", "/x"));
    assert_eq!(found.hops.len(), 1);
    let error = resolve(&host, "/w/link/a/../b".into()).unwrap_err();
    assert!(matches!(error, ResolveError::DotsBelowMissing(_)));
}

#[test]
fn a_trailing_slash_asks_for_a_directory() {
    let host = host(
        "/w/file: file\n/w/dir: directory\n/w/to-dir: -> dir\n/w/to-file: -> file/\n/w/slashed: -> dir/",
    );
    assert_eq!(canonical(&host, "/w/dir/"), "/w/dir");
    for path in ["/w/file/", "/w/file/.", "/w/file/..", "/w/to-file"] {
        assert!(matches!(resolve(&host, path.into()), Err(ResolveError::NotDirectory(_))), "{path}");
    }
    assert_eq!(resolve_parent(&host, "/w/to-dir".into()).unwrap().canonical, "/w/to-dir");
    assert_eq!(resolve_parent(&host, "/w/to-dir/".into()).unwrap().canonical, "/w/dir");
    assert_eq!(resolve_parent(&host, "/w/slashed".into()).unwrap().canonical, "/w/slashed");
    assert_eq!(canonical(&host, "/w/slashed"), "/w/dir");
    assert!(!resolve(&host, "/w/new/".into()).unwrap().exists());
}

#[test]
fn loops_and_the_kernels_bound() {
    let host = host("/w/a: -> b\n/w/b: -> a\n/w/self: -> self/x");
    for path in ["/w/a", "/w/self", "/w/a/x"] {
        assert!(matches!(resolve(&host, path.into()), Err(ResolveError::Loop(_))), "{path}");
    }
    assert_eq!(resolve_parent(&host, "/w/a".into()).unwrap().canonical, "/w/a");
    let chain = |length: usize| {
        let links: String = (0..length).map(|at| format!("/w/l{at}: -> l{}\n", at + 1)).collect();
        resolve(&super::tests::host(&format!("{links}/w/l{length}: file")), "/w/l0".into())
    };
    assert_eq!(chain(40).unwrap().hops.len(), 40);
    assert!(matches!(chain(41), Err(ResolveError::Loop(_))));
}

#[test]
fn what_cannot_be_examined_is_an_error() {
    let host = host("/w/locked: unreadable\n/w/link: -> locked/key");
    for path in ["/w/locked", "/w/locked/key", "/w/link"] {
        let error = resolve(&host, path.into()).unwrap_err();
        assert!(matches!(error, ResolveError::Host(HostError::Denied(_))), "{path}: {error}");
    }
    assert!(matches!(resolve(&host, "w".into()), Err(ResolveError::NotAbsolute(_))));
}

#[test]
fn takes_the_spelling_of_a_case_insensitive_disk() {
    let text = "system: macos\narchitecture: aarch64\nhome: /Users/dev\ncase-insensitive: true\nunlisted: missing\n\
                entries:\n  /Users/dev/Project/.env: file\n  /Users/dev/Link: -> PROJECT\n";
    let host = RecordedHost::from_yaml(text, "test").unwrap();
    assert_eq!(canonical(&host, "/users/DEV/project/.ENV"), "/Users/dev/Project/.env");
    let found = resolve(&host, "/Users/dev/link/.Env".into()).unwrap();
    assert_eq!(found.canonical, "/Users/dev/Project/.env");
    assert_eq!(found.hops[0].link, "/Users/dev/Link");
    assert_eq!(canonical(&host, "/users/dev/project/New/File"), "/Users/dev/Project/New/File");
}

#[test]
fn a_name_that_is_too_long_is_an_error_and_not_an_absence() {
    let directory = tempfile::tempdir().unwrap();
    let base = Utf8Path::from_path(directory.path()).unwrap().canonicalize_utf8().unwrap();
    let host = LiveHost::with_home(&base).unwrap();
    let error = resolve(&host, &base.join("x".repeat(300))).unwrap_err();
    assert!(matches!(error, ResolveError::Host(HostError::Other { .. })), "{error}");
}

#[test]
fn a_link_target_that_is_not_utf8_is_an_error() {
    use std::os::unix::ffi::OsStrExt;
    let directory = tempfile::tempdir().unwrap();
    let base = Utf8Path::from_path(directory.path()).unwrap().canonicalize_utf8().unwrap();
    symlink(std::ffi::OsStr::from_bytes(b"a\xff"), base.join("link")).unwrap();
    let host = LiveHost::with_home(&base).unwrap();
    let error = resolve(&host, &base.join("link")).unwrap_err();
    assert!(matches!(error, ResolveError::Host(HostError::NotUtf8(_))), "{error}");
}

/// A tree of at most three levels whose names are `a`, `b`, `c`, and whose links say anything made of these and dots.
#[derive(Debug, Clone)]
enum Node {
    File,
    Directory(Vec<Node>),
    Link(String),
}

fn path_text() -> impl Strategy<Value = String> {
    let component = prop_oneof![4 => "[abc]", 1 => Just("..".to_owned()), 1 => Just(".".to_owned())];
    (proptest::collection::vec(component, 1..6), any::<bool>())
        .prop_map(|(parts, slash)| format!("{}{}", parts.join("/"), if slash { "/" } else { "" }))
}

fn tree() -> impl Strategy<Value = Vec<Node>> {
    let leaf = prop_oneof![
        1 => Just(Node::File),
        1 => Just(Node::Directory(Vec::new())),
        2 => path_text().prop_map(Node::Link),
        1 => path_text().prop_map(|path| Node::Link(format!("/{path}"))),
    ];
    let node = leaf
        .prop_recursive(2, 12, 3, |inner| proptest::collection::vec(inner, 0..3).prop_map(Node::Directory));
    proptest::collection::vec(node, 1..=3)
}

fn build(base: &Utf8Path, at: &Utf8Path, nodes: &[Node]) {
    for (node, name) in nodes.iter().zip(["a", "b", "c"]) {
        let path = at.join(name);
        match node {
            Node::File => fs::write(&path, "").unwrap(),
            Node::Directory(inner) => {
                fs::create_dir(&path).unwrap();
                build(base, &path, inner);
            }
            // An absolute target leads to the base, as there is nothing to be found elsewhere.
            Node::Link(target) => match target.strip_prefix('/') {
                Some(rest) => symlink(format!("{base}/{rest}"), &path).unwrap(),
                None => symlink(target, &path).unwrap(),
            },
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// What the kernel finds is what is found here, and what it refuses is refused here for the same reason.
    #[test]
    fn agrees_with_the_kernel(nodes in tree(), asked in proptest::collection::vec(path_text(), 8)) {
        let directory = tempfile::tempdir().unwrap();
        let base = Utf8Path::from_path(directory.path()).unwrap().canonicalize_utf8().unwrap();
        let inner = base.join("a");
        fs::create_dir(&inner).unwrap();
        build(&base, &inner, &nodes);
        let host = LiveHost::with_home(&base).unwrap();
        for path in asked {
            let path = Utf8PathBuf::from(format!("{inner}/{path}"));
            let ours = resolve(&host, &path);
            match fs::metadata(&path) {
                Ok(_) => {
                    let ours = ours.unwrap();
                    prop_assert_eq!(&ours.canonical, &path.canonicalize_utf8().unwrap());
                    prop_assert_eq!(&ours.existing, &ours.canonical);
                    prop_assert!(ours.exists());
                }
                Err(error) => match error.kind() {
                    ErrorKind::NotFound => prop_assert!(
                        matches!(&ours, Ok(found) if !found.exists())
                            || matches!(&ours, Err(ResolveError::DotsBelowMissing(_))),
                        "{path}: {ours:?}"
                    ),
                    ErrorKind::NotADirectory => prop_assert!(matches!(ours, Err(ResolveError::NotDirectory(_)))),
                    _ if error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error()) => prop_assert!(matches!(ours, Err(ResolveError::Loop(_)))),
                    _ => prop_assert!(false, "{path}: {error}"),
                },
            }
            // The same through a recording of the questions asked.
            let recorder = crate::host::Recorder::new(&host);
            let answer = resolve(&recorder, &path);
            let replayed = RecordedHost::from_yaml(&recorder.recording().unwrap(), "test").unwrap();
            prop_assert_eq!(without_times(answer), without_times(resolve(&replayed, &path)));
        }
    }
}

fn without_times(mut answer: Result<Resolution, ResolveError>) -> Result<Resolution, ResolveError> {
    if let Ok(Resolution { entry: Some(entry), .. }) = &mut answer {
        entry.modified = 0;
    }
    answer
}
