//! `--baseline` and `--write-baseline`.

use crate::formats::FORMATS;
use crate::{HOSTS, Place, snapshot};
use serde_json::Value;

const FILE: &str = "palisade-baseline.toml";

/// Two profiles with old findings of their own, and one that they share through a fragment.
fn old() -> Place {
    let place = Place::empty();
    std::fs::create_dir(place.path.join(".git")).unwrap();
    place.profile(
        "policies/a.palisade",
        "use \"shared.palisade\"\nroot \"$workspace\" read-only\nparam first \"x\"\nparam second \"x\"",
    );
    place.profile(
        "policies/b.palisade",
        "use \"shared.palisade\"\nroot \"$workspace\" read-only\nenv { pass A_TOKEN }\nlimits { processes 100000 }",
    );
    place
        .write("policies/shared.palisade", "edition 1\nfragment \"shared\" {\n    env { pass B_TOKEN }\n}\n");
    place
}

fn check<'a>(arguments: &[&'a str]) -> Vec<&'a str> {
    [&["check", "--format", "concise"], arguments].concat()
}

/// The rules of what is shown.
fn rules(place: &Place, arguments: &[&str]) -> Vec<String> {
    let out = place.on_examples(&check(arguments)).out;
    let rule = |line: &str| line.split_once('[').unwrap().1.split_once(']').unwrap().0.to_owned();
    let mut rules: Vec<String> = out.lines().filter(|line| !line.contains(": note[")).map(rule).collect();
    rules.sort();
    rules
}

const KNOWN: [&str; 2] = ["--baseline", FILE];

#[test]
fn what_was_found_is_left_out_and_what_is_new_is_not() {
    let place = old();
    place.on_examples(&["check"]).exits(1);
    place.write("hosts/linux.yaml", &std::fs::read_to_string(format!("{HOSTS}/examples.yaml")).unwrap());
    let ran = place.run(&["check", "--host", "hosts/linux.yaml", "--write-baseline", FILE]).exits(0);
    assert_eq!(ran.err, format!("palisade: wrote {FILE} (4 findings)\n"));
    snapshot("baseline", &place, &place.read(FILE));
    let ran = place.on_examples(&[&["check"][..], &KNOWN].concat()).exits(0);
    assert_eq!(ran.out, format!("no findings in 3 profiles (2 notes not shown); 4 left out by {FILE}\n"));
    place.on_examples(&["check"]).exits(1);

    let text = place.read("policies/a.palisade");
    // Lines move, and a statement is laid out anew.
    place.write(
        "policies/a.palisade",
        &text.replace("    param second", "\n\n    param   third \"x\"\n    param   second"),
    );
    assert_eq!(rules(&place, &KNOWN), ["unused-param"]);
    place.on_examples(&[&["check"][..], &KNOWN].concat()).exits(1).says("third");
}

#[test]
fn what_was_fixed_is_told_of() {
    let place = old();
    place.on_examples(&["check", "--write-baseline", FILE]).exits(0);
    let text = place.read("policies/a.palisade");
    place.write("policies/a.palisade", &text.replace("    param second \"x\"\n", ""));
    let ran = place.on_examples(&[&["check"][..], &KNOWN].concat()).exits(1);
    snapshot("baseline-stale", &place, &ran.out);
    // In every format, whatever is counted there.
    let schema: Value = serde_json::from_str(include_str!("../../docs/schemas/findings-1.json")).unwrap();
    let schema = jsonschema::validator_for(&schema).unwrap();
    for format in FORMATS {
        let ran = place.on_examples(&["check", "--format", format, "--baseline", FILE]).exits(1);
        assert!(ran.out.contains("is there no more"), "{format}: {}", ran.out);
        match format {
            "json" => {
                let document: Value = serde_json::from_str(&ran.out).unwrap();
                assert!(schema.is_valid(&document), "{document}");
                assert_eq!(document["summary"]["left_out"], 3);
                assert_eq!(document["baseline"], FILE);
            }
            "junit" => assert!(ran.out.contains("failures=\"1\""), "{}", ran.out),
            "github" => assert!(ran.out.contains(&format!("file={FILE},line=")), "{}", ran.out),
            _ => {}
        }
    }
    place.on_examples(&[&["check", "--fail-on", "error"][..], &KNOWN].concat()).exits(0);
    place.on_examples(&["check", "--write-baseline", FILE]).exits(0);
    place.on_examples(&[&["check"][..], &KNOWN].concat()).exits(0);
}

