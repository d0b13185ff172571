//! What stays in memory beside a command: the supervisor and pid 1 of the sandbox.

use super::world::World;
use std::fs;
use std::process::Stdio;
use std::time::{Duration, Instant};

/// Prints the proportional set size (proc_pid_smaps(5)) of each process while a command sleeps, and their sum.
pub fn report(title: &str, world: &World) {
    let mut supervisor = world
        .palisade(&["sleep", "30"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .expect("it starts");
    let started = Instant::now();
    let (init, command) = loop {
        let init = child(supervisor.id());
        if let Some((init, command)) = init.and_then(|init| Some((init, child(init)?)))
            && fs::read_to_string(format!("/proc/{command}/comm")).is_ok_and(|name| name.trim() == "sleep")
        {
            break (init, command);
        }
        assert!(started.elapsed() < Duration::from_secs(20), "the command does not start");
        std::thread::sleep(Duration::from_millis(5));
    };
    // What pid 1 still closes and frees once the command runs.
    std::thread::sleep(Duration::from_millis(600));
    let sizes = [supervisor.id(), init, command].map(proportional);
    supervisor.kill().expect("it is killed");
    supervisor.wait().expect("it ends");
    let [supervisor, init, command] = sizes;
    let both = supervisor + init;
    println!(
        "{title}: supervisor {supervisor} kB + pid 1 {init} kB = {both} kB beside the command's {command} kB"
    );
}

/// The one child of a process, if it has one.
fn child(parent: u32) -> Option<u32> {
    fs::read_to_string(format!("/proc/{parent}/task/{parent}/children")).ok()?.split(' ').next()?.parse().ok()
}

/// In kB.
fn proportional(pid: u32) -> u64 {
    let rollup = fs::read_to_string(format!("/proc/{pid}/smaps_rollup"))
        .expect("only root may read of a hidden process");
    let line = rollup.lines().find_map(|line| line.strip_prefix("Pss:")).expect("a size");
    line.trim().trim_end_matches(" kB").parse().expect("a number")
}
