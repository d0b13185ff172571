//! Passes the command's output streams on, and counts them together where their bytes are limited. The same on every system.

use crate::policy::LimitKind;
use rustix::event::PollFlags;
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::io::Errno;

/// How much is read at once.
const CHUNK: usize = 64 * 1024;
/// What a pipe that says it can be written takes without blocking (`PIPE_BUF`, pipe(7); POSIX asks for 512 at least, macOS has that).
const WRITE: usize = if cfg!(target_os = "linux") { 4096 } else { 512 };

/// What programs say when a call fails at a limit, in the words of the C library (strerror(3)) and of shells, untranslated.
const SAYINGS: [(LimitKind, &str); 5] = [
    (LimitKind::OpenFiles, "Too many open files"),
    (LimitKind::Processes, "Resource temporarily unavailable"),
    (LimitKind::Processes, "Cannot fork"),
    (LimitKind::TemporarySpace, "No space left on device"),
    (LimitKind::FileSize, "File too large"),
];
/// One byte less than the longest of them has: so much of one may lie in an earlier piece.
const OVERLAP: usize = 31;

/// The streams that are passed on, with what is left of their common limit. The others are the caller's own.
#[derive(Debug, Default)]
pub struct Pumps {
    pumps: Vec<Pump>,
    limit: Option<u64>,
    passed: u64,
    /// What was said of the above.
    heard: Vec<(LimitKind, &'static str)>,
}

/// What moving one piece came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turn {
    Passed,
    /// It went over the limit: what was within it still goes out, nothing more is read.
    OverLimit,
    /// It could not be written, other than since its reader has gone away.
    Lost(Errno),
}

#[derive(Debug)]
struct Pump {
    from: Option<OwnedFd>,
    to: OwnedFd,
    waiting: Vec<u8>,
    /// The end of what came before.
    before: Vec<u8>,
}

impl Pumps {
    /// None yet; no more than `limit` bytes of all together will be copied.
    pub fn new(limit: Option<u64>) -> Self {
        Self { limit, ..Self::default() }
    }

    /// Copies one to the other from now on.
    pub fn add(&mut self, from: OwnedFd, to: OwnedFd) {
        self.pumps.push(Pump { from: Some(from), to, waiting: Vec::new(), before: Vec::new() });
    }

    /// Bytes of all streams together.
    pub fn limit(&self) -> u64 {
        self.limit.unwrap_or(u64::MAX)
    }

    /// Bytes of all streams together that were passed on.
    pub fn passed(&self) -> u64 {
        self.passed
    }

    /// Which words were among them, of those that programs have for a limit; each once.
    pub fn heard(&self) -> &[(LimitKind, &'static str)] {
        &self.heard
    }

    /// What each of them waits for, by the number that [`Pumps::turn`] takes.
    pub fn sources(&self) -> impl Iterator<Item = (usize, BorrowedFd<'_>, PollFlags)> {
        self.pumps.iter().enumerate().filter_map(|(at, pump)| {
            if !pump.waiting.is_empty() {
                return Some((at, pump.to.as_fd(), PollFlags::OUT));
            }
            pump.from.as_ref().map(|from| (at, from.as_fd(), PollFlags::IN))
        })
    }

    /// Whether everything has been passed on and nothing more can come.
    pub fn is_done(&self) -> bool {
        self.pumps.iter().all(Pump::is_done)
    }

    /// Moves one piece of one stream.
    ///
    /// # Errors
    /// As read(2).
    pub fn turn(&mut self, at: usize) -> Result<Turn, Errno> {
        let left = self.limit().saturating_sub(self.passed);
        let Some(pump) = self.pumps.get_mut(at) else { return Ok(Turn::Passed) };
        if !pump.waiting.is_empty() {
            return Ok(pump.write().map_or(Turn::Passed, Turn::Lost));
        }
        let Some(from) = &pump.from else { return Ok(Turn::Passed) };
        let mut bytes = vec![0; CHUNK];
        let length = match rustix::io::read(from, &mut bytes) {
            Err(Errno::INTR | Errno::AGAIN) => return Ok(Turn::Passed),
            // The controlling side of a terminal, once nobody has the other (pty(7)).
            Err(Errno::IO) => 0,
            length => length?,
        };
        if length == 0 {
            pump.from = None;
            return Ok(Turn::Passed);
        }
        let fits = usize::try_from(left).unwrap_or(usize::MAX).min(length);
        bytes.truncate(fits);
        self.passed += fits as u64;
        pump.hear(&bytes, &mut self.heard);
        pump.waiting = bytes;
        if fits == length {
            return Ok(Turn::Passed);
        }
        for pump in &mut self.pumps {
            pump.from = None;
        }
        Ok(Turn::OverLimit)
    }
}

impl Pump {
    fn is_done(&self) -> bool {
        self.from.is_none() && self.waiting.is_empty()
    }

