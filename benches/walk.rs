//! The hard-link walk of a compile beside `find -links +1`, over 100,000 files in turns: what counts is the ratio of medians.
//!
//! `cargo bench --bench walk`

use camino::{Utf8Path, Utf8PathBuf};
use palisade::bind::links;
use palisade::host::{Host as _, LiveHost};
use std::fs;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const DIRECTORIES: usize = 5000;
const FILES_IN_EACH: usize = 20;
const ROUNDS: usize = 15;

fn main() {
    let scratch = tempfile::tempdir_in("/var/tmp").expect("a place to work");
    let tree =
        Utf8PathBuf::from_path_buf(scratch.path().canonicalize().expect("it is there")).expect("UTF-8");
    for number in 0..DIRECTORIES {
        let directory = tree.join(format!("{}/{}/{number}", number % 10, number % 100));
        fs::create_dir_all(&directory).expect("a directory");
        for file in 0..FILES_IN_EACH {
            fs::write(directory.join(format!("file-{file}.txt")), "").expect("a file");
        }
    }
    let one = tree.join("0/0/0/file-0.txt");
    fs::hard_link(&one, tree.join("0/0/0/another")).expect("a link");
    let mut find = Vec::new();
    let mut walk = Vec::new();
    for round in 0..=ROUNDS {
        let (looked, walked) = (timed(|| with_find(&tree)), timed(|| with_walk(&tree)));
        // The first round warms the kernel's memory of the tree.
        if round > 0 {
            find.push(looked);
            walk.push(walked);
        }
    }
    let (find, walk) = (median(find), median(walk));
    println!("hard links among {} files, medians of {ROUNDS} rounds", DIRECTORIES * FILES_IN_EACH);
    println!("  find -links +1   {find:7.1} ms");
    println!("  palisade         {walk:7.1} ms   {:.2} times", walk / find);
}

fn with_find(tree: &Utf8Path) {
    let find =
        Command::new("find").arg(tree).args(["-type", "f", "-links", "+1"]).stdout(Stdio::piped()).output();
    let found = String::from_utf8(find.expect("find runs").stdout).expect("text");
    assert_eq!(found.lines().count(), 2);
}

/// All names of the linked file lie in the tree, so there is nothing to report; one that may not be examined would be.
fn with_walk(tree: &Utf8Path) {
    let host = LiveHost::new().expect("a machine");
    let entry = host.lstat(tree).expect("it can be examined");
    assert_eq!(links::check(&host, &[(tree.to_path_buf(), entry)], &[]), []);
}

fn timed(work: impl FnOnce()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

fn median(mut times: Vec<Duration>) -> f64 {
    times.sort_unstable();
    times[times.len() / 2].as_secs_f64() * 1e3
}
