//! Plans made by hand and at random, for a Mac.

use crate::road::{mac, walk};
use camino::{Utf8Path, Utf8PathBuf};
use palisade::bind::plan::SCRATCH_PARAMETER;
use palisade::emit::{self, Seatbelt};
use palisade::plan::{Effect, Operation, Operations, Origin, OriginKind, Plan, Rule, Scope, Spelling};
use palisade::policy::Network;
use palisade::sbpl::{NoImports, Params, PathCase, Profile};
use proptest::prelude::*;
use std::sync::LazyLock;

/// A plan of which only the rules and the spelling matter.
pub fn plan(rules: Vec<Rule>, spelling: Spelling) -> Plan {
    static EMPTY: LazyLock<Plan> =
        LazyLock::new(|| walk(&mac(), "root \"$workspace\" read-only").plan().clone());
    Plan { rules, spelling, ..EMPTY.clone() }
}

pub fn rule(effect: Effect, operations: Operations, scope: Scope, path: &str, kind: OriginKind) -> Rule {
    let origin = Origin { kind, text: format!("for {path}"), span: None };
    Rule { effect, operations, scope, path: path.into(), origin }
}

/// Names that need escaping, that begin alike, that differ in case or in how a letter is composed, and that are too long together.
const NAMES: [&str; 22] = [
    "a",
    "A",
    "ab",
    "aB",
    "abc",
    "b",
    "a b",
    "a\"b",
    "b\\s",
    "x;y",
    "(p)",
    "#|",
    ".env",
    ".ENV",
    "_env",
    "*",
    "[ab]",
    "$HOME",
    "\u{e9}",
    "e\u{301}",
    "\u{65e5}\u{672c}",
    "\u{202e}x",
];

pub fn any_path() -> impl Strategy<Value = Utf8PathBuf> {
    let long = "long".repeat(40);
    let name = prop_oneof![
        40 => prop::sample::select(NAMES.to_vec()).prop_map(str::to_owned),
        1 => Just(long),
    ];
    let path = prop::collection::vec(name, 0..4).prop_map(|names| format!("/{}", names.join("/")).into());
    let scratch = prop::sample::select(vec!["", "/a", "/a/b"])
        .prop_map(|below| Utf8PathBuf::from(format!("{SCRATCH_PARAMETER}{below}")));
    prop_oneof![30 => path, 1 => scratch]
}

fn any_rule() -> impl Strategy<Value = Rule> {
    let kinds = vec![
        OriginKind::System,
        OriginKind::Scratch,
        OriginKind::Tool,
        OriginKind::Root,
        OriginKind::Executable,
        OriginKind::Guard,
        OriginKind::Pin,
        OriginKind::Denial,
    ];
    (any::<bool>(), 1u16..1024, any::<bool>(), any_path(), prop::sample::select(kinds)).prop_map(
        |(allow, bits, literal, path, kind)| {
            let mut operations = Operation::ALL
                .into_iter()
                .filter(|&operation| bits & (1 << operation as u16) != 0)
                .fold(Operations::NONE, |set, operation| set.union(Operations::of(&[operation])));
            // What may be run by itself may be run for a script: on a Mac every plan says both.
            if operations.contains(Operation::Exec) {
                operations = operations.union(Operations::of(&[Operation::Interpret]));
            }
            let effect = if allow { Effect::Allow } else { Effect::Deny };
            rule(
                effect,
                operations,
                if literal { Scope::Literal } else { Scope::Subtree },
                path.as_str(),
                kind,
            )
        },
    )
}

/// One spelling for each of the names that differ in case or in how a letter is composed.
fn one_spelling(path: &Utf8Path) -> Utf8PathBuf {
    path.as_str()
        .replace("e\u{301}", "\u{e9}")
        .replace('A', "a")
        .replace("aB", "ab")
        .replace(".ENV", ".env")
        .into()
}

/// Any rules at all, in the order that every plan keeps; in one of four plans with several spellings of one name, many of which are refused.
pub fn any_plan() -> impl Strategy<Value = Plan> {
    let spelling = prop::sample::select(vec![Spelling::Folded, Spelling::Exact]);
    let rules = prop::collection::vec(any_rule(), 1..14);
    let network = prop::sample::select(vec![Network::Off, Network::All, one_host(), with_ports(&[80, 5432])]);
    (rules, spelling, 0..4, network).prop_map(|(mut rules, spelling, spellings, network)| {
        if spellings > 0 {
            for rule in &mut rules {
                rule.path = one_spelling(&rule.path);
            }
        }
        rules.sort_by_key(|rule| rule.origin.kind);
        Plan { network, ..plan(rules, spelling) }
    })
}

/// The port of the proxy, as whoever runs a command might give it.
pub const PROXY: u16 = 50_123;

/// A list of one host.
pub fn one_host() -> Network {
    static LIST: LazyLock<Network> = LazyLock::new(|| {
        walk(&mac(), "root \"$workspace\" read-only\nnetwork only { allow \"example.com\" }")
            .plan()
            .network
            .clone()
    });
    LIST.clone()
}

/// A list of one host and of ports of the machine itself.
pub fn with_ports(ports: &[u16]) -> Network {
    let Network::Only(mut rules) = one_host() else { return Network::Off };
    let allow = rules[0].clone();
    rules.extend(ports.iter().map(|port| {
        let pattern = palisade::policy::HostPattern::localhost(*port);
        palisade::policy::NetworkRule { pattern, ..allow.clone() }
    }));
    Network::Only(rules)
}

/// Reads an emitted profile as a Mac would be given it.
pub fn read(plan: &Plan, seatbelt: &Seatbelt) -> Profile {
    let mut params = Params { given: seatbelt.parameters.clone(), complete: true };
    params.given.insert(emit::SCRATCH.into(), SCRATCH_PARAMETER.into());
    if matches!(plan.network, Network::Only(_)) {
        params.given.insert(emit::PROXY_PORT.into(), PROXY.to_string());
    }
    let mut profile =
        Profile::parse(&seatbelt.text, &params, &NoImports).expect("a profile that is understood");
    if plan.spelling == Spelling::Exact {
        profile.case = PathCase::Sensitive;
    }
    profile
}
