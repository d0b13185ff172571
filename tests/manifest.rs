//! The artifact as text: what a reviewer reads and what `exec` obeys.

#[path = "support/road.rs"]
mod road;

use palisade::host::{Identity, RecordedHost};
use palisade::manifest::{self, AskRule, CacheLine, HostRule, Manifest, ManifestError, MaskedVariable};
use palisade::pipeline::{self, Artifact};
use palisade::plan::{Operation, OriginKind, Rule};
use palisade::policy::Network;
use palisade::policy::requests::Requests;
use proptest::prelude::*;
use road::{Walked, examples, mac, profile, walk_text};

const STATEMENTS: &str = "\
description \"Reads the checkout, writes its notes.\"
root \"$workspace\" read-only
root \"$workspace/review\" read-write
deny \"$workspace/.env\"
deny glob \"$workspace/**/*.pem\"
tools git
optional-tools not-there
env { set LANG \"C.UTF-8\"; pass TERM }
limits { time 30s; output 4MiB; open-files 256; processes 64 }
needs terminal";

const ON_MAC: &str = "\
root \"$workspace\" read-write
root \"$workspace/vendor\" read-only
deny \"$workspace/.env\"
deny glob \"$workspace/**/*.pem\"
tools awk sed cat ls grep bash
network off";

fn compiled(host: &RecordedHost, statements: &str) -> (Walked, Artifact) {
    let walked = walk_text(host, &profile(statements), "case.palisade", None);
    assert_eq!(walked.errors(), [""; 0]);
    let artifact = pipeline::compile(&walked.sources, walked.bound(), host, "case.sb").unwrap().unwrap();
    (walked, artifact)
}

fn linux() -> (Walked, Artifact) {
    compiled(&examples(), STATEMENTS)
}

fn snapshot(name: &str, text: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../snapshots");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, text));
}

#[test]
fn a_manifest_reads_from_top_to_bottom() {
    snapshot("manifest", &linux().1.manifest);
}

#[test]
fn a_seatbelt_profile_reads_from_top_to_bottom() {
    snapshot("seatbelt", &compiled(&mac(), ON_MAC).1.seatbelt.unwrap());
}

#[test]
fn the_same_input_gives_the_same_bytes() {
    assert_eq!(linux().1, linux().1);
    assert_eq!(compiled(&mac(), ON_MAC).1, compiled(&mac(), ON_MAC).1);
}

#[test]
fn what_is_read_back_is_what_was_planned() {
    let (walked, artifact) = linux();
    let manifest = manifest::read(&artifact.manifest).unwrap();
    let rules: Vec<Rule> = manifest.rules.iter().cloned().map(|rule| rule.try_into().unwrap()).collect();
    let planned = &walked.plan().rules;
    assert_eq!(rules.len(), planned.len());
    for (read, planned) in rules.iter().zip(planned) {
        assert_eq!(
            (read.effect, read.operations, read.scope, &read.path),
            (planned.effect, planned.operations, planned.scope, &planned.path)
        );
        assert_eq!((read.origin.kind, &read.origin.text), (planned.origin.kind, &planned.origin.text));
    }
    assert_eq!(manifest::write(&manifest).unwrap(), artifact.manifest);
}

#[test]
fn the_digest_of_the_seatbelt_profile_is_in_the_manifest() {
    use sha2::{Digest as _, Sha256};
    let (_, artifact) = compiled(&mac(), ON_MAC);
    let stated = manifest::read(&artifact.manifest).unwrap().seatbelt.unwrap();
    let digest = manifest::hex(&Sha256::digest(artifact.seatbelt.unwrap().as_bytes()));
    assert_eq!((stated.name.as_str(), stated.digest), ("case.sb", format!("sha256:{digest}")));
    assert!(manifest::read(&linux().1.manifest).unwrap().seatbelt.is_none());
}

#[test]
fn every_rule_that_a_statement_makes_names_its_line() {
    let stated = [
        OriginKind::Root,
        OriginKind::Worktree,
        OriginKind::Executable,
        OriginKind::Denial,
        OriginKind::Tool,
    ];
    let statements = format!("{STATEMENTS}\nexecutable \"$workspace/build\"");
    for rule in &compiled(&examples(), &statements).0.plan().rules {
        let text = &rule.origin.text;
        assert!(!text.is_empty());
        if stated.contains(&rule.origin.kind) && !text.contains("of sh") && !text.contains("the shell") {
            let line = text.strip_prefix("case.palisade:").and_then(|rest| rest.split(' ').next());
            assert!(line.is_some_and(|line| line.parse::<usize>().is_ok()), "{}: {text}", rule.path);
        }
    }
}

#[test]
fn one_changed_byte_anywhere_is_refused() {
    let text = linux().1.manifest;
    for at in 0..text.len() {
        let mut bytes = text.clone().into_bytes();
        bytes[at] = if bytes[at] == b'x' { b'y' } else { b'x' };
        let changed = String::from_utf8_lossy(&bytes);
        assert!(manifest::read(&changed).is_err(), "byte {at}");
    }
}

#[test]
fn a_part_of_a_manifest_is_none() {
    let text = linux().1.manifest;
    for length in 0..text.len() {
        assert!(text.get(..length).is_none_or(|part| manifest::read(part).is_err()), "{length}");
    }
    for more in ["\n", "x", "digest: sha256:00\n"] {
        assert!(manifest::read(&format!("{text}{more}")).is_err(), "{more:?}");
    }
    assert!(manifest::read(&text.replace('\n', "\r\n")).is_err());
}

/// The text with a true digest at its end: as someone would make it who knows the form.
fn sealed(body: &str) -> String {
    use sha2::{Digest as _, Sha256};
    format!("{body}digest: sha256:{}\n", manifest::hex(&Sha256::digest(body.as_bytes())))
}

#[test]
fn an_unknown_field_is_refused_at_every_level() {
    let text = linux().1.manifest;
    let body = &text[..text.rfind("digest: sha256:").unwrap()];
    assert!(manifest::read(&sealed(body)).is_ok());
    let at_top = format!("{body}surprise: 1\n");
    let nested = [
        ("limits:\n", "limits:\n  surprise: 1\n"),
        ("environment:\n", "environment:\n  surprise: 1\n"),
        ("sources:\n- ", "sources:\n- surprise: 1\n  "),
        ("roots:\n- ", "roots:\n- surprise: 1\n  "),
        ("protected:\n- ", "protected:\n- surprise: 1\n  "),
        ("\ntools:\n- ", "\ntools:\n- surprise: 1\n  "),
        ("skipped-tools:\n- ", "skipped-tools:\n- surprise: 1\n  "),
        ("links:\n- ", "links:\n- surprise: 1\n  "),
        ("rules:\n- ", "rules:\n- surprise: 1\n  "),
        ("files:\n- ", "files:\n- surprise: 1\n  "),
    ];
    let mut changed = vec![at_top];
    for (old, new) in nested {
        assert!(body.contains(old), "{old:?}");
        changed.push(body.replacen(old, new, 1));
    }
    for body in changed {
        let error = manifest::read(&sealed(&body)).unwrap_err();
        assert!(
            matches!(&error, ManifestError::Yaml(why) if why.to_string().contains("surprise")),
            "{error}"
        );
    }
}

#[test]
fn another_schema_is_refused_before_anything_else_is_read() {
    let text = linux().1.manifest;
    let body = &text[..text.rfind("digest: sha256:").unwrap()];
    let newer = format!("{}new-wall: 1\n", body.replacen("schema: 1", "schema: 2", 1));
    let error = manifest::read(&sealed(&newer)).unwrap_err();
    assert!(matches!(error, ManifestError::Schema(2)), "{error}");
    assert!(manifest::read(&sealed(&body.replacen("schema: 1\n", "", 1))).is_err());
}

#[test]
fn a_rule_that_makes_no_sense_is_refused() {
    let text = linux().1.manifest;
    let body = &text[..text.rfind("digest: sha256:").unwrap()];
    let read = |body: &str| {
        let manifest = manifest::read(&sealed(body))?;
        manifest.rules.into_iter().map(Rule::try_from).collect::<Result<Vec<_>, _>>()
    };
    assert!(read(body).is_ok());
    for (old, new) in [
        ("- allow: read metadata\n", "- allow: read metadata\n  deny: read\n"),
        ("- allow: read metadata\n", "- allow: raed\n"),
        ("  literal: /\n", ""),
        ("  literal: /\n", "  literal: relative\n"),
        ("  literal: /\n", "  literal: /\n  subtree: /\n"),
    ] {
        assert!(body.contains(old), "{old}");
        assert!(read(&body.replacen(old, new, 1)).is_err(), "{new}");
    }
}

/// Texts that YAML, or a line of the profile, could break out of.
fn hostile() -> impl Strategy<Value = String> {
    let pieces = prop_oneof![
        Just("\n"),
        Just("\r"),
        Just(": "),
        Just(" #"),
        Just("- "),
        Just("\"'"),
        Just("---\n"),
        Just("digest: sha256:"),
        Just("\nschema: 9\n"),
        Just("&a *a !!str"),
        Just("|\n"),
        Just("\u{85}\u{2028}\u{feff}"),
        Just("~"),
        Just("null"),
        Just("0x10"),
        Just("é"),
        Just("\t"),
        Just("{}[]"),
        Just("%"),
        Just("\u{7f}\u{1b}[31m"),
        Just(" "),
        Just("a"),
    ];
    proptest::collection::vec(pieces, 0..8).prop_map(|pieces| pieces.concat())
}

fn base() -> Manifest {
    manifest::read(&linux().1.manifest).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever a manifest holds, what is read is what was written.
    #[test]
    fn any_text_comes_back(texts in proptest::collection::vec(hostile(), 6), numbers in any::<(u64, u64, u64, i64)>()) {
        let mut manifest = base();
        let [description, path, value, name, from, reason] = &texts[..] else { unreachable!() };
        manifest.profile.clone_from(name);
        manifest.description = Some(description.clone());
        manifest.workspace = format!("/{path}").into();
        manifest.parameters.insert(name.clone(), value.clone());
        manifest.environment.set.insert(name.clone(), value.clone());
        manifest.roots[0].from.clone_from(from);
        manifest.roots[0].path = format!("/{path}").into();
        manifest.skipped_tools[0].reason.clone_from(reason);
        manifest.losses.push(reason.clone());
        let asked = AskRule { methods: vec![name.clone()], paths: vec![path.clone()] };
        manifest.hosts.push(HostRule { allow: true, host: value.clone(), requests: Some(asked), from: from.clone() });
        manifest.environment.mask.push(MaskedVariable { name: name.clone(), hosts: vec![value.clone()], from: from.clone() });
        let (device, inode, size, modified) = numbers;
        manifest.cache.push(CacheLine { identity: Identity { device, inode }, size, modified: modified.into(), path: format!("/{path}").into() });
        let text = manifest::write(&manifest).unwrap();
        prop_assert_eq!(manifest::read(&text).unwrap(), manifest);
    }
}

/// The lines of a `.sb` that hold a rule, without their comments.
fn rules_of(text: &str) -> Vec<&str> {
    text.lines()
        .map(|line| line.split("  ; ").next().unwrap_or(""))
        .filter(|line| line.starts_with('('))
        .collect()
}

#[test]
fn every_rule_about_paths_states_leaves_and_a_filter_so_that_two_readings_agree() {
    let text = compiled(
        &mac(),
        &format!("{ON_MAC}\nexecutable \"$workspace/build\"\nnetwork all").replace("network off\n", ""),
    )
    .1
    .seatbelt
    .unwrap();
    let rules = rules_of(&text);
    assert_eq!(rules.iter().filter(|rule| rule.contains("(deny default)")).count(), 1);
    let mut about_paths = 0;
    let about = rules.iter().filter(|rule| rule.contains("(literal ") || rule.contains("(subpath "));
    for rule in about {
        let inner = rule.strip_prefix("(allow ").or_else(|| rule.strip_prefix("(deny ")).unwrap();
        let (operations, filter) =
            inner.split_at(inner.find('(').unwrap_or_else(|| panic!("no filter: {rule}")));
        for operation in operations.split_whitespace() {
            let leaf = !operation.ends_with('*') || operation == "process-exec*";
            assert!(leaf, "{operation} has others below it: {rule}");
            // Where the one that is no leaf stands, so does its child.
            assert!(
                operation != "process-exec*"
                    || operations.contains("process-exec-interpreter")
                    || rule.starts_with("(allow"),
                "{rule}"
            );
        }
        assert!(filter.starts_with("(literal ") || filter.starts_with("(subpath "), "{rule}");
        about_paths += 1;
    }
    assert!(about_paths > 40, "{about_paths}");
}

#[test]
fn denials_stand_last_in_a_seatbelt_profile_and_name_a_plain_file_both_ways() {
    let text = compiled(&mac(), ON_MAC).1.seatbelt.unwrap();
    let last = rules_of(&text).into_iter().next_back().unwrap().to_owned();
    assert!(last.starts_with("(deny "), "{last}");
    let env = text.lines().find(|line| line.contains("project/.env\"")).unwrap();
    assert!(
        env.contains("(literal \"/Users/dev/project/.env\") (subpath \"/Users/dev/project/.env\")"),
        "{env}"
    );
    assert!(env.contains("; case.palisade:5 deny"), "{env}");
    assert!(text.contains("/Users/dev/project/Certificates/Site.PEM"), "as the disk spells it");
}

/// A Mac with one directory more, whose name could mean something to the reader of a profile.
fn mac_with(name: &str) -> RecordedHost {
    let entry = serde_json::to_string(&format!("/Users/dev/project/{name}/x")).unwrap();
    let text = format!("{}  {entry}: file\n", include_str!("hosts/mac.yaml"));
    RecordedHost::from_yaml(&text, "test").unwrap()
}

#[test]
fn a_path_cannot_break_out_of_its_string_or_its_comment() {
    let name = "a\" ) (allow default) ; \\ #|";
    let quoted = name.replace('\\', "\\\\").replace('"', "\\\"");
    let text =
        compiled(&mac_with(name), &format!("root \"$workspace\" read-only\ndeny \"$workspace/{quoted}\""))
            .1
            .seatbelt
            .unwrap();
    let written = format!("(literal \"/Users/dev/project/{quoted}\")");
    assert!(text.lines().any(|line| line.starts_with("(deny ") && line.contains(&written)), "{text}");
    for (name, written) in [("a\nb", "a\\nb"), ("a\tb", "a\\tb")] {
        let host = mac_with(name);
        let text = profile(&format!("root \"$workspace\" read-only\ndeny \"$workspace/{written}\""));
        let walked = walk_text(&host, &text, "case.palisade", None);
        if walked.errors().is_empty() {
            let refused =
                pipeline::compile(&walked.sources, walked.bound(), &host, "case.sb").unwrap().unwrap_err();
            assert_eq!(refused.rule, "unspeakable-path", "{name:?}");
        }
    }
}

#[test]
fn ports_of_this_machine_stand_apart_from_hosts_whatever_their_order() {
    let lines = ["localhost 5432", "allow \"example.com\"", "localhost 80", "deny \"localhost:81\""];
    let compile = |lines: &[&str]| {
        let statements = format!("root \"$workspace\" read-only\nnetwork only {{ {} }}", lines.join("; "));
        let walked = walk_text(&examples(), &profile(&statements), "case.palisade", None);
        let artifact = pipeline::compile(&walked.sources, walked.bound(), &examples(), "case.sb");
        palisade::manifest::read(&artifact.unwrap().unwrap().manifest).unwrap()
    };
    let mut reversed = lines;
    reversed.reverse();
    for lines in [lines, reversed] {
        let manifest = compile(&lines);
        assert_eq!(manifest.localhost, [80, 5432]);
        let hosts: Vec<_> = manifest.hosts.iter().map(|rule| (rule.allow, rule.host.as_str())).collect();
        assert_eq!(hosts, [(true, "example.com:443"), (false, "localhost:81")]);
    }
}

#[test]
fn a_port_and_a_socket_of_this_machine_are_written_for_a_mac() {
    let statements = "root \"$workspace\" read-only\nnetwork only { localhost 5432; localhost 81; deny \"localhost:81\"; unix \"/private/var/run/db.sock\" }";
    let artifact = compiled(&mac(), statements).1;
    let text = artifact.seatbelt.unwrap();
    assert!(text.contains("(allow network-outbound (remote tcp \"localhost:5432\"))"), "{text}");
    assert!(!text.contains("localhost:81"), "{text}");
    assert!(text.contains("network-outbound (literal \"/private/var/run/db.sock\"))"), "{text}");
    let manifest = manifest::read(&artifact.manifest).unwrap();
    assert_eq!(manifest.localhost, [81, 5432]);
    assert_eq!(manifest.unix.len(), 1);
    assert_eq!(manifest.unix[0].path, "/private/var/run/db.sock");
    assert!(
        manifest.assumptions.iter().any(|it| it.starts_with("`localhost PORT` is the machine's own port"))
    );
}

#[test]
fn a_name_in_other_letters_is_written_as_the_network_knows_it() {
    let statements = "root \"$workspace\" read-only\nnetwork only { allow \"*.b\u{fc}cher.de:80\" }";
    let manifest = manifest::read(&compiled(&examples(), statements).1.manifest).unwrap();
    assert_eq!(manifest.hosts[0].host, "*.xn--bcher-kva.de:80");
}

#[test]
fn a_list_of_hosts_is_written_for_both_systems() {
    for host in [examples(), mac()] {
        let statements = "root \"$workspace\" read-only\nnetwork only { deny \"a.example.com\"; allow \"*.example.com:*\" }";
        let manifest = manifest::read(&compiled(&host, statements).1.manifest).unwrap();
        assert_eq!(manifest.network, manifest::Network::Only);
        let hosts: Vec<(bool, &str)> =
            manifest.hosts.iter().map(|rule| (rule.allow, rule.host.as_str())).collect();
        assert_eq!(hosts, [(true, "*.example.com:*"), (false, "a.example.com:443")]);
    }
}

#[test]
fn what_may_be_asked_and_what_is_masked_is_written_for_both_systems() {
    let statements = "root \"$workspace\" read-only\nnetwork only {\nallow \"api.example.com\" methods GET HEAD paths \"/a/*\" \"/b/**\"
        inspect \"b.example.com:8443\"\nallow \"c.example.com\"\n}\nenv { mask TOKEN for \"c.example.com\" \"api.example.com\"; pass LANG }";
    for (host, losses) in [(examples(), 1), (mac(), 2)] {
        let (walked, artifact) = compiled(&host, statements);
        let manifest = manifest::read(&artifact.manifest).unwrap();
        let hosts: Vec<_> =
            manifest.hosts.iter().map(|rule| (rule.host.as_str(), rule.requests.clone())).collect();
        let strings = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect::<Vec<_>>();
        let asked = AskRule { methods: strings(&["GET", "HEAD"]), paths: strings(&["/a/*", "/b/**"]) };
        let expected = [
            ("api.example.com:443", Some(asked)),
            ("b.example.com:8443", Some(AskRule::default())),
            ("c.example.com:443", None),
        ];
        assert_eq!(hosts, expected);
        let Network::Only(rules) = &walked.bound().plan.network else { panic!() };
        let read_back: Vec<_> = manifest
            .hosts
            .iter()
            .map(|rule| rule.requests.as_ref().map(|asked| Requests::try_from(asked).unwrap()))
            .collect();
        assert_eq!(read_back, rules.iter().map(|rule| rule.requests.clone()).collect::<Vec<_>>());
        let masked: Vec<_> =
            manifest.environment.mask.iter().map(|mask| (mask.name.as_str(), mask.hosts.join(" "))).collect();
        assert_eq!(masked, [("TOKEN", "api.example.com:443 c.example.com:443".to_owned())]);
        assert_eq!(manifest.environment.pass, ["LANG"]);
        let of_reading = |loss: &&String| {
            loss.contains("connections to this host are read") || loss.contains("connections that are read")
        };
        assert_eq!(manifest.losses.iter().filter(of_reading).count(), losses, "{:?}", manifest.losses);
    }
}

/// An older program knows no limits, and must not obey a manifest with some as if there were none.
#[test]
fn limits_and_masks_stand_in_fields_of_their_own() {
    let statements = "root \"$workspace\" read-only\nnetwork only { inspect \"a.example.com\" }\nenv { mask T for \"a.example.com\" }";
    let text = compiled(&examples(), statements).1.manifest;
    for field in ["  requests: {}\n", "  mask:\n"] {
        assert!(text.contains(field), "{text}");
    }
    let nothing =
        compiled(&examples(), "root \"$workspace\" read-only\nnetwork only { allow \"a.example.com\" }")
            .1
            .manifest;
    assert!(!nothing.contains("requests:") && !nothing.contains("mask:"), "{nothing}");
}

#[test]
fn operations_are_written_as_they_are_asked_about() {
    for operation in Operation::ALL {
        assert_eq!(Operation::named(operation.name()), Some(operation));
    }
}
