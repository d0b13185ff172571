//! Every emitted rule is there for a reason: what comes of dropping, flipping or moving one is caught, unless it means the same.

use crate::is_long;
use crate::plans::{PROXY, one_host, plan, read, rule, with_ports};
use camino::Utf8PathBuf;
use palisade::emit::{self, Seatbelt, validate};
use palisade::plan::{Effect, Operation, Operations, OriginKind, Plan, Scope, Spelling};
use palisade::policy::{Ipc, Network};
use palisade::sbpl::decide::{Address, Fact, Family, Transport};
use palisade::sbpl::{Engine, Operation as Leaf, Profile, Subject, Verdict};
use std::collections::BTreeMap;

const WRITABLE: Operations = Operations::READING.union(Operations::WRITING);

fn plans() -> Vec<(&'static str, Plan)> {
    use Effect::{Allow, Deny};
    use OriginKind::{Ancestor, Denial, Executable, Guard, Pin, Root, Scratch, System, Tool};
    use Scope::{Literal, Subtree};
    let run = Operations::READING.union(Operations::RUNNING);
    let nested = vec![
        rule(Allow, Operations::READING, Literal, "/", System),
        rule(Allow, Operations::READING, Subtree, "/usr/lib", System),
        rule(Allow, Operations::of(&[Operation::Metadata]), Literal, "/w", Ancestor),
        rule(Allow, run, Literal, "/bin/sh", Tool),
        rule(Allow, WRITABLE, Subtree, "/w/p", Root),
        rule(Deny, Operations::MOVING, Literal, "/w/p", Root),
        rule(Allow, Operations::READING, Subtree, "/w/p/vendor", Root),
        rule(Deny, Operations::WRITING, Subtree, "/w/p/vendor", Root),
        rule(Allow, WRITABLE, Subtree, "/w/p/vendor/out", Root),
        rule(Allow, Operations::RUNNING, Subtree, "/w/p/bin", Executable),
        rule(Deny, Operations::WRITING, Subtree, "/w/p/.git/hooks", Guard),
        rule(Deny, Operations::MOVING, Literal, "/w/p/.git", Pin),
        rule(Deny, Operations::ALL, Subtree, "/w/p/.env", Denial),
        rule(Deny, Operations::ALL, Subtree, "/w/p/caf\u{e9}", Denial),
    ];
    let open = vec![
        rule(Allow, WRITABLE, Subtree, palisade::bind::plan::SCRATCH_PARAMETER, Scratch),
        rule(Allow, Operations::of(&[Operation::Connect]), Literal, "/private/var/run/mDNSResponder", System),
        rule(Allow, WRITABLE, Subtree, "/", Root),
        rule(Deny, Operations::ALL, Subtree, "/a/b", Denial),
        rule(Deny, Operations::ALL, Literal, "/a/bc", Denial),
        rule(Deny, Operations::ALL, Subtree, "/a \"b\"", Denial),
    ];
    let mut needing = plan(open, Spelling::Folded);
    needing.network = Network::All;
    needing.ipc = Ipc::SharedMemory;
    needing.needs = palisade::policy::needs::NEEDS.map(|need| need.name.to_owned()).to_vec();
    let mut listing = plan(nested[..2].to_vec(), Spelling::Folded);
    listing.network = one_host();
    let mut local = plan(
        vec![
            rule(Allow, Operations::READING, Literal, "/", System),
            rule(
                Allow,
                Operations::READING.union(Operations::of(&[Operation::Connect])),
                Literal,
                "/private/var/run/db.sock",
                OriginKind::Socket,
            ),
            rule(Deny, Operations::ALL, Subtree, "/w/p/.env", Denial),
        ],
        Spelling::Folded,
    );
    local.network = with_ports(&[5432, 49_161]);
    vec![
        ("nested", plan(nested, Spelling::Folded)),
        ("needing", needing),
        ("listing", listing),
        ("local", local),
    ]
}