#[test]
fn a_statement_that_has_become_worse_is_another() {
    for (rule, before, after) in [
        ("broad-root", "root \"/tmp\" read-only", "root \"/tmp\" read-write"),
        ("secret-in-env", "env { pass A_TOKEN }", "env { set A_TOKEN \"ghp_0123\" }"),
        ("unused-param", "param old \"x\"", "param old \"~/.ssh\""),
    ] {
        let place = Place::with("a.palisade", &format!("root \"$workspace\" read-only\n{before}"));
        assert!(rules(&place, &["--write-baseline", FILE]).is_empty(), "{rule}");
        assert!(place.read(FILE).contains(rule), "{}", place.read(FILE));
        place.profile("a.palisade", &format!("root \"$workspace\" read-only\n{after}"));
        let found = rules(&place, &KNOWN);
        assert!(found.iter().any(|it| it == rule), "{rule}: {found:?}");
        assert!(found.iter().any(|it| it == "stale-baseline"), "{rule}: {found:?}");
    }
}

#[test]
fn what_cannot_be_compiled_is_never_known() {
    let place = Place::with(
        "a.palisade",
        "root \"$workspace\" read-write\nroot \"$workspace/gone\" read-only\nparam unused \"x\"\n\
         unguard \"$workspace/palisade.toml\" because \"x\"",
    );
    let before = rules(&place, &[]);
    assert!(before.contains(&"writable-policy".to_owned()) && before.contains(&"missing-root".to_owned()));
    let ran = place.on_examples(&["check", "--write-baseline", FILE]).exits(1).says("cannot be left out");
    assert!(ran.out.contains("missing-root") && ran.out.contains("writable-policy"), "{}", ran.out);
    let text = place.read(FILE);
    assert!(text.contains("unused-param"));
    assert!(!text.contains("missing-root") && !text.contains("writable-policy"), "{text}");
    // Nor where it is written by hand, nor where settings make light of it.
    place.write("palisade.toml", "[rules]\nwritable-policy = \"warning\"\n");
    place.on_examples(&["check", "--write-baseline", FILE]).exits(1);
    assert!(!place.read(FILE).contains("writable-policy"));
}

#[test]
fn only_what_was_looked_at_is_called_stale() {
    let place = old();
    place.on_examples(&["check", "--write-baseline", FILE]).exits(0);
    for profile in ["policies/a.palisade", "policies/b.palisade"] {
        let ran = place.on_examples(&[&["check", profile][..], &KNOWN].concat()).exits(0);
        assert!(!ran.out.contains("stale-baseline"), "{}", ran.out);
    }
    // Of what is not understood, nothing else is known.
    let text = place.read("policies/a.palisade");
    place.write("policies/a.palisade", &text.replace("root", "rot"));
    let found = rules(&place, &KNOWN);
    assert!(
        found.contains(&"unknown-word".to_owned()) && !found.contains(&"stale-baseline".to_owned()),
        "{found:?}"
    );
    // What is gone needs no look.
    std::fs::remove_file(place.path.join("policies/a.palisade")).unwrap();
    let found = rules(&place, &KNOWN);
    assert_eq!(found.iter().filter(|it| *it == "stale-baseline").count(), 2, "{found:?}");
}

#[test]
fn one_made_on_other_machines_holds() {
    let place = old();
    let hosts = ["examples.yaml", "debian.yaml"].map(|name| {
        std::fs::copy(format!("{HOSTS}/{name}"), place.path.join(name)).unwrap();
        format!("--host={name}")
    });
    let [one, other] = hosts.each_ref().map(String::as_str);
    let found = |arguments: &[&str]| {
        let ran = place.run(&[&["check", "--fail-on", "warning"], arguments].concat());
        (ran.code, ran.out.contains("stale-baseline"))
    };
    for made_on in [&[one, other][..], &[one], &[other]] {
        let format = ["--format", "sarif"];
        let made = place.run(&[&["check", "--write-baseline", FILE], made_on, &format].concat());
        assert_eq!(made.code, 0, "{}", made.out);
        assert_eq!(found(&[made_on, &KNOWN].concat()), (0, false));
        // What one machine has not, is on the other.
        for on in [&[one][..], &[other], &[one, other], &[other, one]] {
            let (code, stale) = found(&[on, &KNOWN].concat());
            assert!(!stale, "made on {made_on:?}, checked on {on:?}");
            if on.iter().all(|host| made_on.contains(host)) {
                assert_eq!(code, 0, "made on {made_on:?}, checked on {on:?}");
            }
        }
    }
}

