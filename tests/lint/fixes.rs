//! The fixes that rules offer, over every example in their documentation and a table of texts that are none of the language: what each rule says
//! of its fixes holds, a fixed text no longer has the finding there, and a safe fix opens nothing.

use super::{examples, machine};
use palisade::finding::{Finding, Fix, Offers};
use palisade::fix::widening::widening;
use palisade::fix::{Change, Files, Look, STANDARD_INPUT_KEY, Wanted, Why, apply, fix};
use palisade::host::Host;
use palisade::host::recorded::RecordedHost;
use palisade::lint::{self, rules};
use palisade::pipeline::{Checked, Request, check};
use palisade::plan::Plan;
use palisade::resolve::MemoryLoader;
use palisade::source::Sources;
use proptest::prelude::*;
use std::collections::BTreeSet;

/// The machine that a text is about, and its workspace.
fn machine_of(text: &str) -> (RecordedHost, &'static str) {
    if text.contains("on macos {") {
        let mac = RecordedHost::from_yaml(include_str!("../hosts/mac.yaml"), "mac.yaml");
        (mac.expect("a sound recording"), "/Users/dev/project")
    } else {
        (machine(), "/home/dev/project")
    }
}

fn checked(text: &str, host: &dyn Host, workspace: &str) -> Checked {
    let mut sources = Sources::new();
    let file = sources.add("example.palisade", None, text);
    let request = Request {
        workspace: workspace.into(),
        set: std::collections::BTreeMap::new(),
        target: host.system(),
        artifacts: Vec::new(),
    };
    check(&mut sources, file, &MemoryLoader::default(), host, &request)
}

/// The text with a fix made. An example is one file, and the fix of another would be none of it.
fn fixed(text: &str, fix: &Fix) -> String {
    let changes: Vec<Change> = fix
        .edits
        .iter()
        .map(|edit| {
            assert_eq!(edit.span.file.index(), 0, "{}", fix.title);
            let (start, end) = (edit.span.start as usize, edit.span.end as usize);
            Change { file: "x".into(), start, end, with: edit.replacement.clone() }
        })
        .collect();
    apply(text, changes.iter()).expect("edits that lie in the text")
}

/// Findings that come from no check.
fn mistakes(findings: &[Finding]) -> usize {
    findings.iter().filter(|finding| lint::find_rule(finding.rule).is_none()).count()
}

/// What is wrong with the fix of a finding, if anything is.
fn fault(text: &str, finding: &Finding, fix: &Fix, before: &Checked) -> Option<String> {
    let (host, workspace) = machine_of(text);
    let result = fixed(text, fix);
    if result == text {
        return Some("changes nothing".into());
    }
    let after = checked(&result, &host, workspace);
    let complain = |what: String| Some(format!("{what}\n{result}"));
    if mistakes(&after.findings) > mistakes(&before.findings) {
        return complain("is not understood".into());
    }
    let same = |other: &&Finding| other.rule == finding.rule;
    let count = |checked: &Checked| checked.findings.iter().filter(same).count();
    let there = |other: &Finding| other.rule == finding.rule && other.message == finding.message;
    if count(&after) >= count(before) && after.findings.iter().any(there) {
        return complain("leaves the finding".into());
    }
    if !fix.safe || mistakes(&before.findings) > 0 {
        return None;
    }
    let plan = |checked: &Checked| -> Option<Plan> { Some(checked.bound.as_ref()?.plan.clone()) };
    match (plan(before), plan(&after)) {
        (Some(before), Some(after)) => {
            let more = widening(&before, &after)?;
            complain(format!("is said to be safe, and opens {more}"))
        }
        _ => complain("leaves nothing that can be compiled".into()),
    }
}

