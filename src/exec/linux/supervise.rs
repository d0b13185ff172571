//! Waits for the sandbox to end, keeps its limits, and ends it where it must not go on.

mod jobs;

use super::super::pump::{Pumps, Turn};
use super::super::{Ended, Observed};
use super::attend::ended;
use super::link::{Link, Notice, Request};
use super::report::Failure;
use super::sockets::Sockets;
use super::terminal::{Keyboard, Outer};
use super::watch::Watch;
use crate::policy::LimitKind;
use crate::sys::linux::{NOTIFIED, Signals};
use crate::sys::{forget_program, usage_of_children};
use camino::Utf8PathBuf;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::fstatvfs;
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, pidfd_send_signal, waitpid};
use std::time::{Duration, Instant};

/// How often a job in the background looks whether it is there still.
const LOOK_AHEAD: Duration = Duration::from_millis(250);

/// Why the supervisor ended the sandbox.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kill {
    Time(Duration),
    Output(u64),
    /// A protected path was replaced on the host.
    Replaced(Utf8PathBuf),
    /// What the command wrote could not be passed on.
    Lost(Errno),
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    /// The command's own.
    Command(Ended),
    /// That of pid 1, which did not say how the command ended.
    Vanished(Ended),
    /// The command never ran.
    Failed(Failure),
    Killed(Kill),
}

impl End {
    /// Whether it had no time to tidy up after itself.
    pub fn was_killed(&self) -> bool {
        match self {
            Self::Command(ended) => matches!(ended, Ended::Killed(_)),
            Self::Failed(_) => false,
            Self::Killed(_) | Self::Vanished(_) => true,
        }
    }
}

/// How long a command may take to be a short one.
pub const BUSY: Duration = Duration::from_millis(200);

/// A running sandbox.
#[derive(Debug)]
pub struct Sandbox {
    pid: Pid,
    pidfd: OwnedFd,
    report: Option<OwnedFd>,
    link: Option<Link>,
    signals: Signals,
    watch: Watch,
    deadline: Option<(Instant, Duration)>,
    pumps: Pumps,
    /// The terminal that the command is used at.
    outer: Option<Outer>,
    keyboard: Option<Keyboard>,
    failure: Option<Failure>,
    killed: Option<Kill>,
    /// The user had it killed.
    given_up: bool,
    /// Signals that were passed on already.
    passed: u64,
    /// How the command ended, as pid 1 told.
    command: Option<Ended>,
    /// How pid 1 ended.
    ended: Option<Ended>,
    /// Private directories whose space is limited. Held open, they can be asked when the sandbox is gone.
    spaces: Vec<OwnedFd>,
    no_more_processes: bool,
    /// What the command may connect to.
    sockets: Option<Sockets>,
    /// Until when nothing is done to need less memory. A command that ends sooner is not held up by it.
    busy_until: Option<Instant>,
}

impl Sandbox {
    /// `report` is read until it closes.
    pub fn new(
        pid: Pid,
        pidfd: OwnedFd,
        report: OwnedFd,
        link: Link,
        signals: Signals,
        watch: Watch,
    ) -> Self {
        Self {
            pid,
            pidfd,
            report: Some(report),
            link: Some(link),
            signals,
            watch,
            deadline: None,
            pumps: Pumps::default(),
            outer: None,
            keyboard: None,
            failure: None,
            killed: None,
            given_up: false,
            passed: 0,
            command: None,
            ended: None,
            spaces: Vec::new(),
            no_more_processes: false,
            sockets: None,
            busy_until: Instant::now().checked_add(BUSY),
        }
    }

    /// Counted from now.
    pub fn time_limit(&mut self, limit: Duration) {
        self.deadline = Instant::now().checked_add(limit).map(|deadline| (deadline, limit));
    }

    pub fn pass_on(&mut self, pumps: Pumps) {
        self.pumps = pumps;
    }

    /// Connects the command to these sockets, and no other.
    pub fn connects(&mut self, sockets: Sockets) {
        self.sockets = Some(sockets);
    }