/// The rules of a profile, each with the lines it stands on.
fn split(text: &str) -> (String, Vec<String>) {
    let start = text.find("(deny default)\n").unwrap() + "(deny default)\n".len();
    let mut rules: Vec<String> = Vec::new();
    for line in text[start..].lines() {
        match rules.last_mut() {
            Some(last) if line.starts_with(' ') => {
                last.push('\n');
                last.push_str(line);
            }
            _ if line.starts_with('(') => rules.push(line.to_owned()),
            _ => {}
        }
    }
    (text[..start].to_owned(), rules)
}

fn flipped(rule: &str) -> String {
    match rule.strip_prefix("(allow") {
        Some(rest) => format!("(deny{rest}"),
        None => format!("(allow{}", rule.strip_prefix("(deny").unwrap()),
    }
}

/// Each mutant: what was done to which rule, and the rules that it leaves.
fn mutants(rules: &[String]) -> Vec<(&'static str, usize, Vec<String>)> {
    let mut mutants = Vec::new();
    for at in 0..rules.len() {
        let mut dropped = rules.to_vec();
        dropped.remove(at);
        mutants.push(("drop", at, dropped));
        let mut changed = rules.to_vec();
        changed[at] = flipped(&rules[at]);
        mutants.push(("flip", at, changed));
        if at + 1 < rules.len() {
            let mut swapped = rules.to_vec();
            swapped.swap(at, at + 1);
            mutants.push(("swap", at, swapped));
        }
    }
    mutants
}

/// Everything that any rule of the profile tells apart, asked without the validator.
fn subjects(plan: &Plan, texts: &[String]) -> Vec<Subject> {
    let mut paths: Vec<Utf8PathBuf> =
        vec!["/nowhere".into(), "/dev/ttys001".into(), "/dev/dtracehelper".into(), "/dev/tty".into()];
    for path in plan.rules.iter().flat_map(|rule| rule.path.ancestors()) {
        paths.extend([path.to_path_buf(), path.join("x"), path.join("x/y"), format!("{path}x").into()]);
        paths.push(path.join(emit::SENTINEL));
        paths.push(path.as_str().to_ascii_uppercase().into());
        paths.push(path.as_str().replace('\u{e9}', "e\u{301}").into());
    }
    paths.sort();
    paths.dedup();
    paths.retain(|path| !path.as_str().contains("//"));
    let mut subjects: Vec<Subject> =
        paths.iter().map(|path| Subject::path(path.as_str()).with("extension", Fact::Absent)).collect();
    subjects
        .push(Subject::path("/dev/ttys001").with("extension", Fact::Is(b"com.apple.sandbox.pty".to_vec())));
    for attribute in ["global-name", "sysctl-name", "ipc-posix-name"] {
        let names = texts
            .iter()
            .filter(|text| text.contains(attribute))
            .flat_map(|text| text.split('"').skip(1).step_by(2));
        let names: Vec<&str> = names.chain(["kern.procargs2", "org.example.x"]).collect();
        subjects.extend(names.iter().flat_map(|name| {
            [Subject::named(attribute, *name), Subject::named(attribute, format!("{name}x"))]
        }));
    }
    for (loopback, port) in
        [(false, 1), (true, 1), (true, PROXY), (false, PROXY), (true, 5432), (true, 49_161)]
    {
        let end = Address {
            transport: Some(Transport::Tcp),
            family: Some(Family::V4),
            loopback: Some(loopback),
            port: Some(port),
        };
        subjects.push(Subject::connection(end, end));
    }
    subjects.push(Subject::any());
    for target in ["same-sandbox", "others"] {
        subjects.push(Subject::any().with("target", Fact::Is(target.into())));
    }
    subjects
}

/// Operations on paths are asked of paths only.
fn asked(subject: &Subject) -> impl Iterator<Item = Leaf> {
    let has_path = subject.as_path().is_some();
    let on_paths = |it: Leaf| it.has_path() && !it.name().starts_with("network");
    Leaf::all()
        .filter(|it| it.is_leaf() || it.name() == "process-exec*")
        .filter(move |it| has_path || !on_paths(*it))
}

