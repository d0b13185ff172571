//! `palisade.toml`: where it is found, what it says, and what it must never do.

use crate::{HOSTS, Place, Ran, snapshot};

/// A note, a warning that can be allowed, and no error.
const UNUSED: &str = "root \"$workspace\" read-only\nparam unused \"x\"";

fn repository() -> Place {
    let place = Place::with("policies/a.palisade", UNUSED);
    std::fs::create_dir(place.path.join(".git")).unwrap();
    place
}

fn in_directory(place: &Place, directory: &str, arguments: &[&str]) -> Ran {
    let host = format!("--host={HOSTS}/examples.yaml");
    let mut command = assert_cmd::Command::cargo_bin("palisade").unwrap();
    command.current_dir(place.path.join(directory)).args(arguments).arg(host).env("HOME", "/home/dev");
    Ran::of(command.timeout(std::time::Duration::from_secs(60)).output().unwrap())
}

#[test]
fn common_mistakes_are_told_of_at_their_place() {
    let place = repository();
    for (name, text) in [
        ("misspelt-key", "fail_on = \"error\"\n"),
        ("unknown-key", "severity = \"error\"\n"),
        ("rule-at-the-top", "broad-root = \"off\"\n"),
        ("unknown-severity", "[rules]\nbroad-root = \"ignore\"\n"),
        ("misspelt-rule", "[rules]\nunused-params = \"off\"\n"),
        ("lowered-error", "[rules]\nmissing-root = \"warning\"\nunknown-rule = \"off\"\nsyntax = \"note\"\n"),
        ("wrong-type", "hosts = \"hosts/*.yaml\"\n\n[rules]\nbroad-root = false\n"),
        ("no-toml", "fail-on = error\n[rules\n"),
        ("override-as-a-table", "[overrides]\npaths = [\"legacy/**\"]\n"),
        ("override-without-paths", "[[overrides]]\nrules = { broad-root = \"off\" }\n"),
        ("pattern-out-of-the-tree", "exclude = [\"vendor/**\", \"../other/**\"]\n"),
        ("repeated-key", "fail-on = \"note\"\nfail-on = \"error\"\n"),
        ("pages-of-no-rule", "rule-pages = \"https://example.com/rules\"\n"),
        ("rule-of-another-verb", "[rules]\nno-sandbox = \"error\"\n"),
    ] {
        place.write("palisade.toml", text);
        let ran = place.on_examples(&["check"]).exits(2);
        assert_eq!(ran.out, "", "{name}");
        snapshot(&format!("settings-{name}"), &place, &ran.err);
        // No other verb goes on without them either.
        place.on_examples(&["compile", "policies/a.palisade"]).exits(2);
        place.on_examples(&["why", "read", "x", "-p", "policies/a.palisade"]).exits(2);
        place.run(&["run", "policies/a.palisade", "--", "true"]).exits(125);
        assert!(!place.exists("policies/a.manifest.yaml"));
        place.on_examples(&["check", "--no-config"]).exits(1);
    }
}

#[test]
fn reports_link_to_the_pages_of_rules() {
    let place = repository();
    let uri = || {
        let sarif: serde_json::Value =
            serde_json::from_str(&place.on_examples(&["check", "--format=sarif"]).exits(1).out).unwrap();
        sarif["runs"][0]["tool"]["driver"]["rules"][0].clone()
    };
    let page = "https://example.com/rules/{rule}.html";
    place.write("palisade.toml", &format!("rule-pages = \"{page}\"\n"));
    let rule = uri();
    assert_eq!(rule["helpUri"], page.replace("{rule}", rule["id"].as_str().unwrap()));
    // What a terminal would take for more than text, or what a viewer would run.
    for hostile in [
        "https://example.com/{rule}\\u001b[2J",
        "javascript:{rule}",
        "https://example.com/ {rule}",
        "https://example.com/{rule}/{rule}",
        "https://example.com/{rule}{",
        "https://example.com/}{rule}",
        "https://example.com/<{rule}>",
        "https://example.com/{rule}\\\"x",
        "https://example.com\\\\{rule}",
    ] {
        place.write("palisade.toml", &format!("rule-pages = \"{hostile}\"\n"));
        place.on_examples(&["check"]).exits(2);
    }
}