#[test]
fn it_does_not_matter_where_one_is_called_from() {
    let place = old();
    let host = format!("--host={HOSTS}/examples.yaml");
    let written = |directory: &str, file: &str| {
        let mut command = assert_cmd::Command::cargo_bin("palisade").unwrap();
        let policies = place.path.join("policies");
        command.current_dir(place.path.join(directory)).args(["check", policies.as_str(), &host]);
        assert_eq!(command.args(["--write-baseline", file]).output().unwrap().status.code(), Some(0));
        place.read(FILE)
    };
    let here = written(".", FILE);
    assert_eq!(written("policies", &format!("../{FILE}")), here);
    // Nor whether it is in a repository.
    std::fs::remove_dir(place.path.join(".git")).unwrap();
    assert_eq!(written("policies", &format!("../{FILE}")), here);
}

#[test]
fn the_settings_name_one_and_compile_knows_it_too() {
    let place = old();
    place.write(
        "palisade.toml",
        &format!("baseline = \"{FILE}\"\n[rules]\nunused-param = \"error\"\nabsurd-limit = \"off\"\n"),
    );
    place.on_examples(&["check"]).exits(2).says("--write-baseline");
    let written = place.on_examples(&["check", "--write-baseline", FILE]).exits(0);
    assert!(written.err.contains("(4 findings)"), "{}", written.err);
    place.on_examples(&["check"]).exits(0).says("4 left out");
    place.on_examples(&["check", "--no-baseline"]).exits(1).says("error[unused-param]");
    place.on_examples(&["compile", "policies/a.palisade"]).exits(0);
    place.profile("policies/a.palisade", "root \"$workspace\" read-only\nparam third \"x\"");
    place.on_examples(&["compile", "policies/a.palisade"]).exits(1).says("error[unused-param]");
    // What is off is known in vain.
    place.write("palisade.toml", &format!("baseline = \"{FILE}\"\n[rules]\nsecret-in-env = \"off\"\n"));
    place.on_examples(&["check", "policies/b.palisade"]).exits(1).says("`secret-in-env`");
}

#[test]
fn one_that_cannot_be_read_is_no_empty_one() {
    let place = old();
    for (name, text) in [
        ("foreign", "[package]\nname = \"x\"\n"),
        ("empty", ""),
        ("newer", "palisade-baseline = 2\nfindings = []\n"),
        ("conflict", "palisade-baseline = 1\n<<<<<<< ours\n"),
        ("without-count", "palisade-baseline = 1\n[[finding]]\nrule = \"unused-param\"\n"),
        ("unknown-key", "palisade-baseline = 1\nall = true\n"),
    ] {
        place.write(FILE, text);
        let ran = place.on_examples(&[&["check", "policies/a.palisade"][..], &KNOWN].concat()).exits(2);
        snapshot(&format!("baseline-{name}"), &place, &ran.err);
        // The findings are told of all the same.
        assert!(ran.out.contains("unused-param"), "{}", ran.out);
        place.write("palisade.toml", &format!("baseline = \"{FILE}\"\n"));
        place.on_examples(&["compile", "policies/a.palisade"]).exits(2);
        std::fs::remove_file(place.path.join("palisade.toml")).unwrap();
    }
    place.on_examples(&["check", "--baseline", "gone.toml"]).exits(2).says("gone.toml");
    place.on_examples(&["check", "--baseline", "policies"]).exits(2).says("directory");
    place.on_examples(&["check", "--baseline", FILE, "--write-baseline", "x"]).exits(2);
}