    fn answer(&mut self, questions: OwnedFd) -> Result<(), Errno> {
        let Some(sockets) = self.sockets.take() else { return Ok(()) };
        sockets.answer(questions).map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::AGAIN))
    }

    /// Stands between this terminal and the one that the command gets.
    pub fn at(&mut self, outer: Outer) {
        self.outer = Some(outer);
    }

    /// Waits for the end, and gives what was seen of the limits too.
    ///
    /// # Errors
    /// Only where waiting itself fails; the sandbox is killed then.
    pub fn wait(mut self) -> Result<(End, Observed), Errno> {
        let waited = self.watch_over();
        if waited.is_err() {
            self.kill();
        }
        waited?;
        let observed = self.observed();
        let end = match (self.killed, self.failure) {
            (Some(kill), _) => End::Killed(kill),
            (None, Some(failure)) => End::Failed(failure),
            (None, None) => {
                let ended = self.ended.unwrap_or(Ended::Exited(125));
                match self.command {
                    Some(command) => End::Command(command),
                    None if self.given_up => End::Command(ended),
                    None => End::Vanished(ended),
                }
            }
        };
        Ok((end, observed))
    }

    fn observed(&self) -> Observed {
        let full = |space: &OwnedFd| fstatvfs(space).is_ok_and(|space| space.f_bavail == 0);
        let mut reached = Vec::new();
        if self.spaces.iter().any(full) {
            reached.push(LimitKind::TemporarySpace);
        }
        if self.no_more_processes {
            reached.push(LimitKind::Processes);
        }
        Observed {
            network: None,
            usage: usage_of_children(),
            output_bytes: Some(self.pumps.passed()),
            reached,
            said: self.pumps.heard().to_vec(),
        }
    }

    fn watch_over(&mut self) -> Result<(), Errno> {
        while self.ended.is_none() || !self.pumps.is_done() {
            let ready = self.poll()?;
            self.look_ahead();
            for event in ready {
                match event {
                    Event::Report => self.read_report()?,
                    Event::Signal => self.pass_signals(),
                    // At the command's end the mounts go; that is looked into when all has ended.
                    Event::Mounts if self.command.is_none() => self.check_paths(),
                    Event::Mounts => {}
                    Event::Link => self.read_link()?,
                    Event::Key => self.type_in(),
                    Event::Pump(at) => self.pump(at)?,
                    Event::Ended => self.collect()?,
                }
            }
            if self.busy_until.is_some_and(|until| Instant::now() >= until) {
                self.busy_until = None;
                forget_program();
            }
            if let Some((deadline, limit)) = self.deadline
                && self.ended.is_none()
                && Instant::now() >= deadline
            {
                self.end(Kill::Time(limit));
            }
        }
        // A report that came together with the end, and a replacement that was told too late to be answered by it.
        if self.report.is_some() {
            self.read_report()?;
        }
        if self.killed.is_none() && self.failure.is_none() {
            self.check_paths();
        }
        Ok(())
    }

    fn poll(&self) -> Result<Vec<Event>, Errno> {
        let mut sources = vec![(self.signals.as_fd(), PollFlags::IN, Event::Signal)];
        if let Some(report) = &self.report {
            sources.push((report.as_fd(), PollFlags::IN, Event::Report));
        }
        if let Some(mounts) = self.watch.mounts() {
            sources.push((mounts, PollFlags::PRI, Event::Mounts));
        }
        sources.extend(self.pumps.sources().map(|(at, fd, flags)| (fd, flags, Event::Pump(at))));
        if let Some(link) = &self.link {
            sources.push((link.as_fd(), PollFlags::IN, Event::Link));
        }
        let listening = self.outer.as_ref().is_some_and(Outer::is_raw);
        if let Some((fd, flags)) = self.keyboard.as_ref().and_then(|keyboard| keyboard.source(listening)) {
            sources.push((fd, flags, Event::Key));
        }
        if self.ended.is_none() {
            sources.push((self.pidfd.as_fd(), PollFlags::IN, Event::Ended));
        }
        let mut fds: Vec<PollFd<'_>> =
            sources.iter().map(|(fd, flags, _)| PollFd::from_borrowed_fd(*fd, *flags)).collect();
        let deadline = self.deadline.filter(|_| self.ended.is_none()).map(|(deadline, _)| deadline);
        let next = deadline.into_iter().chain(self.busy_until).min();
        let left = next.map(|next| next.saturating_duration_since(Instant::now()));
        let look = (self.is_behind() && self.ended.is_none()).then_some(LOOK_AHEAD);
        let timeout = left
            .into_iter()
            .chain(look)
            .min()
            .map(|wait| Timespec { tv_sec: wait.as_secs() as i64, tv_nsec: i64::from(wait.subsec_nanos()) });
        match poll(&mut fds, timeout.as_ref()) {
            Err(Errno::INTR) => return Ok(Vec::new()),
            polled => polled?,
        };
        let ready = fds.iter().zip(&sources).filter(|(fd, _)| !fd.revents().is_empty());
        Ok(ready.map(|(_, (_, _, event))| *event).collect())
    }

    fn read_report(&mut self) -> Result<(), Errno> {
        let Some(report) = &self.report else { return Ok(()) };
        let mut bytes = [0; 4200];
        let length = match rustix::io::read(report, &mut bytes) {
            Err(Errno::INTR) => return Ok(()),
            length => length?,
        };
        self.failure = bytes.get(..length).and_then(Failure::receive);
        self.report = None;
        if self.failure.is_none() && self.ended.is_none() && self.watch.mounts_of(self.pid).is_ok() {
            self.check_paths();
        }
        Ok(())
    }

    fn check_paths(&mut self) {
        if let Some(path) = self.watch.replaced() {
            let kill = Kill::Replaced(path.to_path_buf());
            self.end(kill);
        }
    }

    fn pump(&mut self, at: usize) -> Result<(), Errno> {
        match self.pumps.turn(at)? {
            Turn::Passed => {}
            Turn::OverLimit => self.end(Kill::Output(self.pumps.limit())),
            Turn::Lost(error) => self.end(Kill::Lost(error)),
        }
        Ok(())
    }

    fn read_link(&mut self) -> Result<(), Errno> {
        while let Some(link) = &self.link {
            match link.notice() {
                Ok(Some(Notice::Terminal(control))) => self.connect(control)?,
                Ok(Some(Notice::Stopped(signal))) => self.suspend(signal)?,
                Ok(Some(Notice::Space(space))) => self.spaces.push(space),
                Ok(Some(Notice::Questions(questions))) => self.answer(questions)?,
                Ok(Some(Notice::NoMoreProcesses)) => self.no_more_processes = true,
                Ok(Some(Notice::Ended(ended))) => self.command = Some(ended),
                Ok(None) => break,
                Err(_) => self.link = None,
            }
        }
        Ok(())
    }

    fn type_in(&mut self) {
        if self.keyboard.as_mut().is_some_and(|keyboard| !keyboard.turn()) {
            // What a terminal that is hung up does to those who are at it.
            self.ask(Request::Signal(libc::SIGHUP));
        }
    }

    /// Passes signals on to the command; pid 1 ignores them itself (pid_namespaces(7)). The same signal again ends the sandbox.
    fn pass_signals(&mut self) {
        while let Some(number) = self.signals.next() {
            self.pass_signal(number);
        }
    }

    fn pass_signal(&mut self, number: i32) {
        let at_terminal = self.keyboard.is_some();
        let asked = match number {
            NOTIFIED => return self.check_paths(),
            libc::SIGWINCH if at_terminal => return self.resize(),
            // Something that cannot be noticed had stopped this program.
            libc::SIGCONT if at_terminal => return self.go_on(),
            libc::SIGTSTP if !at_terminal => self.ask(Request::Freeze),
            // At a terminal they interrupt what is in front, over and over.
            libc::SIGINT | libc::SIGQUIT if at_terminal => self.ask(Request::Interrupt(number)),
            libc::SIGTSTP | libc::SIGWINCH | libc::SIGCONT => self.ask(Request::Signal(number)),
            _ => {
                let bit = 1u64.checked_shl(number.unsigned_abs()).unwrap_or(0);
                let first = self.passed & bit == 0;
                self.passed |= bit;
                first && self.ask(Request::Signal(number))
            }
        };
        if !asked {
            self.given_up = true;
            self.kill();
        }
    }

    /// `false` where pid 1 has gone.
    fn ask(&self, request: Request) -> bool {
        self.link.as_ref().is_some_and(|link| link.ask(request).is_ok())
    }

    fn collect(&mut self) -> Result<(), Errno> {
        // What it still had to say, such as which terminal there is something to be read from.
        self.read_link()?;
        match waitpid(Some(self.pid), WaitOptions::empty()) {
            Ok(Some((_, status))) => {
                self.ended = Some(ended(status));
                Ok(())
            }
            Ok(None) | Err(Errno::INTR) => Ok(()),
            Err(error) => Err(error),
        }
    }

    fn end(&mut self, kill: Kill) {
        self.killed.get_or_insert(kill);
        self.kill();
    }

    /// The end of pid 1 is the end of all that is in its namespace (pid_namespaces(7)).
    fn kill(&self) {
        if self.ended.is_none() {
            // It may have ended by itself in this moment.
            let _ = pidfd_send_signal(&self.pidfd, Signal::KILL);
        }
    }
}

#[derive(Debug, Clone, Copy)]
enum Event {
    Report,
    Signal,
    Mounts,
    Link,
    Key,
    Pump(usize),
    Ended,
}
