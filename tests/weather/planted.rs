//! Protected paths that are missing: nobody can make them, no run leaves anything there, and what comes to stand there all the same is
//! noticed and moved away.

use crate::suite::Scenario;
use crate::world::{PROFILE, World, finished};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;

const WAITING: &str = "echo x > mark; while :; do :; done";

pub const SCENARIOS: &[Scenario] = &[
    Scenario {
        name: "runs at once share what stands at missing paths",
        run: |world| {
            world.compiled(PROFILE);
            world.exec(":").ended(0);
            let before = world.before();
            // Each begins and ends while others run, and tries the same.
            let line = "for n in 1 2 3; do ( echo > .vscode/x || echo > not/yet || echo > .claude/x ) 2> /dev/null && exit 3; done; exit 0";
            let mut running = Vec::new();
            for round in 0..40 {
                running.push(world.line(line).stderr(Stdio::piped()).spawn().unwrap());
                if round >= 5 {
                    finished(running.remove(0)).ended(0);
                }
            }
            for child in running {
                finished(child).ended(0);
            }
            world.nothing_left(&before);
        },
    },
    Scenario {
        name: "what killed runs left is cleaned up while others still need it",
        run: |world| {
            world.compiled(PROFILE);
            world.exec(":").ended(0);
            let before = world.before();
            let living = world.started("echo x > mark; read line; echo > .vscode/x || exit 5");
            for _ in 0..3 {
                fs::remove_file(world.path("project/mark")).unwrap();
                let mut killed = world.started(WAITING);
                killed.kill().unwrap();
                killed.wait().unwrap();
            }
            fs::remove_file(world.path("project/mark")).unwrap();
            assert_eq!(
                fs::read_dir(world.path("state/palisade/runs")).unwrap().count(),
                2,
                "each start cleans up after those before"
            );
            world.exec("( : > .vscode/x ) 2> /dev/null || exit 6").ended(6);
            assert!(world.path("project/.vscode").is_dir(), "the first still needs it");
            finished(living).ended(5);
            world.exec(":").ended(0);
            world.nothing_left(&before);
        },
    },
    Scenario {
        name: "what is planted after the host has made way is moved away",
        run: |world| {
            world.compiled(PROFILE);
            world.exec(":").ended(0);
            let before = world.before();
            // It waits for the moment, and has it for as long as it takes to be noticed.
            let child = world.started(
                "echo x > mark; until echo planted > .mcp.json; do :; done 2> /dev/null; while :; do :; done",
            );
            fs::remove_dir(world.path("project/.mcp.json")).unwrap();
            let ran = finished(child);
            ran.ended(125);
            assert!(ran.err.contains("was replaced on the host"), "{ran:?}");
            assert!(!world.path("project/.mcp.json").is_file());
            let moved = world.path("project/.mcp.json/quarantined-0");
            if moved.exists() {
                assert!(ran.err.contains("it was moved to"), "{ran:?}");
                fs::remove_dir_all(moved.parent().unwrap()).unwrap();
            }
            fs::remove_file(world.path("project/mark")).unwrap();
            world.nothing_left(&before);
            // What the host puts there itself is moved too, as a whole, and nothing of it is lost.
            let child = world.started(WAITING);
            fs::remove_dir(world.path("project/.vscode")).unwrap();
            world.write("project/.vscode/tasks.json", "the host's own");
            let ran = finished(child);
            ran.ended(125);
            assert!(ran.err.contains("it was moved to"), "{ran:?}");
            assert_eq!(world.read("project/.vscode/quarantined-0/tasks.json"), "the host's own");
            fs::remove_dir_all(world.path("project/.vscode")).unwrap();
            fs::remove_file(world.path("project/mark")).unwrap();
            world.nothing_left(&before);
        },
    },
    Scenario {
        name: "no later run reads what the host put where a denied path was missing",
        run: |world| {
            const READS: &str = "for f in src/* keys.txt keys.txt* keys.txt/* .*/* *; do while read line; do echo \"$line\"; done < $f; done 2> /dev/null; exit 0";
            world.compiled(&format!("{PROFILE}\ndeny \"$workspace/keys.txt\""));
            world.exec(":").ended(0);
            let child = world.started(WAITING);
            fs::remove_dir(world.path("project/keys.txt")).unwrap();
            world.write("project/keys.txt", "the host's own secret");
            let ran = finished(child);
            ran.ended(125);
            ran.helps("look at it, and delete the directory");
            assert_eq!(world.read("project/keys.txt/quarantined-0"), "the host's own secret");
            let ran = world.exec(READS);
            ran.ended(0);
            assert!(!ran.out.contains("secret"), "{ran:?}");
            // Nor what a new profile has to be compiled for.
            world.compiled(&format!("{PROFILE}\ndeny \"$workspace/keys.txt\""));
            let ran = world.exec(READS);
            assert!(!ran.out.contains("secret") && ran.out.contains("int"), "{ran:?}");
        },
    },
    Scenario {
        name: "what the host puts into the directory that stands for a missing path is kept",
        run: |world| {
            world.compiled(PROFILE);
            world.exec(":").ended(0);
            let fill = |path: &str| {
                let directory = world.path(path);
                fs::set_permissions(&directory, fs::Permissions::from_mode(0o755)).unwrap();
                world.write(&format!("{path}/here"), "the host's own");
                fs::set_permissions(&directory, fs::Permissions::from_mode(0o1555)).unwrap();
            };
            let kept = |path: &str| {
                assert_eq!(world.read(&format!("{path}/here")), "the host's own");
                let mode = fs::metadata(world.path(path)).unwrap().permissions().mode();
                assert_ne!(mode & 0o200, 0, "{path} can be written again: {mode:o}");
            };
            // It is no fault of the command's.
            let child = world.started("echo x > mark; read line; exit 3");
            fill("project/not");
            let ran = finished(child);
            ran.ended(3);
            assert!(ran.err.contains("was made on the host"), "{ran:?}");
            kept("project/not");
            // Where nobody could look after the run, the next one does.
            fs::remove_dir_all(world.path("project/not")).unwrap();
            fs::remove_file(world.path("project/mark")).unwrap();
            let mut killed = world.started(WAITING);
            fill("project/not");
            killed.kill().unwrap();
            killed.wait().unwrap();
            world.exec(":").ended(0);
            kept("project/not");
        },
    },
    Scenario {
        name: "who compiles while a run is alive or after one was killed sees no placeholder",
        run: |world| {
            world.compiled(PROFILE);
            let manifest = || world.read("agent.manifest.yaml");
            let alone = manifest();
            let mut living = world.started(WAITING);
            assert!(world.path("project/.vscode").is_dir());
            world.compiled(PROFILE);
            assert_eq!(manifest(), alone);
            living.kill().unwrap();
            living.wait().unwrap();
            world.compiled(PROFILE);
            assert_eq!(manifest(), alone);
            let check = ["compile", "--check", "../agent.palisade"];
            assert_eq!(world.ran(&check).code, Some(0), "{:?}", world.ran(&check));
        },
    },
    Scenario {
        name: "a directory that the command makes writable for itself",
        run: |world| {
            let shut = world.path("project/shut");
            fs::create_dir(&shut).unwrap();
            let set = |mode| fs::set_permissions(&shut, fs::Permissions::from_mode(mode)).unwrap();
            set(0o555);
            let suite = with_suite(world, "deny \"$workspace/shut/new\"\ndeny \"$workspace/shut/deep/new\"");
            world.exec(":").ended(0);
            let before = world.before();
            let opened = format!("{suite} --mode 755 shut");
            let line = format!("{opened} && echo planted > shut/new; while :; do :; done");
            if rustix::process::geteuid().is_root() {
                // Something could be made to stand there.
                world.exec(&format!("{opened}; ( : > shut/new ) 2> /dev/null || exit 7")).ended(7);
            } else {
                let ran = world.exec(&line);
                ran.ended(125);
                assert!(ran.err.contains("it was moved to"), "{ran:?}");
                ran.helps("look at it, and delete it");
                // It may have been ended before it had written.
                assert!(["planted\n", ""].contains(&world.read("project/shut/new/quarantined-0").as_str()));
                fs::remove_dir_all(shut.join("new")).unwrap();
                // Neither may a directory on the way to one be made.
                set(0o555);
                let ran = world.exec(&format!("{suite} --mode 755 shut && {suite} --make shut/deep"));
                ran.ended(125);
                assert!(ran.err.contains("it was moved to"), "{ran:?}");
                fs::remove_dir_all(shut.join("deep")).unwrap();
                // Nor can it be hidden by closing the way to it, or kept by making it read-only; not even where the command ends at once.
                for (mode, own) in [("0", "755"), ("444", "755"), ("600", "555"), ("555", "0")] {
                    set(0o555);
                    let line = format!(
                        "{suite} --mode 755 shut && {suite} --make shut/new && {suite} --mode {own} shut/new && {suite} --mode {mode} shut"
                    );
                    let ran = world.exec(&line);
                    ran.ended(125);
                    assert!(ran.err.contains("it was moved to"), "{mode} {own}: {ran:?}");
                    set(0o755);
                    let moved = shut.join("new/quarantined-0");
                    fs::set_permissions(&moved, fs::Permissions::from_mode(0o755)).unwrap();
                    fs::remove_dir_all(shut.join("new")).unwrap();
                }
            }
            set(0o555);
            world.nothing_left(&before);
        },
    },
    Scenario {
        name: "a directory that the command makes unwritable",
        run: |world| {
            let suite = with_suite(world, "");
            world.exec(":").ended(0);
            let before = world.before();
            for mode in ["555", "500", "111"] {
                let ran = world.exec(&format!("{suite} --mode {mode} ."));
                let project = world.path("project");
                let now = fs::metadata(&project).unwrap().permissions().mode() & 0o7777;
                assert_eq!(now, u32::from_str_radix(mode, 8).unwrap(), "it is as the command left it");
                fs::set_permissions(&project, fs::Permissions::from_mode(0o755)).unwrap();
                assert!(matches!(ran.code, Some(0 | 125)), "{ran:?}");
                world.nothing_left(&before);
            }
        },
    },
];

/// Compiles a profile with these statements more that has this binary as a tool, which can do what the shell cannot. Gives its path.
fn with_suite(world: &World, statements: &str) -> String {
    let suite = std::env::current_exe().unwrap().to_str().unwrap().to_owned();
    world.compiled(&format!("{PROFILE}\n{statements}\ntool \"{suite}\""));
    suite
}