fn verdicts(profile: &Profile, subjects: &[Subject]) -> Vec<Verdict> {
    let places = profile.places();
    let mut verdicts = Vec::new();
    for subject in subjects {
        let place = places.at(subject);
        for operation in asked(subject) {
            for engine in [Engine::PerOperation, Engine::LastMatch] {
                verdicts.push(place.decide(operation, engine).verdict);
            }
        }
    }
    verdicts
}

/// Why a mutant may mean the same, where it does.
fn reason(kind: &str, rules: &[String], at: usize) -> Option<&'static str> {
    let rule = &rules[at];
    let is_unfiltered = |rule: &str| rule.matches('(').count() == 1;
    match kind {
        "drop" if rule.starts_with("(allow") && is_unfiltered(rule) => {
            Some("the kernel leaves it open anyway; stated so that nobody has to know")
        }
        "drop" if rule.starts_with("(deny") && is_unfiltered(rule) => {
            Some("the kernel closes it anyway, on some versions; stated for the others")
        }
        "flip" if is_unfiltered(rule) => {
            Some("nothing is left for it to decide: every path has a rule of its own")
        }
        "flip" => Some("a later rule speaks of all of it"),
        "drop" => Some("another rule says the same of a larger place or by another name"),
        "swap" => Some("the two speak of different things, or say the same"),
        _ => None,
    }
}

/// Each way to say more, less or something else than the way to the proxy.
#[test]
fn no_other_way_than_that_to_the_proxy_passes() {
    let mut plan = plan(Vec::new(), Spelling::Folded);
    plan.network = one_host();
    let seatbelt = emit::seatbelt(&plan, "case").unwrap();
    assert_eq!(validate::check(&plan, &seatbelt), Ok(()));
    let way = "(allow network-outbound (remote tcp (string-append \"localhost:\" (param \"PROXY_PORT\"))))";
    assert_eq!(seatbelt.text.matches(way).count(), 1, "{}", seatbelt.text);
    let port = "(string-append \"localhost:\" (param \"PROXY_PORT\"))";
    for other in [
        "".to_owned(),
        "(allow network-outbound)".to_owned(),
        "(allow network-outbound (remote tcp \"localhost:49160\"))".to_owned(),
        "(allow network-outbound (remote tcp \"localhost:49160\" \"localhost:61000\"))".to_owned(),
        "(allow network-outbound (remote tcp \"localhost:*\"))".to_owned(),
        "(allow network-outbound (remote tcp (string-append \"*:\" (param \"PROXY_PORT\"))))".to_owned(),
        "(allow network-outbound (remote tcp (string-append \"localhost:\" (param \"PORT\"))))".to_owned(),
        "(allow network-outbound (remote tcp (string-append \"localhost:\" (param \"PROXY_PORT\") \"0\")))"
            .to_owned(),
        format!("(allow network-outbound (remote ip {port}))"),
        format!("(allow network-outbound (remote udp {port}))"),
        format!("(allow network-outbound (remote tcp4 {port}))"),
        format!("(allow network-outbound (local tcp {port}))"),
        format!("(allow network* (remote tcp {port}))"),
        format!("(allow network-outbound network-bind (remote tcp {port}))"),
        format!("{way}(allow network-inbound (local ip \"localhost:*\"))"),
        format!("{way}(allow network-bind (local ip \"*:0\"))"),
        format!("{way}(allow network-outbound (literal \"/private/var/run/mDNSResponder\"))"),
        format!("{way}(allow network-outbound (remote unix-socket))"),
        format!("{way}(allow network-outbound (remote udp \"*:53\"))"),
        format!("{way}(allow mach-lookup (global-name \"com.apple.trustd.agent\"))"),
        format!("{way}(allow mach-lookup (global-name \"com.apple.SystemConfiguration.DNSConfiguration\"))"),
        format!("{way}(allow system-socket (socket-domain AF_ROUTE))"),
        format!("{way}(allow necp-client-open)"),
        format!("{way}(deny network-outbound (remote tcp {port}))"),
    ] {
        let changed = Seatbelt { text: seatbelt.text.replace(way, &other), ..seatbelt.clone() };
        assert!(validate::check(&plan, &changed).is_err(), "{other}");
    }
    // Nobody gives the port where nothing carries connections.
    plan.network = Network::All;
    assert!(matches!(validate::check(&plan, &seatbelt), Err(validate::Difference::Unreadable(_))));
}

