//! The list of all tests, each for every user that the suite can be.

use crate::system;
use crate::table::Row;
use crate::world::{Place, World, remove_programs};
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

const FAMILIES: [&[Probe]; 7] = [
    crate::files::PROBES,
    crate::denied::PROBES,
    crate::writes::PROBES,
    crate::programs::PROBES,
    crate::network::PROBES,
    crate::ipc::PROBES,
    crate::surroundings::PROBES,
];

const SCENARIOS: [&[Scenario]; 5] = [
    crate::limits::SCENARIOS,
    crate::network::SCENARIOS,
    crate::programs::SCENARIOS,
    crate::refusals::SCENARIOS,
    crate::surroundings::SCENARIOS,
];

fn probes() -> impl Iterator<Item = &'static Probe> {
    FAMILIES.into_iter().chain(system::FAMILIES).flatten()
}

fn scenarios() -> impl Iterator<Item = &'static Scenario> {
    SCENARIOS.into_iter().chain(system::SCENARIOS).flatten()
}

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
    if let Some(code) = system::inside(&words) {
        return code;
    }
    let offered = (crate::ipc::Segment::new(), system::Offered::new());
    let conclusion = libtest_mimic::run(&Arguments::from_args(), trials());
    drop(offered);
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
    let probe = probes().chain([&system::ASKED]).find(|probe| probe.name == name);
    match (probe.expect("a probe of this name").run)(place) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("{error}");
            ExitCode::from(1)
        }
    }
}

fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for (uid, user) in system::users() {
        for probe in probes() {
            let name = format!("{} as {user}", probe.name);
            trials.push(Trial::test(name.clone(), move || check(probe, uid, &name)));
        }
        for scenario in scenarios() {
            let name = format!("{} as {user}", scenario.name);
            trials.push(Trial::test(name.clone(), move || {
                let mut row = Row::new(&name, "holds");
                (scenario.run)(&mut World::new(uid));
                row.see("holds");
                Ok(())
            }));
        }
    }
    trials
}

fn check(probe: &Probe, uid: u32, name: &str) -> Result<(), Failed> {
    let wanted = if probe.want == Want::Works { "works" } else { "denied" };
    let mut row = Row::new(name, wanted);
    if probe.want != Want::DeniedAnyway {
        let world = World::new(uid);
        crate::network::listen_in(&world.place, uid);
        let control = world.unwalled(probe.name);
        if control.status.code() != Some(0) {
            row.see("no answer: fails without walls too");
            return Err(format!("without walls it fails too: {}", show(&control)).into());
        }
    }
    let world = World::new(uid);
    crate::network::listen_in(&world.place, uid);
    let walled = world.walled(probe.name);
    let seen = match walled.status.code() {
        Some(0) => "works",
        Some(1) => "denied",
        _ => "ends in another way",
    };
    row.see(seen);
    if seen != wanted || !walled.stderr.is_empty() {
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
