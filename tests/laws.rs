//! The laws that the fuzz targets ask of any bytes, asked of texts shaped like the languages.

#[path = "support/laws.rs"]
mod laws;

use palisade::host::{Host as _, RecordedHost, Remembering};
use palisade::pipeline::{self, Request};
use palisade::resolve::MemoryLoader;
use palisade::source::Sources;
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::LazyLock;

static MAC: LazyLock<RecordedHost> = LazyLock::new(|| recorded(include_str!("hosts/mac.yaml")));
static LINUX: LazyLock<RecordedHost> = LazyLock::new(|| recorded(include_str!("hosts/debian.yaml")));

fn recorded(text: &str) -> RecordedHost {
    RecordedHost::from_yaml(text, "recorded").expect("a machine")
}

fn path() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "$workspace",
        "$workspace/src",
        "$workspace/.env",
        "$workspace/.git",
        "$workspace/missing/deeper",
        "$workspace/../other",
        "~/",
        "~/.ssh",
        "/",
        "/tmp",
        "/usr/bin/awk",
        "src/./a b",
        "$workspace/\\u{e9}\\\"x",
        "",
    ])
}

fn statement() -> impl Strategy<Value = String> {
    let word = |words: &[&'static str]| prop::sample::select(words.to_vec());
    prop_oneof![
        4 => (path(), any::<bool>())
            .prop_map(|(path, write)| format!("root \"{path}\" {}", if write { "read-write" } else { "read-only" })),
        3 => path().prop_map(|path| format!("deny \"{path}\"")),
        1 => path().prop_map(|path| format!("deny glob \"{path}/**/*.{{pem,key}}\"")),
        1 => path().prop_map(|path| format!("deny gitignored \"{path}\" except \"target\"")),
        1 => path().prop_map(|path| format!("git-worktree \"{path}\"")),
        1 => path().prop_map(|path| format!("executable \"{path}\"")),
        1 => path().prop_map(|path| format!("unguard \"{path}/.git/hooks\" because \"it is ours\"")),
        1 => path().prop_map(|path| format!("tool \"{path}\"")),
        1 => path().prop_map(|path| format!("working-directory \"{path}\"")),
        2 => word(&["use \"std/git\"", "use \"std/command\"", "use \"std/secrets\"", "use \"none\"", "tools @inspection awk",
                    "tools git", "optional-tools rg", "network all", "network off", "ipc shared-memory", "needs tls terminal",
                    "limits { time 30s; output 1MiB }", "env { set LANG \"C\"; pass TERM }", "param x \"y\"",
                    "network only { allow \"*.example.com:443\"; deny \"a.example.com\" }",
                    "network only { allow \"api.example.com\" methods GET HEAD paths \"/a/*\" \"/b/**\"; inspect \"b.example.com:8443\" }",
                    "env { mask TOKEN for \"api.example.com\" \"b.example.com:8443\" }",
                    "expect { request \"GET https://api.example.com/a/b\" allowed }",
                    "on macos { seatbelt \"(allow mach-lookup (global-name \\\"x\\\"))\" because \"y\" }"]).prop_map(str::to_owned),
        1 => (word(&["read", "write", "exec", "connect"]), path(), word(&["allowed", "denied"]))
            .prop_map(|(operation, path, verdict)| format!("expect {{ {operation} \"{path}\" {verdict} }}")),
    ]
}

fn profile() -> impl Strategy<Value = String> {
    let end = prop::sample::select(vec![
        "\n",
        ";\n",
        "  # why\n",
        "\r\n",
        "\n\n\n",
        "\n;",
        "\n;;\n\n",
        "\n ; ",
        "  # {\n\n",
        "; # [\n\n;\n",
    ]);
    prop::collection::vec((statement(), end), 0..9).prop_map(|statements| {
        let body: String =
            statements.into_iter().map(|(statement, end)| format!("  {statement}{end}")).collect();
        format!("edition 1\nprofile \"case\" {{\n  root \"$workspace\" read-write\n{body}}}\n")
    })
}

/// Forms of Seatbelt's language, some with a mistake in them.
fn seatbelt() -> impl Strategy<Value = String> {
    let form = prop::sample::select(vec![
        "(deny default)",
        "(allow file-read* (subpath \"/a\"))",
        "(deny file-write* (literal \"/a\\x41\\n\") (regex #\"^/a/[b-d]+$\"))",
        "(allow file-read* (require-all (subpath \"/a\") (require-not (literal \"/a/b\"))))",
        "(define (f x) (allow file-read-data (subpath x))) (f \"/a\")",
        "(if (param \"P\") (allow network*))",
        "(allow network-outbound (remote ip \"*:443\"))",
        "(allow mach-lookup (global-name \"a\") (with no-log))",
        "(import \"a.sb\")",
        "(f \"/a\")",
        "(allow file-read* (g) (require-not (h \"/a\")))",
        "(allow file-read* g (subpath home))",
        "(if (f) (deny file-write* (subpath (string-append (home) \"/x\"))))",
        "(near-read*)",
        "(allow file-read* (file-raed*))",
        "(allow file-read* (subpath \"/\0\"))",
        "(allow process-exec* (with no-sandbox) (literal \"/bin/sh\"))",
        "(let ((x \"/a\")) (deny file* (subpath (string-append x \"/b\"))))",
        "(allow",
        "; a comment \"",
    ]);
    prop::collection::vec(form, 0..10).prop_map(|forms| format!("(version 1)\n{}\n", forms.join("\n")))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn a_profile_is_laid_out_to_the_same_tree(text in profile()) {
        laws::profile_text(&text);
    }

    #[test]
    fn a_seatbelt_profile_is_printed_to_the_same_rules(text in seatbelt()) {
        laws::seatbelt_text(&text);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn what_compiles_reads_back(text in profile()) {
        laws::checked_text(&text, &LINUX, &Remembering::new(&*LINUX));
        laws::checked_text(&text, &MAC, &Remembering::new(&*MAC));
    }
}

/// A machine with so many profiles side by side, of which one is a link, one has a second name, and some are compiled.
fn crowded(profiles: usize) -> RecordedHost {
    let mut text = "system: linux\narchitecture: x86_64\nhome: /home/dev\nworkspace: /w\nunlisted: missing\nentries:\n  \
                    /usr/bin/dash: program\n  /usr/bin/sh: -> dash\n  /bin: -> usr/bin\n  /tmp: directory\n  /proc: directory\n  \
                    /w/src/a: file\n  /w/policies/linked.palisade: -> ../src/a\n  \
                    /w/policies/twice.palisade: { links: 2, inode: 4711 }\n"
        .to_owned();
    for number in 0..profiles {
        let _ = writeln!(text, "  /w/policies/p{number}.palisade: file");
        if number % 3 == 0 {
            let _ = writeln!(text, "  /w/policies/p{number}.manifest.yaml: file");
        }
    }
    recorded(&text)
}

/// Statements about the directory with the profiles, and about some of them.
fn crowded_statement() -> impl Strategy<Value = String> {
    let place = prop::sample::select(vec![
        "policies",
        "policies/p7.palisade",
        "policies/p7.palisade/below",
        "policies/p8.sb",
        "policies/p9.manifest.yaml",
        "policies/twice.palisade",
        "policies/linked.palisade",
        "src",
    ]);
    let form = prop::sample::select(vec![
        "root \"$workspace/{}\" read-write",
        "root \"$workspace/{}\" read-only",
        "deny \"$workspace/{}\"",
        "deny glob \"$workspace/{}*\"",
        "deny gitignored \"$workspace/{}\"",
        "executable \"$workspace/{}\"",
        "git-worktree \"$workspace/{}\"",
        "tool \"$workspace/{}\"",
        "unguard \"$workspace/{}\" because \"it is ours\"",
        "working-directory \"$workspace/{}\"",
        "expect { write \"$workspace/{}\" denied; read \"$workspace/{}\" allowed }",
        "expect { write \"$workspace/{}\" allowed; exec \"$workspace/{}\" allowed }",
    ]);
    (form, place).prop_map(|(form, place)| form.replace("{}", place))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 64, ..ProptestConfig::default() })]

    /// A check among very many profiles looks at few of them, and finds what looking at all of them finds.
    #[test]
    fn what_is_not_looked_at_has_no_finding(
        statements in prop::collection::btree_set(crowded_statement(), 0..5),
        roots in prop::sample::select(vec!["", "root \"$workspace\" read-write\n"]),
    ) {
        static CROWD: LazyLock<RecordedHost> = LazyLock::new(|| crowded(100));
        let body: Vec<String> = statements.into_iter().collect();
        let text = format!("edition 1\nprofile \"case\" {{\n{roots}{}\n}}\n", body.join("\n"));
        prop_assert_eq!(found(&CROWD, &text, true), found(&CROWD, &text, false), "{}", text);
    }
}

