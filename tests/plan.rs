//! What wins: the precedence of the language, asked of the one decision function.

#[path = "support/road.rs"]
mod road;

use camino::{Utf8Path, Utf8PathBuf};
use palisade::plan::{Operation, Operations};
use proptest::prelude::*;
use road::{Walked, debian, mac, machine, walk};

const TREE: [&str; 6] = [
    "/w/src/main.c: file",
    "/w/vendor/patches/p: file",
    "/w/vendor/lib.c: file",
    "/w/.env: file",
    "/tmp/x/y/f: file",
    "/data/d: file",
];

fn on_tree(statements: &str) -> Walked {
    walk(&machine(&TREE), statements)
}

fn allowed(walked: &Walked, path: &str) -> Operations {
    walked.plan().decider().allowed(path.into())
}

const WRITABLE: Operations = Operations::READING.union(Operations::WRITING);
const READABLE: Operations = Operations::READING;

#[test]
fn what_is_not_granted_is_denied() {
    let walked = on_tree("root \"/w\" read-write");
    for path in ["/data/d", "/data", "/home/dev/.ssh/id", "/wx", "/opt", "/var/tmp/x"] {
        assert_eq!(allowed(&walked, path), Operations::NONE, "{path}");
    }
}

#[test]
fn the_longest_root_decides() {
    let walked = on_tree(
        "root \"/w\" read-write\nroot \"/w/vendor\" read-only\nroot \"/w/vendor/patches\" read-write",
    );
    assert_eq!(allowed(&walked, "/w/src/new.c"), WRITABLE);
    assert_eq!(allowed(&walked, "/w/vendor"), READABLE);
    assert_eq!(allowed(&walked, "/w/vendor/lib.c"), READABLE);
    assert_eq!(allowed(&walked, "/w/vendor/patches/p"), WRITABLE);
    assert_eq!(allowed(&walked, "/w/vendor2"), WRITABLE);
}

#[test]
fn a_root_stays_where_it_is() {
    let walked = on_tree("root \"/w\" read-only\nroot \"/w/src\" read-write");
    assert_eq!(allowed(&walked, "/w/src"), WRITABLE.minus(Operations::MOVING));
    assert_eq!(allowed(&walked, "/w"), READABLE);
}

#[test]
fn a_denial_beats_everything_at_and_below_it() {
    let walked = walk(
        &debian(),
        "root \"$workspace\" read-write\nexecutable \"$workspace/target\"\ntools git\n\
         deny \"$workspace/target\"\ndeny \"/usr/bin/git\"\ndeny \"/etc/passwd\"\ndeny \"/tmp/mine\"",
    );
    for path in [
        "/home/dev/project/target",
        "/home/dev/project/target/debug/project",
        "/usr/bin/git",
        "/etc/passwd",
        "/tmp/mine",
    ] {
        assert_eq!(allowed(&walked, path), Operations::NONE, "{path}");
    }
}

#[test]
fn a_root_inside_a_denial_is_an_error_and_stays_closed() {
    let walked = on_tree("root \"/w\" read-write\nroot \"/w/vendor/patches\" read-write\ndeny \"/w/vendor\"");
    assert!(walked.errors().contains(&"root-inside-denial"));
    assert_eq!(allowed(&walked, "/w/vendor/patches/p"), Operations::NONE);
}

#[test]
fn a_guard_beats_the_root_and_a_root_of_its_own() {
    let walked = on_tree("root \"/w\" read-write");
    assert_eq!(allowed(&walked, "/w/.mcp.json"), READABLE);
    let walked =
        walk(&machine(&["/w/.vscode/x: file"]), "root \"/w\" read-write\nroot \"/w/.vscode\" read-write");
    assert_eq!(allowed(&walked, "/w/.vscode/x"), READABLE, "only `unguard` lifts a guard");
}

#[test]
fn what_holds_something_protected_is_not_moved() {
    let walked = on_tree(
        "root \"/w\" read-write\nroot \"/w/vendor/patches\" read-only\ndeny \"/w/deep/er/key\"\nroot \"/data\" read-only",
    );
    for path in ["/w", "/w/vendor", "/w/deep", "/w/deep/er"] {
        for operation in [Operation::Create, Operation::Remove, Operation::Link] {
            assert!(!walked.allows(operation, path), "{operation:?} {path}");
        }
    }
    assert!(walked.allows(Operation::Remove, "/w/src"));
    assert!(walked.allows(Operation::Create, "/w/vendor/new"));
    assert!(walked.allows(Operation::Write, "/w/deep"), "its mode and times are its own");
}

