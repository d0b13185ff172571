//! The list of all tests, each for every user that the suite can be: whoever runs it, and an unprivileged one where that is root.

use crate::world::{NOBODY, Place, World, remove_programs};
use libtest_mimic::{Arguments, Failed, Trial};
use std::io;
use std::process::{ExitCode, Output};

/// What must become of a probe behind the walls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Want {
    Works,
    /// It is stopped, and succeeds without walls.
    Denied,
    /// It is stopped, and this machine does not let it succeed without walls either.
    DeniedAnyway,
}

/// Something a program tries.
pub struct Probe {
    pub name: &'static str,
    pub want: Want,
    /// Returns `Ok` where the program got what it wanted.
    pub run: fn(&Place) -> io::Result<()>,
}

pub const fn works(name: &'static str, run: fn(&Place) -> io::Result<()>) -> Probe {
    Probe { name, want: Want::Works, run }
}

pub const fn denied(name: &'static str, run: fn(&Place) -> io::Result<()>) -> Probe {
    Probe { name, want: Want::Denied, run }
}

pub const fn denied_anyway(name: &'static str, run: fn(&Place) -> io::Result<()>) -> Probe {
    Probe { name, want: Want::DeniedAnyway, run }
}

/// A whole run that looks at more than one answer.
pub struct Scenario {
    pub name: &'static str,
    pub run: fn(&mut World),
}

const FAMILIES: [&[Probe]; 8] = [
    crate::files::PROBES,
    crate::denied::PROBES,
    crate::writes::PROBES,
    crate::programs::PROBES,
    crate::processes::PROBES,
    crate::network::PROBES,
    crate::ipc::PROBES,
    crate::surroundings::PROBES,
];

const SCENARIOS: [&[Scenario]; 9] = [
    crate::ipc::SCENARIOS,
    crate::limits::SCENARIOS,
    crate::network::SCENARIOS,
    crate::programs::SCENARIOS,
    crate::record::SCENARIOS,
    crate::refusals::SCENARIOS,
    crate::surroundings::SCENARIOS,
    crate::terminal::SCENARIOS,
    crate::terminal::JOBS,
];

pub fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().collect();
    if let [_, flag, name, base, host] = words.as_slice()
        && flag == "--probe"
    {
        return probe(name, &Place { base: base.into(), host: host.parse().unwrap() });
    }
    if let Some("--hang") = words.get(1).map(String::as_str) {
        std::thread::sleep(std::time::Duration::from_secs(600));
    }
    if let Some("--open-many") = words.get(1).map(String::as_str) {
        return open_many();
    }
    if let [_, flag, what] = words.as_slice()
        && flag == "--at-terminal"
    {
        crate::terminal::inside(what);
        return ExitCode::SUCCESS;
    }
    let shared = crate::ipc::Shared::new();
    let conclusion = libtest_mimic::run(&Arguments::from_args(), trials());
    drop(shared);
    remove_programs();
    conclusion.exit_code()
}

/// Opens more files than any limit of the suite allows.
fn open_many() -> ExitCode {
    let opened: Result<Vec<_>, _> = (0..200).map(|_| std::fs::File::open("/dev/null")).collect();
    match opened {
        Ok(_) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(1)
        }
    }
}

/// Inside or outside the walls: 0 where the probe got what it wanted, 1 where it did not.
fn probe(name: &str, place: &Place) -> ExitCode {
    let asked = [crate::programs::PRELOADED];
    let probe = FAMILIES.into_iter().flatten().chain(&asked).find(|probe| probe.name == name);
    match (probe.expect("a probe of this name").run)(place) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("{error}");
            ExitCode::from(1)
        }
    }
}

fn trials() -> Vec<Trial> {
    let me = rustix::process::geteuid().as_raw();
    let users = if me == 0 { vec![(0, "root"), (NOBODY, "nobody")] } else { vec![(me, "user")] };
    let mut trials = Vec::new();
    for (uid, user) in users {
        for probe in FAMILIES.into_iter().flatten() {
            trials.push(Trial::test(format!("{} as {user}", probe.name), move || check(probe, uid)));
        }
        for scenario in SCENARIOS.into_iter().flatten() {
            trials.push(Trial::test(format!("{} as {user}", scenario.name), move || {
                (scenario.run)(&mut World::new(uid));
                Ok(())
            }));
        }
    }
    trials
}

fn check(probe: &Probe, uid: u32) -> Result<(), Failed> {
    if probe.want != Want::DeniedAnyway {
        let world = World::new(uid);
        crate::network::listen_in(&world.place, uid);
        let control = world.unwalled(probe.name);
        if control.status.code() != Some(0) {
            return Err(format!("without walls it fails too: {}", show(&control)).into());
        }
    }
    let world = World::new(uid);
    crate::network::listen_in(&world.place, uid);
    let walled = world.walled(probe.name);
    let expected = if probe.want == Want::Works { 0 } else { 1 };
    if walled.status.code() != Some(expected) || !walled.stderr.is_empty() {
        return Err(format!("behind walls: {}", show(&walled)).into());
    }
    Ok(())
}

pub fn show(output: &Output) -> String {
    format!(
        "{}; {:?}; {:?}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}
