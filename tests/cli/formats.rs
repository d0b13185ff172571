//! `check` in every format: what each prints of the same profiles, and what must not hang on the format.

use crate::{HOSTS, Place, Ran, snapshot};
use serde_json::Value;

pub const FORMATS: [&str; 6] = ["human", "concise", "json", "sarif", "github", "junit"];

/// One profile that is clean, two with errors that share a fragment, which has one too, and one that is no text. Line ends are those of Windows in one
/// of them.
fn project() -> Place {
    let place = Place::empty();
    place.profile(
        "policies/clean.palisade",
        "root \"$workspace\" read-only\nroot \"$workspace/review\" read-write",
    );
    place.write(
        "policies/errors.palisade",
        "edition 1\r\nprofile \"errors\" {\r\n    use \"shared.palisade\"\r\n    root \"$workspace\" read-only # é😀\r\n    \
         param unused \"x\"; root \"$workspace/gön\" read-only\r\n\ttools gti\r\n    \
         expect { read \"$workspace/src\" denied }\r\n}\r\n",
    );
    place.profile("policies/second.palisade", "use \"shared.palisade\"\nroot \"$workspace\" read-only");
    place.write(
        "policies/shared.palisade",
        "edition 1\nfragment \"shared\" {\n    root \"$workspace/gone\" read-only\n}\n",
    );
    std::fs::write(place.path.join("policies/latin.palisade"), b"edition 1\nprofile \"\xe9\" {}\n").unwrap();
    // The root of the repository is above.
    std::fs::create_dir(place.path.join(".git")).unwrap();
    place
}

/// Without what changes with the version, and with what the rules say of themselves.
fn steady(text: &str) -> String {
    let text =
        text.replace(HOSTS, "/hosts").replace(&format!("\"{}\"", env!("CARGO_PKG_VERSION")), "\"VERSION\"");
    let mut before = "";
    let mut lines = Vec::new();
    for line in text.lines() {
        let is_of_a_rule = ["\"help\": {", "Description\": {", "\"text\": \""];
        let (indent, trimmed) = line.split_at(line.len() - line.trim_start().len());
        let of_rule = is_of_a_rule.iter().any(|start| before.contains(start)) && !before.contains("message");
        match trimmed.split_once(": \"") {
            Some((name @ ("\"text\"" | "\"markdown\""), _)) if of_rule => {
                let comma = if line.ends_with(',') { "," } else { "" };
                lines.push(format!("{indent}{name}: \"…\"{comma}"));
            }
            _ => lines.push(line.to_owned()),
        }
        before = line;
    }
    lines.join("\n")
}

#[test]
fn each_format_of_the_same_profiles() {
    let place = project();
    for format in FORMATS {
        let ran = place.on_examples(&["check", "policies", "--format", format]).exits(2);
        assert_eq!(ran.err.lines().count(), 1, "{}", ran.err);
        snapshot(&format!("format-{format}"), &place, &steady(&ran.out));
    }
}

/// Fails where the document is not whole, or something else is printed.
#[track_caller]
fn document(format: &str, ran: &Ran) -> Option<Value> {
    match format {
        "json" | "sarif" => Some(serde_json::from_str(&ran.out).expect("one JSON document")),
        "junit" => {
            let mut reader = quick_xml::Reader::from_str(&ran.out);
            reader.config_mut().check_end_names = true;
            let mut roots = 0;
            loop {
                match reader.read_event().expect("well-formed XML") {
                    quick_xml::events::Event::Start(tag) if tag.name().as_ref() == "testsuites" => roots += 1,
                    quick_xml::events::Event::Empty(tag) if tag.name().as_ref() == "testsuites" => roots += 1,
                    quick_xml::events::Event::Eof => break,
                    _ => {}
                }
            }
            assert_eq!(roots, 1, "{}", ran.out);
            None
        }
        "github" => {
            assert!(ran.out.lines().all(|line| line.starts_with("::")), "{}", ran.out);
            None
        }
        _ => None,
    }
}

