//! What is missing, what `doctor` says of it, and what `exec` does.

use crate::world::{NOBODY, PROFILES, Report, World};
use libtest_mimic::Trial;
use std::collections::BTreeSet;

/// A machine without something.
struct Case {
    weakness: &'static str,
    /// The line that it shows in, what becomes of that, and the error in it.
    wall: &'static str,
    status: &'static str,
    seen: &'static str,
    /// What cannot be enforced then. `bare` stands for everything.
    lost: &'static [&'static str],
    /// What `exec` says where it refuses.
    refusal: &'static str,
}

const fn case(
    weakness: &'static str,
    wall: &'static str,
    seen: &'static str,
    lost: &'static [&'static str],
    refusal: &'static str,
) -> Case {
    Case { weakness, wall, status: "missing", seen, lost, refusal }
}

const ALL: &[&str] = &["bare"];
const WATCHED: &[&str] = &["writable-root", "denial"];

const CASES: [Case; 19] = [
    case(
        "docker",
        "user-namespace",
        "clone3: ENOSYS",
        ALL,
        "namespaces (clone3: ENOSYS)\n  help: a system call filter",
    ),
    case(
        "clone3-eperm",
        "user-namespace",
        "clone3: EPERM",
        ALL,
        "user namespace (EPERM)\n  help: a system call filter",
    ),
    case(
        "fsopen-eperm",
        "user-namespace",
        "mounting tmpfs: EPERM",
        ALL,
        "cannot create a user namespace (EPERM)",
    ),
    case("fsopen-enosys", "user-namespace", "mounting tmpfs: ENOSYS", ALL, "cannot mount (ENOSYS)"),
    case("openat2-enosys", "path-resolution", "openat2 /: ENOSYS", ALL, "(openat2: ENOSYS)"),
    case("open_tree-eperm", "mounts", "opening /usr: EPERM", ALL, "cannot build the sandbox: "),
    case("mount_setattr-enosys", "user-namespace", "mounting tmpfs: ENOSYS", ALL, "cannot mount (ENOSYS)"),
    case(
        "pivot_root-eperm",
        "mounts",
        "entering the new root, pivot_root: EPERM",
        ALL,
        "entering the new root",
    ),
    case(
        "no-user-namespaces",
        "user-namespace",
        "clone3: ENOSPC",
        ALL,
        "cannot create a user namespace (ENOSPC)",
    ),
    case("no-net-namespaces", "network-namespace", "clone3: ENOSPC", &["network-off"], "(ENOSPC)"),
    case("no-uts-namespaces", "uts-namespace", "clone3: ENOSPC", ALL, "(ENOSPC)"),
    case("masked-proc", "proc", "mounting /proc: EPERM", ALL, "cannot mount a fresh /proc (EPERM)"),
    case("landlock-enosys", "landlock", "landlock: ENOSYS", ALL, "Landlock is missing (ENOSYS)"),
    case("landlock-eopnotsupp", "landlock", "landlock: EOPNOTSUPP", ALL, "Landlock is missing (EOPNOTSUPP)"),
    case("landlock-restrict-eperm", "landlock", "", ALL, "Landlock is missing or too old"),
    case("landlock-abi-1", "landlock", "ABI 1", ALL, "Landlock is too old (ABI 1, need 2)"),
    Case {
        weakness: "landlock-abi-3",
        wall: "landlock",
        status: "weaker",
        seen: "ABI 3 of 6",
        lost: &[],
        refusal: "",
    },
    case("seccomp-einval", "filter", "seccomp: EINVAL", ALL, "cannot load the system call filter"),
    case("no-dnotify", "watch", "EINVAL", WATCHED, "cannot be watched"),
];

