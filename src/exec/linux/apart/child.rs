//! A child in which a part of a sandbox is built, and what it tells.

use super::super::report::{Failure, Stage, Staged, pipe};
use crate::sys::exit_now;
use crate::sys::linux::{Forked, clone, fork};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, kill_process, set_parent_process_death_signal, waitpid};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// How long one wall may take. They take milliseconds.
pub const PATIENCE: Timespec = Timespec { tv_sec: 10, tv_nsec: 0 };

/// Where a part of a sandbox is built.
#[derive(Debug, Clone, Copy)]
pub enum Where {
    /// In a child as it is.
    Child,
    /// In a child that is the first process in new namespaces.
    Namespaces(u64),
}

/// Why a part of a sandbox could not be built.
pub enum Trouble {
    /// The system call that was to start the child, and its error.
    Start(&'static str, io::Error),
    Setup(Failure),
    Ended(&'static str),
}

/// Runs a part of the set-up in a child and waits for its end.
pub fn child(place: Where, part: impl FnOnce() -> Result<(), Failure>) -> Result<(), Trouble> {
    let (report, tell) = pipe().map_err(|error| Trouble::Start("pipe2", error))?;
    let child = match place {
        Where::Child => fork().map_err(|error| Trouble::Start("fork", error))?,
        Where::Namespaces(spaces) => match clone(spaces).map_err(|error| Trouble::Start("clone3", error))? {
            Forked::Child => None,
            Forked::Parent { pid, .. } => Some(pid),
        },
    };
    let Some(pid) = child else { run(part, &tell) };
    drop(tell);
    collect(pid, &report)
}

/// The child's side: builds, tells, ends.
fn run(part: impl FnOnce() -> Result<(), Failure>, tell: &OwnedFd) -> ! {
    // It must not outlive its parent, nor a panic go on in the parent's code.
    let part = || {
        set_parent_process_death_signal(Some(Signal::KILL)).at(Stage::User, "parent death signal")?;
        part()
    };
    let built = catch_unwind(AssertUnwindSafe(part))
        .unwrap_or_else(|_| Err(Failure::new(Stage::Fork, Errno::IO, "panic")));
    if let Err(failure) = &built {
        failure.send(tell);
    }
    exit_now(i32::from(built.is_err()))
}

/// The parent's side: reads what the child tells and waits until it has gone.
fn collect(pid: Pid, report: &OwnedFd) -> Result<(), Trouble> {
    let ready = loop {
        match poll(&mut [PollFd::new(report, PollFlags::IN)], Some(&PATIENCE)) {
            Err(Errno::INTR) => {}
            Ok(0) | Err(_) => break false,
            Ok(_) => break true,
        }
    };
    let mut bytes = [0; 4200];
    let failure = if ready {
        let length = rustix::io::read(report, &mut bytes).unwrap_or(0);
        bytes.get(..length).and_then(Failure::receive)
    } else {
        let _ = kill_process(pid, Signal::KILL);
        None
    };
    let status = loop {
        match waitpid(Some(pid), WaitOptions::empty()) {
            Ok(Some((_, status))) => break Some(status),
            Ok(None) | Err(Errno::INTR) => {}
            Err(_) => break None,
        }
    };
    match (ready, failure, status.and_then(|status| status.exit_status())) {
        (_, Some(failure), _) => Err(Trouble::Setup(failure)),
        (true, None, Some(0)) => Ok(()),
        (true, None, _) => Err(Trouble::Ended("was killed")),
        (false, None, _) => Err(Trouble::Ended("did not end")),
    }
}