fn found(host: &RecordedHost, text: &str, few: bool) -> Vec<palisade::finding::Finding> {
    let mut sources = Sources::new();
    let file = sources.add("p1.palisade", Some("/w/policies/p1.palisade".into()), text);
    let request = Request {
        workspace: "/w".into(),
        set: Default::default(),
        target: host.system(),
        artifacts: Vec::new(),
    };
    let loader = MemoryLoader::default();
    if few {
        pipeline::findings(&mut sources, file, &loader, &Remembering::new(host), &request)
    } else {
        pipeline::check(&mut sources, file, &loader, host, &request).findings
    }
}

/// The law above would hold of a check that finds nothing.
#[test]
fn a_crowd_has_findings() {
    let host = crowded(100);
    let names = |statements: &str| -> BTreeSet<&'static str> {
        let text =
            format!("edition 1\nprofile \"case\" {{\nroot \"$workspace\" read-write\n{statements}\n}}\n");
        found(&host, &text, true).iter().map(|finding| finding.rule).collect()
    };
    assert!(names("").contains("hard-linked-file"));
    assert!(
        names("expect { write \"$workspace/policies/p7.palisade\" allowed }").contains("failed-expectation")
    );
    assert!(names("unguard \"$workspace/policies/p7.palisade\" because \"x\"").contains("writable-policy"));
}

#[test]
fn a_comment_behind_a_lone_semicolon_has_its_line_for_itself() {
    for comment in ["; # a", "; # palisade: allow(broad-root) b", ";# c\n# d"] {
        laws::profile_text(&format!(
            "edition 1\nprofile \"p\" {{\n  root \"$workspace\" read-write\n  {comment}\n}}\n"
        ));
    }
    laws::profile_text("edition 1\nfragment \"a$b\" {\n}\n");
}
