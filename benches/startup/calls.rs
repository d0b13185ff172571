//! What a system call costs inside the walls and outside: this program itself, once here and once there, in turns.

use super::measure::middle;
use super::world::World;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

/// The argument by which the program is told to count.
pub const INSIDE: &str = "--count-calls";

const ROUNDS: usize = 21;
const CALLS: u32 = 20_000;
const NAMES: [&str; 4] = ["getpid", "stat", "open and close", "read of 1 byte"];

/// Prints, for each call, nanoseconds outside and inside and their ratio.
pub fn report(world: &World) {
    let probe = world.workspace.join("bin/probe");
    fs::copy(std::env::current_exe().expect("this program"), &probe).expect("a copy");
    let (probe, file) = (probe.to_str().expect("UTF-8"), world.workspace.join("src/main.rs"));
    let file = file.to_str().expect("UTF-8");
    let mut figures = [(); NAMES.len()].map(|()| (Vec::new(), Vec::new()));
    for _ in 0..ROUNDS {
        let mut plain = Command::new(probe);
        plain.args([INSIDE, file]);
        let outside = ask(plain);
        let inside = ask(world.palisade(&[probe, INSIDE, file]));
        for (at, (plain, walled)) in figures.iter_mut().enumerate() {
            plain.push(outside[at]);
            walled.push(inside[at]);
        }
    }
    println!("system calls, on a file five directories deep: medians of {ROUNDS} rounds of {CALLS} calls");
    for (name, (outside, inside)) in NAMES.iter().zip(figures) {
        let (outside, inside) = (middle(outside), middle(inside));
        println!(
            "  {name:15} {outside:7.0} ns outside {inside:7.0} ns inside {:6.2} times",
            inside / outside
        );
    }
}

fn ask(mut command: Command) -> Vec<f64> {
    let output = command.output().expect("it starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("text");
    text.split_whitespace().map(|figure| figure.parse().expect("a number")).collect()
}

/// The other side of [`ask`]: prints nanoseconds for each of [`NAMES`].
pub fn count(file: &Path) {
    use rustix::fs::{Mode, OFlags, open, stat};
    let opened = open(file, OFlags::RDONLY, Mode::empty()).expect("the file opens");
    let figures = [
        each(rustix::process::getpid),
        each(|| stat(file).expect("it is there")),
        each(|| open(file, OFlags::RDONLY, Mode::empty()).expect("it opens")),
        each(|| rustix::io::pread(&opened, &mut [0; 1], 0).expect("it is read")),
    ];
    println!("{}", figures.map(|figure| format!("{figure:.1}")).join(" "));
}

fn each<T>(call: impl Fn() -> T) -> f64 {
    let start = Instant::now();
    for _ in 0..CALLS {
        std::hint::black_box(call());
    }
    start.elapsed().as_secs_f64() * 1e9 / f64::from(CALLS)
}
