//! The terminal that palisade is used at, and the one the command gets in its stead.
//!
//! Where both standard input and standard output are a terminal, the command does not get it: it could read what is typed after it has
//! ended, or set modes that outlive it. It gets a pseudo-terminal (pty(7)) in an instance of `devpts` that nobody else has, as its
//! controlling terminal, and what is typed and written is passed on between the two. The terminal outside is in raw mode meanwhile: it is
//! the inner one that turns keys into signals, for whoever is in front of it.

use super::filesystems::devpts;
use super::report::{Failure, Stage, Staged};
use rustix::event::PollFlags;
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{CWD, Mode, OFlags, fcntl_getfl, fcntl_setfl, open, openat};
use rustix::io::Errno;
use rustix::process::getpgrp;
use rustix::pty::{OpenptFlags, ioctl_tiocgptpeer, unlockpt};
use rustix::stdio::{stderr, stdin, stdout};
use rustix::termios::{
    OptionalActions, Termios, Winsize, isatty, tcgetattr, tcgetpgrp, tcgetwinsize, tcsetattr, tcsetwinsize,
};

/// The terminal outside, with the modes it had.
#[derive(Debug)]
pub struct Outer {
    stream: BorrowedFd<'static>,
    modes: Termios,
    /// Those that this program has set, while it has.
    raw: Option<Termios>,
}

impl Outer {
    /// The terminal that a command may be used at: standard input and standard output both are one.
    pub fn interactive() -> Option<Self> {
        if isatty(stdout()) { Self::of(stdin()) } else { None }
    }

    /// The terminal on any of the standard streams.
    pub fn any() -> Option<Self> {
        [stdin(), stdout(), stderr()].into_iter().find_map(Self::of)
    }

    fn of(stream: BorrowedFd<'static>) -> Option<Self> {
        tcgetattr(stream).ok().map(|modes| Self { stream, modes, raw: None })
    }

    /// What the terminal inside is to be like.
    pub fn inner(&self) -> Inner {
        Inner { modes: self.modes.clone(), size: self.size(), front: self.is_in_front() }
    }

    pub fn size(&self) -> Option<Winsize> {
        tcgetwinsize(self.stream).ok()
    }

    /// Whether this program may read from the terminal and set its modes. Where it is not its controlling terminal, nobody is asked.
    pub fn is_in_front(&self) -> bool {
        tcgetpgrp(self.stream).map_or(true, |front| front == getpgrp())
    }

    pub fn is_raw(&self) -> bool {
        self.raw.is_some()
    }

    /// Has every key passed on as it is, and remembers the modes of now. Those of the start may have been the shell's own: for a background
    /// job it has the terminal in the modes in which it reads its next line. Only in front.
    pub fn make_raw(&mut self) -> &Termios {
        if let Ok(now) = tcgetattr(self.stream)
            && !self.raw.as_ref().is_some_and(|ours| alike(ours, &now))
        {
            self.modes = now;
        }
        let mut raw = self.modes.clone();
        raw.make_raw();
        let set = tcsetattr(self.stream, OptionalActions::Drain, &raw).is_ok();
        // A terminal may not take everything.
        self.raw = set.then(|| tcgetattr(self.stream).unwrap_or(raw));
        &self.modes
    }

    /// Gives it its modes back. From behind, where the shell has long done so, it is left alone.
    pub fn restore(&mut self) {
        if self.is_in_front() {
            // Not waiting for a terminal that takes no output (tcsetattr(3)).
            let _ = tcsetattr(self.stream, OptionalActions::Now, &self.modes);
        }
        self.raw = None;
    }
}

fn alike(one: &Termios, other: &Termios) -> bool {
    one.input_modes == other.input_modes
        && one.output_modes == other.output_modes
        && one.control_modes == other.control_modes
        && one.local_modes == other.local_modes
}

impl Drop for Outer {
    fn drop(&mut self) {
        if self.is_raw() {
            self.restore();
        }
    }
}

/// Whether a read from standard input would stop this program, which is a background job of the terminal there (termios(3)).
pub fn is_background_input() -> bool {
    tcgetpgrp(stdin()).is_ok_and(|front| front != getpgrp())
}

/// A descriptor of our own for a standard stream, on which a terminal that takes no output does not keep us waiting.
///
/// # Errors
/// As fcntl(2).
pub fn sink(stream: BorrowedFd<'_>) -> rustix::io::Result<OwnedFd> {
    let own = rustix::io::fcntl_dupfd_cloexec(stream, 3)?;
    if !isatty(&own) {
        return Ok(own);
    }
    // Opened anew, since the flag would be set for everybody who has this one. It may be another user's.
    let path = format!("/proc/self/fd/{}", rustix::fd::AsRawFd::as_raw_fd(&own));
    let flags = OFlags::WRONLY | OFlags::NOCTTY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    Ok(open(path, flags, Mode::empty()).unwrap_or(own))
}

