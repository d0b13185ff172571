//! Takes connections and questions from inside a sandbox, through sockets that were made in there, and serves each on a thread of its own.

use super::connection::{Arrival, serve};
use super::dns;
use super::gate::Keeper;
use super::inspect;
use super::{Gate, Reason, Refused, Via};
use crate::policy::host::{Host, Target};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fd::{AsFd, BorrowedFd};
use rustix::io::Errno;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// How many connections are served at once.
pub const MOST: usize = 256;
/// How long connections may take to notice that the command has gone.
const LAST: Duration = Duration::from_millis(250);
/// Enough for the head of a request and what resolves names.
const STACK: usize = 256 << 10;

/// The sockets of one sandbox.
#[derive(Debug)]
pub struct Doors {
    /// Where programs find a proxy.
    pub proxy: TcpListener,
    /// Where connections arrive that were meant for somewhere else.
    pub captures: Vec<TcpListener>,
    /// Where names are asked for.
    pub names: Option<UdpSocket>,
}

/// Serves until the other end of `inside` is closed.
///
/// # Errors
/// What keeps it from waiting for connections.
pub fn run(keeper: &Arc<Keeper>, doors: Doors, inside: BorrowedFd<'_>) -> io::Result<()> {
    if keeper.reads() {
        descriptors();
    }
    let open = Arc::new(AtomicUsize::new(0));
    let Doors { proxy, captures, names: questions } = doors;
    for listener in captures.iter().chain([&proxy]) {
        // A client that is gone again must not keep the others waiting.
        listener.set_nonblocking(true)?;
    }
    if let Some(questions) = questions {
        let keeper = Arc::clone(keeper);
        let asked = move || answer(&questions, &keeper);
        std::thread::Builder::new().stack_size(STACK).spawn(asked)?;
    }
    let listeners: Vec<&TcpListener> = captures.iter().chain([&proxy]).collect();
    loop {
        // Nothing is ever sent through it. Without any event poll(2) of macOS tells of no end either.
        let mut fds = vec![PollFd::from_borrowed_fd(inside, PollFlags::IN)];
        fds.extend(
            listeners.iter().map(|listener| PollFd::from_borrowed_fd(listener.as_fd(), PollFlags::IN)),
        );
        match poll(&mut fds, None) {
            Err(Errno::INTR) => continue,
            polled => polled?,
        };
        if fds.first().is_some_and(|inside| !inside.revents().is_empty()) {
            break;
        }
        let ready: Vec<bool> = fds.iter().skip(1).map(|fd| !fd.revents().is_empty()).collect();
        for (listener, _) in listeners.iter().zip(ready).filter(|(_, ready)| *ready) {
            let is_proxy = std::ptr::eq(*listener, &raw const proxy);
            match listener.accept() {
                Ok((stream, _)) => admit(stream, is_proxy, keeper, &open),
                // No descriptor is left: those that are open end some time.
                Err(error) if error.kind() != io::ErrorKind::WouldBlock => {
                    std::thread::sleep(Duration::from_millis(10));
                }
                Err(_) => {}
            }
        }
    }
    // So that they stand in the log.
    let deadline = Instant::now() + LAST;
    while open.load(Ordering::Acquire) > 0 && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(2));
    }
    Ok(())
}

/// Takes as many descriptors as this process may have: each connection that is read needs several.
fn descriptors() {
    let limit = getrlimit(Resource::Nofile);
    // With fewer of them, fewer connections are open at once.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
}

/// Counts itself among the open connections as long as it lives.
struct Place(Arc<AtomicUsize>);

impl Drop for Place {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

fn admit(stream: TcpStream, is_proxy: bool, keeper: &Arc<Keeper>, open: &Arc<AtomicUsize>) {
    let via = if is_proxy { Via::Connect } else { Via::Capture };
    let taken = open.fetch_add(1, Ordering::AcqRel);
    let place = Place(Arc::clone(open));
    if taken >= MOST {
        return keeper.refused(via, &Refused::unread(Reason::TooMany));
    }
    let arrival = if is_proxy { Some(Arrival::Proxy) } else { captured(&stream) };
    let Some(arrival) = arrival else {
        return keeper.refused(via, &Refused::unread(Reason::BadHost));
    };
    let served = Arc::clone(keeper);
    let serving = move || {
        let _place = place;
        if stream.set_nonblocking(false).is_ok() {
            serve(stream, arrival, &*served);
        }
    };
    let stack = if keeper.reads() { inspect::STACK } else { STACK };
    if std::thread::Builder::new().stack_size(stack).spawn(serving).is_err() {
        keeper.refused(via, &Refused::unread(Reason::TooMany));
    }
}

/// What a captured connection was meant for: the address that it was made to, whatever that stands for.
fn captured(stream: &TcpStream) -> Option<Arrival> {
    let meant: SocketAddr = stream.local_addr().ok()?;
    Some(Arrival::Captured(Target::new(Host::address(meant.ip()), meant.port())))
}

fn answer(questions: &UdpSocket, keeper: &Keeper) {
    let mut message = [0; dns::LARGEST];
    loop {
        match questions.recv_from(&mut message) {
            Ok((length, from)) => {
                let asked = message.get(..length).unwrap_or_default();
                if let Some(reply) = dns::answer(asked, keeper) {
                    let _ = questions.send_to(&reply, from);
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            // An ICMP message about an earlier answer.
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {}
            Err(_) => return,
        }
    }
}