#[test]
fn neither_the_exit_nor_what_else_is_printed_hangs_on_the_format() {
    let place = project();
    place.profile("warns.palisade", "root \"$workspace\" read-only\nparam unused \"x\"");
    place.write("bad-host.yaml", "nothing");
    std::fs::create_dir(place.path.join("empty")).unwrap();
    let schema: Value =
        serde_json::from_str(include_str!("../../docs/schemas/findings-1.json")).expect("the schema is JSON");
    let schema = jsonschema::validator_for(&schema).expect("the schema is one");
    let good_host = format!("--host={HOSTS}/examples.yaml");
    let mac = format!("--host={HOSTS}/mac.yaml");
    let host = good_host.as_str();
    for (arguments, code) in [
        (&["check", "policies/clean.palisade", host][..], 0),
        (&["check", "warns.palisade", host], 1),
        (&["check", "warns.palisade", host, "--fail-on", "error"], 0),
        (&["check", "warns.palisade", host, "--fail-on", "note"], 1),
        (&["check", "policies/errors.palisade", host], 1),
        (&["check", "policies/errors.palisade", host, &mac], 1),
        (&["check", "policies", host], 2),
        (&["check", "gone.palisade", host], 2),
        (&["check", "gone.palisade", "warns.palisade", host], 2),
        (&["check", "empty", host], 2),
        (&["check", "warns.palisade", "--host", "bad-host.yaml"], 2),
        (&["check", "warns.palisade", "--host", "gone.yaml", host], 2),
        (&["check", "warns.palisade", "--host", "no-*.yaml"], 2),
        (&["check", "warns.palisade", host, "--set", "a=b", "--set", "a=c"], 2),
        (&["check", "-", host], 1),
        (&["check", "warns.palisade", "--target", "macos", host], 1),
    ] {
        let mut said = None;
        for format in FORMATS {
            let ran = place.run_with(&[arguments, &["--format", format]].concat(), "edition 1\nprofile {");
            assert_eq!(ran.code, code, "{arguments:?} {format}\n{}\n{}", ran.out, ran.err);
            assert_eq!(*said.get_or_insert(ran.err.clone()), ran.err, "{arguments:?} {format}");
            let document = document(format, &ran);
            match (format, document) {
                ("json", Some(document)) => {
                    let errors: Vec<String> =
                        schema.iter_errors(&document).map(|error| error.to_string()).collect();
                    assert!(errors.is_empty(), "{arguments:?}: {errors:?}");
                    let has = |field: &str| !document[field].as_array().unwrap().is_empty();
                    assert_eq!(has("problems"), code == 2, "{arguments:?}");
                    let failing = document["summary"]["failing"] != 0;
                    assert!(code == 2 || failing == (code == 1), "{arguments:?}");
                }
                ("sarif", Some(document)) => {
                    let run = &document["runs"][0];
                    let invocation = &run["invocations"][0];
                    assert_eq!(invocation["executionSuccessful"], code != 2, "{arguments:?}");
                    assert!(code == 2 || invocation["toolExecutionNotifications"].is_null(), "{arguments:?}");
                    assert!(run["results"].is_array());
                }
                ("github", _) => {
                    assert!(code != 2 || ran.out.contains("title=unreadable input"), "{arguments:?}")
                }
                ("junit", _) => assert_eq!(ran.out.contains("<error "), code == 2, "{arguments:?}"),
                _ => {}
            }
        }
    }
}

#[test]
fn findings_are_grouped_by_the_hosts_that_agree() {
    let place = Place::empty();
    place.profile(
        "a.palisade",
        "param unused \"x\"\nroot \"$workspace/gone\" read-only\ntools git apt-get\nworking-directory \"$workspace\"",
    );
    let hosts = [format!("{HOSTS}/examples.yaml"), format!("{HOSTS}/mac.yaml")];
    let check =
        |arguments: &[&str]| place.run(&[&["check", "a.palisade", "--format", "json"], arguments].concat());
    let one_after_another = check(&["--host", &hosts[0], "--host", &hosts[1]]);
    // As a shell spells a pattern out, and as the program does.
    assert_eq!(check(&["--host", &hosts[0], &hosts[1]]).out, one_after_another.out);
    let pattern = format!("{HOSTS}/{{examples,mac}}.yaml");
    assert_eq!(check(&["--host", &pattern]).out, one_after_another.out);
    let document: Value = serde_json::from_str(&one_after_another.out).unwrap();
    let of = |rule: &str| -> Vec<(usize, String)> {
        let findings = document["findings"].as_array().unwrap().iter();
        let found = findings.filter(|finding| finding["rule"] == rule);
        found
            .map(|it| (it["hosts"].as_array().unwrap().len(), it["message"].as_str().unwrap().to_owned()))
            .collect()
    };
    assert_eq!(of("unused-param"), [(2, "the parameter `unused` is not used".to_owned())]);
    // Each has its own paths, and they agree all the same.
    assert_eq!(of("missing-root"), [(2, "the root `$workspace/gone` does not exist".to_owned())]);
    // One of them has no such tool.
    let missing = of("missing-tool");
    assert!(missing.iter().any(|(hosts, message)| *hosts == 1 && message.contains("apt-get")), "{missing:?}");
    let human = place.run(&["check", "a.palisade", "--host", &hosts[0], &hosts[1]]).exits(1).out;
    assert!(human.contains("on 2 hosts") && human.contains("only on "), "{human}");
    let junit = place.run(&["check", "a.palisade", "--format", "junit", "--host", &hosts[0], &hosts[1]]).out;
    assert_eq!(junit.matches("<testsuite ").count(), 2, "{junit}");
    assert_eq!(junit.matches("<testcase ").count(), 2, "{junit}");
}