/// What the command's terminal is like when it starts.
#[derive(Debug)]
pub struct Inner {
    modes: Termios,
    size: Option<Winsize>,
    /// Whether the command is in front of it.
    pub front: bool,
}

impl Inner {
    /// Makes the terminal: its controlling side, and the command's. `terminals` is the instance of `devpts` in the sandbox, if any.
    pub fn open(&self, terminals: Option<OwnedFd>) -> Result<(OwnedFd, OwnedFd), Failure> {
        let terminals = match terminals {
            Some(terminals) => terminals,
            None => devpts().at(Stage::Terminal, "devpts")?,
        };
        let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
        let control = openat(&terminals, "ptmx", flags, Mode::empty()).at(Stage::Terminal, "ptmx")?;
        unlockpt(&control).at(Stage::Terminal, "unlockpt")?;
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let terminal = ioctl_tiocgptpeer(&control, flags).at(Stage::Terminal, "TIOCGPTPEER")?;
        tcsetattr(&terminal, OptionalActions::Now, &self.modes).at(Stage::Terminal, "modes")?;
        if let Some(size) = self.size {
            tcsetwinsize(&terminal, size).at(Stage::Terminal, "size")?;
        }
        Ok((control, terminal))
    }
}

/// Passes what is typed on to the command's terminal.
#[derive(Debug)]
pub struct Keyboard {
    to: OwnedFd,
    /// The modes that the command's terminal was given. Others are the command's choice.
    given: Option<Termios>,
    waiting: Vec<u8>,
    gone: bool,
}

impl Keyboard {
    /// `control` is the controlling side of the command's terminal.
    ///
    /// # Errors
    /// As fcntl(2).
    pub fn new(control: &OwnedFd) -> rustix::io::Result<Self> {
        // The pump reads from the same one, and asks before.
        fcntl_setfl(control, fcntl_getfl(control)? | OFlags::NONBLOCK)?;
        let to = rustix::io::fcntl_dupfd_cloexec(control, 3)?;
        Ok(Self { given: tcgetattr(&to).ok(), to, waiting: Vec::new(), gone: false })
    }

    /// What it waits for. `listening` is whether standard input may be read.
    pub fn source(&self, listening: bool) -> Option<(BorrowedFd<'_>, PollFlags)> {
        if !self.waiting.is_empty() {
            Some((self.to.as_fd(), PollFlags::OUT))
        } else if listening && !self.gone {
            Some((stdin(), PollFlags::IN))
        } else {
            None
        }
    }

    /// Moves one piece. `false` once the terminal outside has been hung up.
    pub fn turn(&mut self) -> bool {
        if self.waiting.is_empty() {
            let mut bytes = [0; 4096];
            match rustix::io::read(stdin(), &mut bytes) {
                Err(Errno::INTR | Errno::AGAIN) => return true,
                Ok(length @ 1..) => self.waiting.extend(bytes.iter().take(length)),
                // In raw mode there is no other end.
                Ok(0) | Err(_) => {
                    self.gone = true;
                    return false;
                }
            }
        }
        match rustix::io::write(&self.to, &self.waiting) {
            Ok(written) => drop(self.waiting.drain(..written)),
            Err(Errno::INTR | Errno::AGAIN) => {}
            Err(_) => self.waiting.clear(),
        }
        true
    }

    /// Gives the command's terminal these modes, unless the command has set others meanwhile.
    pub fn follow(&mut self, modes: &Termios) {
        let now = tcgetattr(&self.to).ok();
        if let (Some(given), Some(now)) = (&self.given, now)
            && alike(given, &now)
            && tcsetattr(&self.to, OptionalActions::Now, modes).is_ok()
        {
            self.given = tcgetattr(&self.to).ok();
        }
    }

    pub fn resize(&self, size: Option<Winsize>) {
        if let Some(size) = size {
            // Tells those in front of it, where it is another than before (ioctl_tty(2)).
            let _ = tcsetwinsize(&self.to, size);
        }
    }
}

/// Opens `/dev/null` to read from.
///
/// # Errors
/// As open(2).
pub fn no_input() -> rustix::io::Result<OwnedFd> {
    openat(CWD, "/dev/null", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())
}