#[test]
fn a_link_that_the_plan_rests_on_stays_as_and_where_it_is() {
    let host = machine(&["/w/deep/link: -> /data", "/data/d: file"]);
    let walked = walk(&host, "root \"/w\" read-write\nroot \"/w/deep/link\" read-only");
    assert!(allowed(&walked, "/w/deep/link").intersection(Operations::WRITING).is_empty());
    assert_eq!(allowed(&walked, "/w/deep"), WRITABLE.minus(Operations::MOVING));
    assert_eq!(allowed(&walked, "/w/deep/other"), WRITABLE);
}

#[test]
fn both_ends_of_a_move_count() {
    let walked = on_tree(
        "root \"/w\" read-write\nroot \"/w/vendor\" read-only\nroot \"/data\" read-only\ndeny \"/w/.env\"",
    );
    for end in ["/w/vendor/lib.c", "/data/d", "/w/.env", "/w/.git/hooks/x"] {
        for operation in [Operation::Create, Operation::Remove, Operation::Link] {
            assert!(!walked.allows(operation, end), "{operation:?} {end}");
        }
    }
}

#[test]
fn tools_are_read_and_run_and_never_written() {
    let walked = walk(
        &debian(),
        "root \"$workspace\" read-write\ntools git python3 format-report awk\ntool \"/opt/zed/bin/zed\"",
    );
    assert_eq!(walked.errors(), [""; 0]);
    for file in &walked.plan().files {
        assert!(
            allowed(&walked, file.path.as_str()).intersection(Operations::WRITING).is_empty(),
            "{}",
            file.path
        );
    }
    assert!(walked.allows(Operation::Exec, "/usr/bin/git"));
    assert!(walked.allows(Operation::Map, "/usr/lib/x86_64-linux-gnu/libz.so.1.2.13"));
    assert!(!walked.allows(Operation::Exec, "/usr/lib/x86_64-linux-gnu/libz.so.1.2.13"));
}

#[test]
fn a_tool_in_a_writable_root_is_an_error() {
    let walked = walk(&machine(&["/w/bin/tool: program"]), "root \"/w\" read-write\ntool \"/w/bin/tool\"");
    assert_eq!(walked.errors(), ["tool-in-writable-root"]);
    let walked = walk(
        &machine(&["/w/bin/tool: program", "/opt/tool: -> /w/bin/tool"]),
        "root \"/w\" read-write\ntool \"/opt/tool\"",
    );
    assert_eq!(walked.errors(), ["tool-in-writable-root"]);
    let statements = "root \"/w\" read-write\nroot \"/w/bin\" read-only\ntool \"/w/bin/tool\"";
    let walked = walk(&machine(&["/w/bin/tool: program"]), statements);
    assert_eq!(walked.errors(), [""; 0]);
    assert_eq!(allowed(&walked, "/w/bin/tool").intersection(Operations::WRITING), Operations::NONE);
}

#[test]
fn nothing_in_a_root_runs_unless_stated() {
    let walked = on_tree("root \"/w\" read-write\nexecutable \"/w/vendor\"");
    assert!(walked.allows(Operation::Exec, "/w/vendor/tool"));
    for path in ["/w/src/main.c", "/w/.env", "/w/vendor2", "/tmp/x"] {
        assert!(allowed(&walked, path).intersection(Operations::RUNNING).is_empty(), "{path}");
    }
}

#[test]
fn executable_opens_nothing_but_the_inside_of_a_root() {
    for path in ["/", "/usr", "/usr/bin", "/bin", "/w", "/var/tmp", "/tmp", "/x", "/w/../usr"] {
        let walked = on_tree(&format!("root \"/w\" read-only\nexecutable \"{path}\""));
        assert_eq!(walked.errors(), ["executable-outside-roots"], "{path}");
        for program in ["/usr/bin/gdb", "/usr/x", "/w/vendor/tool", "/x/y", "/tmp/x"] {
            assert!(
                allowed(&walked, program).intersection(Operations::RUNNING).is_empty(),
                "{path}: {program}"
            );
        }
    }
}

#[test]
fn scratch_is_writable_only_where_a_root_is() {
    assert_eq!(allowed(&on_tree("root \"/w\" read-only"), "/tmp/a"), READABLE);
    assert_eq!(allowed(&on_tree("root \"/w\" read-write"), "/tmp/a"), WRITABLE);
}

