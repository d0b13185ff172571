//! What `palisade check` and `compile` cost: how the time grows with profiles, lines, denials, files and cores, and beside the linters that
//! people know.
//!
//! `cargo bench --bench check` runs everything; `-- SECTION …` only some of it: `profiles`, `lines`, `cores`, `one`, `denials`, `seatbelt`.
//! `ruff` and `cedar` take part where they are on the PATH. Machines and their weather differ: what counts are ratios.

mod measure;
mod worlds;

use measure::{Contestant, side_by_side};
use std::path::{Path, PathBuf};
use std::process::Command;
use worlds::Layout;

const PALISADE: &str = env!("CARGO_BIN_EXE_palisade");

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let asked = |section: &str| words.is_empty() || words.iter().any(|word| word == section);
    if asked("profiles") {
        profiles();
    }
    if asked("lines") {
        lines();
    }
    if asked("cores") {
        cores();
    }
    if asked("one") {
        one();
    }
    if asked("denials") {
        denials();
    }
    if asked("seatbelt") {
        seatbelt();
    }
}

fn check(directory: &Path) -> Command {
    let mut command = Command::new(PALISADE);
    command.current_dir(directory).args(["check", "--format", "concise", "."]);
    command
}

/// Ten times the profiles must take ten times the time, wherever they lie.
fn profiles() {
    let scratch = worlds::scratch();
    for (layout, how) in [(Layout::Spread, "20 in a directory"), (Layout::Together, "all in one directory")] {
        let worlds = [1_000, 3_000, 10_000].map(|count| {
            let directory = scratch.path().join(format!("{layout:?}-{count}"));
            worlds::repository(&directory, count, 50, layout);
            (count, directory)
        });
        let contestants = worlds.iter().map(|(count, directory)| Contestant {
            name: format!("{count} profiles"),
            per: *count,
            command: Box::new(|| check(directory)),
        });
        side_by_side(&format!("profiles of 50 lines, {how}; for one profile"), 3, contestants.collect());
    }
}

fn lines() {
    let scratch = worlds::scratch();
    let worlds = [(1_000, 50), (100, 500), (10, 5_000)].map(|(count, lines)| {
        let directory = scratch.path().join(lines.to_string());
        worlds::repository(&directory, count, lines, Layout::Spread);
        (count, lines, directory)
    });
    let contestants = worlds.iter().map(|(count, lines, directory)| Contestant {
        name: format!("{count} of {lines} lines"),
        per: count * lines,
        command: Box::new(|| check(directory)),
    });
    side_by_side("profiles of as many lines together; for one line", 5, contestants.collect());
}

fn cores() {
    let scratch = worlds::scratch();
    let directory = scratch.path().join("repository");
    worlds::repository(&directory, 3_000, 50, Layout::Spread);
    let here = std::thread::available_parallelism().map_or(1, usize::from);
    let counts = [1, 2, 4, 8].into_iter().filter(|&cores| cores <= here);
    let contestants = counts.map(|cores| Contestant {
        name: format!("{cores} at once"),
        per: 1,
        command: Box::new({
            let directory = &directory;
            move || {
                let mut command = check(directory);
                command.env("RAYON_NUM_THREADS", cores.to_string());
                command
            }
        }),
    });
    side_by_side("3,000 profiles of 50 lines", 5, contestants.collect());
}

/// One small file, as an editor or a hook checks it.
fn one() {
    let scratch = worlds::scratch();
    let directory = scratch.path();
    let files = worlds::one_of_each(directory);
    let mut contestants = vec![Contestant {
        name: "palisade check".into(),
        per: 1,
        command: Box::new(|| {
            let mut command = Command::new(PALISADE);
            command.current_dir(directory).arg("check").arg(&files.palisade);
            command
        }),
    }];
    if let Some(ruff) = which("ruff") {
        contestants.push(Contestant {
            name: "ruff check".into(),
            per: 1,
            command: Box::new(move || {
                let mut command = Command::new(&ruff);
                command.current_dir(directory).args(["check", "--no-cache", "one.py"]);
                command
            }),
        });
    }
    if let Some(cedar) = which("cedar") {
        contestants.push(Contestant {
            name: "cedar check-parse".into(),
            per: 1,
            command: Box::new(move || {
                let mut command = Command::new(&cedar);
                command.current_dir(directory).args(["check-parse", "--policies", "one.cedar"]);
                command
            }),
        });
    }
    side_by_side("one small file", 40, contestants);
}

/// Ten times the denials, and ten times the files that they are looked for among.
fn denials() {
    let scratch = worlds::scratch();
    let mut worlds = Vec::new();
    for files in [10_000, 100_000] {
        let tree = scratch.path().join(format!("{files}-files"));
        worlds::tree(&tree, files);
        for denials in [500, 5_000] {
            let profile = worlds::denials(&tree, denials, files);
            worlds.push((denials, files, tree.clone(), profile));
        }
    }
    for verb in ["check", "compile"] {
        let contestants = worlds.iter().map(|(denials, files, tree, profile)| Contestant {
            name: format!("{denials} denials, {files} files"),
            per: 1,
            command: Box::new(move || {
                let mut command = Command::new(PALISADE);
                command.current_dir(tree).arg(verb).arg(profile);
                command
            }),
        });
        side_by_side(&format!("{verb} on this machine"), 5, contestants.collect());
    }
}

/// The emission of a Seatbelt profile and its validation, for a recorded Mac.
fn seatbelt() {
    let scratch = worlds::scratch();
    let worlds = [500, 1_500, 5_000].map(|denials| {
        let directory = scratch.path().join(denials.to_string());
        let host = worlds::recorded_mac(&directory, denials);
        (denials, directory, host)
    });
    for verb in ["check", "compile"] {
        let contestants = worlds.iter().map(|(denials, directory, host)| Contestant {
            name: format!("{denials} denials"),
            per: *denials,
            command: Box::new(move || {
                let mut command = Command::new(PALISADE);
                command.current_dir(directory).arg(verb).arg("denials.palisade").arg("--host").arg(host);
                command
            }),
        });
        side_by_side(&format!("{verb} for a recorded Mac; for one denial"), 5, contestants.collect());
    }
}

fn which(name: &str) -> Option<PathBuf> {
    let found = std::env::var_os("PATH").and_then(|path| {
        std::env::split_paths(&path).map(|directory| directory.join(name)).find(|path| path.is_file())
    });
    if found.is_none() {
        println!("SKIPPED: `{name}` is not installed, so there is no ratio to it");
    }
    found
}