    fn hear(&mut self, bytes: &[u8], heard: &mut Vec<(LimitKind, &'static str)>) {
        self.before.extend_from_slice(bytes);
        for (kind, words) in SAYINGS {
            let known = heard.iter().any(|(other, _)| *other == kind);
            if !known && self.before.windows(words.len()).any(|part| part == words.as_bytes()) {
                heard.push((kind, words));
            }
        }
        let old = self.before.len().saturating_sub(OVERLAP);
        self.before.drain(..old);
    }

    /// Writes what can be written without waiting for whoever reads it; gives the error of what is lost.
    fn write(&mut self) -> Option<Errno> {
        let next = self.waiting.get(..WRITE).unwrap_or(&self.waiting);
        match rustix::io::write(&self.to, next) {
            Ok(written) => drop(self.waiting.drain(..written)),
            Err(Errno::INTR | Errno::AGAIN) => {}
            // Closing our end tells the command so.
            Err(error) => {
                self.waiting.clear();
                self.from = None;
                return Some(error).filter(|error| *error != Errno::PIPE);
            }
        }
        None
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use std::io::{Read as _, Seek as _};

    /// Pumps that write into two files, which live as long as the test program.
    pub fn into_files(limit: u64, output: OwnedFd, errors: OwnedFd) -> (Pumps, [&'static std::fs::File; 2]) {
        let file = || &*Box::leak(Box::new(tempfile::tempfile().unwrap()));
        let files = [file(), file()];
        let mut pumps = Pumps::new(Some(limit));
        pumps.add(output, files[0].try_clone().unwrap().into());
        pumps.add(errors, files[1].try_clone().unwrap().into());
        (pumps, files)
    }

    pub fn text(mut file: &std::fs::File) -> String {
        let mut text = String::new();
        file.rewind().unwrap();
        file.read_to_string(&mut text).unwrap();
        text
    }

    #[test]
    fn both_streams_are_counted_together_and_cut_exactly() {
        let (output, to_output) = rustix::pipe::pipe().unwrap();
        let (errors, to_errors) = rustix::pipe::pipe().unwrap();
        let (mut pumps, files) = into_files(7, output, errors);
        rustix::io::write(&to_output, b"abcd").unwrap();
        rustix::io::write(&to_errors, b"efghij").unwrap();
        assert!(pumps.turn(0).unwrap() == Turn::Passed && pumps.turn(0).unwrap() == Turn::Passed);
        assert!(pumps.turn(1).unwrap() == Turn::OverLimit, "six bytes where three are left");
        assert!(!pumps.is_done(), "three of them still go out");
        assert!(pumps.turn(1).unwrap() == Turn::Passed);
        assert!(pumps.is_done());
        assert_eq!(files.map(text), ["abcd", "efg"]);
    }

    #[test]
    fn words_for_a_limit_are_heard_across_pieces() {
        assert_eq!(SAYINGS.iter().map(|(_, words)| words.len()).max(), Some(OVERLAP + 1));
        let (output, to_output) = rustix::pipe::pipe().unwrap();
        let (errors, to_errors) = rustix::pipe::pipe().unwrap();
        let (mut pumps, _) = into_files(1000, output, errors);
        for piece in ["a: Too many", " open files", " open files. Resource temporarily unavailabl", "E"] {
            rustix::io::write(&to_output, piece.as_bytes()).unwrap();
            rustix::io::write(&to_errors, b"Cannot ").unwrap();
            for at in [0, 0, 1, 1] {
                assert!(pumps.turn(at).unwrap() == Turn::Passed);
            }
        }
        assert_eq!(pumps.heard(), [(LimitKind::OpenFiles, "Too many open files")]);
        rustix::io::write(&to_errors, b"fork").unwrap();
        assert!(pumps.turn(1).unwrap() == Turn::Passed);
        assert_eq!(pumps.heard()[1..], [(LimitKind::Processes, "Cannot fork")]);
    }

    #[test]
    fn the_limit_itself_is_not_over_it() {
        let (output, to_output) = rustix::pipe::pipe().unwrap();
        let (errors, to_errors) = rustix::pipe::pipe().unwrap();
        let (mut pumps, files) = into_files(4, output, errors);
        rustix::io::write(&to_output, b"abcd").unwrap();
        drop((to_output, to_errors));
        while !pumps.is_done() {
            let ready: Vec<usize> = pumps.sources().map(|(at, ..)| at).collect();
            for at in ready {
                assert!(pumps.turn(at).unwrap() == Turn::Passed);
            }
        }
        assert_eq!(files.map(text), ["abcd", ""]);
    }
}
