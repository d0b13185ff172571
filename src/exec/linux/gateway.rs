//! The process that carries a sandbox's connections: outside of its walls, and behind walls of its own, since it reads what strangers send.
//! It has no right to write or run anything; it reads what looking up a name takes.

use super::confine;
use super::doors;
use super::report::{Failure, pipe};
use crate::network::gate::Keeper;
use crate::network::listen;
use crate::network::record::{Record, Summary};
use crate::policy::NetworkRule;
use crate::sys::linux::{Forked, clone, close_all_but, exit_now};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::{AsFd, OwnedFd};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
use rustix::process::{
    Pid, Signal, WaitOptions, kill_process, set_parent_process_death_signal, setsid, waitpid,
};
use std::fs::File;
use std::io::{self, Write as _};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long the gateway may take to tell what it knows when the sandbox has gone.
const LAST: Duration = Duration::from_secs(3);
/// More than any summary has: a hundred hosts of 253 characters.
const LONGEST: u64 = 1 << 20;

/// What the gateway is told before it starts.
#[derive(Debug)]
pub struct Orders {
    pub rules: Vec<NetworkRule>,
    /// Opened to append.
    pub log: Option<File>,
    /// Tells this run from others in the same log.
    pub run: String,
}

/// A gateway that runs.
#[derive(Debug)]
pub struct Gateway {
    pid: Pid,
    summary: OwnedFd,
}

impl Gateway {
    /// Starts it. The other value is for the first process of the sandbox, which must be the only one to keep it: that it closes ends
    /// the gateway.
    ///
    /// # Errors
    /// As socketpair(2), pipe(2) and clone3(2).
    pub fn start(orders: Orders) -> io::Result<(Self, OwnedFd)> {
        let (outside, inside) =
            socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?;
        let (summary, tell) = pipe()?;
        match clone(0)? {
            Forked::Child => {
                drop((inside, summary));
                let code = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                    serve(orders, &outside, tell).map_or(1, |()| 0)
                }));
                exit_now(code.unwrap_or(2))
            }
            Forked::Parent { pid, .. } => Ok((Self { pid, summary }, inside)),
        }
    }

    /// What it knows in the end; `None` where it ended otherwise than by the sandbox's end.
    pub fn finish(self) -> Option<Summary> {
        let text = self.read();
        // It has nothing left to do, or does not come to an end.
        let _ = kill_process(self.pid, Signal::KILL);
        let _ = waitpid(Some(self.pid), WaitOptions::empty());
        serde_json::from_slice(&text?).ok()
    }

    fn read(&self) -> Option<Vec<u8>> {
        let deadline = Instant::now() + LAST;
        let mut text = Vec::new();
        let mut part = [0; 4096];
        loop {
            let left = deadline.checked_duration_since(Instant::now())?;
            let timeout = Timespec { tv_sec: left.as_secs() as i64, tv_nsec: i64::from(left.subsec_nanos()) };
            let mut fds = [PollFd::new(&self.summary, PollFlags::IN)];
            match poll(&mut fds, Some(&timeout)) {
                Ok(0) => return None,
                Ok(_) => match rustix::io::read(&self.summary, &mut part).ok()? {
                    0 => return Some(text),
                    length => text.extend(part.get(..length)?),
                },
                Err(Errno::INTR) => {}
                Err(_) => return None,
            }
            if text.len() as u64 > LONGEST {
                return None;
            }
        }
    }
}

/// The life of the gateway.
fn serve(orders: Orders, inside: &OwnedFd, tell: OwnedFd) -> io::Result<()> {
    set_parent_process_death_signal(Some(Signal::KILL))?;
    // Away from the terminal's signals: it ends when the sandbox does.
    setsid()?;
    let kept = [Some(inside.as_fd()), Some(tell.as_fd()), orders.log.as_ref().map(AsFd::as_fd)];
    close_all_but(&kept.into_iter().flatten().collect::<Vec<_>>())?;
    // Its standard streams are closed, and nothing that is opened may come to be one.
    for _ in 0..3 {
        let null = rustix::fs::open("/dev/null", rustix::fs::OFlags::RDWR, rustix::fs::Mode::empty())?;
        if rustix::fd::AsRawFd::as_raw_fd(&null) > 2 {
            break;
        }
        std::mem::forget(null);
    }
    let Some(doors) = doors::receive(inside)? else { return Ok(()) };
    let failed = |failure: Failure| io::Error::from_raw_os_error(failure.errno);
    confine::drop_own_privileges().map_err(failed)?;
    confine::restrict_gateway().map_err(failed)?;
    confine::filter_gateway().map_err(failed)?;
    let keeper = Arc::new(Keeper::new(orders.rules, Record::new(orders.log, orders.run)));
    listen::run(&keeper, doors, inside.as_fd())?;
    let text = serde_json::to_vec(&keeper.record().summary())?;
    File::from(tell).write_all(&text)
}
