//! The walls against the decision function: never more, and for the rules that binding writes not less.

use super::model::{Host, kind, possible};
use super::{Bound, Kind, Layout, Mount, plan};
use crate::plan::{Decider, Effect, Operation, Operations, Origin, OriginKind, Rule, Scope, Spelling};
use camino::{Utf8Path, Utf8PathBuf};
use proptest::prelude::*;

fn rule(effect: Effect, operations: &str, scope: Scope, path: &str, kind: OriginKind) -> Rule {
    Rule {
        effect,
        operations: operations.parse().unwrap(),
        scope,
        path: path.into(),
        origin: Origin { kind, text: String::new(), span: None },
    }
}

fn host(entries: &[(&str, Kind)]) -> Host {
    let mut host = Host::new();
    for (path, kind) in entries {
        for above in Utf8Path::new(path).ancestors().skip(1) {
            host.entry(above.into()).or_insert(Kind::Directory);
        }
        host.insert((*path).into(), kind.clone());
    }
    host
}

fn planned(rules: &[Rule], host: &Host) -> Layout {
    plan(&Decider::new(rules, Spelling::Exact), [], &|path| kind(host, path))
}

/// Execution and mapping as Linux has them: exec and interpret are one right and imply map.
fn as_linux(set: Operations) -> Operations {
    let exec = Operations::of(&[Operation::Exec, Operation::Interpret]);
    if set.intersection(exec).is_empty() { set } else { set.union(Operations::RUNNING) }
}

fn workspace() -> (Vec<Rule>, Host) {
    use Effect::{Allow, Deny};
    use OriginKind as Kinds;
    use Scope::{Literal, Subtree};
    let writing = "write create remove link";
    let private = "read metadata write create remove link connect";
    let rules = vec![
        rule(Allow, "read metadata", Literal, "/", Kinds::System),
        rule(Allow, "read metadata", Subtree, "/usr", Kinds::System),
        rule(Allow, "read metadata", Literal, "/bin", Kinds::System),
        rule(Allow, "read metadata", Subtree, "/proc", Kinds::System),
        rule(Allow, "read metadata write", Literal, "/dev/null", Kinds::System),
        rule(Allow, "read metadata", Literal, "/dev", Kinds::Ancestor),
        rule(Allow, "read metadata", Literal, "/home", Kinds::Ancestor),
        rule(Allow, private, Subtree, "/tmp", Kinds::Scratch),
        rule(Allow, "read metadata", Literal, "/var/empty", Kinds::Scratch),
        rule(Allow, "read metadata", Literal, "/var", Kinds::Ancestor),
        rule(Allow, "read metadata exec map", Literal, "/usr/bin/git", Kinds::Tool),
        rule(Allow, "read metadata map", Literal, "/usr/lib/libc.so", Kinds::Tool),
        rule(Allow, "read metadata exec map", Subtree, "/usr/lib/git-core", Kinds::Tool),
        rule(Allow, private, Subtree, "/home/w", Kinds::Root),
        rule(Deny, "create remove link", Literal, "/home/w", Kinds::Root),
        rule(Allow, "exec map", Subtree, "/home/w/target", Kinds::Executable),
        rule(Deny, writing, Subtree, "/home/w/.git/hooks", Kinds::Guard),
        rule(Deny, "create remove link", Literal, "/home/w/.git", Kinds::Pin),
        rule(Deny, "everything", Subtree, "/home/w/.env", Kinds::Denial),
        rule(Deny, "everything", Subtree, "/home/w/secrets", Kinds::Denial),
    ];
    let host = host(&[
        ("/usr/bin/git", Kind::File),
        ("/usr/bin/id", Kind::File),
        ("/usr/lib/libc.so", Kind::File),
        ("/usr/lib/git-core/git-log", Kind::File),
        ("/bin", Kind::Symlink("usr/bin".into())),
        ("/proc/1", Kind::Directory),
        ("/dev/null", Kind::CharacterDevice),
        ("/tmp/other", Kind::File),
        ("/home/other/file", Kind::File),
        ("/home/w/target/run", Kind::File),
        ("/home/w/src/main", Kind::File),
        ("/home/w/.git/hooks/h", Kind::File),
        ("/home/w/.git/HEAD", Kind::File),
        ("/home/w/.env", Kind::File),
        ("/home/w/secrets/key", Kind::File),
    ]);
    (rules, host)
}

