//! pid 1 of the sandbox: builds it, starts the command as its child, and ends with its code, which ends everything else in there.

use super::attend::Attendance;
use super::build::{Settings, build};
use super::confine;
use super::doors;
use super::layout::Layout;
use super::link::{Link, Notice};
use super::report::{Failure, Stage, Staged};
use super::terminal::Inner;
use crate::manifest::{Limits, Network};
use crate::sys::exit_now;
use crate::sys::linux::{Signals, close_all_but, close_on_exec_from, in_own_group};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::{AsFd, OwnedFd};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, chdir, ioctl_tiocsctty, set_parent_process_death_signal, setsid};
use rustix::stdio::{dup2_stderr, dup2_stdin, dup2_stdout};
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
    /// What the caller's limit on open files was, where it was raised for this program's own.
    pub open_files: Option<u64>,
    pub network: Network,
    /// Whether unix sockets may be connected to, which the supervisor does.
    pub unix: bool,
    /// Where `network` has only some hosts: who carries its connections, and the ports at which they are taken.
    pub gateway: Option<(OwnedFd, Vec<u16>)>,
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
    pub link: Link,
    /// A terminal of the command's own for standard input and output, if it gets one.
    pub terminal: Option<Inner>,
    pub streams: Streams,
}

/// What the command gets in place of the caller's own standard streams.
#[derive(Debug, Default)]
pub struct Streams {
    pub input: Option<OwnedFd>,
    pub output: Option<OwnedFd>,
    pub errors: Option<OwnedFd>,
    /// Standard error is the terminal of its own, too.
    pub errors_at_terminal: bool,
}

impl Init<'_> {
    /// Never returns. `uid` and `gid` are those of the supervisor.
    pub fn run(self, uid: u32, gid: u32) -> ! {
        // A panic must not go on in the supervisor's code, of which this process is a copy.
        let started = catch_unwind(AssertUnwindSafe(|| self.start(uid, gid)))
            .unwrap_or_else(|_| Err(Failure::new(Stage::Fork, Errno::IO, "panic")));
        match started {
            Ok((command, terminal)) => {
                // What is kept open here would seem to be in use to those who wait for its end.
                let gateway = self.gateway.as_ref().map(|(gateway, _)| gateway.as_fd());
                let kept = [Some(self.link.as_fd()), terminal.as_ref().map(AsFd::as_fd), gateway];
                let _ = close_all_but(&kept.into_iter().flatten().collect::<Vec<_>>());
                let processes_limited = self.limits.processes.is_some();
                let link = self.link;
                exit_now(Attendance { link, command, terminal, frozen: None, processes_limited }.attend())
            }
            Err(failure) => {
                failure.send(&self.report);
                exit_now(125)
            }
        }
    }

    /// Gives the command, and the terminal it was given.
    fn start(&self, uid: u32, gid: u32) -> Result<(Pid, Option<OwnedFd>), Failure> {
        self.die_with_supervisor()?;
        map_user(uid, gid)?;
        if let Some((gateway, ports)) = &self.gateway {
            doors::open(ports, gateway)?;
        }
        let built = build(self.layout, self.settings.clone())?;
        for space in built.spaces {
            self.link.tell(&Notice::Space(space)).at(Stage::Streams, "sendmsg")?;
        }
        let terminal = self.terminal(built.terminals)?;
        self.streams(terminal.as_ref())?;
        confine::drop_privileges()?;
        // Changing credentials may have undone it (prctl(2)).
        self.die_with_supervisor()?;
        confine::restrict_files(self.layout, self.network, terminal.as_ref())?;
        if self.unix {
            let questions = confine::filter_asking(self.network)?;
            self.link.tell(&Notice::Questions(questions)).at(Stage::Streams, "sendmsg")?;
        } else {
            confine::filter(self.network)?;
        }
        confine::limit(&self.limits, self.open_files)?;
        // Away from the caller's terminal and process group. Without a terminal, the command is started into this session and group.
        setsid().at(Stage::Fork, "setsid")?;
        if let Some(terminal) = &terminal {
            ioctl_tiocsctty(terminal).at(Stage::Terminal, "TIOCSCTTY")?;
        }
        chdir(&self.directory).at(Stage::WorkingDirectory, self.directory.to_string_lossy())?;
        self.signals.restore_mask().at(Stage::Streams, "signal mask")?;
        close_on_exec_from(3).at(Stage::Streams, "close_range")?;
        Ok((self.command()?, terminal))
    }

    /// Makes the command's terminal and hands its controlling side to the supervisor.
    fn terminal(&self, terminals: Option<OwnedFd>) -> Result<Option<OwnedFd>, Failure> {
        let Some(inner) = &self.terminal else { return Ok(None) };
        let (control, terminal) = inner.open(terminals)?;
        self.link.tell(&Notice::Terminal(control)).at(Stage::Terminal, "sendmsg")?;
        Ok(Some(terminal))
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

    fn streams(&self, terminal: Option<&OwnedFd>) -> Result<(), Failure> {
        let streams = &self.streams;
        let errors_at_terminal = terminal.filter(|_| streams.errors_at_terminal);
        if let Some(input) = terminal.or(streams.input.as_ref()) {
            dup2_stdin(input).at(Stage::Streams, "standard input")?;
        }
        if let Some(output) = terminal.or(streams.output.as_ref()) {
            dup2_stdout(output).at(Stage::Streams, "standard output")?;
        }
        if let Some(errors) = errors_at_terminal.or(streams.errors.as_ref()) {
            dup2_stderr(errors).at(Stage::Streams, "standard error")?;
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
            if let Some(terminal) = &self.terminal {
                in_own_group(&mut command, terminal.front);
            }
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
