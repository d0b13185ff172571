//! What `doctor` makes of observations, on any system: those that this machine cannot show are written down by hand.

use palisade::doctor::{
    Feature, Found, Missing, Observation, Observations, Report, Setting, Status, Trial, Trials, Verdict, Wall,
};
use palisade::policy::System;

fn held() -> Trials {
    Trials { whole: Trial::Held, bare: None, features: Vec::new() }
}

fn refused(message: &str, help: &str) -> Trial {
    Trial::Refused { message: message.into(), help: Some(help.into()) }
}

fn missing(error: &str, help: &str) -> Found {
    Found::Missing(Missing { error: error.into(), help: help.into() })
}

fn observations(walls: &[(Wall, Found)], trials: Trials) -> Observations {
    let walls = walls.iter().map(|(wall, found)| Observation { wall: *wall, found: found.clone() }).collect();
    Observations { system: System::Linux, root: false, surroundings: Vec::new(), walls, trials }
}

fn snapshot(name: &str, report: &Report) {
    let text = report.text();
    for line in text.lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../snapshots");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(format!("doctor-{name}"), text));
}

const APPARMOR: &str = "AppArmor restricts it on this host (kernel.apparmor_restrict_unprivileged_userns=1); ask an \
    administrator to install the AppArmor profile that `palisade doctor --apparmor` prints, or to set the sysctl to 0";

/// Ubuntu 24.04, as others report it: the namespace is given, and then the map is refused.
#[test]
fn ubuntu_without_the_profile() {
    let rests = || Found::Untried("rests on the user namespace".into());
    let refusal = refused("cannot create a user namespace (EPERM)", APPARMOR);
    let trials = Trials { whole: refusal.clone(), bare: Some(refusal), features: Vec::new() };
    let mut seen = observations(
        &[
            (Wall::UserNamespace, missing("entering a user namespace, /proc/self/uid_map: EPERM", APPARMOR)),
            (Wall::PidNamespace, rests()),
            (Wall::Mounts, rests()),
            (Wall::Proc, rests()),
            (Wall::Landlock, Found::Level(4)),
            (Wall::Filter, Found::Works),
            (Wall::State, missing("/home/dev/.local/state/palisade/runs: EACCES", "set XDG_STATE_HOME")),
        ],
        trials,
    );
    seen.surroundings.push(Setting {
        name: "apparmor",
        fact: "kernel.apparmor_restrict_unprivileged_userns is 1".into(),
        meaning: "AppArmor: a program without a profile that allows `userns` gets a user namespace in which it may do nothing"
            .into(),
        always: false,
    });
    let report = Report::of(seen);
    assert_eq!(report.verdict, Verdict::Nothing);
    assert!(!report.is_complete());
    let status = |wall| report.lines.iter().find(|line| line.wall == wall).unwrap().status;
    assert_eq!(status(Wall::Landlock), Status::Weaker);
    assert_eq!(status(Wall::State), Status::Weaker, "a run does without");
    snapshot("ubuntu", &report);
}

/// Docker's default profile with CAP_SYS_ADMIN, but its masks on /proc.
#[test]
fn a_container_with_a_masked_proc() {
    let help = "the outer /proc is partly masked, as in a container; use `--security-opt systempaths=unconfined` (docker) or \
        `--security-opt unmask=ALL` (podman)";
    let refusal = refused("cannot mount a fresh /proc (EPERM)", help);
    let trials = Trials { whole: refusal.clone(), bare: Some(refusal), features: Vec::new() };
    let mut seen = observations(
        &[
            (Wall::UserNamespace, Found::Works),
            (Wall::Proc, missing("mounting /proc: EPERM", help)),
            (Wall::Landlock, Found::Level(7)),
        ],
        trials,
    );
    for (name, fact, meaning) in [
        (
            "container",
            "`/.dockerenv` is there",
            "a container: what it was started with decides what is there",
        ),
        (
            "masked-proc",
            "/proc/self/mountinfo has a mount at /proc/kcore",
            "a partly masked /proc: the kernel refuses a fresh one then",
        ),
    ] {
        let (fact, meaning) = (fact.into(), meaning.into());
        seen.surroundings.push(Setting { name, fact, meaning, always: false });
    }
    snapshot("container", &Report::of(seen));
}

#[test]
fn root_on_an_older_kernel() {
    let help =
        "Linux 6.14 or newer is needed for it; run palisade as another user, or state no limit on processes";
    let refusal = refused("cannot limit root's processes", help);
    let held = [Feature::NetworkOff, Feature::WritableRoot, Feature::Denial, Feature::Terminal];
    let mut features: Vec<(Feature, Trial)> = held.map(|feature| (feature, Trial::Held)).into();
    features.push((Feature::Processes, refusal.clone()));
    let mut seen = observations(
        &[(
            Wall::ProcessLimit,
            missing("Linux 6.8.0-40-generic: kernel.pid_max is the host's, so not tried", help),
        )],
        Trials { whole: refusal, bare: Some(Trial::Held), features },
    );
    seen.root = true;
    let report = Report::of(seen);
    assert_eq!(report.verdict, Verdict::AllBut(vec![Feature::Processes]));
    snapshot("older-kernel", &report);
}

