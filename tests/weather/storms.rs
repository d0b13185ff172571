//! Commands that multiply, and commands that cut themselves off.

use crate::suite::Scenario;
use crate::world::{PROFILE, finished};
use std::fs;

pub const SCENARIOS: &[Scenario] = &[
    Scenario {
        name: "a fork bomb",
        run: |world| {
            world.compiled(&format!("{PROFILE}\nlimits {{ processes 60; time 2s; output 64KiB }}"));
            world.exec(":").ended(0);
            let before = world.before();
            let ran = world.exec("bomb() { bomb | bomb & }; bomb; while :; do bomb; done 2> /dev/null");
            // At its limit it is ended, or the shell gives up, which cannot fork any more.
            assert!(matches!(ran.code, Some(124 | 2)), "{ran:?}");
            world.nothing_left(&before);
            // Killed together with its supervisor.
            let mut child =
                world.started("echo x > mark; bomb() { bomb | bomb & }; while :; do bomb; done 2> /dev/null");
            child.kill().unwrap();
            child.wait().unwrap();
            world.nobody_left();
            fs::remove_file(world.path("project/mark")).unwrap();
            world.exec(":").ended(0);
            world.nothing_left(&before);
        },
    },
    Scenario {
        name: "a command that closes its streams and lives on",
        run: |world| {
            for limits in ["", "limits { output 1KiB; time 600s }"] {
                world.compiled(&format!("{PROFILE}\n{limits}"));
                world.exec(":").ended(0);
                let before = world.before();
                // It is waited for, and its code is what counts.
                let mut child = world.line(
                    "exec < /dev/null > /dev/null 2>&1; echo x > mark; until [ -e go ]; do :; done; exit 9",
                );
                let mut child = child.stdout(std::process::Stdio::piped()).spawn().unwrap();
                world.wait_for("project/mark");
                assert_eq!(child.try_wait().unwrap(), None);
                world.write("project/go", "");
                assert_eq!(child.wait().unwrap().code(), Some(9));
                for made in ["mark", "go"] {
                    fs::remove_file(world.path("project").join(made)).unwrap();
                }
                world.nothing_left(&before);
                let ran = world.exec("exec <&- >&- 2>&-; exit 9");
                ran.ended(9);
                // Whoever it leaves behind ends with it, whatever that has closed.
                let ran = world.exec("(exec <&- >&- 2>&-; while :; do :; done) & exit 8");
                ran.ended(8);
                world.nothing_left(&before);
            }
            world.compiled(&format!("{PROFILE}\nlimits {{ output 1KiB; time 500ms }}"));
            let before = world.before();
            let ran = world.exec("exec <&- >&- 2>&-; while :; do :; done");
            ran.ended(124);
            assert!(ran.err.contains("time limit 500 ms"), "{ran:?}");
            world.nothing_left(&before);
        },
    },
    Scenario {
        name: "a caller that goes away",
        run: |world| {
            world.compiled(&format!("{PROFILE}\nlimits {{ output 1MiB }}"));
            world.exec(":").ended(0);
            let before = world.before();
            // Nobody reads, and nobody listens to what is said of it.
            let mut child = world.started("echo x > mark; read line; while echo line; do :; done");
            drop(child.stdout.take());
            drop(child.stderr.take());
            let ran = finished(child);
            assert!(matches!(ran.code, Some(125 | 141 | 0..=2)), "{ran:?}");
            fs::remove_file(world.path("project/mark")).unwrap();
            world.nothing_left(&before);
        },
    },
];