#[test]
fn nothing_else_is_written_over_and_nothing_half() {
    let place = old();
    for file in ["policies/a.palisade", "policies"] {
        place
            .on_examples(&["check", "--write-baseline", file])
            .exits(2)
            .says("something else than a baseline");
    }
    place.on_examples(&["check", "--write-baseline", "none/x.toml"]).exits(2).says("none/x.toml");
    std::fs::write(place.path.join("policies/latin.palisade"), b"\xe9").unwrap();
    place.on_examples(&["check", "--write-baseline", FILE]).exits(2).says("not everything could be checked");
    assert!(!place.exists(FILE));
    // One of another version is one.
    std::fs::remove_file(place.path.join("policies/latin.palisade")).unwrap();
    place.write(FILE, "palisade-baseline = 2\n");
    place.on_examples(&["check", "--write-baseline", FILE]).exits(0);
}

/// What a reviewer reads of an entry is what it leaves out.
#[test]
fn an_entry_that_says_something_else_leaves_out_nothing() {
    let place = old();
    place.on_examples(&["check", "--write-baseline", FILE]).exits(0);
    let text = place.read(FILE);
    for (from, to) in [
        ("rule = \"secret-in-env\"", "rule = \"unused-param\""),
        ("A_TOKEN", "TERM"),
        ("profiles = [\"policies/b.palisade\"]", "profiles = [\"policies/a.palisade\"]"),
    ] {
        assert!(text.contains(from), "{from}: {text}");
        place.write(FILE, &text.replace(from, to));
        let found = rules(&place, &KNOWN);
        assert!(found.contains(&"secret-in-env".to_owned()), "{to}: {found:?}");
    }
    // A profile that is new has not been known to use the fragment.
    place.write(FILE, &text);
    place.profile("policies/c.palisade", "use \"shared.palisade\"\nroot \"$workspace\" read-only");
    assert_eq!(rules(&place, &KNOWN), ["secret-in-env"]);
}

#[test]
fn what_a_message_only_counts_is_told_apart() {
    let place = Place::empty();
    std::fs::create_dir(place.path.join(".git")).unwrap();
    place.profile("p.palisade", "root \"$workspace\" read-only\nroot \"data\" read-only");
    for name in [".env", ".env.local", ".env.production", "id_rsa", "id_dsa", "id_ecdsa", "x.p12"] {
        place.write(&format!("data/{name}"), "secret");
    }
    let first = place.run(&check(&["--fail-on", "note"]));
    assert!(first.out.contains("[readable-secret]"), "{}", first.out);
    let known = ["--fail-on", "note", "--baseline", FILE];
    place.run(&["check", "--fail-on", "note", "--write-baseline", FILE]);
    assert_eq!(place.run(&check(&known)).out.matches("[readable-secret]").count(), 0);
    std::fs::rename(place.path.join("data/x.p12"), place.path.join("data/id_ed25519")).unwrap();
    let out = place.run(&check(&known)).out;
    assert!(out.contains("[readable-secret]") && out.contains("[stale-baseline]"), "{out}");
}

#[test]
fn a_parameter_with_another_default_makes_another_statement() {
    let place = Place::empty();
    std::fs::create_dir(place.path.join(".git")).unwrap();
    let profile = |default: &str| {
        format!("param w \"{default}\"\nroot \"$workspace\" read-only\nenv {{ set A_TOKEN \"$w/x\" }}")
    };
    place.profile("a.palisade", &profile("ws"));
    place.on_examples(&["check", "--fail-on", "note", "--write-baseline", FILE]).exits(0);
    let known = ["check", "--fail-on", "note", "--baseline", FILE];
    place.on_examples(&known).exits(0);
    place.profile("a.palisade", &profile(".."));
    place.on_examples(&known).exits(1).says("A_TOKEN");
}