/// Each way to say more, less or something else than stated ports of this machine.
#[test]
fn no_other_port_of_this_machine_passes() {
    let mut plan = plan(Vec::new(), Spelling::Folded);
    plan.network = with_ports(&[5432]);
    let seatbelt = emit::seatbelt(&plan, "case").unwrap();
    assert_eq!(validate::check(&plan, &seatbelt), Ok(()));
    let way = "(allow network-outbound (remote tcp \"localhost:5432\"))";
    assert_eq!(seatbelt.text.matches(way).count(), 1, "{}", seatbelt.text);
    for other in [
        "".to_owned(),
        "(allow network-outbound (remote tcp \"localhost:5433\"))".to_owned(),
        "(allow network-outbound (remote tcp \"*:5432\"))".to_owned(),
        "(allow network-outbound (remote tcp \"localhost:*\"))".to_owned(),
        "(allow network-outbound (remote ip \"localhost:5432\"))".to_owned(),
        "(allow network-outbound (remote udp \"localhost:5432\"))".to_owned(),
        "(allow network-outbound (remote tcp4 \"localhost:5432\"))".to_owned(),
        "(allow network-outbound (local tcp \"localhost:5432\"))".to_owned(),
        "(allow network* (remote tcp \"localhost:5432\"))".to_owned(),
        format!("{way}(allow network-outbound (remote tcp \"localhost:5431\"))"),
        format!("{way}(allow network-inbound (local tcp \"localhost:5432\"))"),
        format!("{way}(allow network-bind (local tcp \"localhost:5432\"))"),
        format!("{way}(deny network-outbound (remote tcp \"localhost:5432\"))"),
    ] {
        let changed = Seatbelt { text: seatbelt.text.replace(way, &other), ..seatbelt.clone() };
        assert!(validate::check(&plan, &changed).is_err(), "{other}");
    }
}

#[test]
fn every_mutant_is_caught_or_means_the_same() {
    let mut survivors: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    let mut caught = 0;
    for (name, plan) in plans() {
        let seatbelt = emit::seatbelt(&plan, name).unwrap();
        assert_eq!(validate::check(&plan, &seatbelt), Ok(()));
        let (head, rules) = split(&seatbelt.text);
        let subjects = subjects(&plan, &rules);
        let meaning = verdicts(&read(&plan, &seatbelt), &subjects);
        for (kind, at, mutant) in mutants(&rules) {
            // Names of sysctl are many and alike: one in nine stands for all but in the long run.
            if !is_long() && rules[at].contains("(sysctl-name \"") && at % 9 != 0 {
                continue;
            }
            let changed = Seatbelt { text: format!("{head}{}\n", mutant.join("\n")), ..seatbelt.clone() };
            if validate::check(&plan, &changed).is_err() {
                caught += 1;
                continue;
            }
            let same = verdicts(&read(&plan, &changed), &subjects) == meaning;
            assert!(same, "{name}: {kind} of this rule is not caught:\n{}", rules[at]);
            let reason = reason(kind, &rules, at);
            assert!(reason.is_some(), "{name}: {kind} of this rule changes nothing:\n{}", rules[at]);
            survivors.entry(reason.unwrap()).or_default().push(format!("{name} {kind}: {}", rules[at]));
        }
    }
    println!("{caught} mutants caught");
    for (reason, mutants) in &survivors {
        println!("{} mean the same: {reason}", mutants.len());
        for mutant in mutants.iter().filter(|mutant| !mutant.contains(" swap")) {
            println!("    {}", mutant.lines().next().unwrap_or_default());
        }
    }
    assert!(caught > 300, "{caught}");
}