#[test]
fn a_root_below_the_scratch_directory_is_what_it_says() {
    let walked = on_tree("root \"/tmp/x/y\" read-only\nroot \"/w\" read-write");
    assert_eq!(allowed(&walked, "/tmp/x/y/a"), READABLE);
    assert!(!walked.allows(Operation::Create, "/tmp/x/other"), "the way to a root is no place to write");
    assert!(walked.allows(Operation::Create, "/tmp/z"));
    let walked = on_tree("root \"/tmp\" read-only\nroot \"/w\" read-write");
    assert_eq!(walked.plan().scratch, "/var/tmp");
    assert_eq!(allowed(&walked, "/tmp/a"), READABLE);
    assert_eq!(walked.plan().environment.set["TMPDIR"], "/var/tmp");
}

#[test]
fn the_way_to_a_root_can_be_seen_and_nothing_beside_it() {
    let walked = walk(&debian(), "root \"$workspace/src\" read-only\nworking-directory \"$workspace/src\"");
    assert!(walked.allows(Operation::Metadata, "/home/dev/project"));
    assert_eq!(allowed(&walked, "/home/dev/project/Cargo.toml"), Operations::NONE);
    assert!(allowed(&walked, "/home/dev").intersection(Operations::WRITING).is_empty());
}

#[test]
fn denials_hold_for_every_spelling_where_case_does_not_matter() {
    let walked = walk(
        &mac(),
        "root \"$workspace\" read-write\nroot \"$workspace/VENDOR\" read-only\ndeny \"$workspace/.ENV\"\n\
         deny glob \"$workspace/**/*.pem\"\ndeny gitignored \"$workspace\"",
    );
    assert_eq!(walked.errors(), [""; 0]);
    for path in [
        "/Users/dev/project/.env",
        "/Users/dev/project/.ENV",
        "/users/DEV/Project/.Env",
        "/Users/dev/project/Certificates/Site.PEM",
        "/Users/dev/project/certificates/site.pem",
        "/Users/dev/project/Build/out.o",
        "/Users/dev/project/debug.log",
    ] {
        assert_eq!(allowed(&walked, path), Operations::NONE, "{path}");
    }
    for path in [
        "/Users/dev/project/.MCP.json",
        "/Users/dev/project/.GIT/Hooks/pre-commit",
        "/Users/dev/project/Vendor/lib.c",
    ] {
        assert!(allowed(&walked, path).intersection(Operations::WRITING).is_empty(), "{path}");
    }
    assert!(walked.allows(Operation::Write, "/Users/dev/project/src/main.c"));
    assert!(walked.allows(Operation::Read, "/Users/dev/project/vendor/lib.c"));
}

#[derive(Debug, Clone)]
enum Statement {
    Root(Utf8PathBuf, bool),
    Deny(Utf8PathBuf),
    Executable(Utf8PathBuf),
}

impl Statement {
    fn text(&self) -> String {
        match self {
            Self::Root(path, true) => format!("root \"{path}\" read-write"),
            Self::Root(path, false) => format!("root \"{path}\" read-only"),
            Self::Deny(path) => format!("deny \"{path}\""),
            Self::Executable(path) => format!("executable \"{path}\""),
        }
    }
}

/// Every directory of a small tree, and a file and a missing name in each.
fn tree() -> Vec<Utf8PathBuf> {
    let mut directories = vec![Utf8PathBuf::from("/w")];
    let mut from = 0;
    for _ in 0..3 {
        let to = directories.len();
        for at in from..to {
            let below = ["a", "b"].map(|name| directories[at].join(name));
            directories.extend(below);
        }
        from = to;
    }
    directories
}

/// Statements about directories of the tree, no root twice.
fn any_statements() -> impl Strategy<Value = Vec<Statement>> {
    let directories = tree();
    let root = (0..directories.len(), any::<bool>());
    let roots = proptest::collection::btree_map(0..directories.len(), any::<bool>(), 1..5);
    let others = proptest::collection::vec(root, 0..5);
    (roots, others).prop_map(move |(roots, others)| {
        let mut statements: Vec<Statement> = roots
            .into_iter()
            .map(|(at, writable)| Statement::Root(directories[at].clone(), writable))
            .collect();
        statements.extend(others.into_iter().map(|(at, deny)| match deny {
            true => Statement::Deny(directories[at].clone()),
            false => Statement::Executable(directories[at].clone()),
        }));
        statements
    })
}

