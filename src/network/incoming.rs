//! In: what a peer sends. Out: the same bytes, looked at before they are used up, for as long as one is willing to wait.

use super::Reason;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::io::{ErrorKind, Read};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// What one reading takes at most.
const PIECE: usize = 16 * 1024;

/// Why nothing more was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Halt {
    /// Nothing came in time.
    Slow,
    /// The connection is lost.
    Lost,
}

impl Halt {
    /// What is said of a request that was cut short so.
    pub fn reason(self) -> Reason {
        match self {
            Self::Slow => Reason::TooSlow,
            Self::Lost => CUT_SHORT,
        }
    }
}

pub(super) const CUT_SHORT: Reason = Reason::BadRequest("it ended before it was complete");

/// One side of a connection, with what was read from it and not yet used up.
pub(super) struct Incoming<'s> {
    stream: &'s TcpStream,
    bytes: Vec<u8>,
    start: usize,
    ended: bool,
}

impl<'s> Incoming<'s> {
    pub fn new(stream: &'s TcpStream) -> Self {
        Self { stream, bytes: Vec::new(), start: 0, ended: false }
    }

    pub fn stream(&self) -> &'s TcpStream {
        self.stream
    }

    /// What was read and not used up.
    pub fn held(&self) -> &[u8] {
        self.bytes.get(self.start..).unwrap_or_default()
    }

    /// Whether the peer sends nothing more.
    pub fn ended(&self) -> bool {
        self.ended
    }

    /// Uses up the first `count` bytes of what is held.
    pub fn consume(&mut self, count: usize) {
        self.start = self.start.saturating_add(count).min(self.bytes.len());
        if self.start == self.bytes.len() {
            self.bytes.clear();
            self.start = 0;
        }
    }

    /// Uses up all that is held.
    pub fn take_all(&mut self) -> Vec<u8> {
        let held = self.held().to_vec();
        self.consume(held.len());
        held
    }

    /// Reads once: adds to what is held, or finds that the peer sends nothing more. Without `until`, waits for as long as it takes.
    pub fn more(&mut self, until: Option<Instant>) -> Result<(), Halt> {
        // What was used up goes away only once it is more than what must be moved for it.
        if self.start > self.bytes.len() / 2 {
            self.bytes.drain(..self.start);
            self.start = 0;
        }
        let before = self.bytes.len();
        self.bytes.resize(before + PIECE, 0);
        let read = self.read_at(before, until);
        self.bytes.truncate(before + read.unwrap_or(0));
        self.ended |= read? == 0;
        Ok(())
    }

    fn read_at(&mut self, place: usize, until: Option<Instant>) -> Result<usize, Halt> {
        loop {
            let left = until.map(|until| until.saturating_duration_since(Instant::now()));
            if left.is_some_and(|left| left.is_zero()) {
                return Err(Halt::Slow);
            }
            self.stream.set_read_timeout(left).map_err(|_| Halt::Lost)?;
            match self.stream.read(self.bytes.get_mut(place..).unwrap_or_default()) {
                Ok(count) => return Ok(count),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
                Err(_) => return Err(Halt::Lost),
            }
        }
    }

    /// Reads until `count` bytes are there, and uses them up.
    pub fn take(&mut self, count: usize, until: Instant) -> Result<Vec<u8>, Reason> {
        while self.held().len() < count {
            if self.ended {
                return Err(CUT_SHORT);
            }
            self.more(Some(until)).map_err(Halt::reason)?;
        }
        let taken = self.held().get(..count).unwrap_or_default().to_vec();
        self.consume(count);
        Ok(taken)
    }
}

/// Which of two streams has something to read: bytes, an end or an error. Those not asked about have nothing.
pub(super) fn wait(
    one: Option<&TcpStream>,
    other: Option<&TcpStream>,
    until: Option<Instant>,
) -> Result<(bool, bool), Halt> {
    loop {
        let left = until.map(|until| until.saturating_duration_since(Instant::now()));
        if left.is_some_and(|left| left.is_zero()) {
            return Err(Halt::Slow);
        }
        let mut asked: Vec<_> =
            [one, other].into_iter().flatten().map(|stream| PollFd::new(stream, PollFlags::IN)).collect();
        match poll(&mut asked, left.map(timespec).as_ref()) {
            Ok(0) | Err(rustix::io::Errno::INTR) => {}
            Ok(_) => {
                let mut ready = asked.iter().map(|fd| !fd.revents().is_empty());
                let first = one.is_some() && ready.next() == Some(true);
                return Ok((first, ready.next() == Some(true)));
            }
            Err(_) => return Err(Halt::Lost),
        }
    }
}

fn timespec(duration: Duration) -> Timespec {
    Timespec {
        tv_sec: i64::try_from(duration.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: duration.subsec_nanos().into(),
    }
}
