//! What holds for every plan.

use crate::is_long;
use crate::plans::{any_path, any_plan, read};
use crate::road::profile;
use camino::{Utf8Path, Utf8PathBuf};
use palisade::emit::{self, Unspeakable, validate};
use palisade::host::RecordedHost;
use palisade::pipeline::{self, Request};
use palisade::plan::{Decider, Operation, Plan, Rule, Spelling};
use palisade::policy::System;
use palisade::resolve::MemoryLoader;
use palisade::sbpl::decide::Fact;
use palisade::sbpl::{self, Engine, Profile, Subject, Verdict};
use palisade::source::Sources;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use std::cell::Cell;
use std::fmt::Write as _;

/// What each of the plan's operations is called in Seatbelt, written down a second time.
const LEAVES: [(Operation, &[&str]); 10] = [
    (Operation::Read, &["file-read-data", "file-read-xattr", "file-lock"]),
    (Operation::Metadata, &["file-read-metadata", "file-test-existence"]),
    (
        Operation::Write,
        &[
            "file-write-acl",
            "file-write-data",
            "file-write-finderinfo",
            "file-write-flags",
            "file-write-mode",
            "file-write-owner",
            "file-write-times",
            "file-write-xattr",
        ],
    ),
    (Operation::Create, &["file-write-create"]),
    (Operation::Remove, &["file-write-unlink"]),
    (Operation::Link, &["file-link", "file-clone"]),
    (Operation::Exec, &["process-exec*"]),
    (Operation::Interpret, &["process-exec-interpreter"]),
    (Operation::Map, &["file-map-executable"]),
    (Operation::Connect, &["network-outbound"]),
];

/// Asks both about one path, without the index that validation uses.
fn compare(
    plan: &Plan,
    decider: &Decider<'_>,
    disk: &Decider<'_>,
    profile: &Profile,
    path: &Utf8Path,
) -> Result<(), String> {
    let subject = Subject::path(path.as_str()).with("extension", Fact::Absent);
    // Of one that a rule names in another case.
    let named = || plan.rules.iter().flat_map(|rule| rule.path.ancestors());
    let is_twin = path
        .ancestors()
        .any(|part| named().any(|named| named != part && named.as_str().eq_ignore_ascii_case(part.as_str())));
    for (ours, leaves) in LEAVES {
        let planned = decider.decide(ours, path);
        // A grant of another spelling is the same file on a disk that folds case.
        let grantable = plan.spelling == Spelling::Folded
            && (planned.rule.is_none() || is_twin)
            && disk.decide(ours, &palisade::host::fold(path)).allowed;
        if ours == Operation::Metadata && plan.scratch.starts_with(path) && path != plan.scratch {
            continue;
        }
        for leaf in leaves {
            let operation = sbpl::Operation::named(leaf).unwrap();
            for engine in [Engine::PerOperation, Engine::LastMatch] {
                let verdict = profile.decide(operation, &subject, engine).verdict;
                let agrees = match verdict {
                    Verdict::Allow => planned.allowed || grantable,
                    Verdict::Deny => !planned.allowed,
                    Verdict::Unknown => grantable,
                };
                if !agrees {
                    return Err(format!(
                        "{leaf} {path}: planned {}, found {verdict:?} under {engine:?} ({:?})",
                        planned.allowed,
                        planned.rule.map(|rule| &rule.path)
                    ));
                }
            }
        }
    }
    Ok(())
}

/// A path beside one that a rule names, below it, or anywhere.
fn any_subject(plan: &Plan, near: &[(usize, u8)], far: &[Utf8PathBuf]) -> Vec<Utf8PathBuf> {
    let mut paths: Vec<Utf8PathBuf> = far.to_vec();
    for (at, how) in near {
        let path = &plan.rules[at % plan.rules.len()].path;
        paths.push(match how % 5 {
            0 => path.clone(),
            1 => path.join("below"),
            2 => format!("{path}c").into(),
            3 => path.parent().unwrap_or(path).to_path_buf(),
            _ => path.join("a/b"),
        });
    }
    paths.retain(|path| !path.as_str().contains("//"));
    paths
}