#[test]
fn what_is_wrong_with_them_is_in_every_format() {
    let place = repository();
    place.write("palisade.toml", "# é\nfail_on = \"error\"\n");
    let schema: serde_json::Value =
        serde_json::from_str(include_str!("../../docs/schemas/findings-1.json")).unwrap();
    let schema = jsonschema::validator_for(&schema).unwrap();
    let ran = |format| place.on_examples(&["check", "--format", format]).exits(2).out;
    let json: serde_json::Value = serde_json::from_str(&ran("json")).unwrap();
    assert!(schema.is_valid(&json), "{json}");
    let place_of = &json["problems"][0]["place"];
    assert_eq!((&place_of["uri"], &place_of["start"]["line"]), (&"palisade.toml".into(), &2.into()));
    let sarif: serde_json::Value = serde_json::from_str(&ran("sarif")).unwrap();
    let notification = &sarif["runs"][0]["invocations"][0]["toolExecutionNotifications"][0];
    let place_of = &notification["locations"][0]["physicalLocation"];
    assert_eq!(place_of["artifactLocation"]["uri"], "palisade.toml");
    assert_eq!(place_of["region"]["startLine"], 2);
    assert!(ran("github").starts_with("::error file=palisade.toml,line=2,endLine=2,col=1,endColumn=8,"));
    assert!(ran("junit").contains("palisade.toml:2:1: there is no key `fail_on`"));
}

#[test]
fn the_nearest_upwards_is_taken_up_to_the_root_of_the_repository() {
    let place = repository();
    place.on_examples(&["check"]).exits(1);
    place.write("palisade.toml", "[rules]\nunused-param = \"off\"\n");
    place.on_examples(&["check"]).exits(0).says("settings of palisade.toml");
    in_directory(&place, "policies", &["check"]).exits(0).says("settings of ../palisade.toml");
    in_directory(&place, "policies", &["check", "--isolated"]).exits(1);
    place.write("other.toml", "fail-on = \"error\"\n");
    place.on_examples(&["check", "--config", "other.toml"]).exits(0).says("unused-param");
    place.on_examples(&["check", "--config", "gone.toml"]).exits(2).says("gone.toml");
    place.on_examples(&["check", "--config", "x", "--no-config"]).exits(2);
    // Beyond the root nothing is looked for.
    std::fs::create_dir(place.path.join("policies/.git")).unwrap();
    in_directory(&place, "policies", &["check"]).exits(1);
}

/// What a profile restrains may write below the root, and would be the nearest.
#[test]
fn a_second_one_below_is_refused() {
    let place = repository();
    place.write("palisade.toml", "");
    place.write("policies/palisade.toml", "[rules]\nunused-param = \"off\"\n");
    let ran = in_directory(&place, "policies", &["check"]).exits(2);
    snapshot("settings-twice", &place, &ran.err);
    in_directory(&place, "policies", &["check", "--config", "../palisade.toml"]).exits(1);
    in_directory(&place, ".", &["check"]).exits(1);
}

#[test]
fn a_link_that_leads_nowhere_is_not_no_settings() {
    let place = repository();
    std::os::unix::fs::symlink("gone", place.path.join("palisade.toml")).unwrap();
    place.on_examples(&["check"]).exits(2).says("palisade.toml");
}

