//! The process that carries a command's connections: outside of the command's walls, and behind walls of its own, since it reads what
//! strangers send. Here is what is the same on every system: how it is started, what it is told, and what it tells in the end.

use super::inspection::Inspection;
use super::trust::Roots;
use crate::network::gate::Keeper;
use crate::network::inspect::{Authority, Inspector};
use crate::network::listen::{self, Doors};
use crate::network::record::{Record, Summary};
use crate::policy::NetworkRule;
use crate::sys::{exit_now, fork};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};
use rustls::pki_types::CertificateDer;
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long the gateway may take to tell what it knows when the command has gone.
const LAST: Duration = Duration::from_secs(3);
/// How long it may take to make an authority.
const FIRST: Duration = Duration::from_secs(30);
/// More than any summary has: a hundred hosts of 253 characters.
const LONGEST: usize = 1 << 20;

/// What the gateway is told before it starts.
#[derive(Debug)]
pub struct Orders {
    pub rules: Vec<NetworkRule>,
    /// Opened to append.
    pub log: Option<File>,
    /// Tells this run from others in the same log.
    pub run: String,
    /// How connections are read, where some are to be.
    pub inspector: Option<Inspector>,
}

impl Orders {
    /// Makes the authority of the run, whose key no other process has, tells its certificate and waits to be told by whom servers are
    /// verified. For the gateway's own process, before it restricts itself.
    ///
    /// # Errors
    /// Where there can be no authority, or nobody is there any more to tell.
    pub fn inspect(&mut self, inspection: Inspection, line: &OwnedFd) -> io::Result<()> {
        let authority = Authority::new(&inspection.names).map_err(io::Error::other)?;
        let mut line = File::from(line.try_clone()?);
        put(&mut line, authority.certificate_der())?;
        let mut roots = Vec::new();
        loop {
            let root = take(&mut line)?;
            if root.is_empty() {
                break;
            }
            roots.push(root.into());
        }
        self.inspector = Some(Inspector { authority, secrets: inspection.secrets, roots });
        Ok(())
    }
}

/// A gateway that runs. It ends with the value.
#[derive(Debug)]
pub struct Gateway {
    pid: Pid,
    line: OwnedFd,
}

impl Gateway {
    /// Starts it. `life` is all that it does: it is given what the summary is to be told through, and must end when the command has.
    ///
    /// # Errors
    /// As pipe(2) and fork(2).
    pub fn start(life: impl FnOnce(OwnedFd) -> io::Result<()>) -> io::Result<Self> {
        let (line, tell) = UnixStream::pair()?;
        line.set_read_timeout(Some(FIRST))?;
        let Some(pid) = fork()? else {
            drop(line);
            let lived = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| life(tell.into())));
            exit_now(lived.map_or(2, |lived| i32::from(lived.is_err())))
        };
        // Values go no further in this process than here, where they are let go with all that the gateway was given.
        Ok(Self { pid, line: line.into() })
    }

    /// The certificate of the authority that it has made, where it reads connections; in return it is told by whom servers are verified.
    ///
    /// # Errors
    /// It has made none.
    pub fn exchange(&self, roots: impl FnOnce() -> Roots) -> io::Result<(CertificateDer<'static>, Roots)> {
        let mut line = File::from(self.line.try_clone()?);
        let own = take(&mut line).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => io::Error::other("it has ended"),
            _ => error,
        })?;
        let roots = roots();
        for root in roots.certificates.iter().filter(|root| !root.is_empty()) {
            put(&mut line, root)?;
        }
        put(&mut line, &[])?;
        Ok((own.into(), roots))
    }

    /// What it knows in the end; `None` where it ended otherwise than by the command's end.
    pub fn finish(self) -> Option<Summary> {
        serde_json::from_slice(&read(&self.line)?).ok()
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        // It has nothing left to do, or does not come to an end.
        let _ = kill_process(self.pid, Signal::KILL);
        while matches!(waitpid(Some(self.pid), WaitOptions::empty()), Err(Errno::INTR)) {}
    }
}

/// Sends a part, with its length before it.
fn put(line: &mut File, part: &[u8]) -> io::Result<()> {
    let length = u32::try_from(part.len()).map_err(|_| io::ErrorKind::InvalidInput)?;
    line.write_all(&[&length.to_be_bytes(), part].concat())
}

