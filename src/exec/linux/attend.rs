//! What pid 1 does while the command runs: collects every child, and does for the supervisor what only somebody inside can do.

use super::super::Ended;
use super::link::{Link, Notice, Request};
use super::supervise::BUSY;
use crate::sys::forget_program;
use crate::sys::linux::{Signals, has_room_for, signal_all};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::{AsFd, OwnedFd};
use rustix::io::Errno;
use rustix::process::{
    Pid, Signal, WaitOptions, WaitStatus, getpgrp, kill_current_process_group, kill_process,
    kill_process_group, wait,
};
use rustix::termios::{tcgetpgrp, tcsetpgrp};

/// A command that runs, as pid 1 knows it.
#[derive(Debug)]
pub struct Attendance {
    pub link: Link,
    pub command: Pid,
    /// The command's terminal. Only with one the command has a process group of its own.
    pub terminal: Option<OwnedFd>,
    /// The group that was in front when everything was frozen.
    pub frozen: Option<Pid>,
    pub processes_limited: bool,
}

impl Attendance {
    /// Waits for the command's end and gives its code, as a shell would.
    pub fn attend(mut self) -> i32 {
        // The terminal is moved from behind by this process, which would be stopped for it (tcsetpgrp(3)).
        let Ok(signals) = Signals::block(&[libc::SIGCHLD, libc::SIGTTOU]) else { return 125 };
        let mut patience = Timespec::try_from(BUSY).ok();
        loop {
            if let Some(code) = self.reap() {
                return code;
            }
            let mut fds = [
                PollFd::new(&signals, PollFlags::IN),
                PollFd::from_borrowed_fd(self.link.as_fd(), PollFlags::IN),
            ];
            match poll(&mut fds, patience.as_ref()) {
                // It goes on: from here on there is little to do.
                Ok(0) => {
                    patience = None;
                    forget_program();
                }
                Ok(_) | Err(Errno::INTR) => {}
                Err(_) => return 125,
            }
            while signals.next().is_some() {}
            match self.link.request() {
                Ok(Some(request)) => self.serve(request),
                Ok(None) => {}
                // The supervisor has gone. The kernel ends this process too, but for when it went before that was asked for.
                Err(_) => return 125,
            }
        }
    }

    /// Collects the children that have ended. Gives the code of the command where it is among them.
    fn reap(&mut self) -> Option<i32> {
        let mut options = WaitOptions::NOHANG;
        if self.terminal.is_some() {
            options |= WaitOptions::UNTRACED;
        }
        loop {
            match wait(options) {
                Ok(Some((pid, status))) if pid == self.command => match status.stopping_signal() {
                    Some(signal) => self.freeze(signal),
                    None => return Some(self.conclude(ended(status)).code()),
                },
                Ok(Some(_)) | Err(Errno::INTR) => {}
                Ok(None) => return None,
                Err(_) => return Some(125),
            }
        }
    }

    /// Tells of the command's end, and whether what it has left behind are as many as there may be.
    fn conclude(&self, ended: Ended) -> Ended {
        let left = || !matches!(wait(WaitOptions::NOHANG), Err(Errno::CHILD));
        // One more, since the command's own place is free.
        if self.processes_limited && left() && !has_room_for(2) {
            let _ = self.link.tell(&Notice::NoMoreProcesses);
        }
        let _ = self.link.tell(&Notice::Ended(ended));
        ended
    }

    fn serve(&mut self, request: Request) {
        match request {
            Request::Signal(signal) => self.signal(signal),
            Request::Interrupt(signal) => match (self.front(), Signal::from_named_raw(signal)) {
                (Some(front), Some(signal)) if front != getpgrp() => {
                    let _ = kill_process_group(front, signal);
                }
                _ => self.signal(signal),
            },
            Request::Freeze => self.freeze(libc::SIGTSTP),
            Request::Thaw { front } => self.thaw(front),
        }
    }

    /// To the command's group, or to the command alone where it has gone into another.
    fn signal(&self, signal: i32) {
        let Some(signal) = Signal::from_named_raw(signal) else { return };
        // It may have ended by itself in this moment.
        let _ = match &self.terminal {
            Some(_) => {
                kill_process_group(self.command, signal).or_else(|_| kill_process(self.command, signal))
            }
            // It was started into the group of this process, which signals from in here do not reach (pid_namespaces(7)).
            None => kill_current_process_group(signal),
        };
    }

    /// Nobody watches while the supervisor is stopped, so that nothing in here may go on.
    fn freeze(&mut self, signal: i32) {
        signal_all(libc::SIGSTOP);
        if self.frozen.is_none() {
            self.frozen = Some(self.front().filter(|front| *front != getpgrp()).unwrap_or(self.command));
        }
        let _ = self.link.tell(&Notice::Stopped(signal));
    }

    fn thaw(&mut self, front: bool) {
        let frozen = self.frozen.take();
        if let Some(terminal) = &self.terminal {
            let behind = self.front() == Some(getpgrp());
            match (front, frozen) {
                (true, Some(group)) => drop(tcsetpgrp(terminal, group)),
                (true, None) if behind => drop(tcsetpgrp(terminal, self.command)),
                (true, None) => {}
                (false, _) => drop(tcsetpgrp(terminal, getpgrp())),
            }
        }
        if frozen.is_some() {
            signal_all(libc::SIGCONT);
        }
    }

    /// The process group in front of the terminal.
    fn front(&self) -> Option<Pid> {
        tcgetpgrp(self.terminal.as_ref()?).ok()
    }
}

/// What a status of wait(2) means.
pub fn ended(status: WaitStatus) -> Ended {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => Ended::Exited(code),
        (None, Some(signal)) => Ended::Killed(signal),
        (None, None) => Ended::Exited(125),
    }
}
