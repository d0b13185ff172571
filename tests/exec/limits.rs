//! Limits, and that nothing outlives a command.

use crate::suite::{Scenario, show};
use crate::world::PROGRAMS;
use std::fs;
use std::process::Stdio;
use std::thread::sleep;
use std::time::Duration;

pub const SCENARIOS: &[Scenario] = &[
    Scenario {
        name: "a command that hangs is ended at the time limit",
        run: |world| {
            world.manifest.limits.time_ms = Some(300);
            let output = world.palisade(&["--", PROGRAMS.probe.as_str(), "--hang"]).output().unwrap();
            assert_eq!(output.status.code(), Some(124), "{}", show(&output));
            assert!(String::from_utf8_lossy(&output.stderr).contains("killed: time limit 300 ms"));
        },
    },
    Scenario {
        name: "output is cut at the limit over both streams",
        run: |world| {
            world.manifest.limits.output_bytes = Some(100_000);
            let line = "while :; do echo 0123456789abcdef; echo 0123456789abcdef >&2; done";
            let output = world.shell(line);
            assert_eq!(output.status.code(), Some(124), "{}", output.status);
            let note = String::from_utf8_lossy(&output.stderr);
            let at = note.find("palisade: killed: output limit 100000 bytes").expect("a note");
            assert_eq!(output.stdout.len() + at, 100_000);
        },
    },
    Scenario {
        name: "output of exactly the limit passes",
        run: |world| {
            world.manifest.limits.output_bytes = Some(10);
            let output = world.shell("echo 1234; echo 6789 >&2; exit 3");
            assert_eq!(output.status.code(), Some(3), "{}", show(&output));
            assert_eq!(
                (output.stdout.as_slice(), output.stderr.as_slice()),
                (&b"1234\n"[..], &b"6789\n"[..])
            );
            let output = world.shell("echo 1234; echo 67890");
            assert_eq!(output.status.code(), Some(124), "{}", show(&output));
            assert_eq!(output.stdout, b"1234\n67890");
        },
    },
    Scenario {
        name: "open files are limited",
        run: |world| {
            world.manifest.limits.open_files = Some(20);
            let output = world.shell("ulimit -n");
            assert_eq!(output.stdout, b"20\n", "{}", show(&output));
            let output = world.shell("ulimit -n 30");
            assert_ne!(output.status.code(), Some(0));
            // The kernel tells nobody but the command, whose words are all there is to go by.
            world.manifest.limits.output_bytes = Some(10_000);
            let open = ["--", PROGRAMS.probe.as_str(), "--open-many"];
            let output = world.palisade(&open).output().unwrap();
            assert_eq!(output.status.code(), Some(1), "{}", show(&output));
            says(
                &output,
                "the command said `Too many open files`, and there is a limit of 20 open files",
                "open-files",
            );
            world.manifest.limits.open_files = None;
            let output = world.palisade(&open).output().unwrap();
            assert!(!String::from_utf8_lossy(&output.stderr).contains("palisade"), "{}", show(&output));
        },
    },
    Scenario {
        name: "processor time is limited",
        run: |world| {
            world.manifest.limits.cpu_ms = Some(1000);
            let output = world.shell("while :; do :; done");
            assert_eq!(output.status.code(), Some(124), "{}", show(&output));
            says(&output, "killed: processor time limit 1 s a process", "cpu");
        },
    },
    Scenario {
        name: "the size of a file is limited",
        run: |world| {
            world.manifest.limits.file_size_bytes = Some(4096);
            let output = world.shell("while :; do echo 0123456789abcdef; done > big");
            assert_eq!(output.status.code(), Some(124), "{}", show(&output));
            says(&output, "killed: file size limit 4096 bytes", "file-size");
            let output = world.shell("(while :; do echo 0123456789abcdef; done > big); exit $?");
            assert_eq!(output.status.code(), Some(128 + libc::SIGXFSZ), "{}", show(&output));
            says(
                &output,
                "is a shell's for a process that was ended at a file size limit 4096 bytes",
                "file-size",
            );
            assert_eq!(fs::metadata(world.place.rw("big")).unwrap().len(), 4096);
        },
    },
    // What macOS cannot limit is refused there.
    #[cfg(target_os = "linux")]
    Scenario {
        name: "the private directory is limited",
        run: |world| {
            world.manifest.limits.temporary_space_bytes = Some(1 << 20);
            let line =
                "while echo 0123456789abcdef0123456789abcdef; do :; done > /tmp/big 2>/dev/null; echo full";
            let output = world.shell(line);
            assert_eq!(output.stdout, b"full\n", "{}", show(&output));
            says(&output, "limit reached: temporary space limit 1048576 bytes", "temporary-space");
            let output = world.shell("echo text > /tmp/small");
            assert!(output.stderr.is_empty(), "{}", show(&output));
            // Also where the command is killed before anybody inside can look.
            world.manifest.limits.time_ms = Some(3000);
            let output = world.shell(&format!("({line}) > /dev/null; while :; do :; done"));
            assert_eq!(output.status.code(), Some(124), "{}", show(&output));
            says(&output, "limit reached: temporary space limit 1048576 bytes", "temporary-space");
        },
    },
    // There, others of the same user are counted too.
    #[cfg(target_os = "linux")]
    Scenario {
        name: "a storm of processes is stopped",
        run: |world| {
            world.manifest.limits.processes = Some(40);
            world.manifest.limits.time_ms = Some(20_000);
            // Counts how many children can live at once.
            let line = format!(
                "n=0; while [ $n -lt 600 ]; do {} --hang & n=$((n+1)); [ -d /proc/$! ] || break; echo $n; done",
                PROGRAMS.probe
            );
            let output = world.shell(&line);
            let forks = String::from_utf8_lossy(&output.stdout).lines().count();
            // Root's are limited by the numbers of the namespace alone, whose first 300 are not counted.
            let most = if world.is_root() { 342 } else { 41 };
            assert!((20..=most).contains(&forks), "{forks} of at most {most}: {}", show(&output));
            says(&output, "limit reached: limit of 40 processes", "processes");
            let output = world.shell(&format!("{} --hang & exit 0", PROGRAMS.probe));
            assert!(output.stderr.is_empty(), "one is not as many as there may be: {}", show(&output));
        },
    },
    Scenario {
        name: "what was left in the background does nothing after the end",
        run: |world| {
            let mark = world.place.rw("mark");
            let survivor = "(while :; do echo x >> mark; done)";
            for line in [
                format!("{survivor} & exit 0"),
                format!("({survivor} &) & exit 0"),
                format!("{survivor} > /dev/null 2>&1 < /dev/null & exit 0"),
            ] {
                let output = world.shell(&format!("{line}; :"));
                assert_eq!(output.status.code(), Some(0), "{line}: {}", show(&output));
                assert_still(&mark);
            }
        },
    },
    // There, nothing ends with its parent.
    #[cfg(target_os = "linux")]
    Scenario {
        name: "a killed supervisor takes everything with it",
        run: |world| {
            let mark = world.place.rw("mark");
            let line = "(while :; do echo x >> mark; done) & while :; do echo y >> mark; done";
            let mut child = world.palisade(&["-c", line]).stdout(Stdio::null()).spawn().unwrap();
            wait_for(&mark);
            child.kill().unwrap();
            child.wait().unwrap();
            // The kernel sends the signal when the supervisor ends; it takes effect a moment later.
            for _ in 0..100 {
                let before = fs::metadata(&mark).unwrap().len();
                sleep(Duration::from_millis(50));
                if fs::metadata(&mark).unwrap().len() == before {
                    return;
                }
            }
            panic!("it still writes");
        },
    },
    Scenario {
        name: "a signal to the supervisor reaches the command",
        run: |world| {
            let mark = world.place.rw("mark");
            let line = "trap 'echo caught; exit 9' TERM; : > mark; while :; do :; done";
            let child = world.palisade(&["-c", line]).stdout(Stdio::piped()).spawn().unwrap();
            wait_for(&mark);
            signal(&child, rustix::process::Signal::TERM);
            let output = child.wait_with_output().unwrap();
            assert_eq!(output.stdout, b"caught\n");
            assert_eq!(output.status.code(), Some(9));
        },
    },
    Scenario {
        name: "a second signal ends a command that ignores it",
        run: |world| {
            let mark = world.place.rw("mark");
            let line = "trap '' TERM; : > mark; while :; do :; done";
            let child = world.palisade(&["-c", line]).spawn().unwrap();
            wait_for(&mark);
            signal(&child, rustix::process::Signal::TERM);
            sleep(Duration::from_millis(100));
            signal(&child, rustix::process::Signal::TERM);
            assert_eq!(child.wait_with_output().unwrap().status.code(), Some(137));
        },
    },
    Scenario {
        name: "a signal that the caller ignores does not end the command",
        run: |world| {
            let mark = world.place.rw("mark");
            let ours = world.palisade(&["-c", ": > mark; until [ -e done ]; do :; done; exit 6"]);
            let mut command = world.user(&crate::world::shell_path());
            command.args(["-c", "trap '' HUP; exec \"$0\" \"$@\"", PROGRAMS.palisade.as_str()]);
            let mut child = command.args(ours.get_args()).spawn().unwrap();
            wait_for(&mark);
            for _ in 0..2 {
                signal(&child, rustix::process::Signal::HUP);
                sleep(Duration::from_millis(100));
            }
            fs::write(world.place.rw("done"), "").unwrap();
            assert_eq!(child.wait().unwrap().code(), Some(6));
        },
    },
    Scenario {
        name: "two commands at once do not disturb each other",
        run: |world| {
            let first = world.palisade(&["-c", "echo one; read line; echo $line"]);
            let mut first = piped(first);
            let second = world.shell("echo two");
            assert_eq!(second.stdout, b"two\n", "{}", show(&second));
            std::io::Write::write_all(&mut first.stdin.take().unwrap(), b"still here\n").unwrap();
            let first = first.wait_with_output().unwrap();
            assert_eq!(first.stdout, b"one\nstill here\n", "{}", show(&first));
        },
    },
    Scenario {
        name: "a reader that goes away does not leave the supervisor hanging",
        run: |world| {
            world.manifest.limits.output_bytes = Some(10_000_000);
            let mut child = piped(world.palisade(&["-c", "while echo 0123456789abcdef; do :; done; exit 5"]));
            drop(child.stdout.take());
            let status = child.wait().unwrap();
            assert!(matches!(status.code(), Some(5 | 141)), "{status}");
        },
    },
];

/// Names the limit, and the word of the profile that raises it.
#[track_caller]
fn says(output: &std::process::Output, message: &str, word: &str) {
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(errors.contains(message) && errors.contains(&format!("raise `{word}` in `limits`")), "{errors}");
}

fn piped(mut command: std::process::Command) -> std::process::Child {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn signal(child: &std::process::Child, signal: rustix::process::Signal) {
    rustix::process::kill_process(rustix::process::Pid::from_child(child), signal).unwrap();
}

/// Waits until a command has come so far as to make a file.
pub fn wait_for(mark: &camino::Utf8Path) {
    for _ in 0..500 {
        if mark.exists() {
            return;
        }
        sleep(Duration::from_millis(10));
    }
    panic!("no `{mark}`");
}

pub fn assert_still(mark: &camino::Utf8Path) {
    let length = || fs::metadata(mark).map_or(0, |metadata| metadata.len());
    let before = length();
    sleep(Duration::from_millis(100));
    assert_eq!(before, length());
}

#[cfg(target_os = "linux")]
impl crate::world::World {
    fn is_root(&self) -> bool {
        self.uid() == 0
    }
}
