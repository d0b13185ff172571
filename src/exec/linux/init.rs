//! pid 1 of the sandbox: builds it, starts the command as its child, and ends with its code, which ends everything else in there.

use super::build::{Settings, build};
use super::confine;
use super::layout::Layout;
use super::report::{Failure, Stage, Staged};
use crate::manifest::{Limits, Network};
use crate::sys::linux::{Signals, close_everything, close_on_exec_from, exit_now};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::process::{
    Pid, Signal, WaitOptions, WaitStatus, chdir, set_parent_process_death_signal, setsid, wait,
};
use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;

/// What the new process needs to know; all of it is copied by the fork.
#[derive(Debug)]
pub struct Init<'a> {
    pub layout: &'a Layout,
    pub settings: Settings,
    pub limits: Limits,
    pub network: Network,
    /// Where the program may be: tried in this order.
    pub programs: Vec<PathBuf>,
    /// The name it is called by, then its arguments.
    pub arguments: Vec<OsString>,
    pub environment: Vec<(OsString, OsString)>,
    pub directory: PathBuf,
    /// Blocked in the supervisor.
    pub signals: &'a Signals,
    /// For messages.
    pub report: OwnedFd,
    /// Pipes for standard output and standard error, where these are counted.
    pub output: Option<(OwnedFd, OwnedFd)>,
}

impl Init<'_> {
    /// Never returns. `uid` and `gid` are those of the supervisor.
    pub fn run(self, uid: u32, gid: u32) -> ! {
        // A panic must not go on in the supervisor's code, of which this process is a copy.
        let started = catch_unwind(AssertUnwindSafe(|| self.start(uid, gid)))
            .unwrap_or_else(|_| Err(Failure::new(Stage::Fork, Errno::IO, "panic")));
        match started {
            Ok(command) => {
                // What is kept open here would seem to be in use to those who wait for its end.
                let _ = close_everything();
                exit_now(reap(command))
            }
            Err(failure) => {
                failure.send(&self.report);
                exit_now(125)
            }
        }
    }

    fn start(&self, uid: u32, gid: u32) -> Result<Pid, Failure> {
        self.die_with_supervisor()?;
        map_user(uid, gid)?;
        build(self.layout, self.settings)?;
        self.streams()?;
        confine::drop_privileges()?;
        // Changing credentials may have undone it (prctl(2)).
        self.die_with_supervisor()?;
        confine::restrict_files(self.layout, self.network)?;
        confine::filter(self.network)?;
        confine::limit(&self.limits)?;
        // Away from the caller's terminal and process group. The command is started into this session and group.
        setsid().at(Stage::Fork, "setsid")?;
        chdir(&self.directory).at(Stage::WorkingDirectory, self.directory.to_string_lossy())?;
        self.signals.restore_mask().at(Stage::Streams, "signal mask")?;
        close_on_exec_from(3).at(Stage::Streams, "close_range")?;
        self.command()
    }

    /// Has the kernel kill this process when the supervisor ends, and makes sure that it has not ended already.
    fn die_with_supervisor(&self) -> Result<(), Failure> {
        set_parent_process_death_signal(Some(Signal::KILL)).at(Stage::User, "parent death signal")?;
        let mut pipe = [PollFd::new(&self.report, PollFlags::empty())];
        poll(&mut pipe, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })).at(Stage::User, "poll")?;
        if pipe[0].revents().contains(PollFlags::ERR) {
            exit_now(125);
        }
        Ok(())
    }

    fn streams(&self) -> Result<(), Failure> {
        if let Some((output, errors)) = &self.output {
            rustix::stdio::dup2_stdout(output).at(Stage::Streams, "standard output")?;
            rustix::stdio::dup2_stderr(errors).at(Stage::Streams, "standard error")?;
        }
        Ok(())
    }

    /// As execvp(3): the first program that is there and may be run; one that may not be run is remembered.
    fn command(&self) -> Result<Pid, Failure> {
        let mut failure = Failure::new(Stage::Exec, Errno::NOENT, "");
        for program in &self.programs {
            let mut command = std::process::Command::new(program);
            if let Some(name) = self.arguments.first() {
                command.arg0(name);
            }
            let environment = self.environment.iter().map(|(name, value)| (name, value));
            command.args(self.arguments.iter().skip(1)).env_clear().envs(environment);
            // With nothing else to set this shares the memory until the program runs (posix_spawn(3)), which spares a fork.
            let error = match command.spawn() {
                Ok(child) => return Ok(Pid::from_child(&child)),
                Err(error) => error,
            };
            let errno = error.raw_os_error();
            if !matches!(errno, Some(libc::ENOENT | libc::ENOTDIR)) {
                failure = Failure::new(Stage::Exec, error, program.to_string_lossy());
                if errno != Some(libc::EACCES) {
                    break;
                }
            }
        }
        Err(failure)
    }
}

/// Maps this user and group to themselves, nobody else (user_namespaces(7)).
pub fn map_user(uid: u32, gid: u32) -> Result<(), Failure> {
    for (file, text) in [
        ("/proc/self/uid_map", format!("{uid} {uid} 1")),
        ("/proc/self/setgroups", "deny".to_owned()),
        ("/proc/self/gid_map", format!("{gid} {gid} 1")),
    ] {
        std::fs::write(file, text).at(Stage::User, file)?;
    }
    Ok(())
}

/// Collects every child until the command itself has ended, and gives its code as a shell would.
fn reap(command: Pid) -> i32 {
    loop {
        match wait(WaitOptions::empty()) {
            Ok(Some((pid, status))) if pid == command => return code(status),
            Ok(_) | Err(Errno::INTR) => {}
            Err(_) => return 125,
        }
    }
}

/// 128 + N for signal N, as shells do.
pub fn code(status: WaitStatus) -> i32 {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => code,
        (None, Some(signal)) => 128 + signal,
        (None, None) => 125,
    }
}