#[test]
fn the_severity_is_what_is_shown_and_what_the_exit_follows() {
    let place = repository();
    let level = |arguments: &[&str]| {
        let ran = place.on_examples(&[&["check", "--format", "sarif"], arguments].concat());
        let sarif: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
        let results = sarif["runs"][0]["results"].as_array().unwrap().clone();
        let of_rule = results.iter().find(|it| it["ruleId"] == "unused-param");
        (ran.code, of_rule.map(|it| it["level"].as_str().unwrap().to_owned()))
    };
    let expect = |code, level: &str| (code, Some(level.to_owned()));
    assert_eq!(level(&[]), expect(1, "warning"));
    for (setting, expected) in [("error", 1), ("warning", 1), ("note", 0)] {
        place.write("palisade.toml", &format!("[rules]\nunused-param = \"{setting}\"\n"));
        assert_eq!(level(&[]), expect(expected, setting));
        let ran = place.on_examples(&["check", "--format", "concise"]);
        assert!(ran.out.contains(&format!(" {setting}[unused-param]")), "{}", ran.out);
    }
    place.write("palisade.toml", "[rules]\nunused-param = \"off\"\n");
    assert_eq!(level(&[]), (0, None));
    assert_eq!(level(&["--rule", "unused-param=error"]), expect(1, "error"));
    assert_eq!(level(&["--no-config", "--rule", "unused-param=off"]), (0, None));
    place.write("palisade.toml", "fail-on = \"error\"\nformat = \"concise\"\n");
    assert_eq!(level(&[]), expect(0, "warning"));
    assert_eq!(level(&["--fail-on", "warning"]), expect(1, "warning"));
    let ran = place.on_examples(&["check"]).exits(0);
    assert!(ran.out.lines().any(|line| line.starts_with("policies/a.palisade:4:")), "{}", ran.out);
}

#[test]
fn the_command_line_is_held_to_the_same() {
    let place = repository();
    for (rule, said) in [
        ("unused-params=off", "the nearest is `unused-param`"),
        ("unused-param=of", "the nearest is `off`"),
        ("missing-root=note", "cannot be lowered"),
        ("unused-param", "NAME=VALUE"),
    ] {
        place.on_examples(&["check", "--rule", rule]).exits(2).says(said);
    }
    let twice = ["check", "--rule", "unused-param=off", "--rule", "unused-param=note"];
    place.on_examples(&twice).exits(2).says("given twice");
}

#[test]
fn overrides_hold_for_their_files_and_the_last_counts() {
    let place = repository();
    place.profile("legacy/b.palisade", UNUSED);
    place.profile("legacy/new/c.palisade", UNUSED);
    let rules = || -> Vec<String> {
        let out = place.on_examples(&["check", "--format", "concise", "--fail-on", "error"]).out;
        let unused = out.lines().filter(|line| line.contains("unused-param"));
        unused.map(|line| line.split(':').next().unwrap().to_owned()).collect()
    };
    assert_eq!(rules().len(), 3);
    place.write(
        "palisade.toml",
        "[[overrides]]\npaths = [\"legacy\"]\nrules.unused-param = \"off\"\n\
         [[overrides]]\npaths = [\"**/new/*.palisade\"]\nrules.unused-param = \"warning\"\n",
    );
    assert_eq!(rules(), ["legacy/new/c.palisade", "policies/a.palisade"]);
}

#[test]
fn what_is_excluded_is_counted_and_checked_where_it_is_named() {
    let place = repository();
    place.profile("vendor/b.palisade", "root \"$workspace/gone\" read-only");
    place.write("palisade.toml", "exclude = [\"vendor\"]\nfail-on = \"error\"\n");
    place.on_examples(&["check"]).exits(0).says("which excludes 1 profile");
    place.on_examples(&["check", "vendor/b.palisade"]).exits(1).says("missing-root");
    place.on_examples(&["check", "vendor"]).exits(2).says("no profile is left");
    place.on_examples(&["check", "--no-config"]).exits(1);
}

