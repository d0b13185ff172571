//! In: two connections. Out: the bytes of each on the other, an end of either passed on, and how many there were.

use super::incoming::Incoming;
use rustix::fd::AsFd;
use rustix::io::{Errno, read, write};
use std::io;
use std::net::{Shutdown, TcpStream};
use std::thread;
use std::time::Duration;

/// What a thread needs that does nothing but hand on bytes.
const STACK: usize = 128 * 1024;
/// What is under way in one direction at most, where it is copied.
const COPY: usize = 64 * 1024;
/// The same, where the kernel moves it (pipe(7): a user has 64 MiB of pipes before they get small).
#[cfg(target_os = "linux")]
const PIPE: usize = 256 * 1024;

/// How a direction ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Over {
    /// The sender is done.
    Ended,
    /// The sender is lost.
    Unread,
    /// The receiver is lost.
    Unwritten,
}

/// Passes on in both directions until both have ended: first what the client sent already, then what comes. Gives the bytes up and down.
///
/// # Errors
/// There is no thread for the second direction.
pub(super) fn both(client: &mut Incoming<'_>, server: &TcpStream) -> io::Result<(u64, u64)> {
    let stream = client.stream();
    stream.set_read_timeout(None)?;
    server.set_read_timeout(None)?;
    let held = client.take_all();
    let mut up = 0;
    let down = while_down(|| one_way(&[], server, stream), || up = one_way(&held, stream, server))?;
    Ok((up, down))
}

/// Runs `down` in a thread of its own while `up` runs in this one, and gives what it gave.
///
/// # Errors
/// There is no such thread: neither ran.
pub(super) fn while_down(down: impl FnOnce() -> u64 + Send, up: impl FnOnce()) -> io::Result<u64> {
    thread::scope(|scope| {
        let down = thread::Builder::new().stack_size(STACK).spawn_scoped(scope, down)?;
        up();
        down.join().map_err(|_| io::Error::other("the thread of the second direction failed"))
    })
}

/// Passes on in one direction: first `held`, then what comes. Sees to it that the other direction ends where it cannot go on. Gives the number
/// of bytes.
pub(super) fn one_way(held: &[u8], from: &TcpStream, to: &TcpStream) -> u64 {
    let mut count = 0;
    let over = match write_all(to, held, &mut count) {
        Ok(()) => pump(from, to, &mut count),
        Err(_) => Over::Unwritten,
    };
    end(over, to);
    count
}

/// Has a receiver know how its direction ended, and sees to it that the other one ends where it cannot go on.
pub(super) fn end(over: Over, to: &TcpStream) {
    // A peer that is gone already need not be told.
    let _ = match over {
        Over::Ended => to.shutdown(Shutdown::Write),
        Over::Unread => {
            reset(to);
            to.shutdown(Shutdown::Read)
        }
        // What the receiver had still to say is read first.
        Over::Unwritten => to.shutdown(Shutdown::Read),
    };
}

/// Has a connection end with a reset once it is closed: what was sent on it was not all.
pub(super) fn reset(stream: &TcpStream) {
    // A stream without a peer has nobody to reset.
    let _ = rustix::net::sockopt::set_socket_linger(stream, Some(Duration::ZERO));
}

/// Passes on until the sender ends or one of them is lost.
#[cfg(target_os = "linux")]
pub(super) fn pump(from: impl AsFd, to: impl AsFd, count: &mut u64) -> Over {
    use rustix::pipe::{PipeFlags, fcntl_setpipe_size, pipe_with};

    let Ok((outlet, inlet)) = pipe_with(PipeFlags::CLOEXEC) else { return copy(from, to, count) };
    // A pipe that stays small is slower, no more.
    let _ = fcntl_setpipe_size(&inlet, PIPE);
    loop {
        let mut left = match spliced(&from, &inlet, PIPE) {
            Ok(0) => return Over::Ended,
            Ok(moved) => moved,
            Err(Errno::INVAL) => return copy(from, to, count),
            Err(_) => return Over::Unread,
        };
        while left > 0 {
            match spliced(&outlet, &to, left) {
                Ok(moved @ 1..) => {
                    left = left.saturating_sub(moved);
                    *count += moved as u64;
                }
                Err(Errno::INVAL) => {
                    // It takes no pages: what is in the pipe is copied, and so is the rest.
                    drop(inlet);
                    return match copy(outlet, &to, count) {
                        Over::Ended => copy(from, to, count),
                        over => over,
                    };
                }
                Ok(0) | Err(_) => return Over::Unwritten,
            }
        }
    }
}

/// `splice(2)`. A signal does not end it.
#[cfg(target_os = "linux")]
fn spliced(from: impl AsFd, to: impl AsFd, length: usize) -> Result<usize, Errno> {
    use rustix::pipe::{SpliceFlags, splice};
    loop {
        match splice(&from, None, &to, None, length, SpliceFlags::MOVE) {
            Err(Errno::INTR) => {}
            done => return done,
        }
    }
}

/// Passes on until the sender ends or one of them is lost.
#[cfg(not(target_os = "linux"))]
pub(super) fn pump(from: impl AsFd, to: impl AsFd, count: &mut u64) -> Over {
    copy(from, to, count)
}

/// Passes on by way of a buffer.
pub(super) fn copy(from: impl AsFd, to: impl AsFd, count: &mut u64) -> Over {
    let mut buffer = vec![0; COPY];
    loop {
        match read(&from, buffer.as_mut_slice()) {
            Ok(0) => return Over::Ended,
            Ok(length) => {
                if write_all(&to, buffer.get(..length).unwrap_or_default(), count).is_err() {
                    return Over::Unwritten;
                }
            }
            Err(Errno::INTR) => {}
            Err(_) => return Over::Unread,
        }
    }
}

/// Writes all of it, and counts what was written even where the rest was not.
pub(super) fn write_all(to: impl AsFd, mut bytes: &[u8], count: &mut u64) -> Result<(), Errno> {
    while !bytes.is_empty() {
        match write(&to, bytes) {
            Ok(0) => return Err(Errno::PIPE),
            Ok(length) => {
                *count += length as u64;
                bytes = bytes.get(length..).unwrap_or_default();
            }
            Err(Errno::INTR) => {}
            Err(errno) => return Err(errno),
        }
    }
    Ok(())
}
