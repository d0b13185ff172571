//! Contestants side by side: they take turns, so that all meet the same weather, and what counts is the ratio of medians.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// One way to run a command.
pub struct Contestant<'a> {
    pub name: &'static str,
    /// It takes part in every so many rounds only.
    pub every: usize,
    pub command: Box<dyn Fn() -> Command + 'a>,
}

const WARM_UP: usize = 5;

/// Runs everybody in turns, prints medians and what they are of the first one's, and gives the medians in microseconds.
pub fn compare(title: &str, rounds: usize, contestants: &[Contestant<'_>]) -> Vec<f64> {
    let mut times: Vec<Vec<Duration>> = vec![Vec::new(); contestants.len()];
    for round in 0..rounds + WARM_UP {
        for (contestant, times) in contestants.iter().zip(&mut times) {
            if !round.is_multiple_of(contestant.every) {
                continue;
            }
            let mut command = (contestant.command)();
            command.stdin(Stdio::null()).stdout(Stdio::null());
            let start = Instant::now();
            let status = command.status().expect("it starts");
            let time = start.elapsed();
            assert!(status.success(), "{} failed: {status}", contestant.name);
            if round >= WARM_UP {
                times.push(time);
            }
        }
    }
    println!("{title}: medians of {rounds} rounds of `true`");
    let medians: Vec<f64> = times.iter_mut().map(|times| median(times)).collect();
    for ((contestant, median), times) in contestants.iter().zip(&medians).zip(&times) {
        let name = contestant.name;
        let ratio = median / medians[0];
        println!(
            "  {name:10} {median:9.0} us {ratio:8.2} times {} ({} runs)",
            contestants[0].name,
            times.len()
        );
    }
    if let Some(own) = contestants.iter().position(|contestant| contestant.name == "palisade") {
        for (contestant, median) in contestants.iter().zip(&medians).skip(own + 1) {
            println!("  palisade / {}: {:.3}", contestant.name, medians[own] / median);
        }
    }
    medians
}

fn median(times: &mut [Duration]) -> f64 {
    times.sort_unstable();
    times[times.len() / 2].as_secs_f64() * 1e6
}

/// The middle one of some figures.
pub fn middle(mut figures: Vec<f64>) -> f64 {
    figures.sort_unstable_by(f64::total_cmp);
    figures[figures.len() / 2]
}
