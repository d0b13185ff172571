//! What right profiles mean.

use crate::{body, fragment, options, profile, resolve_with};
use palisade::policy::{DenialKind, HostPattern, LimitKind, Network, Policy, System};
use proptest::prelude::*;

fn denied(statements: &str) -> Vec<String> {
    let case = body(statements);
    let kinds = case.policy().denials.iter().map(|denial| match &denial.kind {
        DenialKind::Path(path) => path.path.to_string(),
        DenialKind::Glob(glob) => glob.value.clone(),
        DenialKind::Gitignored { path, except } => {
            format!("{} {:?}", path.path, except.iter().map(|name| name.value.as_str()).collect::<Vec<_>>())
        }
    });
    kinds.collect()
}

#[test]
fn paths_are_absolute_and_spelled_one_way() {
    for (written, path) in [
        ("$workspace", "/work"),
        ("$workspace/a", "/work/a"),
        ("a/b/", "/work/a/b"),
        (".", "/work"),
        ("./a//b/.", "/work/a/b"),
        ("../a", "/work/../a"),
        ("/a/../b", "/a/../b"),
        ("~", "/home/user"),
        ("~/", "/home/user"),
        ("~/a", "/home/user/a"),
        ("$home/a", "/home/user/a"),
        ("a/~/b", "/work/a/~/b"),
        ("./~x", "/work/~x"),
        ("//srv", "/srv"),
        ("/a*[b]?{c}", "/a*[b]?{c}"),
        ("\\$workspace", "/work/$workspace"),
    ] {
        assert_eq!(denied(&format!("deny \"{written}\"")), [path], "{written}");
    }
    assert_eq!(denied("deny r\"~/$workspace\""), ["/work/~/$workspace"]);
}