#[test]
fn every_fix_of_a_bad_example_settles_its_finding_and_a_safe_one_opens_nothing() {
    let (mut faults, mut seen) = (Vec::new(), 0);
    for info in rules::ALL.iter().map(|rule| rule.info()) {
        let mut offered = BTreeSet::new();
        for text in examples(&info.markdown(), "bad") {
            let (host, workspace) = machine_of(&text);
            let before = checked(&text, &host, workspace);
            for finding in before.findings.iter().filter(|finding| finding.rule == info.name) {
                let Some(fix) = &finding.fix else { continue };
                seen += 1;
                offered.insert(fix.safe);
                if let Some(fault) = fault(&text, finding, fix, &before) {
                    faults.push(format!("{}: the fix to {} {fault}", info.name, fix.title));
                }
            }
        }
        let is_declared = offered.iter().all(|safe| info.fix.holds(*safe));
        if !is_declared || offered.is_empty() != (info.fix == Offers::None) {
            faults.push(format!("{} declares {:?} and offers (safe?) {offered:?}", info.name, info.fix));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(seen > 40, "{seen} fixes");
}

/// More methods or paths, fewer connections that are read, more hosts that get a value, a value for the command itself.
#[test]
fn what_more_can_be_asked_or_seen_opens_something() {
    let plan = |statements: &str| {
        let text =
            format!("edition 1\nprofile \"p\" {{\n root \"$workspace/src\" read-only\n{statements}\n}}\n");
        let checked = checked(&text, &machine(), "/home/dev/project");
        assert_eq!(mistakes(&checked.findings), 0, "{:#?}", checked.findings);
        checked.bound.expect("a plan").plan
    };
    let hosts = |lines: &str, env: &str| plan(&format!("network only {{ {lines} }}\nenv {{ {env} }}"));
    let other = "allow \"b.com\"";
    for (narrow, wide, opened) in [
        (
            "allow \"a.com\" methods GET",
            "allow \"a.com\" methods GET POST",
            "`POST` of `/any-other` at `a.com:443`",
        ),
        ("allow \"a.com\" methods GET", "inspect \"a.com\"", "`ANY-OTHER` of `/any-other` at `a.com:443`"),
        ("allow \"a.com\" methods GET", "allow \"a.com\"", "`ANY-OTHER` of `/any-other` at `a.com:443`"),
        ("inspect \"a.com\"", "allow \"a.com\"", "connections to `a.com:443` that nobody reads"),
        (
            "allow \"a.com\" paths \"/x/*\"",
            "allow \"a.com\" paths \"/x/**\"",
            "`ANY-OTHER` of `/x/any/deeper` at `a.com:443`",
        ),
        (
            "allow \"a.com\" paths \"/x\"",
            "allow \"a.com\" paths \"/x\" \"/y\"",
            "`ANY-OTHER` of `/y` at `a.com:443`",
        ),
        ("deny \"a.com\"", "allow \"a.com\" methods GET", "the host `a.com:443`"),
    ] {
        let [narrow, wide] = [narrow, wide].map(|line| hosts(&format!("{other}; {line}"), ""));
        assert_eq!(widening(&narrow, &wide).as_deref(), Some(opened));
        assert_eq!(widening(&wide, &narrow), None, "{opened}");
    }
    let both = "allow \"a.com\"; allow \"b.com\"";
    for (narrow, wide, opened) in [
        ("mask T for \"a.com\"", "mask T for \"a.com\" \"b.com\"", "the value of `T` at `b.com:443`"),
        ("mask T for \"a.com\"", "pass T", "the variable `T`"),
        (
            "pass LANG; mask U for \"a.com\"",
            "pass LANG; mask U for \"a.com\"; mask T for \"a.com\"",
            "the value of `T` at `a.com:443`",
        ),
        ("mask T for \"a.com\"", "", "connections to `a.com:443` that nobody reads"),
    ] {
        let [narrow, wide] = [narrow, wide].map(|line| hosts(both, line));
        assert_eq!(widening(&narrow, &wide).as_deref(), Some(opened));
        // Without its mask, connections to a host are not read.
        if !opened.contains("nobody") && !opened.contains("b.com") {
            assert_eq!(widening(&wide, &narrow), None, "{opened}");
        }
    }
}

/// Nothing is fixed in what is right.
#[test]
fn fixing_until_nothing_is_left_keeps_good_examples_as_they_are() {
    for info in rules::ALL.iter().map(|rule| rule.info()) {
        let markdown = info.markdown();
        for text in examples(&markdown, "good").into_iter().chain(examples(&markdown, "fine")) {
            let (host, workspace) = machine_of(&text);
            let safe = |finding: &&Finding| finding.fix.as_ref().is_some_and(|fix| fix.safe);
            let found = checked(&text, &host, workspace).findings;
            assert_eq!(found.iter().filter(safe).count(), 0, "{}: {text}", info.name);
        }
    }
}

/// Mistakes of the language that are answered by a program: the text, the name of the finding, the text after its fix.
const LANGUAGE: &[(&str, &str, &str)] = &[
    (
        "network only { allow \"example.com\" paths \"/a?b\" }",
        "request-path",
        "network only { allow \"example.com\" paths \"/a\" }",
    ),
    ("root \"/opt\" readonly", "syntax", "root \"/opt\" read-only"),
    ("root /opt read-only", "syntax", "root \"/opt\" read-only"),
    ("root read-only \"/opt\"", "syntax", "root \"/opt\" read-only"),
    ("root = \"/opt\" read-only", "syntax", "root  \"/opt\" read-only"),
    ("tools git, find", "syntax", "tools git find"),
    ("tools g++", "syntax", "tools \"g++\""),
    ("ipc off network off", "syntax", "ipc off ; network off"),
    ("deny \"$workspace/$\"", "syntax", "deny \"$workspace/\\$\""),
    ("deny globs \"$workspace/*\"", "syntax", "deny glob \"$workspace/*\""),
    ("deni \"$workspace/x\"", "unknown-word", "deny \"$workspace/x\""),
    ("network of", "syntax", "network off"),
    ("limits { time 60sec }", "limit-amount", "limits { time 60s }"),
    ("limits { tiem 60s }", "unknown-word", "limits { time 60s }"),
    ("expect { raed \"/x\" denied }", "unknown-word", "expect { read \"/x\" denied }"),
    ("needs terminel", "unknown-need", "needs terminal"),
    ("tools @inspecton", "unknown-group", "tools @inspection"),
    ("deny \"$workspce/x\"", "unknown-variable", "deny \"${workspace}/x\""),
    ("deny glob \"*.pem\"", "glob", "deny glob \"$workspace/*.pem\""),
    ("use \"std/gti\"", "use", "use \"std/git\""),
    ("network only { allow \"https://example.com/\" }", "host", "network only { allow \"example.com\" }"),
    ("ipc off # palisade: ignore(x) y", "malformed-allowance", "ipc off # palisade: allow(x) y"),
    ("deny \"$workspace/a\u{202e}b\"", "hidden-character", "deny \"$workspace/a\\u{202e}b\""),
];

#[test]
fn mistakes_of_the_language_are_corrected_as_their_pages_say() {
    let whole = |statement: &str| {
        format!("edition 1\nprofile \"x\" {{\n    root \"$workspace\" read-only\n    {statement}\n}}\n")
    };
    let bare = "profile \"x\" {\n    root \"$workspace\" read-only\n}\n";
    let texts = LANGUAGE.iter().map(|(before, name, after)| (whole(before), *name, whole(after)));
    let mut offered: BTreeSet<(&str, bool)> = BTreeSet::new();
    let mut wrong = Vec::new();
    for (before, name, after) in texts.chain([(bare.into(), "edition", format!("edition 1\n\n{bare}"))]) {
        let found = checked(&before, &machine(), "/home/dev/project").findings;
        let fix = found.iter().filter(|finding| finding.rule == name).find_map(|it| it.fix.as_ref());
        match fix {
            Some(fix) => {
                offered.insert((name, fix.safe));
                let result = fixed(&before, fix);
                if result != after {
                    wrong.push(format!("{name}: {result}"));
                }
            }
            None => wrong.push(format!("{name}: no fix among {found:#?}\n{before}")),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    for name in palisade::lint::language_names() {
        let fix = palisade::lint::describe(name).expect("a known name").fix;
        for safe in [true, false] {
            assert_eq!(fix.holds(safe), offered.contains(&(name, safe)), "{name}, safe: {safe}");
        }
    }
}

/// Statements with something to fix, alone or together.
const STATEMENTS: &[&str] = &[
    "root \"$workspace\" read-only",
    "root \"$workspace\" read-write",
    "root \"$workspace/src\" read-only",
    "root \"$workspace/src\" read-write",
    "root \"~/project\" read-only",
    "root \"~/work\" read-only # palisade: allow(symlinked-root) it is known",
    "root \"$workspace/vendor\" read-only",
    "root \"~/other\" read-only",
    "root \"~/othr\" read-only",
    "root \"~/.ssh\" read-only",
    "root \"$workspace/secrets\" read-only",
    "on linux {\n    root \"$workspace/src\" read-only\n    deny \"$workspace/.env\"\n    tools cat cat\n}",
    "deny \"$workspace/.env\"",
    "deny \"$workspace/.env\"; deny \"$workspace/.env\"",
    "# palisade: allow(denial-outside-roots) on principle\ndeny \"~/other/.env\"",
    "deny \"~/project/.env\"",
    "deny \"$workspace/secrets\"; deny \"$workspace/secrets/token\"",
    "deny \"$workspace/link-to-env\"",
    "deny \"$workspace/*.pem\"",
    "deny glob \"$workspace/**/*.pem\"",
    "deny glob \"$workspace/**/*.pem\" # palisade: allow(unmatched-denial) none yet",
    "network only { allow \"*.crates.io\"; allow \"static.crates.io\"; deny \"x.org\"; allow \"example.com:*\" }",
    "network only { allow \"api.github.com\" methods GTE; allow \"api.github.com\"; inspect \"crates.io\"; allow \"api.openai.com\" }",
    "env { pass OPENAI_API_KEY; mask GH_TOKEN for \"api.github.com\"; pass NODE_EXTRA_CA_CERTS }",
    "network all",
    "tools git git find",
    "tools [\n    cat\n    cat # the second\n    docker\n]",
    "optional-tools git gti",
    "tools gti",
    "group idle [ find ]",
    "param unused \"x\"",
    "needs tls tls",
    "env { pass GITHUB_TOKEN; set LANG \"C\"; pass PATH }",
    "unguard \"$workspace/nothing\" because \"why not\"",
    "unguard \"$workspace/.vscode\" because \"it sets up\"",
    "executable \"$workspace/target\"; executable \"$workspace/target\"",
    "limits { time 60s }",
    "expect { read \"$workspace/src\" allowed; read \"$workspace/src\" allowed }",
    "working-directory \"$workspace\"",
    "# palisade: allow(broad-root, missing-root) it is wide\nipc off",
    "use \"std/git\"; use \"std/git\"",
];

fn any_profile() -> impl Strategy<Value = String> {
    let statements = proptest::collection::vec(proptest::sample::select(STATEMENTS), 1..9);
    (statements, any::<bool>()).prop_map(|(statements, dos)| {
        let lines: String =
            statements.iter().map(|it| format!("    {}\n", it.replace('\n', "\n    "))).collect();
        let text = format!("edition 1\nprofile \"law\" {{\n{lines}}}\n");
        if dos { text.replace('\n', "\r\n") } else { text }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    /// What rules call safe never has to be taken back, nothing that was closed is open, and fixing what is fixed changes nothing.
    #[test]
    fn safe_fixes_together_open_nothing_and_come_to_an_end(text in any_profile()) {
        let host = machine();
        let check = |text: &str, files: &Files| {
            let mut scratch = Sources::new();
            let id = scratch.add("standard input", None, text);
            let now = files.now(scratch.file(id));
            let mut sources = Sources::new();
            let profile = sources.add("standard input", None, now);
            let request = Request {
                workspace: "/home/dev/project".into(),
                set: std::collections::BTreeMap::new(),
                target: host.system(),
                artifacts: Vec::new(),
            };
            let checked = palisade::pipeline::check(&mut sources, profile, &MemoryLoader::default(), &host, &request);
            let plan = checked.bound.map(|bound| bound.plan);
            vec![Look { sources, profile, findings: checked.findings, plan, target: host.system() }]
        };
        let run = |text: &str, wanted: Wanted| {
            let mut files = Files::new(Vec::new());
            let fixed = fix(&mut files, wanted, &|files| check(text, files));
            let now = files.get(STANDARD_INPUT_KEY.into()).map(|file| file.now.to_string()).unwrap_or_default();
            (now, fixed)
        };
        let before = check(&text, &Files::default()).remove(0);
        let (now, fixed) = run(&text, Wanted { unsafe_too: false, notes: true });
        for left in &fixed.left {
            prop_assert!(left.why == Why::Unsafe, "{:?}\n{}", left, now);
        }
        let after = &fixed.looks[0];
        prop_assert!(mistakes(&after.findings) <= mistakes(&before.findings), "{}", now);
        if let (0, Some(before), Some(after)) = (mistakes(&before.findings), &before.plan, &after.plan) {
            prop_assert_eq!(widening(before, after), None, "{}", now);
        }
        prop_assert_eq!(now.matches("\r\n").count(), if text.contains('\r') { now.matches('\n').count() } else { 0 });
        let (again, fixed) = run(&now, Wanted { unsafe_too: false, notes: true });
        prop_assert_eq!((again, fixed.made.len()), (now.clone(), 0));
        // And with those that change the meaning: an end, and nothing that is no longer understood.
        let (last, fixed) = run(&now, Wanted { unsafe_too: true, notes: true });
        prop_assert!(mistakes(&fixed.looks[0].findings) <= mistakes(&after.findings), "{}", last);
        prop_assert!(fixed.left.iter().all(|left| left.why != Why::Endless), "{:?}\n{}", fixed.left, last);
    }
}
