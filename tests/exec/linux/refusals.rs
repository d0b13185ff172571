//! Placeholders at missing protected paths, and the watch over protected paths while a command runs: names that a mount cannot hold.

use super::raw::with_mount;
use crate::limits::wait_for;
use crate::suite::{Scenario, show};
use crate::world::World;
use palisade::plan::{Presence, Protection};
use std::fs;
use std::process::Stdio;

pub const SCENARIOS: &[Scenario] = &[
    Scenario {
        name: "a missing path that nobody may create needs no placeholder",
        run: |world| {
            use std::os::unix::fs::PermissionsExt;
            let shut = world.place.rw("shut");
            fs::create_dir(&shut).unwrap();
            fs::set_permissions(&shut, fs::Permissions::from_mode(0o555)).unwrap();
            world.protect(&shut.join("new"), Protection::Denied, Presence::Missing);
            let output = world.shell(": > shut/new");
            assert_ne!(output.status.code(), Some(0));
            assert_ne!(output.status.code(), Some(125), "{}", show(&output));
            assert_eq!(fs::read_dir(&shut).unwrap().count(), 0);
        },
    },
    Scenario {
        name: "whoever walks the tree does not stumble over a denied path that is missing",
        run: |world| {
            for path in ["new.pem", "not/yet/here"] {
                world.protect(&world.place.rw(path), Protection::Denied, Presence::Missing);
            }
            // What the host puts into the directory that stands there is behind the one that is seen.
            let line = "for d in new.pem not; do cd $d && echo * .* && cd .. || exit 1; done; : > mark; until [ -e done ]; do :; done; echo not/*";
            let child = world.palisade(&["-c", line]).stdout(Stdio::piped()).spawn().unwrap();
            wait_for(&world.place.rw("mark"));
            let stands = fs::File::open(world.place.rw("not")).unwrap();
            use std::os::unix::fs::PermissionsExt;
            stands.set_permissions(fs::Permissions::from_mode(0o755)).unwrap();
            fs::create_dir(world.place.rw("not/yet")).unwrap();
            fs::write(world.place.rw("done"), "").unwrap();
            let output = child.wait_with_output().unwrap();
            let seen = String::from_utf8_lossy(&output.stdout).into_owned();
            assert_eq!(seen, "* . ..\n* . ..\nnot/*\n", "{}", show(&output));
        },
    },
    Scenario {
        name: "a mount that shows a protected path by another name is refused",
        run: |world| {
            fs::write(world.place.rw("x"), "").unwrap();
            fs::create_dir(world.place.rw("all")).unwrap();
            let start = |source: &str, target: &str| {
                let mut command = world.palisade(&["-c", "echo ran"]);
                with_mount(
                    &mut command,
                    world.place.rw(source).as_str(),
                    world.place.rw(target).as_str(),
                    world.uid(),
                );
                command.output().unwrap()
            };
            // The path itself, and what it is in.
            for (source, target, other) in [(".env", "x", "x"), ("", "all", "all/")] {
                let output = start(source, target);
                let errors = String::from_utf8_lossy(&output.stderr).replace("\npalisade:", "");
                let errors = errors.split_whitespace().collect::<Vec<_>>().join(" ");
                assert_eq!(output.status.code(), Some(125), "{}", show(&output));
                assert!(errors.contains(&format!("is also `{}", world.place.rw(other))), "{errors}");
                assert!(errors.contains(&format!("umount {}", world.place.rw(target))), "{errors}");
                assert!(output.stdout.is_empty(), "{}", show(&output));
            }
            // What holds nothing protected may be mounted anywhere.
            fs::create_dir(world.place.rw("one")).unwrap();
            fs::create_dir(world.place.rw("two")).unwrap();
            let output = start("one", "two");
            assert_eq!(output.stdout, b"ran\n", "{}", show(&output));
        },
    },
    Scenario {
        name: "a protected path whose directory was renamed has changed since it was compiled",
        run: |world| {
            let (top, old) = (world.place.rw("module"), world.place.rw("module.old"));
            let directory = top.join("deep");
            fs::create_dir_all(&directory).unwrap();
            world.protect(&directory.join("commondir"), Protection::Guarded, Presence::Absent);
            assert_eq!(world.shell("exit 0").status.code(), Some(0));
            fs::rename(&top, &old).unwrap();
            let refused = |why: &str| {
                let output = world.shell("echo ran");
                assert_eq!(
                    (output.status.code(), output.stdout.as_slice()),
                    (Some(125), &b""[..]),
                    "{}",
                    show(&output)
                );
                let errors = String::from_utf8_lossy(&output.stderr);
                assert!(errors.contains(why) && errors.contains("run `palisade compile` again"), "{errors}");
            };
            refused("has changed since it was compiled: its directory was removed or renamed");
            fs::create_dir(&top).unwrap();
            fs::write(&directory, "").unwrap();
            refused("has changed since it was compiled: something else stands where its directory was");
        },
    },
    Scenario {
        name: "what a killed run left behind is cleaned up by the next",
        run: |world| {
            world.protect(&world.place.rw(".vscode"), Protection::Guarded, Presence::Missing);
            let hang = world.palisade(&["-c", ": > mark; while :; do :; done"]).spawn();
            let mut hang = hang.unwrap();
            wait_for(&world.place.rw("mark"));
            hang.kill().unwrap();
            hang.wait().unwrap();
            assert!(world.place.rw(".vscode").is_dir(), "nobody could remove it");
            // A run of another profile, which knows nothing of the path but the journal.
            world.manifest.rules.retain(|rule| !format!("{rule:?}").contains(".vscode"));
            world.manifest.protected.retain(|protected| !protected.path.as_str().contains(".vscode"));
            assert_eq!(world.shell("exit 0").status.code(), Some(0));
            assert!(!world.place.rw(".vscode").exists());
        },
    },
    Scenario {
        name: "a protected path that the host renames over ends the run",
        run: |world| {
            let new = world.place.rw("env.new");
            fs::write(&new, "new secret\n").unwrap();
            let old = world.place.rw(".env");
            ended_by(world, || fs::rename(&new, old).unwrap());
        },
    },
    Scenario {
        name: "a protected path that the host moves away ends the run",
        run: |world| {
            let (old, new) = (world.place.rw(".env"), world.place.rw("env.old"));
            ended_by(world, || fs::rename(old, new).unwrap());
        },
    },
    Scenario {
        name: "an ancestor of a protected path that the host moves away ends the run",
        run: |world| {
            let (old, new) = (world.place.rw("a"), world.place.rw("a.old"));
            ended_by(world, || fs::rename(old, new).unwrap());
        },
    },
    Scenario {
        name: "a protected path that the host removes ends the run",
        run: |world| {
            let path = world.place.rw(".env");
            ended_by(world, || fs::remove_file(path).unwrap());
        },
    },
];

/// Does something on the host while a command runs that would not end by itself.
fn ended_by(world: &mut World, act: impl FnOnce()) {
    world.manifest.limits.time_ms = Some(20_000);
    let mut command = world.palisade(&["-c", ": > mark; while :; do :; done"]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    wait_for(&world.place.rw("mark"));
    act();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(125), "{}", show(&output));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(errors.contains("was replaced on the host while the command ran"), "{errors}");
}
