//! Commands in turns, so that all meet the same weather; what counts is the ratio of medians to the first one's.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// One command.
pub struct Contestant<'a> {
    pub name: String,
    /// By what its time is divided before it is compared.
    pub per: usize,
    pub command: Box<dyn Fn() -> Command + 'a>,
}

/// Runs everybody in turns, and prints what each took and what that is of the first one's.
///
/// # Panics
/// Where a command does not start, or fails: nothing may look quick because it did nothing.
pub fn side_by_side(title: &str, rounds: usize, contestants: Vec<Contestant<'_>>) {
    let mut times: Vec<Vec<Duration>> = vec![Vec::new(); contestants.len()];
    // The first round warms the kernel's memory of the files.
    for round in 0..=rounds {
        for (contestant, times) in contestants.iter().zip(&mut times) {
            let mut command = (contestant.command)();
            command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
            let start = Instant::now();
            let output = command.output().expect("it starts");
            let time = start.elapsed();
            let said = String::from_utf8_lossy(&output.stdout);
            assert!(
                output.status.success(),
                "{}: {}\n{}{}",
                contestant.name,
                output.status,
                said.chars().take(2_000).collect::<String>(),
                String::from_utf8_lossy(&output.stderr)
            );
            if round > 0 {
                times.push(time);
            }
        }
    }
    println!("{title}: medians of {rounds} rounds");
    let medians: Vec<f64> = times.iter_mut().map(|times| median(times)).collect();
    let each = |at: usize| medians[at] / contestants[at].per as f64;
    for (at, contestant) in contestants.iter().enumerate() {
        println!(
            "  {:28} {:9.1} ms {:8.3} times {}",
            contestant.name,
            medians[at],
            each(at) / each(0),
            contestants[0].name
        );
    }
}

fn median(times: &mut [Duration]) -> f64 {
    times.sort_unstable();
    times[times.len() / 2].as_secs_f64() * 1e3
}
