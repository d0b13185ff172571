//! Waits for the command to end and keeps its limits of time and output.

use super::super::Ended;
use super::super::pump::{Pumps, Turn};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::BorrowedFd;
use rustix::io::Errno;
use std::time::{Duration, Instant};

/// How long is waited at once.
const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    Ended(Ended),
    /// Killed after this time.
    OverTime(Duration),
    /// Killed after this many bytes.
    OverOutput(u64),
    /// Killed since what it wrote could not be passed on.
    Lost(Errno),
}

/// A command that runs, as the system gives it.
pub trait Running {
    /// Can be read when a signal has come in or the command may have ended.
    fn events(&self) -> BorrowedFd<'_>;
    /// The numbers of the signals that this program was sent, which are for the command.
    fn signals(&mut self) -> Vec<i32>;
    /// How the command's first process ended, if it did. Its number stays taken.
    ///
    /// # Errors
    /// As waitid(2).
    fn ended(&mut self) -> Result<Option<Ended>, Errno>;
    /// Passes a signal on to the command's process group. `false` where there is none.
    fn pass(&self, signal: i32) -> bool;
    /// Kills the command's process group.
    fn kill(&self);
    /// Ends whatever the command has left running.
    fn sweep(&mut self);
}

/// Waits for the end of the command, then ends what it has left running, then passes on what it had written.
///
/// # Errors
/// Only where waiting itself fails; the command is killed and swept then.
pub fn watch_over(
    running: &mut impl Running,
    pumps: &mut Pumps,
    time: Option<Duration>,
) -> Result<End, Errno> {
    let deadline = time.and_then(|time| Some((Instant::now().checked_add(time)?, time)));
    let waited = wait(running, pumps, deadline);
    // The group first: it is found without asking, and the number of its leader is still taken.
    running.kill();
    running.sweep();
    let end = waited?;
    let late = drain(pumps)?;
    Ok(match (late, end) {
        (Turn::OverLimit, End::Ended(_)) => End::OverOutput(pumps.limit()),
        (Turn::Lost(error), End::Ended(_)) => End::Lost(error),
        (_, end) => end,
    })
}

fn wait(
    running: &mut impl Running,
    pumps: &mut Pumps,
    deadline: Option<(Instant, Duration)>,
) -> Result<End, Errno> {
    let mut killed = None;
    let mut passed = 0u64;
    loop {
        if let Some(ended) = running.ended()? {
            return Ok(killed.unwrap_or(End::Ended(ended)));
        }
        if let Some((deadline, time)) = deadline
            && killed.is_none()
            && Instant::now() >= deadline
        {
            running.kill();
            killed = Some(End::OverTime(time));
        }
        let until = deadline.filter(|_| killed.is_none()).map(|(deadline, _)| deadline);
        for at in poll_all(Some(running.events()), pumps, until)? {
            let end = match pumps.turn(at)? {
                Turn::Passed => continue,
                Turn::OverLimit => End::OverOutput(pumps.limit()),
                Turn::Lost(error) => End::Lost(error),
            };
            if killed.is_none() {
                running.kill();
                killed = Some(end);
            }
        }
        for signal in running.signals() {
            let bit = 1u64.checked_shl(signal.unsigned_abs()).unwrap_or(0);
            let first = passed & bit == 0;
            passed |= bit;
            // The same signal again ends the command, whatever it makes of it.
            if !(first && running.pass(signal)) {
                running.kill();
            }
        }
    }
}

/// Passes on what is in the pipes, now that nobody of the command can write any more, and does not wait for others that may hold them
/// open. Gives what was not simply passed on, if anything.
fn drain(pumps: &mut Pumps) -> Result<Turn, Errno> {
    let mut late = Turn::Passed;
    while !pumps.is_done() {
        let waiting = pumps.sources().any(|(_, _, flags)| flags == PollFlags::OUT);
        let ready = poll_all(None, pumps, if waiting { None } else { Some(Instant::now()) })?;
        if ready.is_empty() && !waiting {
            break;
        }
        for at in ready {
            let turn = pumps.turn(at)?;
            if late == Turn::Passed {
                late = turn;
            }
        }
    }
    Ok(late)
}

/// The numbers of the pumps that can go on. A device that poll(2) of macOS knows nothing of counts as ready.
fn poll_all(
    events: Option<BorrowedFd<'_>>,
    pumps: &Pumps,
    until: Option<Instant>,
) -> Result<Vec<usize>, Errno> {
    let sources: Vec<_> = pumps.sources().collect();
    let mut fds: Vec<PollFd<'_>> =
        sources.iter().map(|(_, fd, flags)| PollFd::from_borrowed_fd(*fd, *flags)).collect();
    fds.extend(events.map(|events| PollFd::from_borrowed_fd(events, PollFlags::IN)));
    let timeout = until.map(|until| {
        let left = until.saturating_duration_since(Instant::now());
        // poll(2) takes milliseconds, of which an `int` holds some weeks; then it is called again.
        let left = left.min(LONGEST);
        Timespec { tv_sec: left.as_secs() as i64, tv_nsec: i64::from(left.subsec_nanos()) }
    });
    match poll(&mut fds, timeout.as_ref()) {
        Err(Errno::INTR) => return Ok(Vec::new()),
        polled => polled?,
    };
    let ready = sources.iter().zip(&fds).filter(|(_, fd)| !fd.revents().is_empty());
    Ok(ready.map(|((at, ..), _)| *at).collect())
}

#[cfg(all(test, target_os = "linux"))]
mod tests;
