//! What `palisade exec` costs, beside a bare fork and exec and beside other sandboxes with the same policy.
//!
//! `cargo bench --bench startup` runs everything; `-- SECTION …` only some of it: `typical`, `missing`, `denied`, `network`, `calls`, `memory`.
//! Needs Linux. `bwrap`, `srt` and `nono` take part where they are on the PATH. Machines and their weather differ: what counts are ratios.

mod calls;
mod measure;
mod memory;
mod rivals;
mod world;

use measure::{Contestant, compare};
use palisade::bind::guards::GUARDED;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Instant;
use world::{Shape, World};

/// Like a home directory: on a disk. `--place DIRECTORY` works elsewhere.
const DISK: &str = "/var/tmp";

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    if let [flag, file] = words.as_slice()
        && flag == calls::INSIDE
    {
        return calls::count(Path::new(file));
    }
    let place = words.iter().position(|word| word == "--place").and_then(|at| words.get(at + 1));
    let place = Path::new(place.map_or(DISK, String::as_str));
    let words: Vec<&String> =
        words.iter().filter(|word| !word.starts_with('-') && !word.starts_with('/')).collect();
    let asked = |section: &str| words.is_empty() || words.iter().any(|word| *word == section);
    let guarded = Shape { guarded: true, ..Shape::default() };
    if asked("typical") {
        side_by_side("a typical profile", 200, place, guarded);
    }
    if asked("missing") {
        side_by_side("nothing there yet of what is guarded", 60, place, Shape::default());
        placeholders(place);
    }
    let many = Shape { denied: 1000, ..guarded };
    if asked("denied") {
        side_by_side("1,000 denied files", 40, place, many);
    }
    if asked("network") {
        network(place, guarded);
    }
    if asked("calls") {
        calls::report(&World::new(place, Shape { programs: true, ..guarded }));
    }
    if asked("memory") {
        memory::report("memory, typical", &World::new(place, guarded));
        memory::report("memory, 1,000 denied files", &World::new(place, many));
    }
}

/// Prints what it takes to make and remove a directory for each guard, and nothing else: some disks discard what is free at once, and
/// whoever removes a directory waits for it.
fn placeholders(place: &Path) {
    let scratch = tempfile::tempdir_in(place).expect("a place to work");
    let times = (0..20).map(|_| {
        let start = Instant::now();
        let directories = GUARDED.iter().map(|guarded| scratch.path().join(guarded.name));
        directories.clone().for_each(|directory| fs::create_dir(directory).expect("a directory"));
        directories.for_each(|directory| fs::remove_dir(directory).expect("an empty directory"));
        start.elapsed().as_secs_f64() * 1e6
    });
    println!(
        "  {} directories made and removed, alone: {:.0} us",
        GUARDED.len(),
        measure::middle(times.collect())
    );
}

/// What a list of hosts adds: a network of its own, and the process that carries its connections.
fn network(place: &Path, shape: Shape) {
    let (off, listed) = (World::new(place, shape), World::new(place, Shape { listed: true, ..shape }));
    let bare = || Command::new("/usr/bin/true");
    let contestants = [
        Contestant { name: "bare", every: 1, command: Box::new(bare) },
        Contestant { name: "palisade", every: 1, command: Box::new(|| listed.palisade(&["true"])) },
        Contestant { name: "off", every: 1, command: Box::new(|| off.palisade(&["true"])) },
    ];
    let medians = compare("a list of hosts, beside no network", 200, &contestants);
    println!("  the list adds {:.0} us", medians[1] - medians[2]);
}

fn side_by_side(title: &str, rounds: usize, place: &Path, shape: Shape) {
    let world = World::new(place, shape);
    let bare = || Command::new("/usr/bin/true");
    let mut contestants = vec![
        Contestant { name: "bare", every: 1, command: Box::new(bare) },
        Contestant { name: "palisade", every: 1, command: Box::new(|| world.palisade(&["true"])) },
    ];
    contestants.extend(rivals::installed(&world));
    compare(title, rounds, &contestants);
}
