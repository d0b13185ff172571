//! When nothing may run: the artifact, the machine or a protected path is not what was compiled. And missing protected paths.

use crate::limits::wait_for;
use crate::suite::{Scenario, show};
use crate::world::{PROGRAMS, World, cached};
use palisade::manifest::{File, hex};
use palisade::plan::{Presence, Protection};
use sha2::{Digest, Sha256};
use std::fs;
use std::os::unix::fs::symlink;
use std::process::Output;

pub const SCENARIOS: &[Scenario] = &[
    Scenario {
        name: "an edited manifest is refused",
        run: |world| {
            let mut command = world.palisade(&["-c", "echo ran"]);
            let path = world.place.base.join("manifest.yaml");
            let text = fs::read_to_string(&path).unwrap();
            fs::write(&path, text.replace("profile: suite", "profile: other")).unwrap();
            refused(&command.output().unwrap(), "is not what was compiled");
        },
    },
    Scenario {
        name: "a manifest for another system is refused",
        run: |world| {
            world.manifest.architecture = "pdp11".into();
            let said = format!("was compiled for {} on pdp11", crate::system::NAME);
            refused(&world.shell("echo ran"), &said);
        },
    },
    Scenario {
        name: "a symlink that changed is refused",
        run: |world| {
            let link = world.place.base.join("link");
            symlink("rw", &link).unwrap();
            let hop = palisade::manifest::Link { link: link.clone(), target: "rw".into() };
            world.manifest.links.push(hop);
            assert_eq!(world.shell("exit 0").status.code(), Some(0));
            fs::remove_file(&link).unwrap();
            symlink("outside", &link).unwrap();
            refused(&world.shell("echo ran"), "is no longer a symlink to `rw`");
        },
    },
    Scenario {
        name: "a root that is another directory is refused",
        run: |world| {
            fs::rename(world.place.ro(""), world.place.base.join("old")).unwrap();
            fs::create_dir(world.place.ro("")).unwrap();
            refused(&world.shell("echo ran"), "it is another directory");
            fs::remove_dir(world.place.ro("")).unwrap();
            symlink("old", world.place.base.join("ro")).unwrap();
            refused(&world.shell("echo ran"), "a symlink leads there");
            fs::remove_file(world.place.base.join("ro")).unwrap();
            refused(&world.shell("echo ran"), "it is missing");
        },
    },
    Scenario {
        name: "a file that may run and has changed is refused, one that was only touched is not",
        run: |world| {
            let path = world.place.outside("program");
            fs::write(&path, "one").unwrap();
            let sha256 = format!("sha256:{}", hex(&Sha256::digest("one")));
            world.manifest.files.push(File { path: path.clone(), sha256 });
            world.manifest.cache.push(cached(path.clone()));
            assert_eq!(world.shell("exit 0").status.code(), Some(0));
            fs::remove_file(&path).unwrap();
            fs::write(&path, "one").unwrap();
            assert_eq!(world.shell("exit 0").status.code(), Some(0));
            fs::write(&path, "two").unwrap();
            refused(&world.shell("echo ran"), "its contents differ");
        },
    },
    Scenario {
        name: "d05 a denied or protected file with another hard link is refused",
        run: |world| {
            for path in
                ["rw/.env", "rw/secrets/key", "rw/vendor/lib/v.txt", "ro/hidden.txt", "rw/.git/config"]
            {
                let path = world.place.base.join(path);
                let other = world.place.rw("other");
                fs::hard_link(&path, &other).unwrap();
                let output = world.shell("echo ran");
                refused(&output, "has 2 hard links; another name may expose it");
                assert!(String::from_utf8_lossy(&output.stderr).contains(path.as_str()));
                fs::remove_file(&other).unwrap();
            }
            assert_eq!(world.shell("exit 0").status.code(), Some(0));
        },
    },
    Scenario {
        name: "hard links among protected paths are fine",
        run: |world| {
            fs::hard_link(world.place.rw("secrets/key"), world.place.rw("secrets/same")).unwrap();
            assert_eq!(world.shell("exit 0").status.code(), Some(0));
        },
    },
    Scenario {
        name: "a protected path that became a symlink is refused",
        run: |world| {
            fs::rename(world.place.rw(".env"), world.place.rw("env")).unwrap();
            symlink("env", world.place.rw(".env")).unwrap();
            refused(&world.shell("echo ran"), "it is a symlink now");
        },
    },
    Scenario {
        name: "blank commands are refused",
        run: |world| {
            refused(&world.shell("  "), "the command line is blank");
            refused(&world.palisade(&["--"]).output().unwrap(), "no command is given");
        },
    },
    Scenario {
        name: "missing protected paths cannot be created and leave no trace",
        run: |world| {
            for (path, protection) in [
                ("rw/.vscode", Protection::Guarded),
                ("rw/new.pem", Protection::Denied),
                ("rw/.claude/settings.json", Protection::Guarded),
                ("rw/not/yet/here", Protection::Denied),
            ] {
                let path = world.place.base.join(path);
                world.protect(&path, protection, Presence::Missing);
            }
            let before = names(world);
            for line in [
                ": > .vscode",
                ": > .vscode/tasks.json",
                "rmdir .vscode",
                ": > new.pem",
                ": > new.pem/x",
                "rmdir new.pem",
                "mkdir .claude/x",
                ": > .claude/settings.json",
                "mkdir not/yet",
                "cd not/yet",
            ] {
                let output = world.shell(line);
                assert_ne!(output.status.code(), Some(0), "{line}: {}", show(&output));
            }
            assert_eq!(world.shell(": > allowed").status.code(), Some(0));
            fs::remove_file(world.place.rw("allowed")).unwrap();
            assert_eq!(names(world), before);
        },
    },
    Scenario {
        name: "a protected path that has come to be is protected",
        run: |world| {
            world.protect(&world.place.rw("new.pem"), Protection::Denied, Presence::Missing);
            fs::write(world.place.rw("new.pem"), "secret").unwrap();
            let output = world.shell("read line < new.pem; echo $line");
            assert_eq!(output.stdout, b"\n", "{}", show(&output));
            assert_eq!(fs::read_to_string(world.place.rw("new.pem")).unwrap(), "secret");
        },
    },
    Scenario {
        name: "what else the host renames and removes does not end a run",
        run: |world| {
            let line = ": > mark; until [ -e done ]; do :; done";
            let child = world.palisade(&["-c", line]).spawn().unwrap();
            wait_for(&world.place.rw("mark"));
            fs::rename(world.place.rw("f.txt"), world.place.rw("g.txt")).unwrap();
            fs::remove_file(world.place.rw("g.txt")).unwrap();
            fs::write(world.place.rw("done"), "").unwrap();
            let output = child.wait_with_output().unwrap();
            assert_eq!(output.status.code(), Some(0), "{}", show(&output));
        },
    },
    Scenario {
        name: "a world that is walled still lets the listed tool run",
        run: |world| {
            let output = world.palisade(&["--", PROGRAMS.script.as_str()]).output().unwrap();
            assert_eq!(output.stdout, b"from the script\n", "{}", show(&output));
        },
    },
];

fn refused(output: &Output, text: &str) {
    assert_eq!(output.status.code(), Some(125), "{}", show(output));
    assert!(String::from_utf8_lossy(&output.stderr).contains(text), "{text}: {}", show(output));
    assert!(output.stdout.is_empty(), "{}", show(output));
}

fn names(world: &World) -> Vec<String> {
    let entries = fs::read_dir(world.place.rw("")).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}