#[test]
fn a_workspace_is_served_exactly_as_decided() {
    let (rules, host) = workspace();
    let layout = planned(&rules, &host);
    let decider = Decider::new(&rules, Spelling::Exact);
    for path in host.keys().filter(|path| !path.starts_with("/proc/1") && *path != "/tmp/other") {
        let mut decided = as_linux(decider.allowed(path)).minus(Operations::of(&[Operation::Connect]));
        if kind(&host, path) != Kind::File {
            decided = decided.minus(Operations::RUNNING);
        }
        if layout.steps.iter().any(|step| step.path == *path) {
            decided = decided.minus(Operations::of(&[Operation::Create, Operation::Remove, Operation::Link]));
        }
        assert_eq!(possible(&layout, &host, path), decided, "{path}");
    }
    let new: &Utf8Path = "/home/w/src/new".into();
    assert!(possible(&layout, &host, new).contains(Operation::Create));
    assert!(!possible(&layout, &host, "/home/w/.git/hooks/new".into()).contains(Operation::Create));
    assert_eq!(layout.exposed, Vec::<Utf8PathBuf>::new());
}

#[test]
fn a_workspace_needs_few_mounts() {
    let (rules, host) = workspace();
    let layout = planned(&rules, &host);
    let mounts: Vec<String> = layout
        .steps
        .iter()
        .filter(|step| !matches!(step.mount, Mount::Directory { .. } | Mount::Symlink { .. }))
        .map(|step| step.path.to_string())
        .collect();
    assert_eq!(
        mounts,
        [
            "/dev/null",
            "/home/w",
            "/home/w/.env",
            "/home/w/.git",
            "/home/w/.git/hooks",
            "/home/w/secrets",
            "/home/w/target",
            "/proc",
            "/tmp",
            "/usr",
            "/usr/bin/git",
            "/usr/lib/git-core",
            "/usr/lib/libc.so",
        ]
    );
}

#[test]
fn what_is_missing_but_may_not_be_created_is_told() {
    let (rules, mut host) = workspace();
    host.remove(Utf8Path::new("/home/w/.env"));
    host.retain(|path, _| !path.starts_with("/home/w/.git"));
    let layout = planned(&rules, &host);
    assert_eq!(layout.exposed, ["/home/w/.env", "/home/w/.git", "/home/w/.git/hooks"].map(Utf8PathBuf::from));
}

#[test]
fn a_root_below_the_scratch_is_reached_through_a_cover() {
    use Effect::{Allow, Deny};
    let private = "read metadata write create remove link connect";
    let rules = [
        rule(Allow, private, Scope::Subtree, "/tmp", OriginKind::Scratch),
        rule(Deny, "write create remove link", Scope::Subtree, "/tmp/a", OriginKind::Ancestor),
        rule(Allow, private, Scope::Subtree, "/tmp/a/w", OriginKind::Root),
    ];
    let host = host(&[("/tmp/a/w/f", Kind::File), ("/tmp/a/secret", Kind::File)]);
    let layout = planned(&rules, &host);
    let mounts: Vec<_> = layout.steps.iter().map(|step| (step.path.as_str(), step.mount.clone())).collect();
    let bind = Mount::Bind { kind: Bound::Directory, write: true, run: false };
    let cover = Mount::Cover { listed: true };
    assert_eq!(mounts, [("/tmp", Mount::Scratch), ("/tmp/a", cover), ("/tmp/a/w", bind)]);
    assert!(layout.steps.iter().all(|step| step.create && !step.restricts));
}

#[test]
fn a_symlink_that_must_stay_is_pinned() {
    let rules = [
        rule(Effect::Allow, "everything", Scope::Subtree, "/w", OriginKind::Root),
        rule(Effect::Deny, "create remove link", Scope::Literal, "/w/link", OriginKind::Pin),
    ];
    let host = host(&[("/w/link", Kind::Symlink("a".into())), ("/w/a", Kind::File)]);
    let layout = planned(&rules, &host);
    let pin = Mount::Bind { kind: Bound::Symlink, write: false, run: false };
    assert!(layout.steps.iter().any(|step| step.path == "/w/link" && step.mount == pin && step.restricts));
}

fn any_path() -> impl Strategy<Value = String> {
    proptest::collection::vec("[abc]", 0..4).prop_map(|parts| format!("/{}", parts.join("/")))
}