pub fn trials() -> Vec<Trial> {
    let me = rustix::process::geteuid().as_raw();
    let users = if me == 0 { vec![(0, "root"), (NOBODY, "nobody")] } else { vec![(me, "user")] };
    let mut trials = Vec::new();
    for (uid, user) in users {
        let mut add = |name: &str, run: Box<dyn FnOnce(&World) + Send>| {
            trials.push(Trial::test(format!("{name} as {user}"), move || {
                run(&World::new(uid));
                Ok(())
            }));
        };
        for case in &CASES {
            add(case.weakness, Box::new(|world| check(world, case)));
        }
        add("nothing", Box::new(whole));
        for (weakness, wall) in [("landlock-pretended", "landlock"), ("seccomp-pretended", "filter")] {
            add(weakness, Box::new(move |world| pretended(world, weakness, wall)));
        }
        add("no-temporary-directory", Box::new(nowhere_to_try));
        add("few-files", Box::new(few_files));
        add("inside a sandbox", Box::new(nested));
        add("the AppArmor profile", Box::new(apparmor));
        // The kernel does not count root's processes.
        if uid != 0 {
            add("no-processes", Box::new(no_processes));
        }
    }
    trials
}

/// What `doctor` promises is what `exec` does, profile by profile.
fn agree(world: &World, weakness: &str, report: &Report) {
    for (profile, _) in PROFILES {
        let ran = world.exec(weakness, profile);
        let expected = if report.promises(profile) { 7 } else { 125 };
        assert_eq!(ran.code, Some(expected), "{profile}: {}{}", ran.out, ran.err);
    }
    let complete = report.json["complete"] == true;
    assert_eq!(report.code, i32::from(!complete), "the exit code says whether anything is missing");
}

fn check(world: &World, case: &Case) {
    let report = world.doctor(case.weakness);
    let wall = report.wall(case.wall);
    assert_eq!(wall["status"], case.status, "{}", report.json);
    assert!(wall["seen"].as_str().unwrap().contains(case.seen), "{wall}");
    assert!(!wall["lost"].as_array().unwrap().is_empty(), "{wall}");
    assert!(wall["advice"].is_string(), "{wall}");
    let said: BTreeSet<&str> =
        PROFILES.iter().map(|(profile, _)| *profile).filter(|profile| !report.promises(profile)).collect();
    let expected = if case.lost == ALL {
        PROFILES.iter().map(|(profile, _)| *profile).collect()
    } else {
        BTreeSet::from_iter(case.lost.iter().copied())
    };
    assert_eq!(said, expected, "{}", report.json);
    agree(world, case.weakness, &report);
    if let Some(profile) = case.lost.first() {
        let ran = world.exec(case.weakness, profile);
        assert!(ran.err.contains(case.refusal), "{}", ran.err);
        assert!(ran.err.contains("`palisade doctor`"), "{}", ran.err);
    }
    let text = world.palisade(case.weakness, &["doctor"]);
    assert_eq!(text.code, Some(report.code));
    for line in text.out.lines() {
        // A path is not broken.
        assert!(line.chars().count() <= 80 || !line.trim().contains(' '), "{line}");
    }
    let sentence = report.json["verdict"]["sentence"].as_str().unwrap();
    let unwrapped = text.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(unwrapped.ends_with(sentence), "{}", text.out);
    untouched(world);
}

/// Of what `doctor` made for its trials nothing is left.
fn untouched(world: &World) {
    assert_eq!(world.names("workspace"), ["hidden"]);
    assert!(world.names("tmp").is_empty(), "{:?}", world.names("tmp"));
}

/// A machine that lacks nothing, and is left as it was found.
fn whole(world: &World) {
    let report = world.doctor("nothing");
    assert_eq!((report.code, report.enforces()), (0, "every"), "{}", report.json);
    assert_eq!((&report.json["schema"], &report.json["system"]), (&1.into(), &"linux".into()));
    for wall in report.json["walls"].as_array().unwrap() {
        assert!(wall["status"] == "ok" || wall["wall"] == "landlock", "{wall}");
    }
    untouched(world);
    assert!(world.names("home").is_empty(), "{:?}", world.names("home"));
    agree(world, "nothing", &report);
}

/// A kernel that takes a wall and does not keep it: no error tells, and only leaning against the wall does.
fn pretended(world: &World, weakness: &str, wall: &str) {
    let report = world.doctor(weakness);
    assert_eq!((report.code, report.enforces()), (1, "nothing"), "{}", report.json);
    assert_eq!(report.wall(wall)["status"], "missing", "{}", report.json);
    assert!(
        report.json["verdict"]["sentence"].as_str().unwrap().contains("does not hold"),
        "{}",
        report.json
    );
    untouched(world);
}