#[test]
fn hosts_are_relative_to_the_file_and_the_command_line_beats_them() {
    let place = repository();
    std::fs::create_dir(place.path.join("hosts")).unwrap();
    for name in ["examples.yaml", "mac.yaml"] {
        std::fs::copy(format!("{HOSTS}/{name}"), place.path.join("hosts").join(name)).unwrap();
    }
    place.write("palisade.toml", "hosts = [\"hosts/*.yaml\"]\nformat = \"json\"\n");
    let hosts = |directory: &str, arguments: &[&str]| {
        let mut command = assert_cmd::Command::cargo_bin("palisade").unwrap();
        command.current_dir(place.path.join(directory)).arg("check").args(arguments);
        let json: serde_json::Value = serde_json::from_slice(&command.output().unwrap().stdout).unwrap();
        json["hosts"].as_array().unwrap().iter().map(|it| it.as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(hosts(".", &[]), ["hosts/examples.yaml", "hosts/mac.yaml"]);
    assert_eq!(hosts("policies", &[]), ["../hosts/examples.yaml", "../hosts/mac.yaml"]);
    assert_eq!(hosts("policies", &["--host", "../hosts/mac.yaml"]), ["../hosts/mac.yaml"]);
    place.write("palisade.toml", "hosts = [\"none/*.yaml\"]\n");
    place.run(&["check"]).exits(2).says("no file matches `hosts = none/*.yaml`");
}

#[test]
fn compiling_never_takes_less_than_an_error_for_one() {
    let place = Place::with(
        "a.palisade",
        "root \"$workspace\" read-write\nunguard \"$workspace/palisade.toml\" because \"x\"",
    );
    let compile = |arguments: &[&str]| place.on_examples(&[&["compile", "a.palisade"], arguments].concat());
    compile(&[]).exits(1).says("error[writable-policy]");
    place.write("palisade.toml", "[rules]\nwritable-policy = \"off\"\n");
    place.on_examples(&["check", "--format", "concise"]).exits(0);
    compile(&[]).exits(1).says("error[writable-policy]");
    compile(&["--rule", "writable-policy=note"]).exits(1).says("error[writable-policy]");
    place.run(&["run", "a.palisade", "--", "true"]).exits(125).says("error[writable-policy]");
    assert!(!place.exists("a.manifest.yaml"));
}

#[test]
fn compiling_shows_the_severities_and_refuses_what_was_raised_to_an_error() {
    let place = Place::with("a.palisade", UNUSED);
    let compile = |arguments: &[&str]| place.on_examples(&[&["compile", "a.palisade"], arguments].concat());
    compile(&[]).exits(0).says("warning[unused-param]");
    // A file's `fail-on` is that of `check`.
    place.write("palisade.toml", "fail-on = \"note\"\n[rules]\nunused-param = \"off\"\n");
    let ran = compile(&[]).exits(0);
    assert!(!ran.err.contains("unused-param"), "{}", ran.err);
    place.write("palisade.toml", "[rules]\nunused-param = \"error\"\n");
    compile(&[]).exits(1).says("error[unused-param]").says("nothing was compiled");
    place.run(&["run", "a.palisade", "--", "true"]).exits(125).says("error[unused-param]");
    compile(&["--rule", "unused-param=note"]).exits(0);
}

#[test]
fn settings_baseline_and_hosts_are_guarded_in_a_writable_root() {
    let place = Place::with("deep/policies/a.palisade", "root \"$workspace\" read-write");
    std::fs::create_dir(place.path.join("deep/.git")).unwrap();
    let denied = |directory: &str, path: &str, flags: &[&str]| {
        let mut command = assert_cmd::Command::cargo_bin("palisade").unwrap();
        let profile = place.path.join("deep/policies/a.palisade");
        command.current_dir(place.path.join(directory)).args(["why", "write", path, "-p", profile.as_str()]);
        command.args(["--workspace", place.path.as_str()]).args(flags);
        let output = command.output().unwrap();
        String::from_utf8(output.stdout).unwrap().starts_with("denied")
    };
    // A directory that holds only policies is kept as a whole; with something else in it, it is not.
    assert!(denied("deep", "deep/policies/palisade-baseline.toml", &[]));
    place.write("deep/policies/notes.txt", "");
    for name in
        ["deep/palisade.toml", "deep/known.toml", "deep/hosts/x.yaml", "deep/policies/palisade-baseline.toml"]
    {
        assert!(!denied("deep", name, &[]), "{name}");
    }
    place.write("deep/hosts/x.yaml", "");
    place.write("deep/known.toml", "palisade-baseline = 1\n");
    place.write("deep/policies/palisade-baseline.toml", "palisade-baseline = 1\n");
    place.write("deep/palisade.toml", "baseline = \"known.toml\"\nhosts = [\"hosts/*.yaml\"]\n");
    for name in
        ["deep/palisade.toml", "deep/known.toml", "deep/hosts/x.yaml", "deep/policies/palisade-baseline.toml"]
    {
        assert!(denied("deep", name, &[]), "{name}");
    }
    // Wherever it is called from, and whatever is said there.
    assert!(denied("", "deep/palisade.toml", &["--no-config"]));
    assert!(!denied("", "deep/palisade.tom", &[]));
    // At the top of a root it is guarded before it is there.
    assert!(denied("", "palisade.toml", &[]));
}
