//! `--report`: what the record of a run says, for every end, and that the command cannot get at it.

use super::raw::with_mount;
use crate::limits::wait_for;
use crate::suite::{Scenario, show};
use crate::world::{PROGRAMS, World};
use palisade::plan::{Presence, Protection};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::process::{Output, Stdio};

/// Runs something with a record, which stands outside every root.
fn recorded(world: &World, how: &[&str]) -> (Output, Value) {
    let path = world.place.base.join("record.json");
    let words = ["--report", path.as_str()].into_iter().chain(how.iter().copied());
    let output = world.palisade(&words.collect::<Vec<_>>()).output().unwrap();
    let record: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    assert_eq!(record["exit"].as_i64(), output.status.code().map(i64::from), "{record}");
    let errors = String::from_utf8_lossy(&output.stderr);
    for message in record["messages"].as_array().unwrap() {
        assert!(errors.contains(message["message"].as_str().unwrap()), "{errors}: {record}");
    }
    (output, record)
}

/// What is known of one limit.
fn reached<'a>(record: &'a Value, name: &str) -> &'a Value {
    let limits = record["limits"].as_array().unwrap();
    &limits.iter().find(|limit| limit["name"] == name).expect("a limit of this name")["reached"]
}

pub const SCENARIOS: &[Scenario] = &[
    Scenario {
        name: "the record of a command that ended by itself",
        run: |world| {
            world.manifest.limits.time_ms = Some(60_000);
            world.manifest.limits.output_bytes = Some(1000);
            world.manifest.limits.open_files = Some(50);
            world.manifest.environment.set.insert("TOKEN".into(), "not to be recorded".into());
            world.manifest.environment.pass.push("SUITE_SECRET".into());
            let line = "echo $TOKEN $SUITE_SECRET; n=0; while [ $n -lt 200000 ]; do n=$((n+1)); done; exit 3";
            let (output, record) = recorded(world, &["-c", line]);
            assert_eq!(output.stdout, b"not to be recorded leaked\n", "{}", show(&output));
            let manifest = fs::read_to_string(world.place.base.join("manifest.yaml")).unwrap();
            let digest = palisade::manifest::digest(&manifest).unwrap();
            assert_eq!(record["schema"], 1);
            assert_eq!(record["palisade"], env!("CARGO_PKG_VERSION"));
            assert_eq!(record["manifest"], json!({"profile": "suite", "digest": digest}));
            assert_eq!(record["command"], json!({"line": line}));
            assert_eq!(record["exit"], 3);
            assert_eq!(record["end"], json!({"how": "exited"}));
            assert_eq!(record["output-bytes"], 26);
            assert_eq!(
                record["limits"][0],
                json!({"name": "time", "value": 60_000, "unit": "ms", "reached": "no"})
            );
            assert_eq!(reached(&record, "output"), "no");
            assert_eq!(reached(&record, "open-files"), "unknown");
            assert_eq!(record["violations"], json!([]));
            assert_eq!(record["messages"], json!([]));
            let usage = |name: &str| record["usage"][name].as_u64().unwrap();
            assert!(usage("user-ms") + usage("system-ms") > 0, "{record}");
            assert!((100_000..1 << 32).contains(&usage("peak-memory-bytes")), "{record}");
            let time = |name: &str| record[name].as_str().unwrap().to_owned();
            assert!(time("started") <= time("ended") && time("ended").ends_with('Z'), "{record}");
            assert!(time("started").starts_with("20") && time("started").as_bytes()[10] == b'T', "{record}");
            let path = world.place.base.join("record.json");
            let text = fs::read_to_string(&path).unwrap();
            assert!(!text.contains("not to be recorded") && !text.contains("leaked"), "{text}");
            assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        },
    },
    Scenario {
        name: "the record of a command that a signal ended",
        run: |world| {
            let (_, record) = recorded(world, &["-c", "kill -15 $$"]);
            assert_eq!(record["end"], json!({"how": "signalled", "signal": 15}));
            assert_eq!(record["output-bytes"], Value::Null, "it had our own streams");
            // A code of a shell is told apart from it.
            let (_, record) = recorded(world, &["-c", "exit 143"]);
            assert_eq!(record["end"], json!({"how": "exited"}));
        },
    },
    Scenario {
        name: "the record of a command that a limit ended",
        run: |world| {
            let hang = ["--", PROGRAMS.probe.as_str(), "--hang"];
            world.manifest.limits.time_ms = Some(300);
            let (_, record) = recorded(world, &hang);
            assert_eq!(record["end"], json!({"how": "limit", "limit": "time"}));
            assert_eq!(record["command"], json!({"arguments": hang[1..]}));
            assert_eq!(reached(&record, "time"), "yes");
            assert!(record["duration-ms"].as_u64().unwrap() >= 300);
            world.manifest.limits.time_ms = None;
            world.manifest.limits.output_bytes = Some(10);
            let (_, record) = recorded(world, &["-c", "while echo 0123; do :; done"]);
            assert_eq!(record["end"], json!({"how": "limit", "limit": "output"}));
            assert_eq!(record["output-bytes"], 10);
            world.manifest.limits.output_bytes = None;
            world.manifest.limits.file_size_bytes = Some(100);
            let (_, record) = recorded(world, &["-c", "while echo 0123; do :; done > big"]);
            assert_eq!(
                (&record["exit"], &record["end"]),
                (&json!(124), &json!({"how": "limit", "limit": "file-size"}))
            );
        },
    },
    Scenario {
        name: "the record says of other limits what can be known",
        run: |world| {
            world.manifest.limits.temporary_space_bytes = Some(1 << 16);
            world.manifest.limits.open_files = Some(20);
            world.manifest.limits.output_bytes = Some(10_000);
            world.manifest.limits.processes = Some(30);
            let line = format!(
                "while echo 0123456789abcdef; do :; done > /tmp/big; exec {} --open-many",
                PROGRAMS.probe
            );
            let (_, record) = recorded(world, &["-c", &line]);
            assert_eq!(record["end"], json!({"how": "exited"}), "{record}");
            assert_eq!(reached(&record, "temporary-space"), "yes");
            assert_eq!(reached(&record, "open-files"), "perhaps");
            assert_eq!(reached(&record, "processes"), "unknown");
            assert_eq!(record["messages"].as_array().unwrap().len(), 2, "{record}");
        },
    },
    Scenario {
        name: "the record of a violation names the path and where it was moved to",
        run: |world| {
            let path = world.place.rw("commondir");
            world.protect(&path, Protection::Guarded, Presence::Absent);
            let (_, record) = recorded(world, &["-c", ": > commondir; while :; do :; done"]);
            assert_eq!(record["end"], json!({"how": "violation"}));
            let violations = record["violations"].as_array().unwrap();
            let made = json!({"what": "made", "path": path, "moved-to": format!("{path}.quarantined-0")});
            assert!(violations.contains(&made), "{record}");
        },
    },
    Scenario {
        name: "the record of a command that was refused or not found",
        run: |world| {
            let (_, record) = recorded(world, &["-c", "  "]);
            assert_eq!((&record["exit"], &record["end"]), (&json!(125), &json!({"how": "refused"})));
            assert_eq!(record["usage"], Value::Null);
            assert_eq!(record["messages"][0]["message"], "the command line is blank");
            let (_, record) = recorded(world, &["--", "no-such-program"]);
            assert_eq!((&record["exit"], &record["end"]), (&json!(127), &json!({"how": "not-started"})));
            // A manifest that cannot be trusted is not named.
            let path = world.place.base.join("record.json");
            let mut command = world.palisade(&["--report", path.as_str(), "-c", "echo ran"]);
            let manifest = world.place.base.join("manifest.yaml");
            let text = fs::read_to_string(&manifest).unwrap();
            fs::write(&manifest, text.replace("profile: suite", "profile: other")).unwrap();
            let output = command.output().unwrap();
            assert_eq!(output.status.code(), Some(125), "{}", show(&output));
            let record: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
            assert_eq!((&record["manifest"], &record["end"]), (&Value::Null, &json!({"how": "refused"})));
        },
    },
    Scenario {
        name: "a record where the command could write is refused, and what stands there stays",
        run: |world| {
            symlink("rw", world.place.base.join("also-rw")).unwrap();
            for path in ["rw/f.txt", "rw/new.json", "rw/vendor/lib/v.txt", "also-rw/f.txt", "rw/.git/new"] {
                let path = world.place.base.join(path);
                if path.exists() {
                    // What is no record is left alone wherever it stands.
                    fs::write(&path, "{\"schema\": 1, \"palisade\": \"0.1.0\"}").unwrap();
                }
                let before = fs::read(&path).ok();
                let output = world.palisade(&["--report", path.as_str(), "-c", "echo ran"]).output().unwrap();
                assert_eq!(output.status.code(), Some(125), "{}", show(&output));
                let errors = String::from_utf8_lossy(&output.stderr);
                assert!(errors.contains("the command could replace the record"), "{errors}");
                assert!(output.stdout.is_empty());
                assert_eq!(fs::read(&path).ok(), before);
            }
        },
    },
    Scenario {
        name: "a record where the command could write by another name of the place is refused",
        run: |world| {
            let outside = world.place.base.join("outside-records");
            let inside = world.place.rw("records");
            for directory in [&outside, &inside] {
                fs::create_dir(directory).unwrap();
                fs::set_permissions(directory, fs::Permissions::from_mode(0o777)).unwrap();
            }
            let path = outside.join("record.json");
            for (source, target) in [(&outside, &inside), (&inside, &outside)] {
                let mut command = world.palisade(&["--report", path.as_str(), "-c", "echo ran"]);
                with_mount(&mut command, source.as_str(), target.as_str(), world.uid());
                let output = command.output().unwrap();
                assert_eq!(output.status.code(), Some(125), "{}", show(&output));
                let errors = String::from_utf8_lossy(&output.stderr);
                assert!(errors.contains("the command could replace the record"), "{errors}");
                assert!(output.stdout.is_empty());
            }
        },
    },
    Scenario {
        name: "the record goes into the directory that was named, whatever its path leads to in the end",
        run: |world| {
            let place = |name: &str| world.place.base.join(name);
            fs::create_dir(place("records")).unwrap();
            fs::set_permissions(place("records"), fs::Permissions::from_mode(0o777)).unwrap();
            let path = place("records/record.json");
            let line = ": > mark; while [ ! -e done ]; do :; done";
            let mut child = world.palisade(&["--report", path.as_str(), "-c", line]).spawn().unwrap();
            wait_for(&world.place.rw("mark"));
            fs::rename(place("records"), place("moved")).unwrap();
            symlink(world.place.rw("a"), place("records")).unwrap();
            fs::write(world.place.rw("done"), "").unwrap();
            assert_eq!(child.wait().unwrap().code(), Some(0));
            assert!(place("moved/record.json").is_file());
            assert!(!world.place.rw("a/record.json").exists());
        },
    },
    Scenario {
        name: "a record that cannot be written is refused before anything runs",
        run: |world| {
            let place = |path: &str| world.place.base.join(path);
            for (path, why) in [
                ("none/record.json", "No such file or directory"),
                ("home", "something else than a file stands there"),
                ("manifest.yaml", "it is read from there"),
            ] {
                let path = place(path);
                let output = world.palisade(&["--report", path.as_str(), "-c", "echo ran"]).output().unwrap();
                assert_eq!(output.status.code(), Some(125), "{}", show(&output));
                assert!(String::from_utf8_lossy(&output.stderr).contains(why), "{why}: {}", show(&output));
                assert!(output.stdout.is_empty());
            }
        },
    },
    Scenario {
        name: "an older record is gone while a command runs",
        run: |world| {
            let path = world.place.base.join("record.json");
            recorded(world, &["-c", "exit 0"]);
            let mut command =
                world.palisade(&["--report", path.as_str(), "-c", ": > mark; while :; do :; done"]);
            let mut child = command.stdout(Stdio::null()).spawn().unwrap();
            wait_for(&world.place.rw("mark"));
            let there = path.exists();
            child.kill().unwrap();
            child.wait().unwrap();
            assert!(!there && !path.exists());
        },
    },
];