#[test]
fn a_mac() {
    let mut seen = observations(&[(Wall::SandboxExec, Found::Works), (Wall::Seatbelt, Found::Works)], held());
    seen.system = System::Macos;
    let report = Report::of(seen.clone());
    assert!(report.is_complete());
    snapshot("mac", &report);
    let help = "a process that is in a sandbox already cannot enter another: run palisade outside of it";
    let refusal = refused(
        "`/usr/bin/sandbox-exec` could not apply the profile or start the program (exit 71)",
        "its message stands above. A process that is in a sandbox already cannot enter another: run palisade outside of it",
    );
    let error = "sandbox-exec ended with 71: sandbox-exec: sandbox_apply: Operation not permitted";
    seen.walls[1].found = missing(error, help);
    seen.trials = Trials { whole: refusal.clone(), bare: Some(refusal), features: Vec::new() };
    let report = Report::of(seen);
    assert_eq!(report.verdict, Verdict::Nothing);
    snapshot("mac-in-a-sandbox", &report);
}

/// A wall that is built and does not hold: `exec` starts, and nothing is promised.
#[test]
fn a_wall_that_does_not_hold() {
    let broken = Found::Broken("what Landlock was not told to allow can be written".into());
    let report = Report::of(observations(&[(Wall::Landlock, broken)], held()));
    assert_eq!(report.verdict, Verdict::Broken);
    assert_eq!(report.json()["verdict"]["enforces"], "nothing");
    snapshot("broken", &report);
}

/// A note that matters always is said where nothing is missing too, others are not.
#[test]
fn surroundings_are_said_where_they_matter() {
    let mut seen = observations(&[(Wall::UserNamespace, Found::Works)], held());
    let setting =
        |name, always| Setting { name, fact: format!("fact of {name}"), meaning: "it".into(), always };
    seen.surroundings = vec![setting("wsl", true), setting("container", false)];
    let text = Report::of(seen.clone()).text();
    assert!(text.contains("fact of wsl") && !text.contains("fact of container"), "{text}");
    seen.walls[0].found = missing("clone3: EPERM", "help");
    let report = Report::of(seen);
    assert!(report.text().contains("fact of container"));
    assert_eq!(report.json()["surroundings"].as_array().unwrap().len(), 2);
}

/// A wall that is missing is a finding whatever the trials say, and a trial that failed whatever the walls say.
#[test]
fn complete_means_all_of_it() {
    let complete = |found, trials| Report::of(observations(&[(Wall::Proc, found)], trials)).is_complete();
    let failed = |trial| Trials { whole: trial, bare: Some(Trial::Held), features: Vec::new() };
    assert!(complete(Found::Works, held()));
    assert!(!complete(missing("x", "y"), held()));
    assert!(!complete(Found::Untried("x".into()), held()));
    assert!(!complete(Found::Broken("x".into()), held()));
    assert!(!complete(Found::Works, failed(refused("x", "y"))));
    assert!(!complete(Found::Works, failed(Trial::Broken("a denied file could be read".into()))));
    assert!(Report::of(observations(&[(Wall::Landlock, Found::Level(2))], held())).is_complete());
}

/// Of all ends of the trials, only those in which the whole held promise everything.
#[test]
fn the_verdict_promises_no_more_than_was_tried() {
    let ends = [
        Trial::Held,
        refused("x", "y"),
        Trial::Failed("z".into()),
        Trial::Broken("b".into()),
        Trial::Untried,
    ];
    for whole in &ends {
        for bare in ends.iter().map(Some).chain([None]) {
            for one in &ends {
                for other in &ends {
                    let features = vec![(Feature::Denial, one.clone()), (Feature::NetworkOff, other.clone())];
                    let trials = Trials { whole: whole.clone(), bare: bare.cloned(), features };
                    let broken = trials.all().any(|trial| matches!(trial, Trial::Broken(_)));
                    let report = Report::of(observations(&[], trials));
                    assert_eq!(report.verdict == Verdict::Broken, broken);
                    let untried = [one, other].contains(&&Trial::Untried);
                    match &report.verdict {
                        Verdict::Every => assert!(*whole == Trial::Held && !untried),
                        Verdict::AllBut(but) => {
                            assert!(*whole == Trial::Held || bare == Some(&Trial::Held));
                            assert!(!but.is_empty());
                            assert!(
                                *one == Trial::Held
                                    || *whole == Trial::Held
                                    || but.contains(&Feature::Denial)
                            );
                        }
                        Verdict::Broken => {}
                        Verdict::Nothing => assert!(*whole != Trial::Held && bare != Some(&Trial::Held)),
                    }
                    assert!(report.text().trim_end().replace('\n', " ").ends_with(&report.sentence()));
                    assert!(report.is_complete() == (report.verdict == Verdict::Every));
                }
            }
        }
    }
}

#[test]
fn the_form_for_machines() {
    let features = [(Feature::Denial, refused("x", "y")), (Feature::NetworkOff, Trial::Held)].into();
    let trials = Trials { whole: refused("x", "y"), bare: Some(Trial::Held), features };
    let json = Report::of(observations(&[(Wall::Watch, missing("EINVAL", "turn it on"))], trials)).json();
    let keys: Vec<&str> = json.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(keys, ["complete", "palisade", "schema", "surroundings", "system", "verdict", "walls"]);
    assert_eq!(json["schema"], palisade::doctor::SCHEMA);
    assert_eq!(
        (&json["verdict"]["enforces"], &json["verdict"]["but"]),
        (&"all-but".into(), &vec!["denial"].into())
    );
    assert_eq!(json["walls"][0]["wall"], "watch");
    assert_eq!(json["walls"][0]["status"], "missing");
    assert_eq!(json["walls"][0]["advice"], "turn it on");
    assert_eq!(json["complete"], false);
}