#[test]
fn the_order_does_not_hang_on_which_thread_was_first() {
    let place = project();
    for number in 0..40 {
        place.profile(
            &format!("many/{number}.palisade"),
            &format!("use \"../policies/shared.palisade\"\nroot \"$workspace/{number}\" read-only\nparam p{number} \"x\""),
        );
    }
    let run = |threads: &str| {
        let mut command = assert_cmd::Command::cargo_bin("palisade").unwrap();
        command.current_dir(&place.path).env("RAYON_NUM_THREADS", threads);
        command.args(["check", "many", "--format", "json", "--host"]).arg(format!("{HOSTS}/examples.yaml"));
        String::from_utf8(command.output().unwrap().stdout).unwrap()
    };
    let alone = run("1");
    let document: Value = serde_json::from_str(&alone).unwrap();
    assert_eq!(document["profiles"].as_array().unwrap().len(), 40);
    // What is wrong in the fragment is said once, of all forty.
    let findings = document["findings"].as_array().unwrap();
    let of_fragment: Vec<_> =
        findings.iter().filter(|it| it["labels"][0]["uri"] == "policies/shared.palisade").collect();
    assert_eq!(of_fragment.len(), 1);
    assert_eq!(of_fragment[0]["profiles"].as_array().unwrap().len(), 40);
    for _ in 0..3 {
        assert_eq!(run("4"), alone);
    }
}

#[test]
fn paths_are_those_of_the_repository_wherever_one_stands() {
    let place = project();
    let uri = |directory: &str, path: &str| {
        let mut command = assert_cmd::Command::cargo_bin("palisade").unwrap();
        command.current_dir(place.path.join(directory));
        command.args(["check", path, "--format", "sarif", "--host"]).arg(format!("{HOSTS}/examples.yaml"));
        let document: Value = serde_json::from_slice(&command.output().unwrap().stdout).unwrap();
        let location = document["runs"][0]["artifacts"][0]["location"].clone();
        (location["uri"].as_str().unwrap().to_owned(), location["uriBaseId"].is_string())
    };
    let below = ("policies/errors.palisade".to_owned(), true);
    assert_eq!(uri(".", "policies/errors.palisade"), below);
    assert_eq!(uri("policies", "errors.palisade"), below);
    assert_eq!(uri("policies", "../policies/./errors.palisade"), below);
    let outside = Place::with("x y.palisade", "root \"$workspace\" read-only");
    let found = uri(".", outside.path.join("x y.palisade").as_str());
    assert_eq!(found, (format!("file://{}/x%20y.palisade", outside.path), false));
}

#[test]
fn what_is_passed_over_is_what_nobody_writes() {
    let place = Place::empty();
    for name in [
        "a",
        ".agents/b",
        "node_modules/c",
        "x/.git/d",
        "target/e",
        "policies/target/f",
        "policies/g",
        ".hg/h",
    ] {
        place.profile(&format!("{name}.palisade"), "root \"$workspace\" read-only");
    }
    place.write("Cargo.toml", "");
    let names = |path: &[&str]| -> Vec<String> {
        let ran = place.on_examples(&[&["check", "--format", "json"], path].concat());
        let document: Value = serde_json::from_str(&ran.out).unwrap();
        let profiles = document["profiles"].as_array().unwrap().clone();
        profiles.iter().map(|profile| profile["name"].as_str().unwrap().to_owned()).collect()
    };
    let all = [".agents/b.palisade", "a.palisade", "policies/g.palisade", "policies/target/f.palisade"];
    assert_eq!(names(&[]), all);
    assert_eq!(names(&[".", "./a.palisade"]), all);
    assert_eq!(names(&["node_modules"]), ["node_modules/c.palisade"]);
}