/// Where no directory can be made, what needs one is not tried and nothing is promised of it.
fn nowhere_to_try(world: &World) {
    let weakness = "no-temporary-directory";
    let report = world.doctor(weakness);
    assert_eq!(report.code, 1);
    for (wall, status) in
        [("placeholders", "untried"), ("trial", "untried"), ("state", "weaker"), ("proc", "ok")]
    {
        assert_eq!(report.wall(wall)["status"], status, "{}", report.json);
    }
    assert!(report.wall("placeholders")["seen"].as_str().unwrap().contains("Read-only file system"));
    for (profile, _) in PROFILES {
        let promised = report.promises(profile);
        assert_eq!(promised, !["writable-root", "denial"].contains(&profile), "{profile}");
        // All are enforced where they are enforced; that no directory could be made says nothing against the others.
        if promised {
            let ran = world.exec(weakness, profile);
            assert_eq!(ran.code, Some(7), "{profile}: {}", ran.err);
        }
    }
}

fn few_files(world: &World) {
    let report = world.doctor("few-files");
    assert_eq!((report.code, report.enforces()), (1, "nothing"), "{}", report.json);
    untouched(world);
    agree(world, "few-files", &report);
}

fn no_processes(world: &World) {
    let report = world.doctor("no-processes");
    assert_eq!((report.code, report.enforces()), (1, "nothing"), "{}", report.json);
    assert_eq!(report.wall("user-namespace")["seen"], "clone3: EAGAIN");
    for (wall, seen) in [("landlock", "fork: EAGAIN"), ("filter", "fork: EAGAIN")] {
        assert_eq!(
            (&report.wall(wall)["status"], &report.wall(wall)["seen"]),
            (&"untried".into(), &seen.into())
        );
    }
    untouched(world);
    agree(world, "no-processes", &report);
    let ran = world.exec("no-processes", "bare");
    assert!(ran.err.contains("cannot start a process (EAGAIN)\n  help: a limit on processes"), "{}", ran.err);
}

/// A sandbox of our own forbids another one in it, and is known as one.
fn nested(world: &World) {
    let program = world.program();
    let profile =
        format!("edition 1\nprofile \"outer\" {{ root \"$workspace\" read-write; tool \"{program}\" }}\n");
    std::fs::write(world.path.join("outer.palisade"), profile).unwrap();
    let inside = |arguments: &str| {
        let line = format!("{program} {arguments}");
        world.palisade("nothing", &["run", "../outer.palisade", "-c", &line])
    };
    let ran = inside("doctor --format json");
    assert_eq!(ran.code, Some(1), "{}{}", ran.out, ran.err);
    let report = Report { code: 1, json: serde_json::from_str(&ran.out).unwrap() };
    assert_eq!(report.enforces(), "nothing");
    let wall = report.wall("user-namespace");
    assert_eq!(wall["seen"], "clone3: ENOSYS");
    assert!(wall["advice"].as_str().unwrap().contains("already inside a sandbox"), "{wall}");
    let settings = report.json["surroundings"].as_array().unwrap();
    assert!(settings.iter().any(|setting| setting["name"] == "sandboxed"), "{settings:?}");
    assert_eq!(report.wall("path-resolution")["seen"], "openat2 /: ENOSYS");
    // Filters can be stacked: they are tried all the same.
    assert_eq!(report.wall("filter")["status"], "ok", "{}", report.json);
    assert!(report.wall("trial")["seen"].as_str().unwrap().contains("openat2"), "{}", report.json);
    let text = inside("doctor");
    assert!(text.out.starts_with("note: "), "{}", text.out);
}

fn apparmor(world: &World) {
    let ran = world.palisade("nothing", &["doctor", "--apparmor"]);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    let line = format!("profile palisade {} flags=(unconfined) {{", world.program());
    assert!(ran.out.lines().any(|said| said == line), "{}", ran.out);
    assert_eq!(world.palisade("nothing", &["doctor", "--apparmor", "--format", "json"]).code, Some(2));
}
