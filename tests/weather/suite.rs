//! The list of all scenarios, each for every user that the suite can be.

use crate::raw;
use crate::table::Row;
use crate::world::{World, prepare, programs, remove_programs};
use libtest_mimic::{Arguments, Failed, Trial};
use rustix::mount::{MountPropagationFlags, mount_change};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode, Stdio};
use std::sync::Mutex;

/// A whole run that looks at more than one answer.
pub struct Scenario {
    pub name: &'static str,
    pub run: fn(&World),
}

const SCENARIOS: [&[Scenario]; 8] = [
    crate::kills::SCENARIOS,
    crate::space::SCENARIOS,
    crate::changes::SCENARIOS,
    crate::manifests::SCENARIOS,
    crate::names::SCENARIOS,
    crate::places::SCENARIOS,
    crate::planted::SCENARIOS,
    crate::storms::SCENARIOS,
];

/// Somebody who is not root.
const NOBODY: u32 = 65534;

/// Set where nobody else mounts anything. Elsewhere this user is not root, and the kernel lets nobody else leave mounts on the host.
pub const OWN_MOUNTS: &str = "PALISADE_OWN_MOUNTS";

/// The exit code of a scenario of which something cannot be made on this machine; its output says what.
const NOT_HERE: u8 = 77;

/// What could not be made, and so was not tried. Said when all is over, where it cannot be overlooked.
static UNTRIED: Mutex<Vec<String>> = Mutex::new(Vec::new());

pub fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().collect();
    if let [_, flag, name, base] = words.as_slice()
        && flag == "--scenario"
    {
        return inside(name, base);
    }
    // What a command does behind the walls for which the shell has no word of its own.
    match words.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        [_, "--mode", mode, path] => {
            let mode = std::fs::Permissions::from_mode(u32::from_str_radix(mode, 8).unwrap());
            std::fs::set_permissions(path, mode).unwrap();
            return ExitCode::SUCCESS;
        }
        [_, "--make", path] => {
            std::fs::create_dir(path).unwrap();
            return ExitCode::SUCCESS;
        }
        _ => {}
    }
    if rustix::process::geteuid().is_root() {
        // What others mount on this machine meanwhile is not to be taken for a sandbox's left-overs.
        raw::unshare(libc::CLONE_NEWNS).unwrap();
        mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC).unwrap();
    }
    let conclusion = libtest_mimic::run(&Arguments::from_args(), trials());
    remove_programs();
    for untried in UNTRIED.lock().unwrap().iter() {
        eprintln!("NOT TRIED, as it cannot be made on this machine: {untried}");
    }
    conclusion.exit_code()
}

fn inside(name: &str, base: &str) -> ExitCode {
    let mut all = SCENARIOS.into_iter().flatten();
    let scenario = all.find(|scenario| scenario.name == name).expect("a scenario of this name");
    let world = World::at(base.into());
    (scenario.run)(&world);
    let untried = world.untried.borrow();
    untried.iter().for_each(|untried| println!("{untried}"));
    if untried.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(NOT_HERE) }
}

fn trials() -> Vec<Trial> {
    let me = rustix::process::geteuid().as_raw();
    let users = if me == 0 { vec![(0, "root"), (NOBODY, "nobody")] } else { vec![(me, "user")] };
    let mut trials = Vec::new();
    for (uid, user) in users {
        for scenario in SCENARIOS.into_iter().flatten() {
            let name = format!("{} as {user}", scenario.name);
            trials.push(Trial::test(name.clone(), move || {
                let mut row = Row::new(&name, "holds");
                run(scenario, uid, &name)?;
                row.see("holds");
                Ok(())
            }));
        }
    }
    trials
}

fn run(scenario: &Scenario, uid: u32, name: &str) -> Result<(), Failed> {
    let directory = prepare(uid);
    let mut command = Command::new(&programs().suite);
    if rustix::process::geteuid().as_raw() != uid {
        command.uid(uid).gid(uid);
    }
    command.args(["--scenario", scenario.name]).arg(directory.path().canonicalize()?).current_dir("/");
    if rustix::process::geteuid().is_root() {
        command.env(OWN_MOUNTS, "");
    }
    command.env("PALISADE_UNDER_TEST", &programs().palisade).stdin(Stdio::null());
    let output = command.output()?;
    match output.status.code() {
        Some(0) => Ok(()),
        Some(code) if code == i32::from(NOT_HERE) => {
            let untried = String::from_utf8_lossy(&output.stdout);
            let lines = untried.lines().map(|line| format!("{name}: {line}"));
            UNTRIED.lock().unwrap().extend(lines);
            Ok(())
        }
        _ => Err(format!("{}\n{}", output.status, String::from_utf8_lossy(&output.stderr)).into()),
    }
}
