//! Directories and tools that go, or become others, between compiling and running and while a command runs.

use crate::suite::Scenario;
use crate::world::{PROFILE, finished};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

/// Goes on when a line comes in.
const WAITING: &str = "echo x > mark; read line";

pub const SCENARIOS: &[Scenario] = &[
    Scenario {
        name: "the caller's working directory is deleted",
        run: |world| {
            world.compiled(PROFILE);
            world.exec(":").ended(0);
            let before = world.before();
            let (gone, manifest, profile) =
                (world.path("gone"), world.path("agent.manifest.yaml"), world.path("agent.palisade"));
            let workspace = format!("--workspace={}", world.path("project"));
            let nowhere = |arguments: &[&str]| {
                fs::create_dir(&gone).unwrap();
                let mut command = std::process::Command::new("/bin/sh");
                let program = std::env::var("PALISADE_UNDER_TEST").unwrap();
                let line = "rmdir \"$PWD\" && exec \"$0\" \"$@\"";
                command.args(["-c", line, &program]).args(arguments).current_dir(&gone).env_clear();
                command.env("HOME", world.path("home")).env("XDG_STATE_HOME", world.path("state"));
                command.env("PATH", "/usr/bin:/bin");
                crate::world::Ran::from(command.output().unwrap())
            };
            // What is named in full needs no working directory.
            let ran = nowhere(&["exec", manifest.as_str(), "-c", "echo ran"]);
            assert_eq!((ran.code, ran.out.as_str()), (Some(0), "ran\n"), "{ran:?}");
            let ran = nowhere(&["run", profile.as_str(), &workspace, "-c", "echo ran"]);
            assert_eq!((ran.code, ran.out.as_str()), (Some(0), "ran\n"), "{ran:?}");
            nowhere(&["exec", "agent.manifest.yaml", "-c", "echo ran"])
                .refused("cannot be read", "give the path");
            nowhere(&["run", profile.as_str(), "-c", "echo ran"])
                .refused("the current directory cannot be found", "change to one that exists");
            world.nothing_left(&before);
        },
    },
    Scenario {
        name: "the command's working directory is deleted",
        run: |world| {
            world.compiled(&format!("{PROFILE}\nworking-directory \"$workspace/src\""));
            world.exec("read line < main.c").ended(0);
            fs::remove_dir_all(world.path("project/src")).unwrap();
            let before = world.before();
            world.exec("echo ran").refused("cannot enter the working directory", "working-directory");
            world.nothing_left(&before);
            // While it runs it is the command's own affair.
            fs::create_dir(world.path("project/src")).unwrap();
            let before = world.before();
            let child = world.started("echo x > ../mark; read line; echo x > new || exit 7");
            fs::remove_dir(world.path("project/src")).unwrap();
            finished(child).ended(7);
            fs::create_dir(world.path("project/src")).unwrap();
            fs::remove_file(world.path("project/mark")).unwrap();
            world.nothing_left(&before);
        },
    },
    Scenario {
        name: "a root is deleted or replaced before the start",
        run: |world| {
            world.compiled(PROFILE);
            world.exec(":").ended(0);
            let (root, old) = (world.path("project"), world.path("old"));
            let away = || {
                let mut command = world.line("echo ran");
                crate::world::Ran::from(command.current_dir("/").output().unwrap())
            };
            fs::rename(&root, &old).unwrap();
            away().refused("it is missing", "run `palisade compile` again");
            fs::create_dir(&root).unwrap();
            away().refused("it is another directory", "run `palisade compile` again");
            fs::remove_dir(&root).unwrap();
            symlink(&old, &root).unwrap();
            away().refused("a symlink leads there", "run `palisade compile` again");
            fs::remove_file(&root).unwrap();
            fs::write(&root, "").unwrap();
            away().refused("it is no directory", "run `palisade compile` again");
            fs::remove_file(&root).unwrap();
            fs::rename(&old, &root).unwrap();
            world.exec(":").ended(0);
        },
    },
    Scenario {
        name: "a root is deleted while a command runs",
        run: |world| {
            world.compiled(PROFILE);
            let child = world.started("echo x > mark; while :; do :; done");
            fs::remove_dir_all(world.path("project")).unwrap();
            let ran = finished(child);
            ran.ended(125);
            assert!(ran.err.contains("replaced on the host while the command ran"), "{ran:?}");
            ran.helps("the command was ended");
            assert!(!world.path("project").exists());
            world.nobody_left();
            assert_eq!(fs::read_dir(world.path("state/palisade/runs")).unwrap().count(), 0);
        },
    },
    Scenario {
        name: "a root is replaced by another while a command runs",
        run: |world| {
            world.compiled(PROFILE);
            world.exec(":").ended(0);
            let before = world.before();
            let child = world.started(&format!("{WAITING}; read line < .env && echo seen; echo x > late"));
            let (root, old) = (world.path("project"), world.path("old"));
            fs::rename(&root, &old).unwrap();
            fs::create_dir_all(root.join(".vscode")).unwrap();
            world.write("project/.env", "KEY=new secret\n");
            world.write("project/.vscode/tasks.json", "the host's own");
            let ran = finished(child);
            // The command had what it was given, saw nothing of either, and it is said that it was not what stands there now.
            assert_eq!((ran.code, ran.out.as_str()), (Some(125), ""), "{ran:?}");
            assert!(ran.err.contains("replaced on the host while the command ran"), "{ran:?}");
            assert_eq!(world.read("project/.vscode/tasks.json"), "the host's own");
            assert!(!world.path("project/late").exists());
            fs::remove_dir_all(&root).unwrap();
            fs::rename(&old, &root).unwrap();
            // It is ended with the first change in one of the watched directories, or at its end, whichever comes first.
            let _ = fs::remove_file(world.path("project/late"));
            fs::remove_file(world.path("project/mark")).unwrap();
            world.nothing_left(&before);
        },
    },
    Scenario {
        name: "a protected directory is replaced while a command runs",
        run: |world| {
            world.compiled(PROFILE);
            for (old, made) in [("project/keys", true), ("project/vendor", false), ("project/keys", false)] {
                let child = world.started("echo x > mark; while :; do :; done");
                fs::rename(world.path(old), world.path("project/moved")).unwrap();
                if made {
                    fs::create_dir(world.path(old)).unwrap();
                }
                let ran = finished(child);
                ran.ended(125);
                assert!(ran.err.contains("replaced on the host while the command ran"), "{ran:?}");
                if made {
                    fs::remove_dir(world.path(old)).unwrap();
                }
                fs::rename(world.path("project/moved"), world.path(old)).unwrap();
                fs::remove_file(world.path("project/mark")).unwrap();
            }
            world.nobody_left();
        },
    },
    Scenario {
        name: "a tool is upgraded",
        run: |world| {
            let tool = world.path("bin/helper");
            let install = |text: &str| {
                world.write("bin/helper.new", text);
                fs::set_permissions(world.path("bin/helper.new"), fs::Permissions::from_mode(0o755)).unwrap();
                fs::rename(world.path("bin/helper.new"), &tool).unwrap();
            };
            install("#!/bin/sh\necho one\n");
            world.compiled(&format!("{PROFILE}\ntool \"{tool}\""));
            assert_eq!(world.exec("helper").out, "one\n");
            // While a command runs: what was compiled is what may run, and nothing else.
            let child = world.started(&format!("helper; {WAITING}; helper"));
            install("#!/bin/sh\necho two\n");
            let ran = finished(child);
            assert!(!ran.out.contains("two") && ran.out.starts_with("one\n"), "{ran:?}");
            fs::remove_file(world.path("project/mark")).unwrap();
            let before = world.before();
            world.exec("echo ran").refused("its contents differ", "run `palisade compile` again");
            fs::remove_file(&tool).unwrap();
            world.exec("echo ran").refused("it is missing", "run `palisade compile` again");
            install("#!/bin/sh\necho two\n");
            world.nothing_left(&before);
            // The same thing anew is the same thing.
            install("#!/bin/sh\necho one\n");
            assert_eq!(world.exec("helper").out, "one\n");
        },
    },
];
