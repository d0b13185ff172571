//! What `palisade exec` costs, beside a bare fork and exec and beside other sandboxes with the same policy.
//!
//! `cargo bench --bench startup` runs everything; `-- SECTION …` only some of it: `typical`, `missing`, `denied`, `calls`, `memory`. Needs
//! Linux. `bwrap`, `srt` and `nono` take part where they are on the PATH. Machines and their weather differ: what counts are ratios.

mod calls;
mod measure;
mod memory;
mod rivals;
mod world;

use measure::{Contestant, compare};
use std::path::Path;
use std::process::Command;
use world::{Shape, World};

/// Like a home directory: on the disk.
const DISK: &str = "/var/tmp";
/// Where removing a directory waits for no disk: some discard the blocks at once, which takes milliseconds for each.
const MEMORY: &str = "/dev/shm";

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    if let [flag, file] = words.as_slice()
        && flag == calls::INSIDE
    {
        return calls::count(Path::new(file));
    }
    let asked = |section: &str| words.is_empty() || words.iter().any(|word| word == section);
    let guarded = Shape { guarded: true, ..Shape::default() };
    if asked("typical") {
        side_by_side("a typical profile", 200, DISK, guarded);
    }
    if asked("missing") {
        side_by_side("nothing there yet of what is guarded, on the disk", 60, DISK, Shape::default());
        if Path::new(MEMORY).is_dir() {
            side_by_side("nothing there yet of what is guarded, in memory", 100, MEMORY, Shape::default());
        }
    }
    if asked("denied") {
        side_by_side("1,000 denied files", 40, DISK, Shape { denied: 1000, ..guarded });
    }
    if asked("calls") {
        calls::report(&World::new(Path::new(DISK), Shape { programs: true, ..guarded }));
    }
    if asked("memory") {
        memory::report("memory, typical", &World::new(Path::new(DISK), guarded));
        memory::report(
            "memory, 1,000 denied files",
            &World::new(Path::new(DISK), Shape { denied: 1000, ..guarded }),
        );
    }
}

fn side_by_side(title: &str, rounds: usize, place: &str, shape: Shape) {
    let world = World::new(Path::new(place), shape);
    let bare = || Command::new("/usr/bin/true");
    let mut contestants = vec![
        Contestant { name: "bare", every: 1, command: Box::new(bare) },
        Contestant { name: "palisade", every: 1, command: Box::new(|| world.palisade(&["true"])) },
    ];
    contestants.extend(rivals::installed(&world));
    compare(title, rounds, &contestants);
}