/// Whether a path is another spelling, in letters beyond ASCII, of one that a rule names: how filters compare those is not published.
fn is_other_spelling(plan: &Plan, path: &Utf8Path) -> bool {
    use unicode_normalization::UnicodeNormalization as _;
    let nfd = |path: &Utf8Path| path.as_str().nfd().collect::<String>().to_ascii_lowercase();
    let same = |a: &Utf8Path, b: &Utf8Path| nfd(a) == nfd(b) && !a.as_str().eq_ignore_ascii_case(b.as_str());
    let mut named = plan.rules.iter().flat_map(|rule| rule.path.ancestors());
    named.any(|named| path.ancestors().any(|part| same(part, named)))
}

#[test]
fn a_profile_means_its_plan_on_every_path() {
    let pairs = Cell::new(0usize);
    let refused = Cell::new(0usize);
    let wanted = if is_long() { 100_000 } else { 2_000 };
    let strategy = (
        any_plan(),
        prop::collection::vec((any::<usize>(), any::<u8>()), 20),
        prop::collection::vec(any_path(), 20),
    );
    while pairs.get() < wanted {
        let mut runner =
            TestRunner::new(Config { cases: 50, failure_persistence: None, ..Config::default() });
        let before = pairs.get();
        let result = runner.run(&strategy, |(plan, near, far)| {
            let seatbelt = match emit::seatbelt(&plan, "case") {
                Ok(seatbelt) => seatbelt,
                Err(Unspeakable::Twins(..)) => {
                    refused.set(refused.get() + 1);
                    return Ok(());
                }
                Err(other) => return Err(TestCaseError::fail(other.to_string())),
            };
            let valid = validate::check(&plan, &seatbelt);
            prop_assert!(valid.is_ok(), "{}\n{}", valid.unwrap_err(), seatbelt.text);
            let profile = read(&plan, &seatbelt);
            let folded: Vec<Rule> = plan
                .rules
                .iter()
                .map(|rule| Rule { path: palisade::host::fold(&rule.path), ..rule.clone() })
                .collect();
            let (decider, disk) = (plan.decider(), Decider::new(&folded, Spelling::Exact));
            for path in any_subject(&plan, &near, &far) {
                if is_other_spelling(&plan, &path) {
                    continue;
                }
                pairs.set(pairs.get() + 1);
                let agreed = compare(&plan, &decider, &disk, &profile, &path);
                prop_assert!(agreed.is_ok(), "{}\n{}", agreed.unwrap_err(), seatbelt.text);
            }
            Ok(())
        });
        if let Err(failure) = result {
            panic!("after {} pairs: {failure}", pairs.get());
        }
        assert!(
            pairs.get() > before + 500,
            "{} pairs, {} plans refused",
            pairs.get() - before,
            refused.get()
        );
    }
    println!("{} pairs, {} plans refused for their spellings", pairs.get(), refused.get());
}

#[derive(Debug, Clone)]
struct World {
    statements: Vec<String>,
    files: Vec<String>,
    case_insensitive: bool,
}

/// Directories of one tree, named so that escapes, prefixes and cases meet.
const DIRECTORIES: [&str; 9] = [
    "/w",
    "/w/a",
    "/w/a/b",
    "/w/ab",
    "/w/q\\\"uote",
    "/w/back\\\\slash",
    "/w/\u{e9}t\u{e9}",
    "/w/a/.git",
    "/other dir",
];