/// A file system of a Mac holds no such name.
#[cfg(target_os = "linux")]
#[test]
fn a_name_that_is_no_text_is_told_of_and_keeps_its_bytes() {
    use std::os::unix::ffi::OsStrExt as _;
    let place = Place::with("good.palisade", "root \"$workspace\" read-only");
    let name = std::ffi::OsStr::from_bytes(b"\xff,\n::x.palisade");
    std::fs::write(place.path.as_std_path().join(name), "edition 1").unwrap();
    for format in FORMATS {
        let ran = place.on_examples(&["check", ".", "--format", format]).exits(2);
        let document = document(format, &ran);
        if let ("sarif", Some(document)) = (format, document) {
            let location =
                &document["runs"][0]["invocations"][0]["toolExecutionNotifications"][0]["locations"][0];
            let uri = &location["physicalLocation"]["artifactLocation"]["uri"];
            assert_eq!(uri, "%FF%2C%0A%3A%3Ax.palisade");
            assert_eq!(document["runs"][0]["artifacts"][0]["location"]["uri"], "good.palisade");
        }
    }
    // Given by name too.
    let mut command = assert_cmd::Command::cargo_bin("palisade").unwrap();
    let output =
        command.current_dir(&place.path).arg("check").arg(name).args(["--format", "json"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["problems"][0]["uri"], "%FF%2C%0A%3A%3Ax.palisade");
}

#[test]
fn a_hostile_name_is_one_line_and_one_place() {
    let place = Place::empty();
    let name = "::error::x\n%0A,a=\u{1b}]]><b>&\".palisade";
    place.write(name, "edition 1\nprofile \"x\" {\n    root \"$workspace/gone\" read-only\n}\n");
    for format in FORMATS {
        let ran = place.on_examples(&["check", name, "--format", format]).exits(1);
        let document = document(format, &ran);
        assert!(!ran.out.contains('\u{1b}'), "{format}");
        match (format, document) {
            ("github", _) => {
                let file = "file=%3A%3Aerror%3A%3Ax%0A%250A%2Ca=\\u{1b}]]><b>&\".palisade,line=";
                assert!(ran.out.lines().all(|line| line.contains(file)), "{}", ran.out);
            }
            ("concise", _) => {
                assert!(ran.out.lines().all(|line| line.starts_with("./::error::x\\n")), "{}", ran.out)
            }
            ("sarif", Some(document)) => assert_eq!(
                document["runs"][0]["artifacts"][0]["location"]["uri"],
                "%3A%3Aerror%3A%3Ax%0A%250A%2Ca%3D%1B%5D%5D%3E%3Cb%3E%26%22.palisade"
            ),
            ("json", Some(document)) => assert_eq!(document["profiles"][0]["name"], name),
            _ => {}
        }
    }
}

#[test]
fn sb_check_has_the_same_formats() {
    let place = Place::empty();
    place.write("x.sb", "(version 1)\n(deny default)\n(allow file-read* (subpath \"/tmp\"))\n");
    place.write("clean.sb", "(version 1)\n(allow default)\n(deny mach-lookup (global-name \"x\"))\n");
    let schema: Value = serde_json::from_str(include_str!("../../docs/schemas/findings-1.json")).unwrap();
    let schema = jsonschema::validator_for(&schema).unwrap();
    for (arguments, code) in
        [(&["x.sb", "clean.sb"][..], 1), (&["clean.sb", "--fail-on", "error"], 0), (&["gone.sb", "x.sb"], 2)]
    {
        for format in FORMATS {
            let ran = place.run(&[&["sb", "check", "--format", format], arguments].concat());
            assert_eq!(ran.code, code, "{arguments:?} {format}\n{}\n{}", ran.out, ran.err);
            let document = document(format, &ran);
            if let ("json", Some(document)) = (format, document) {
                assert_eq!(document["command"], "sb check");
                assert!(schema.is_valid(&document));
            }
        }
    }
}

#[test]
fn the_command_line_is_there_as_completions_and_as_manual_pages() {
    let place = Place::empty();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = place.run(&["completions", shell]).exits(0).out;
        assert!(script.contains("fail-on") && script.contains("sb"), "{shell}");
    }
    place.run(&["completions", "ksh"]).exits(2);
    assert!(place.run(&["man"]).exits(0).out.contains(".TH palisade 1"));
    place.run(&["man", "gone"]).exits(2).says("gone");
    std::fs::create_dir(place.path.join("man1")).unwrap();
    place.run(&["man", "man1"]).exits(0);
    for page in ["palisade.1", "palisade-check.1", "palisade-host-record.1", "palisade-sb-why.1"] {
        assert!(place.read(&format!("man1/{page}")).contains(".TH "), "{page}");
    }
    assert!(place.read("man1/palisade-check.1").contains("junit"));
}