fn walk_tree(statements: &[Statement]) -> Walked {
    let entries: Vec<String> = tree().iter().map(|directory| format!("{directory}/f: file")).collect();
    let entries: Vec<&str> = entries.iter().map(String::as_str).collect();
    let text: Vec<String> = statements.iter().map(Statement::text).collect();
    walk(&machine(&entries), &text.join("\n"))
}

/// What the language says, written down a second time and in another way.
fn meant(statements: &[Statement], path: &Utf8Path) -> Operations {
    let roots = || {
        statements.iter().filter_map(|it| {
            if let Statement::Root(path, writable) = it { Some((path, *writable)) } else { None }
        })
    };
    let denials =
        || statements.iter().filter_map(|it| if let Statement::Deny(path) = it { Some(path) } else { None });
    // At a root, above one and outside all, `executable` grants nothing.
    let executables = || {
        statements
            .iter()
            .filter_map(|it| if let Statement::Executable(path) = it { Some(path) } else { None })
            .filter(|place| roots().any(|(root, _)| place.starts_with(root) && *place != root))
    };
    if denials().any(|denied| path.starts_with(denied)) {
        return Operations::NONE;
    }
    let mut set = Operations::NONE;
    if executables().any(|place| path.starts_with(place)) {
        set = set.union(Operations::RUNNING);
    }
    let holding =
        roots().filter(|(root, _)| path.starts_with(root)).max_by_key(|(root, _)| root.components().count());
    match holding {
        Some((_, writable)) => {
            set = set.union(READABLE);
            // What holds a root holds what is protected in it, or is protected itself.
            let holds = roots().any(|(root, _)| root.starts_with(path))
                || denials().any(|denied| denied.starts_with(path))
                || executables().any(|place| place.starts_with(path));
            if writable {
                set = set.union(if holds { WRITABLE.minus(Operations::MOVING) } else { WRITABLE });
            }
        }
        None if roots().any(|(root, _)| root.starts_with(path)) => set = set.union(READABLE),
        None => {}
    }
    set
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// On every path of the tree, the plan grants exactly what the language says.
    #[test]
    fn a_plan_is_what_the_language_says(statements in any_statements()) {
        let walked = walk_tree(&statements);
        for directory in tree() {
            for path in [directory.clone(), directory.join("f"), directory.join("missing")] {
                prop_assert_eq!(allowed(&walked, path.as_str()), meant(&statements, &path), "{}", path);
            }
        }
    }

    /// The order of statements never matters.
    #[test]
    fn order_never_matters(
        (statements, shuffled) in any_statements().prop_flat_map(|it| (Just(it.clone()), Just(it).prop_shuffle())),
    ) {
        let (first, second) = (walk_tree(&statements), walk_tree(&shuffled));
        let (first, second) = (first.plan().decider(), second.plan().decider());
        for directory in tree() {
            for path in [directory.clone(), directory.join("f"), directory.join(".mcp.json"), directory.join(".git/hooks")] {
                prop_assert_eq!(first.allowed(&path), second.allowed(&path), "{}", path);
            }
            prop_assert_eq!(first.allowed_below(&directory), second.allowed_below(&directory));
        }
    }

    /// Nothing under a denial is ever allowed, and nothing is writable but what lies in a writable root, scratch and devices.
    #[test]
    fn denials_are_closed_and_only_roots_are_written(statements in any_statements()) {
        let walked = walk_tree(&statements);
        let decider = walked.plan().decider();
        for statement in &statements {
            if let Statement::Deny(denied) = statement {
                for path in [denied.clone(), denied.join("f"), denied.join("a/missing/deep")] {
                    prop_assert_eq!(decider.allowed(&path), Operations::NONE, "{}", path);
                }
                prop_assert_eq!(decider.allowed_below(denied), Operations::NONE);
            }
        }
        for path in ["/usr/bin/dash", "/usr/x", "/etc/passwd", "/x", "/home/dev/x", "/proc/1/mem", "/var/empty/x"] {
            prop_assert!(allowed(&walked, path).intersection(Operations::WRITING).is_empty(), "{}", path);
        }
    }
}

/// The same path stated twice with different access is an error, and until it is mended the narrower one holds in either order.
#[test]
fn of_two_roots_at_one_place_the_narrower_holds() {
    for statements in
        ["root \"/w\" read-write\nroot \"/w\" read-only", "root \"/w\" read-only\nroot \"/w\" read-write"]
    {
        let walked = on_tree(statements);
        assert!(walked.errors().contains(&"conflicting-roots"));
        assert_eq!(allowed(&walked, "/w/src/main.c"), READABLE, "{statements}");
    }
}