#[test]
fn what_a_variable_holds_is_no_pattern() {
    let mut options = options();
    options.workspace = "/w[1]*{a}".into();
    let text = profile("deny glob \"$workspace/**/*.pem\"\ndeny glob \"~/x/\"\ndeny glob r\"/a/[b]\"");
    let case = resolve_with(&text, &[], &options);
    let globs: Vec<&str> = case
        .policy()
        .denials
        .iter()
        .map(|denial| match &denial.kind {
            DenialKind::Glob(glob) => glob.value.as_str(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(globs[1..], ["/home/user/x", "/a/[b]"]);
    let matcher = globset::Glob::new(globs[0]).expect("a glob").compile_matcher();
    assert!(matcher.is_match("/w[1]*{a}/b/c.pem"));
    assert!(!matcher.is_match("/w1xa/b/c.pem"));
}

#[test]
fn exceptions_are_names_below() {
    assert_eq!(denied("deny gitignored \".\" except \"target/\" \"a//b\""), ["/work [\"target\", \"a/b\"]"]);
}

#[test]
fn parameters_have_defaults_and_settings() {
    let text = profile(
        "param a \"~/x\"\nparam b\nparam unused \"\"\nroot \"$a/y\" read-only\nroot \"$b\" read-only\ndeny \"${b}z\"",
    );
    let mut options = options();
    options.set.insert("b".into(), "/srv/b".into());
    let case = resolve_with(&text, &[], &options);
    let policy = case.policy();
    assert_eq!(
        policy.roots.iter().map(|root| root.path.path.as_str()).collect::<Vec<_>>(),
        ["/home/user/x/y", "/srv/b"]
    );
    let uses: Vec<_> = policy.params.iter().map(|param| (param.name.as_str(), param.uses)).collect();
    assert_eq!(uses, [("a", 1), ("b", 2), ("unused", 0)]);
}

#[test]
fn fragments_are_taken_once_and_relative_to_who_says_it() {
    let text = profile("use \"lib/a.palisade\"\nuse \"lib/b.palisade\"\ndeny \"p\"");
    let files = [
        ("/work/lib/a.palisade", fragment("use \"sub/c.palisade\"\ndeny \"a\"")),
        ("/work/lib/b.palisade", fragment("use \"../lib/./sub/c.palisade\"\ndeny \"b\"")),
        ("/work/lib/sub/c.palisade", fragment("deny \"c\"")),
    ];
    let files: Vec<_> = files.iter().map(|(path, text)| (*path, text.as_str())).collect();
    let case = resolve_with(&text, &files, &options());
    let policy = case.policy();
    let denied: Vec<_> = policy.denials.iter().map(|denial| case.sources.text(denial.span)).collect();
    assert_eq!(denied, ["deny \"p\"", "deny \"a\"", "deny \"c\"", "deny \"b\""]);
    let names: Vec<_> = policy.files.iter().map(|id| case.sources.file(*id).name.as_str()).collect();
    assert_eq!(names, ["p.palisade", "lib/a.palisade", "lib/sub/c.palisade", "lib/b.palisade"]);
    assert_eq!(policy.uses.len(), 4);
}

#[test]
fn groups_make_their_members_optional_in_effect() {
    let case = body("tools @inspection git mine @inspection cat\noptional-tools @write");
    let policy = case.policy();
    let tool = |name: &str| policy.tools.iter().find(|tool| tool.name == name).expect("a tool");
    assert_eq!(tool("git").group, None);
    assert_eq!(tool("cat").group, None, "written out as well, so required");
    assert_eq!(tool("grep").group.as_deref(), Some("inspection"));
    assert_eq!(case.sources.text(tool("grep").span), "@inspection");
    assert_eq!(policy.tools.iter().filter(|tool| tool.name == "grep").count(), 1);
    assert!(policy.optional_tools.iter().any(|tool| tool.name == "rm"));
    // The texts that say what the groups hold are among the sources.
    let names: Vec<_> = policy.files.iter().map(|id| case.sources.file(*id).name.as_str()).collect();
    assert_eq!(names, ["p.palisade", "std/inspection", "std/write"]);
}

#[test]
fn a_group_can_be_defined_anywhere() {
    let text = profile("use \"f.palisade\"\ntools @mine");
    let case =
        resolve_with(&text, &[("/work/f.palisade", &fragment("group mine [ \"g++\" make ]"))], &options());
    let names: Vec<_> = case.policy().tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["g++", "make"]);
}

#[test]
fn the_profile_wins_over_fragments() {
    let text = profile(
        "use \"f.palisade\"\nnetwork off\nlimits { time 9s }\nenv { set A \"p\" }\nparam x \"p\"\ndeny \"$x\"",
    );
    let lib = fragment(
        "network all\nlimits { time 1s; processes 3 }\nenv { set A \"f\"; set B \"f\" }\nparam x \"f\"",
    );
    let case = resolve_with(&text, &[("/work/f.palisade", &lib)], &options());
    let policy = case.policy();
    assert_eq!(policy.network(), &Network::Off);
    assert_eq!((policy.limit(LimitKind::Time), policy.limit(LimitKind::Processes)), (Some(9000), Some(3)));
    let env: Vec<_> = policy.env.iter().map(|entry| (entry.name.as_str(), entry.value.as_deref())).collect();
    assert_eq!(env, [("A", Some("p")), ("B", Some("f"))]);
    assert_eq!(case.sources.text(policy.denials[0].span), "deny \"$x\"");
    assert!(matches!(&policy.denials[0].kind, DenialKind::Path(path) if path.path == "/work/p"));
}

/// The lines of `network only`, sorted, each once.
fn hosts(policy: &Policy) -> Vec<String> {
    let Network::Only(rules) = policy.network() else { return Vec::new() };
    let line = |rule: &palisade::policy::NetworkRule| {
        format!("{} {}", if rule.allow { "allow" } else { "deny" }, rule.pattern)
    };
    let mut lines: Vec<String> = rules.iter().map(line).collect();
    lines.sort();
    lines.dedup();
    lines
}

#[test]
fn lists_of_hosts_add_up() {
    let text =
        profile("use \"a.palisade\"\nuse \"b.palisade\"\nnetwork only { localhost 5432; deny \"z.com\" }");
    let only = |hosts: &str| fragment(&format!("network only {{ {hosts} }}\nipc off"));
    let a = only("allow \"x.com\"; allow \"y.com\"");
    let b = only("allow \"Y.com:443\"; allow \"z.com.\"");
    let case = resolve_with(&text, &[("/work/a.palisade", &a), ("/work/b.palisade", &b)], &options());
    assert_eq!(
        hosts(case.policy()),
        ["allow localhost:5432", "allow x.com:443", "allow y.com:443", "allow z.com:443", "deny z.com:443"]
    );
    // What a profile says itself holds, and is no list that something could be added to.
    for (mode, network) in [("off", Network::Off), ("all", Network::All)] {
        let text = profile(&format!("use \"a.palisade\"\nnetwork {mode}"));
        let case = resolve_with(&text, &[("/work/a.palisade", &a)], &options());
        assert_eq!(case.policy().network(), &network);
    }
    // A list for another system is none of these.
    let elsewhere = fragment("on macos { network only { allow \"mac.com\" } }");
    let text = profile("use \"a.palisade\"\nuse \"b.palisade\"");
    let case = resolve_with(&text, &[("/work/a.palisade", &a), ("/work/b.palisade", &elsewhere)], &options());
    assert_eq!(hosts(case.policy()), ["allow x.com:443", "allow y.com:443"]);
}

#[test]
fn on_holds_for_its_system_only() {
    let text = profile(
        "on linux { deny \"l\"; limits { time 1s } }\non macos { deny \"m\"; limits { time 2s }; seatbelt \"(allow signal)\" because \"x\" }",
    );
    for (target, path, time, rules) in
        [(System::Linux, "/work/l", 1000, 0), (System::Macos, "/work/m", 2000, 1)]
    {
        let case = resolve_with(&text, &[], &palisade::resolve::Options { target, ..options() });
        let policy = case.policy();
        assert!(
            matches!(&policy.denials[..], [one] if matches!(&one.kind, DenialKind::Path(found) if found.path == path))
        );
        assert_eq!(policy.limit(LimitKind::Time), Some(time));
        assert_eq!(policy.seatbelt.len(), rules);
    }
}

#[test]
fn hosts_are_read_one_way() {
    let case = body("network only { allow \"*.PyPI.org:*\"; deny \"*:25\" }");
    let Network::Only(rules) = case.policy().network() else { panic!() };
    assert_eq!(rules[0].pattern, HostPattern { below: true, host: "pypi.org".into(), port: None });
    assert_eq!(rules[1].pattern, HostPattern { below: true, host: String::new(), port: Some(25) });
    let empty = body("network only { }");
    assert_eq!(empty.policy().network(), &Network::Off, "empty means none");
}

#[test]
fn expectations_ask_about_paths_programs_and_hosts() {
    let case = body(
        "expect {\nread \"a\" allowed\nexec \"git\" allowed\nexec \"./x\" denied\nconnect \"X.com\" denied\nconnect \"~/s\" denied\nconnect \"$workspace/s\" denied\n}",
    );
    let asked: Vec<_> = case
        .policy()
        .expectations
        .iter()
        .map(|line| (line.operation.as_str(), line.subject.as_str()))
        .collect();
    assert_eq!(
        asked,
        [
            ("read", "/work/a"),
            ("exec", "git"),
            ("exec", "/work/x"),
            ("connect", "x.com:443"),
            ("connect", "/home/user/s"),
            ("connect", "/work/s")
        ]
    );
}

#[test]
fn allowances_stand_at_statements() {
    let case = body(
        "# palisade: allow(a, b-c) both here\n# a note between\nroot \"x\" read-only # palisade: allow(d) here\nenv {\n  set A \"x\" # palisade: allow(e) in a block\n}\ntools [\n  git # palisade: allow(f) a member\n] # palisade: allow(g) the end of it",
    );
    let policy = case.policy();
    let found: Vec<_> = policy
        .allowances
        .iter()
        .map(|allowance| {
            let rules: Vec<_> = allowance.rules.iter().map(|rule| rule.value.as_str()).collect();
            for rule in &allowance.rules {
                assert_eq!(case.sources.text(rule.span), rule.value);
            }
            (
                rules.join(" "),
                allowance.reason.as_str(),
                case.sources.text(allowance.statement).split(' ').next().unwrap_or_default(),
            )
        })
        .collect();
    assert_eq!(
        found,
        [
            ("a b-c".to_owned(), "both here", "root"),
            ("d".to_owned(), "here", "root"),
            ("e".to_owned(), "in a block", "set"),
            ("f".to_owned(), "a member", "git"),
            ("g".to_owned(), "the end of it", "tools"),
        ]
    );
}

/// Where the findings that an allowance allows may begin, as text.
#[track_caller]
fn reaches(text: &str, expected: &str) {
    let case = body(text);
    let [allowance] = &case.policy().allowances[..] else { panic!("{text}") };
    assert_eq!(case.sources.text(allowance.reach), expected, "{text}");
}

#[test]
fn an_allowance_reaches_one_entry_of_a_block_and_none_that_comes_later() {
    let above = "# palisade: allow(x) why\n";
    for (block, reach) in [
        ("env { pass A; pass B }", "env { pass A"),
        ("env {\n  pass A\n  pass B\n}", "env {\n  "),
        ("env { pass A\n  pass B\n}", "env { pass A"),
        ("limits { time 1s; cpu 1s }", "limits { time 1s"),
        ("expect {\n  read \"a\" denied\n}", "expect {\n  "),
        ("network only { allow \"a.com\"; allow \"b.com\" }", "network only { allow \"a.com\""),
        ("on linux {\n  root \"a\" read-only\n}", "on linux {\n  "),
        ("on linux { root \"a\" read-only; root \"b\" read-only }", "on linux { root \"a\" read-only"),
        ("on linux { env { pass A; pass B }; deny \"x\" }", "on linux { env { pass A"),
        ("tools git sh", "tools git"),
        ("optional-tools [\n  git\n]", "optional-tools [\n  "),
        ("needs tls terminal", "needs tls"),
        ("root \"a\" read-only; root \"b\" read-only", "root \"a\" read-only"),
        ("env { }", "env { }"),
        ("network off", "network off"),
    ] {
        reaches(&format!("{above}{block}"), reach);
        // At the end of a line it is at the last of several.
        if !block.contains('\n') && !block.starts_with("root") {
            reaches(&format!("{block} # palisade: allow(x) why"), reach);
        }
    }
    reaches("env {\n  pass A\n} # palisade: allow(x) why", "env {\n  ");
}

#[test]
fn a_fragment_by_itself_is_checked_and_is_no_policy() {
    let case =
        resolve_with(&fragment("param a\nroot \"$a\" read-only\nroot \"$b\" read-only"), &[], &options());
    assert!(case.resolved.policy.is_none());
    assert_eq!(case.found(), [("unknown variable `$b`", "$b")]);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever is written, a path comes out absolute, with one spelling, and the same again when it is written out.
    #[test]
    fn paths_are_fixed_points(path in "[a-z./ ~]{1,20}") {
        prop_assume!(!path.starts_with('~') || path == "~" || path.starts_with("~/"));
        let once = denied(&format!("deny r\"{path}\"")).remove(0);
        prop_assert!(once.starts_with('/') && !once.contains("//") && !once.contains("/./"));
        prop_assert!(once == "/" || !once.ends_with('/'));
        prop_assert_eq!(&denied(&format!("deny r\"{once}\""))[0], &once);
    }

    /// Statements are a set: their order changes no part of the policy but the order of its lists.
    #[test]
    fn order_does_not_matter(order in Just((0..8).collect::<Vec<usize>>()).prop_shuffle()) {
        let statements = [
            "param a \"x\"", "root \"$a\" read-only", "network off", "limits { time 3s }", "tools @mine", "group mine [ b c ]",
            "env { set A \"$a\" }", "on linux { deny \"$a/l\" }",
        ];
        let text = |order: &[usize]| order.iter().map(|at| statements[*at]).collect::<Vec<_>>().join("\n");
        let summary = |text: &str| {
            let case = body(text);
            let policy = case.policy();
            let names = |tools: &[palisade::policy::ToolName]| tools.iter().map(|tool| tool.name.clone()).collect::<Vec<_>>();
            (
                policy.roots[0].path.path.clone(),
                policy.network().clone(),
                policy.limit(LimitKind::Time),
                names(&policy.tools),
                policy.env[0].value.clone(),
                policy.params[0].uses,
                policy.denials.len(),
            )
        };
        prop_assert_eq!(summary(&text(&order)), summary(&text(&(0..8).collect::<Vec<_>>())));
    }

    /// However lines are dealt out to the profile and its fragments, and in whatever order these are used, the answers are the same.
    #[test]
    fn lists_of_hosts_are_one_set(dealt in prop::collection::vec(0..4usize, 6), order in Just(vec!["a", "b", "c"]).prop_shuffle()) {
        let lines = [
            "allow \"x.com\"", "allow \"*.y.com:8443\"", "allow \"z.y.com:8443\"", "deny \"z.y.com:*\"", "localhost 5432",
            "allow \"x.com:80\"",
        ];
        let list = |of: usize| {
            let own: Vec<&str> = lines.iter().zip(&dealt).filter(|(_, to)| **to == of).map(|(line, _)| *line).collect();
            format!("network only {{ {} }}", own.join("; "))
        };
        let uses: String = order.iter().map(|name| format!("use \"{name}.palisade\"\n")).collect();
        let fragments = [fragment(&list(1)), fragment(&list(2)), fragment(&list(3))];
        let files = [
            ("/work/a.palisade", fragments[0].as_str()),
            ("/work/b.palisade", fragments[1].as_str()),
            ("/work/c.palisade", fragments[2].as_str()),
        ];
        let case = resolve_with(&profile(&format!("{uses}{}", list(0))), &files, &options());
        let whole = body(&format!("network only {{ {} }}", lines.join("; ")));
        prop_assert_eq!(hosts(case.policy()), hosts(whole.policy()));
        for host in ["x.com", "x.com:80", "a.y.com:8443", "z.y.com:8443", "y.com:8443", "localhost:5432", "127.0.0.1:80"] {
            let decided = |policy: &Policy| palisade::plan::hosts::decide(policy.network(), host).allowed;
            prop_assert_eq!(decided(case.policy()), decided(whole.policy()), "{}", host);
        }
    }

    #[test]
    fn any_host_gets_an_answer(text in "\\PC{0,40}|[a-z0-9.:*\\[\\]/@-]{0,20}", allow in any::<bool>()) {
        if let Ok(pattern) = palisade::resolve::parse_host(&text, allow) {
            // What is accepted is in its final spelling: written again it means the same.
            let star = if pattern.below { if pattern.host.is_empty() { "*" } else { "*." } } else { "" };
            let port = pattern.port.map_or("*".to_owned(), |port| port.to_string());
            let again = palisade::resolve::parse_host(&format!("{star}{}:{port}", pattern.host), allow);
            prop_assert_eq!(again, Ok(pattern));
        }
    }
}

#[test]
fn an_allowance_at_the_end_of_a_line_is_at_the_last_statement_on_it() {
    reaches("deny \"ws/q\"; tools docker # palisade: allow(x) reviewed", "tools docker");
    reaches("root \"a\" read-only; root \"b\" read-only # palisade: allow(x) why", "root \"b\" read-only");
    reaches("env {\n  pass A; pass B # palisade: allow(x) why\n}", "pass B");
    reaches("deny \"a\"; env { pass A; pass B } # palisade: allow(x) why", "env { pass A");
}