/// Waits for a part.
fn take(line: &mut File) -> io::Result<Vec<u8>> {
    let mut length = [0; 4];
    line.read_exact(&mut length)?;
    let length = u32::from_be_bytes(length) as usize;
    if length > LONGEST {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut part = vec![0; length];
    line.read_exact(&mut part)?;
    Ok(part)
}

/// All that is told, if it is told in time.
fn read(summary: &OwnedFd) -> Option<Vec<u8>> {
    let deadline = Instant::now() + LAST;
    let mut text = Vec::new();
    let mut part = [0; 4096];
    loop {
        let left = deadline.checked_duration_since(Instant::now())?;
        let timeout = Timespec { tv_sec: left.as_secs() as i64, tv_nsec: left.subsec_nanos().into() };
        let mut fds = [PollFd::new(summary, PollFlags::IN)];
        match poll(&mut fds, Some(&timeout)) {
            Ok(0) => return None,
            Ok(_) => match rustix::io::read(summary, &mut part).ok()? {
                0 => return Some(text),
                length => text.extend(part.get(..length)?),
            },
            Err(Errno::INTR) => {}
            Err(_) => return None,
        }
        if text.len() > LONGEST {
            return None;
        }
    }
}

/// The descriptors that the gateway keeps.
pub fn kept<'a>(orders: &'a Orders, others: &[BorrowedFd<'a>]) -> Vec<BorrowedFd<'a>> {
    others.iter().copied().chain(orders.log.as_ref().map(AsFd::as_fd)).collect()
}

/// Opens something in the place of standard streams that are closed, so that nothing that is opened later comes to be one.
///
/// # Errors
/// As open(2).
pub fn fill_streams() -> io::Result<()> {
    for _ in 0..3 {
        let null = rustix::fs::open("/dev/null", OFlags::RDWR, Mode::empty())?;
        if null.as_raw_fd() > 2 {
            break;
        }
        std::mem::forget(null);
    }
    Ok(())
}

/// Carries connections until the other end of `inside` is closed, and then tells what it knows.
///
/// # Errors
/// What keeps it from waiting for connections, or from telling.
pub fn serve(orders: Orders, doors: Doors, inside: &OwnedFd, tell: OwnedFd) -> io::Result<()> {
    let record = Record::new(orders.log, orders.run);
    let keeper = Arc::new(Keeper::new(orders.rules, record, orders.inspector));
    listen::run(&keeper, doors, inside.as_fd())?;
    let text = serde_json::to_vec(&keeper.record().summary())?;
    File::from(tell).write_all(&text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resolve::parse_host;
    use crate::source::{Sources, Span};
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn it_serves_until_the_leash_is_let_go_and_then_tells() {
        let span = Span::new(Sources::new().add("x", None, ""), 0..0);
        let rule = NetworkRule {
            allow: true,
            pattern: parse_host("example.com", true).unwrap(),
            requests: None,
            span,
        };
        let orders = Orders { rules: vec![rule], log: None, run: String::new(), inspector: None };
        let proxy = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = proxy.local_addr().unwrap();
        let doors = Doors { proxy, captures: Vec::new(), names: None };
        let (inside, leash) = io::pipe().unwrap();
        let (summary, tell) = io::pipe().unwrap();
        let served = std::thread::spawn(move || serve(orders, doors, &inside.into(), tell.into()));
        let mut client = TcpStream::connect(address).unwrap();
        client.write_all(b"CONNECT other.example:443 HTTP/1.1\r\nHost: other.example:443\r\n\r\n").unwrap();
        // It is closed, whatever is said before.
        let mut said = Vec::new();
        let _ = client.read_to_end(&mut said);
        assert!(!said.starts_with(b"HTTP/1.1 200"));
        drop(leash);
        served.join().unwrap().unwrap();
        let told: Summary = serde_json::from_slice(&read(&summary.into()).unwrap()).unwrap();
        assert_eq!((told.connections, told.refusals), (0, 1));
        assert_eq!(told.refused[0].host, "other.example:443");
        assert_eq!(told.refused[0].line.as_deref(), Some("allow \"other.example\""));
    }

    #[test]
    fn what_ended_early_has_told_nothing() {
        let (summary, tell) = io::pipe().unwrap();
        drop(tell);
        assert_eq!(read(&summary.into()), Some(Vec::new()));
        assert!(serde_json::from_slice::<Summary>(b"").is_err());
    }
}
