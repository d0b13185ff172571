//! Killed with SIGKILL at every stage.

use crate::suite::Scenario;
use crate::trace::{self, Calls, Role, Step};
use crate::world::{PROFILE, World};

/// About so many steps are tried where not every one is.
const STEPS: usize = 40;

pub const SCENARIOS: &[Scenario] = &[
    Scenario {
        name: "the supervisor is killed before each call that changes something",
        run: |world| {
            sweep(world, Role::Supervisor, Calls::Effects, Role::Supervisor, 1);
        },
    },
    Scenario {
        name: "the supervisor is killed all along its way",
        run: |world| {
            let all = ready(world).count(Role::Supervisor, Calls::All);
            sweep(world, Role::Supervisor, Calls::All, Role::Supervisor, all / STEPS);
        },
    },
    Scenario {
        name: "the supervisor is killed before each call of pid 1 that changes something",
        run: |world| {
            sweep(world, Role::Init, Calls::Effects, Role::Supervisor, 1);
        },
    },
    Scenario {
        name: "pid 1 is killed all along its way",
        run: |world| {
            let all = ready(world).count(Role::Init, Calls::All);
            sweep(world, Role::Init, Calls::All, Role::Init, all / STEPS);
        },
    },
    Scenario {
        name: "the compiler is killed before each call that changes something",
        run: |world| {
            ready(world);
            let old = world.read("agent.manifest.yaml");
            world.compiled(&format!("{PROFILE}\nlimits {{ open-files 100 }}"));
            let new = world.read("agent.manifest.yaml");
            assert_ne!(old, new);
            let before = world.before();
            let mut steps = 0;
            loop {
                world.write("agent.manifest.yaml", &old);
                let compile = world.palisade(&["compile", "../agent.palisade"]);
                let step = Step {
                    whose: Role::Supervisor,
                    calls: Calls::Effects,
                    at: steps,
                    victim: Role::Supervisor,
                };
                let seen = trace::run(compile, Some(step));
                let found = world.read("agent.manifest.yaml");
                assert!(found == old || found == new, "before call {:?}", seen.killed_before);
                // What is left is used, or taken over, by the next.
                world.ran(&["compile", "../agent.palisade"]).ended(0);
                world.nothing_left(&before);
                if seen.killed_before.is_none() {
                    break;
                }
                steps += 1;
            }
            assert!(steps > 5, "{steps}");
        },
    },
];

/// A command that ends, or one that never does by itself.
fn line(world: &World, ends: bool) -> std::process::Command {
    let (manifest, record) = (world.path("agent.manifest.yaml"), world.path("record.json"));
    let then = if ends { ":" } else { "while :; do :; done" };
    let line = format!("echo x > src/new; {then}\n# {}", world.base);
    world.palisade(&["exec", manifest.as_str(), "--report", record.as_str(), "-c", &line])
}

/// A profile with placeholders at three places, which has run once. Gives how many calls there are on the way.
fn ready(world: &World) -> trace::Seen {
    let other = "edition 1\nprofile \"other\" { root \"$workspace/src\" read-only; working-directory \"$workspace/src\" }\n";
    world.write("other.palisade", other);
    world.ran(&["compile", "../other.palisade"]).ended(0);
    world.compiled(PROFILE);
    world.keep_guards(&[".vscode", ".claude", ".git/hooks"]);
    let seen = trace::run(line(world, true), None);
    seen.ran.ended(0);
    seen
}

/// Kills at every so-manieth step until there is none left, and looks around each time.
fn sweep(world: &World, whose: Role, calls: Calls, victim: Role, by: usize) {
    let seen = ready(world);
    let (last, set_up) = (seen.count(whose, calls), seen.set_up(calls));
    assert!(set_up > 0, "{seen:?}");
    std::fs::remove_file(world.path("record.json")).unwrap();
    std::fs::remove_file(world.path("project/src/new")).unwrap();
    let before = world.before();
    let mut killed = 0;
    for at in (0..last).step_by(by.max(1)) {
        // Before the command runs, pid 1 goes its way without a supervisor, and has to end all the same.
        let ends = (whose, victim) != (Role::Init, Role::Supervisor) || at >= set_up;
        let seen = trace::run(line(world, ends), Some(Step { whose, calls, at, victim }));
        let here = format!("before call {at} of {last}: {seen:?}");
        killed += usize::from(seen.killed_before.is_some());
        if victim == Role::Init && seen.killed_before.is_some() {
            after_pid_1(world, &seen, &here);
            world.nothing_left(&before);
        }
        // There is a whole record or none.
        if let Ok(record) = std::fs::read_to_string(world.path("record.json")) {
            serde_json::from_str::<serde_json::Value>(&record)
                .unwrap_or_else(|error| panic!("{error}: {here}"));
        }
        let _ = std::fs::remove_file(world.path("record.json"));
        // Whoever starts next finds everything as it was, also where it is behind another profile, which knows of none of these paths.
        let next = world.ran(&["exec", "../other.manifest.yaml", "-c", ":"]);
        assert_eq!((next.code, next.err.as_str()), (Some(0), ""), "{here}");
        let _ = std::fs::remove_file(world.path("project/src/new"));
        world.nothing_left(&before);
    }
    assert!(killed > 10, "{killed} of {last}");
}

/// The supervisor has to say that it was not the command which ended so, and to leave nothing even so.
fn after_pid_1(world: &World, seen: &trace::Seen, here: &str) {
    let record = world.read("record.json");
    let record: serde_json::Value = serde_json::from_str(&record).unwrap();
    match seen.ran.code {
        // It had told already how the command ended.
        Some(0) => assert_eq!(record["end"]["how"], "exited", "{here}"),
        Some(125) => {
            assert_eq!(record["end"]["how"], "sandbox-lost", "{here}");
            assert!(seen.ran.err.contains("killed from outside by signal 9"), "{here}");
            seen.ran.helps("run it again");
        }
        _ => panic!("{here}"),
    }
    let _ = std::fs::remove_file(world.path("record.json"));
    let _ = std::fs::remove_file(world.path("project/src/new"));
}