fn any_set() -> impl Strategy<Value = Operations> {
    let common = ["everything", "read metadata", "write create remove link", "read metadata exec map"];
    prop_oneof![
        proptest::sample::select(common.to_vec()).prop_map(|text| text.parse::<Operations>().unwrap()),
        proptest::collection::vec(proptest::sample::select(Operation::ALL.to_vec()), 1..6)
            .prop_map(|list| Operations::of(&list)),
    ]
}

fn any_rule() -> impl Strategy<Value = Rule> {
    let kinds = [OriginKind::System, OriginKind::Root, OriginKind::Scratch, OriginKind::Denial];
    (any::<bool>(), any_set(), any::<bool>(), any_path(), proptest::sample::select(kinds.to_vec())).prop_map(
        |(allow, operations, literal, path, kind)| Rule {
            effect: if allow { Effect::Allow } else { Effect::Deny },
            operations,
            scope: if literal { Scope::Literal } else { Scope::Subtree },
            path: path.into(),
            origin: Origin { kind, text: String::new(), span: None },
        },
    )
}

fn any_kind() -> impl Strategy<Value = Kind> {
    prop_oneof![
        4 => Just(Kind::Directory),
        3 => Just(Kind::File),
        1 => Just(Kind::CharacterDevice),
        1 => Just(Kind::Symlink("x".into())),
    ]
}

/// A host where nothing lies below what is no directory.
fn any_host() -> impl Strategy<Value = Host> {
    proptest::collection::btree_map(any_path(), any_kind(), 0..14).prop_map(|entries| {
        let mut host = Host::from([("/".into(), Kind::Directory)]);
        for (path, kind) in entries {
            let path = Utf8PathBuf::from(path);
            let parent = path.parent().map(|parent| host.get(parent).cloned());
            if parent == Some(Some(Kind::Directory)) {
                host.insert(path, kind);
            }
        }
        host
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// Nothing is possible that the decision function does not allow.
    #[test]
    fn the_walls_never_give_more(
        rules in proptest::collection::vec(any_rule(), 0..10),
        host in any_host(),
        path in any_path(),
    ) {
        let layout = planned(&rules, &host);
        let decider = Decider::new(&rules, Spelling::Exact);
        let path = Utf8Path::new(&path);
        prop_assume!(!layout.exposed.iter().any(|exposed| path.starts_with(exposed)));
        let got = possible(&layout, &host, path);
        let extra = got.minus(as_linux(decider.allowed(path)));
        // Within a root's own files, `metadata` of a directory on the way is beyond what mounts can hide.
        prop_assert!(extra.is_empty(), "{path}: {extra} beyond {}\n{:#?}", decider.allowed(path), layout.steps);
    }

    /// Every mount point can be made: its parent is ours, or it is there on the host with the right kind.
    #[test]
    fn every_mount_point_can_be_made(
        rules in proptest::collection::vec(any_rule(), 0..10),
        host in any_host(),
    ) {
        let layout = planned(&rules, &host);
        for (at, step) in layout.steps.iter().enumerate() {
            let above = layout.steps[..at].iter().filter(|above| step.path.starts_with(&above.path) && above.path != step.path)
                .max_by_key(|above| above.path.components().count());
            let ours = match above.map(|above| &above.mount) {
                None | Some(Mount::Directory { .. } | Mount::Cover { .. } | Mount::Scratch) => true,
                Some(Mount::Bind { kind: Bound::Directory, .. } | Mount::Proc) => false,
                Some(other) => panic!("{step:?} below {other:?}"),
            };
            prop_assert_eq!(step.create, ours, "{:?}", step);
            if ours {
                let parent = step.path.parent().unwrap();
                prop_assert!(parent == "/" || layout.steps[..at].iter().any(|step| step.path == parent));
            } else {
                let directory = match &step.mount {
                    Mount::Directory { .. } | Mount::Symlink { .. } => panic!("{step:?} in a bind"),
                    Mount::Bind { kind, .. } => *kind == Bound::Directory,
                    Mount::Mask { directory } => *directory,
                    Mount::Device { .. } => false,
                    Mount::Cover { .. } | Mount::Scratch | Mount::Proc | Mount::Terminals => true,
                };
                prop_assert_eq!(kind(&host, &step.path) == Kind::Directory, directory);
            }
        }
    }
}
