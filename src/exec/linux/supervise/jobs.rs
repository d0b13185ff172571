//! Job control across the walls: what happens to this program when the command is stopped, and when it comes to the front of its terminal.

use super::super::link::Request;
use super::super::terminal::{Keyboard, Outer, sink};
use super::Sandbox;
use rustix::event::{PollFd, Timespec, poll};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::process::{Signal, kill_current_process_group};
use rustix::stdio::stdout;
use std::time::Instant;

/// How many pieces of output are passed on at most before this program stops itself.
const MOST_PIECES: usize = 1000;

impl Sandbox {
    /// The command's terminal is there, `control` is its controlling side.
    pub(super) fn connect(&mut self, control: OwnedFd) -> Result<(), Errno> {
        let Some(outer) = &mut self.outer else { return Ok(()) };
        self.keyboard = Some(Keyboard::new(&control)?);
        self.pumps.add(control, sink(stdout())?);
        if outer.is_in_front() {
            outer.make_raw();
        }
        self.resize();
        Ok(())
    }

    /// Whether the terminal is somebody else's. A shell need not tell a job that was running anyway when it brings it to the front, so
    /// that the terminal must be asked from time to time.
    pub(super) fn is_behind(&self) -> bool {
        self.keyboard.is_some() && self.outer.as_ref().is_some_and(|outer| !outer.is_raw())
    }

    /// Goes on in front where that is where this program has come to.
    pub(super) fn look_ahead(&mut self) {
        if self.is_behind() && self.ended.is_none() && self.is_in_front() {
            self.go_on();
        }
    }

    pub(super) fn resize(&self) {
        if let (Some(keyboard), Some(outer)) = (&self.keyboard, &self.outer) {
            keyboard.resize(outer.size());
        }
    }

    /// Takes the terminal if this program is in front of it, and lets the command know.
    pub(super) fn go_on(&mut self) {
        let front = self.is_in_front();
        if let Some(outer) = &mut self.outer
            && front
        {
            let modes = outer.make_raw();
            if let Some(keyboard) = &mut self.keyboard {
                keyboard.follow(modes);
            }
        }
        self.resize();
        self.ask(Request::Thaw { front });
    }

    /// The command was stopped by this signal, and all that is with it is frozen: stops this program's own job in the same way, so that the
    /// shell it was started from notices. The time until it goes on does not count.
    pub(super) fn suspend(&mut self, signal: i32) -> Result<(), Errno> {
        if self.killed.is_some() {
            return Ok(());
        }
        self.flush()?;
        let wants_terminal = matches!(signal, libc::SIGTTIN | libc::SIGTTOU);
        while !(wants_terminal && self.is_in_front()) {
            if let Some(outer) = &mut self.outer {
                outer.restore();
            }
            let since = Instant::now();
            let continued = self.stop(if wants_terminal { signal } else { libc::SIGTSTP })?;
            if let Some((deadline, limit)) = self.deadline {
                self.deadline = deadline.checked_add(since.elapsed()).map(|deadline| (deadline, limit));
            }
            if self.is_in_front() || !wants_terminal {
                break;
            }
            if !continued {
                // Nobody can bring this job to the front (setpgid(2) on orphaned groups): the command would wait for ever.
                self.ask(Request::Signal(libc::SIGHUP));
                break;
            }
        }
        self.go_on();
        Ok(())
    }

    fn is_in_front(&self) -> bool {
        self.outer.as_ref().is_none_or(Outer::is_in_front)
    }

    /// Stops the process group of this program, as the terminal would. Gives whether it was stopped, which an orphaned group is not.
    fn stop(&mut self, signal: i32) -> Result<bool, Errno> {
        // Not to be taken for the end of this stop.
        self.drain_signals();
        if let Some(signal) = Signal::from_named_raw(signal) {
            kill_current_process_group(signal)?;
        }
        // The only one of them that is read from a descriptor otherwise.
        if signal == libc::SIGTSTP {
            let delivered = self.signals.let_through(signal);
            delivered.map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
        }
        Ok(self.drain_signals())
    }

    /// Passes on what has come in, and gives whether this program was told to go on.
    fn drain_signals(&mut self) -> bool {
        let mut continued = false;
        while let Some(number) = self.signals.next() {
            if number == libc::SIGCONT {
                continued = true;
            } else {
                self.pass_signal(number);
            }
        }
        continued
    }

    /// Passes on what the command had written before it stopped.
    fn flush(&mut self) -> Result<(), Errno> {
        for _ in 0..MOST_PIECES {
            let sources: Vec<_> = self.pumps.sources().collect();
            let mut fds: Vec<PollFd<'_>> =
                sources.iter().map(|(_, fd, flags)| PollFd::from_borrowed_fd(*fd, *flags)).collect();
            if poll(&mut fds, Some(&Timespec { tv_sec: 0, tv_nsec: 0 }))? == 0 {
                break;
            }
            let ready = sources.iter().zip(&fds).filter(|(_, fd)| !fd.revents().is_empty());
            let ready: Vec<usize> = ready.map(|((at, ..), _)| *at).collect();
            for at in ready {
                self.pump(at)?;
            }
        }
        Ok(())
    }
}