#[test]
fn what_is_asked_on_the_command_line_is_a_part_of_what_is_known() {
    let place = Place::empty();
    std::fs::create_dir(place.path.join(".git")).unwrap();
    place
        .profile("a.palisade", "param w \"ws\"\nroot \"$workspace\" read-only\nenv { set A_TOKEN \"$w/x\" }");
    let check = |more: &[&str]| {
        let known = ["check", "--fail-on", "note", "--baseline", FILE];
        place.on_examples(&[&known[..], more].concat())
    };
    let write = ["check", "--fail-on", "note", "--write-baseline", FILE];
    place.on_examples(&[&write[..], &["--set", "w=one"]].concat()).exits(0);
    check(&["--set", "w=one"]).exits(0);
    check(&["--set", "w=two"]).exits(1).says("A_TOKEN");
    check(&[]).exits(1).says("A_TOKEN");
    // What is relative means another path in another workspace; the one that it has anyway may be stated.
    place.on_examples(&write).exits(0);
    check(&["--workspace", "/home/dev/project"]).exits(0);
    check(&["--workspace", "/home/dev"]).exits(1).says("A_TOKEN");
    check(&["--workspace", "."]).exits(1).says("A_TOKEN");
    // Of a directory of the repository, how it is called from the baseline.
    place.on_examples(&[&write[..], &["--workspace", "sub/x"]].concat());
    let text = place.read(FILE);
    assert!(text.contains("workspaces = [\"./sub/x\"]") && !text.contains(place.path.as_str()), "{text}");
}

#[test]
fn the_workspace_is_the_same_however_it_came_about_and_another_one_is_not() {
    let place = Place::empty();
    std::fs::create_dir(place.path.join(".git")).unwrap();
    place.profile(
        "a.palisade",
        "root \"$workspace\" read-only\nroot \"$workspace/gone\" read-only\nenv { pass A_TOKEN }",
    );
    place.write("sub/deep/x", "");
    std::os::unix::fs::symlink("sub", place.path.join("link")).unwrap();
    let at = |directory: &str, arguments: &[&str]| {
        let mut all = vec!["check", "--fail-on", "note", "--format=concise"];
        all.extend(arguments);
        place.run_at(directory, &all)
    };
    let root = place.path.as_str();
    at("", &["a.palisade", "--write-baseline", FILE]);
    let known = |directory: &str, up: &str, more: &[&str]| {
        let (profile, file) = (format!("{up}a.palisade"), format!("{up}{FILE}"));
        let shown = at(directory, &[&[&*profile, "--baseline", &*file], more].concat()).out;
        assert!(!shown.contains("[stale-baseline]"), "{directory} {more:?}: {shown}");
        !shown.contains("A_TOKEN")
    };
    assert!(known("", "", &[]));
    for (directory, up, more) in [
        ("", "", &["--workspace", "."][..]),
        ("", "", &["--workspace", root]),
        ("", "", &["--workspace", "sub/.."]),
        ("sub", "../", &["--workspace", ".."]),
        ("sub/deep", "../../", &["--workspace", "../.."]),
        ("sub", "../", &["--workspace", root]),
    ] {
        assert!(known(directory, up, more), "{directory} {more:?}");
    }
    for (directory, up, more) in
        [("sub", "../", &[][..]), ("", "", &["--workspace", "sub"]), ("", "", &["--workspace", "/"])]
    {
        assert!(!known(directory, up, more), "{directory} {more:?}");
    }
    // The other way around, and by another name of the directory.
    at("sub", &["../a.palisade", "--write-baseline", &format!("../{FILE}")]);
    assert!(place.read(FILE).contains("workspaces = [\"sub\"]"), "{}", place.read(FILE));
    assert!(known("sub", "../", &[]));
    assert!(known("", "", &["--workspace", "sub"]));
    assert!(!known("", "", &[]));
}

#[test]
fn a_parameter_that_is_set_to_its_default_is_the_same_statement() {
    let place = Place::empty();
    std::fs::create_dir(place.path.join(".git")).unwrap();
    place.profile(
        "a.palisade",
        "param w \"ws\"\nparam v \"$workspace\"\nroot \"$workspace\" read-only\nenv { set A_TOKEN \"$w/x\"; set B_TOKEN \"$v\" }",
    );
    place.on_examples(&["check", "--fail-on", "note", "--write-baseline", FILE]).exits(0);
    let check = |set: &[&str]| {
        place.on_examples(&[&["check", "--fail-on", "note", "--baseline", FILE][..], set].concat())
    };
    check(&["--set", "w=ws"]).exits(0);
    check(&["--set", "w=ws "]).exits(1).says("A_TOKEN");
    check(&["--set", "w="]).exits(1).says("A_TOKEN");
    // Written so, and checked without.
    place.on_examples(&["check", "--fail-on", "note", "--write-baseline", FILE, "--set", "w=ws"]).exits(0);
    check(&[]).exits(0);
}
