//! Whole runs: limits as macOS keeps them, and an artifact of two files.

use crate::suite::{Scenario, show};
use crate::world::PROGRAMS;
use std::fs;

pub const SCENARIOS: &[Scenario] = &[
    Scenario {
        name: "a storm of processes is stopped",
        run: |world| {
            world.manifest.limits.processes = Some(40);
            world.manifest.limits.time_ms = Some(60_000);
            let line = format!(
                "n=0; while [ $n -lt 600 ]; do {} --hang & n=$((n+1)); echo $n; done",
                PROGRAMS.probe
            );
            let output = world.shell(&line);
            if world.uid() == 0 {
                assert_eq!(output.status.code(), Some(125), "{}", show(&output));
                return;
            }
            // Other trials run as the same user, and their processes are counted too.
            let forks = String::from_utf8_lossy(&output.stdout).lines().count();
            assert!((1..600).contains(&forks), "{forks}: {}", show(&output));
        },
    },
    Scenario {
        name: "a limit that macOS does not have is refused",
        run: |world| {
            world.manifest.limits.temporary_space_bytes = Some(1 << 20);
            let output = world.shell("echo ran");
            assert_eq!((output.status.code(), output.stdout.len()), (Some(125), 0), "{}", show(&output));
            assert!(String::from_utf8_lossy(&output.stderr).contains("cannot be limited on macOS"));
        },
    },
    Scenario {
        name: "an edited `.sb` is refused",
        run: |world| {
            let mut command = world.palisade(&["-c", "echo ran"]);
            let path = world.place.base.join(&world.manifest.seatbelt.as_ref().unwrap().name);
            let text = fs::read_to_string(&path).unwrap();
            fs::write(&path, format!("{text}(allow default)\n")).unwrap();
            let output = command.output().unwrap();
            assert_eq!((output.status.code(), output.stdout.len()), (Some(125), 0), "{}", show(&output));
        },
    },
    Scenario {
        name: "what has left the session and the group of a command ends with it",
        run: |world| {
            let line = "set -m; ( (while :; do echo x >> mark; done) & ) & until [ -s mark ]; do :; done";
            let output = world.shell(line);
            assert_eq!(output.status.code(), Some(0), "{}", show(&output));
            crate::limits::assert_still(&world.place.rw("mark"));
        },
    },
    Scenario {
        name: "a protected path that the host replaces is protected all the same",
        run: |world| {
            fs::write(world.place.rw("new"), "secret").unwrap();
            fs::rename(world.place.rw("new"), world.place.rw(".env")).unwrap();
            let output = world.shell("read line < .env; echo \"$line\"");
            assert_eq!(output.stdout, b"\n", "{}", show(&output));
        },
    },
];
