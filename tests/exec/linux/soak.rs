//! Many runs, eight at a time, that end in every way a run can: nothing is left over of any. `PALISADE_LONG=1000` makes it so many.

use crate::suite::Scenario;
use crate::world::{PROGRAMS, World};
use palisade::plan::{Presence, Protection};
use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

const RUNS: usize = 40;
const AT_ONCE: usize = 8;

pub const SCENARIOS: &[Scenario] =
    &[Scenario { name: "of many runs at once nothing is left over", run: soak }];

fn soak(world: &mut World) {
    let base = world.place.base.clone();
    for (path, protection) in [(".vscode", Protection::Guarded), ("not/yet/here", Protection::Denied)] {
        world.protect(&base.join("rw").join(path), protection, Presence::Missing);
    }
    // By it, what is inside is known outside.
    world.manifest.environment.set.insert("SOAK".into(), base.to_string());
    let plain = write(world, "plain.yaml");
    world.manifest.limits.time_ms = Some(300);
    let limited = write(world, "limited.yaml");
    let soak = Soak { world, plain, limited };
    // The state directory comes to be, and stays; so does what is written.
    soak.run(0);
    soak.run(2);
    let before = listing(base.as_std_path());

    let runs = std::env::var("PALISADE_LONG").map_or(RUNS, |long| long.parse().expect("a number of runs"));
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= runs {
                        break;
                    }
                    soak.run(number);
                }
            });
        }
    });
    wait_until_gone(base.as_str());
    // What a run that was killed could not remove, the next one does.
    soak.run(0);
    wait_until_gone(base.as_str());
    assert_eq!(listing(base.as_std_path()), before);
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
    assert!(!mounts.contains(base.as_str()), "{mounts}");
}

fn write(world: &World, name: &str) -> String {
    let path = world.place.base.join(name);
    fs::write(&path, palisade::manifest::write(&world.manifest).unwrap()).unwrap();
    path.into_string()
}

struct Soak<'a> {
    world: &'a World,
    plain: String,
    /// With a time limit.
    limited: String,
}

impl Soak<'_> {
    /// One run, of the kind that the number says.
    fn run(&self, number: usize) {
        let probe = &PROGRAMS.probe;
        let background = format!("{probe} --hang & {probe} --hang & echo two; exit 3");
        let hanging = format!("echo started; {probe} --hang");
        match number % 8 {
            0 => self.ends(&["-c", "read line < f.txt; test -n \"$line\""], 0),
            1 => self.ends(&["-c", "exit 7"], 7),
            2 => self.ends(&["-c", "echo written > a/b/open.txt && : > /tmp/left"], 0),
            3 => self.ends(&["-c", &background], 3),
            4 => self.ends(&["-c", "kill -KILL $$"], 137),
            5 => {
                let status = self.command(&self.limited, &["--", probe.as_str(), "--hang"]).status().unwrap();
                assert_eq!(status.code(), Some(124));
            }
            6 => self.killed(&hanging),
            _ => self.unheard(),
        }
    }

    fn command(&self, manifest: &str, how: &[&str]) -> Command {
        let mut command = self.world.user(&PROGRAMS.palisade);
        command.env("TMPDIR", self.world.place.base.join("home")).stderr(Stdio::null());
        command.arg("exec").arg(manifest).args(how);
        command
    }

    fn ends(&self, how: &[&str], code: i32) {
        let output = self.command(&self.plain, how).stderr(Stdio::piped()).output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{how:?}: {}", String::from_utf8_lossy(&output.stderr));
    }

    /// The supervisor is killed while the command runs.
    fn killed(&self, line: &str) {
        let mut child = self.started(line);
        child.kill().unwrap();
        child.wait().unwrap();
    }

    /// Nobody reads what is said.
    fn unheard(&self) {
        let mut child = self.started("echo started; while :; do echo more || exit 0; done");
        drop(child.stdout.take());
        child.wait().unwrap();
    }

    fn started(&self, line: &str) -> Child {
        let mut child = self.command(&self.plain, &["-c", line]).stdout(Stdio::piped()).spawn().unwrap();
        let mut said = String::new();
        let output = child.stdout.as_mut().unwrap();
        BufReader::new(output.take(8)).read_line(&mut said).unwrap();
        assert_eq!(said, "started\n");
        child
    }
}

/// Every path below a directory, and its size.
fn listing(top: &Path) -> BTreeSet<(String, u64)> {
    let entries = walkdir::WalkDir::new(top).into_iter().map(Result::unwrap);
    entries
        .map(|entry| {
            let size = if entry.file_type().is_file() { entry.metadata().unwrap().len() } else { 0 };
            (entry.path().display().to_string(), size)
        })
        .collect()
}

/// Waits for the last process that has `mark` in its command line or environment. The kernel takes a moment to end them.
fn wait_until_gone(mark: &str) {
    let mut left = Vec::new();
    for _ in 0..1000 {
        left = processes(mark);
        if left.is_empty() {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("still there: {left:?}");
}

fn processes(mark: &str) -> Vec<String> {
    let marked = |path: &Path| {
        ["cmdline", "environ"].into_iter().any(|file| {
            fs::read(path.join(file)).is_ok_and(|bytes| String::from_utf8_lossy(&bytes).contains(mark))
        })
    };
    let entries = fs::read_dir("/proc").unwrap().map(|entry| entry.unwrap().path());
    let processes = entries.filter(|path| {
        path.file_name().is_some_and(|name| name.to_string_lossy().bytes().all(|byte| byte.is_ascii_digit()))
    });
    processes.filter(|path| marked(path)).map(|path| path.display().to_string()).collect()
}
