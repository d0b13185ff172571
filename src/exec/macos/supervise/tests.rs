//! The loop with real processes and pipes, which are the same on Linux.

use super::super::super::pump::tests::{into_files, text};
use super::*;
use rustix::fd::{AsFd, OwnedFd};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};
use std::fs::File;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Child, Command, Stdio};

/// A shell in a process group of its own, and what would be swept: nothing but that it was.
struct Shell {
    child: Child,
    pidfd: OwnedFd,
    signals: Vec<i32>,
    swept: usize,
}

impl Shell {
    fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }
}

impl Running for Shell {
    fn events(&self) -> BorrowedFd<'_> {
        self.pidfd.as_fd()
    }

    fn signals(&mut self) -> Vec<i32> {
        std::mem::take(&mut self.signals)
    }

    fn ended(&mut self) -> Result<Option<Ended>, Errno> {
        let status = self.child.try_wait().map_err(|error| Errno::from_io_error(&error).unwrap())?;
        Ok(status.map(|status| match status.signal() {
            Some(signal) => Ended::Killed(signal),
            None => Ended::Exited(status.code().unwrap()),
        }))
    }

    fn pass(&self, signal: i32) -> bool {
        kill_process_group(self.pid(), Signal::from_named_raw(signal).unwrap()).is_ok()
    }

    fn kill(&self) {
        let _ = kill_process_group(self.pid(), Signal::KILL);
    }

    fn sweep(&mut self) {
        self.swept += 1;
    }
}

struct Ran {
    end: End,
    out: String,
    err: String,
}

fn run(line: &str, limit: u64, time: Option<Duration>, signals: &[i32]) -> Ran {
    let (output, to_output) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC).unwrap();
    let (errors, to_errors) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC).unwrap();
    let child = Command::new("/bin/sh")
        .args(["-c", line])
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(Stdio::from(to_output))
        .stderr(Stdio::from(to_errors))
        .spawn()
        .unwrap();
    let pidfd = pidfd_open(Pid::from_child(&child), PidfdFlags::empty()).unwrap();
    let mut shell = Shell { child, pidfd, signals: signals.to_vec(), swept: 0 };
    let (mut pumps, files): (Pumps, [&File; 2]) = into_files(limit, output, errors);
    let end = watch_over(&mut shell, &mut pumps, time).unwrap();
    assert_eq!(shell.swept, 1, "whatever the end, what is left is swept");
    let [out, err] = files.map(text);
    Ran { end, out, err }
}

#[test]
fn the_end_and_both_streams() {
    let ran = run("echo out; echo err >&2; exit 7", 100, None, &[]);
    assert_eq!(
        (ran.end, ran.out.as_str(), ran.err.as_str()),
        (End::Ended(Ended::Exited(7)), "out\n", "err\n")
    );
    assert_eq!(run("kill -9 $$", 100, None, &[]).end, End::Ended(Ended::Killed(9)));
}

#[test]
fn out_of_time() {
    let time = Duration::from_millis(50);
    let ran = run("echo begun; while :; do :; done", 100, Some(time), &[]);
    assert_eq!((ran.end, ran.out.as_str()), (End::OverTime(time), "begun\n"));
}

#[test]
fn output_is_cut_exactly_while_it_runs_and_after() {
    let ran = run("while :; do echo 123456789; done", 25, None, &[]);
    assert_eq!((ran.end, ran.out.as_str()), (End::OverOutput(25), "123456789\n123456789\n12345"));
    let ran = run("echo 123456789", 9, None, &[]);
    assert_eq!((ran.end, ran.out.as_str()), (End::OverOutput(9), "123456789"));
    let ran = run("echo 123456789", 10, None, &[]);
    assert_eq!((ran.end, ran.out.as_str()), (End::Ended(Ended::Exited(0)), "123456789\n"));
}

#[test]
fn a_child_in_the_background_holds_nothing_up() {
    let ran = run("while :; do :; done & echo done", 100, None, &[]);
    assert_eq!((ran.end, ran.out.as_str()), (End::Ended(Ended::Exited(0)), "done\n"));
}

#[test]
fn a_signal_is_passed_on_and_the_second_one_kills() {
    let term = Signal::TERM.as_raw();
    // Output wakes the loop, as the descriptor of signals would.
    let ran = run("echo; while :; do :; done", 100, Some(Duration::from_secs(60)), &[term]);
    assert_eq!(ran.end, End::Ended(Ended::Killed(term)));
    let ran =
        run("trap '' TERM; echo; while :; do :; done", 100, Some(Duration::from_secs(60)), &[term, term]);
    assert!(matches!(ran.end, End::Ended(Ended::Killed(_))), "{:?}", ran.end);
}