fn any_world() -> impl Strategy<Value = World> {
    let place = || prop::sample::select(DIRECTORIES.to_vec());
    let file = prop::sample::select(vec!["key.pem", "KEY.PEM", ".env", "missing-too", "x;y", "\u{e9}.pem"]);
    let statement = prop_oneof![
        3 => (place(), any::<bool>()).prop_map(|(path, write)| {
            format!("root \"{path}\" {}", if write { "read-write" } else { "read-only" })
        }),
        3 => (place(), file.clone()).prop_map(|(path, file)| format!("deny \"{path}/{file}\"")),
        1 => place().prop_map(|path| format!("deny \"{path}\"")),
        1 => Just("deny glob \"/w/**/*.pem\"".to_owned()),
        1 => place().prop_map(|path| format!("executable \"{path}\"")),
        1 => prop::sample::select(vec!["network all", "network only { allow \"example.com\"; deny \"a.example.com\" }"])
            .prop_map(str::to_owned),
        1 => Just("ipc shared-memory".to_owned()),
        1 => prop::sample::select(vec!["terminal", "tls", "semaphores", "process-list", "cpu-info", "user-names"])
            .prop_map(|need| format!("needs {need}")),
        1 => Just("tools cat awk bash".to_owned()),
    ];
    let files = prop::collection::btree_set((place(), file), 0..8);
    (prop::collection::vec(statement, 1..9), files, any::<bool>()).prop_map(
        |(mut statements, files, case_insensitive)| {
            statements.push("root \"/w\" read-write".into());
            statements.push("working-directory \"/w\"".into());
            // What may be said once.
            let mut seen = std::collections::BTreeSet::new();
            statements.retain(|statement| {
                let mut words = statement.splitn(3, '"');
                let what = words.next().unwrap_or_default().to_owned();
                let path = words.next().unwrap_or_default().to_owned();
                seen.insert((what, path))
            });
            let mut files: Vec<String> =
                files.into_iter().map(|(path, file)| format!("{path}/{file}")).collect();
            if case_insensitive {
                // One name on such a disk.
                files.retain(|path| !path.ends_with("KEY.PEM"));
            }
            World { statements, files, case_insensitive }
        },
    )
}

fn mac_with(world: &World) -> RecordedHost {
    let base = include_str!("../hosts/mac.yaml");
    let mut text =
        base.replace("case-insensitive: true", &format!("case-insensitive: {}", world.case_insensitive));
    for path in DIRECTORIES {
        let _ = writeln!(text, "  \"{path}/file\": file");
    }
    for path in &world.files {
        let _ = writeln!(text, "  \"{path}\": file");
    }
    RecordedHost::from_yaml(&text, "random").expect("a machine")
}

#[test]
fn every_random_policy_on_every_random_tree_compiles_to_what_it_says() {
    let compiled = Cell::new(0usize);
    let cases = if is_long() { 1_500 } else { 48 };
    let mut runner = TestRunner::new(Config { cases, failure_persistence: None, ..Config::default() });
    let result = runner.run(&any_world(), |world| {
        let host = mac_with(&world);
        let mut sources = Sources::new();
        let file = sources.add("case.palisade", None, profile(&world.statements.join("\n")));
        let request = Request {
            workspace: "/w".into(),
            set: Default::default(),
            target: System::Macos,
            artifacts: Vec::new(),
        };
        let checked = pipeline::check(&mut sources, file, &MemoryLoader::default(), &host, &request);
        let Some(bound) = &checked.bound else {
            return Err(TestCaseError::fail(format!("{:#?}", checked.findings)));
        };
        // Findings or not, what is planned must be what is written.
        let artifact = pipeline::compile(&sources, bound, &host, "case.sb");
        prop_assert!(artifact.is_ok(), "{}", artifact.unwrap_err());
        if artifact.unwrap().is_ok() {
            compiled.set(compiled.get() + 1);
        }
        Ok(())
    });
    if let Err(failure) = result {
        panic!("{failure}");
    }
    assert!(compiled.get() * 10 > cases as usize * 9, "only {} were compiled", compiled.get());
}
