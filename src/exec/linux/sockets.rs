//! Connecting the command to the unix sockets of the manifest, and to no other.
//!
//! No mount and no right of this kernel keeps a process from a unix socket that it can see: whoever may write to the socket's inode
//! connects, on a read-only mount too, and a socket that the host makes later in a visible directory is visible. So the
//! command does not connect at all. Each `connect` is asked about (seccomp_unotify(2)), and done out here on a copy of the
//! command's own socket, with a copy of its address: what it changes in memory meanwhile changes nothing. For a unix socket only one of the
//! manifest's paths is ever connected to, each time as it is on the host then; the address only says which.

use crate::manifest::{Link, Manifest};
use crate::plan::{Decider, Operation, Rule, Spelling};
use crate::sys::linux::{Question, answer, connect, next_question, still_waits};
use camino::{Utf8Path, Utf8PathBuf};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use rustix::fs::{CWD, FileType, Mode, OFlags, ResolveFlags, fcntl_getfl, fstat, open, openat2};
use rustix::io::Errno;
use rustix::net::sockopt::{Timeout, set_socket_timeout, socket_domain, socket_timeout, socket_type};
use rustix::net::{AddressFamily, SocketType};
use rustix::process::{Pid, PidfdFlags, PidfdGetfdFlags, pidfd_getfd, pidfd_open};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// How many may wait for a connection at once; more are told to try again.
const MOST_AT_ONCE: usize = 128;
/// The longest address (`struct sockaddr_storage`).
const LONGEST_ADDRESS: usize = 128;
/// How many links a path may lead through (`MAXSYMLINKS`, linux/namei.h).
const MOST_LINKS: usize = 40;
/// How long one attempt to connect lasts at most.
const ATTEMPT: Duration = Duration::from_millis(20);
/// `ERESTARTSYS` (linux/errno.h): the kernel runs the handler of the signal, and then ends the call or makes it again, as the handler is set up.
const RESTART: Errno = Errno::from_raw_os_error(512);
/// Enough for one connection.
const STACK: usize = 128 << 10;

/// What may be connected to.
#[derive(Debug, Clone)]
pub struct Sockets {
    /// Canonical.
    paths: Vec<Utf8PathBuf>,
    links: Vec<Link>,
}

impl Sockets {
    /// Those of a manifest that the one decision function opens.
    pub fn of(manifest: &Manifest, rules: &[Rule]) -> Self {
        let decider = Decider::new(rules, Spelling::Exact);
        let open = |path: &&Utf8PathBuf| decider.decide(Operation::Connect, path).allowed;
        let paths = manifest.unix.iter().map(|socket| &socket.path).filter(open).cloned().collect();
        Self { paths, links: manifest.links.clone() }
    }

    /// Answers until nobody is left who could ask.
    ///
    /// # Errors
    /// Where there can be no thread for it.
    pub fn answer(self, questions: OwnedFd) -> io::Result<()> {
        let (questions, sockets) = (Arc::new(questions), Arc::new(self));
        let waiting = Arc::new(AtomicUsize::new(0));
        thread(move || {
            while is_asked(&questions) {
                let Ok(question) = next_question(questions.as_fd()) else { continue };
                let place = Place::take(&waiting);
                if place.number >= MOST_AT_ONCE {
                    reply(questions.as_fd(), &question, Err(Errno::AGAIN));
                    continue;
                }
                let (ours, sockets) = (questions.clone(), sockets.clone());
                let started = thread(move || {
                    let _place = place;
                    reply(ours.as_fd(), &question, sockets.connect(ours.as_fd(), &question));
                });
                if started.is_err() {
                    reply(questions.as_fd(), &question, Err(Errno::AGAIN));
                }
            }
        })
    }

    /// Does what was asked for, or says why not.
    fn connect(&self, questions: BorrowedFd<'_>, question: &Question) -> Result<(), Errno> {
        let [socket, address, length, ..] = question.arguments;
        // As the kernel takes them: the low half.
        let (socket, length) = (socket as u32 as i32, length as u32 as i32);
        if socket < 0 {
            return Err(Errno::BADF);
        }
        let length =
            usize::try_from(length).ok().filter(|length| *length <= LONGEST_ADDRESS).ok_or(Errno::INVAL)?;
        let memory = File::open(format!("/proc/{}/mem", question.thread)).map_err(|_| Errno::SRCH)?;
        let process = pidfd_open(process_of(question.thread).ok_or(Errno::SRCH)?, PidfdFlags::empty())?;
        let directory = std::fs::read_link(format!("/proc/{}/cwd", question.thread)).ok();
        // All of that was of who asked, if it waits still.
        if !still_waits(questions, question) {
            return Err(Errno::SRCH);
        }
        let socket = pidfd_getfd(&process, socket, PidfdGetfdFlags::empty())?;
        let domain = socket_domain(&socket)?;
        let mut copy = [0; LONGEST_ADDRESS];
        let copy = copy.get_mut(..length).ok_or(Errno::INVAL)?;
        memory.read_exact_at(copy, address).map_err(|_| Errno::FAULT)?;
        match domain {
            // Its own network: there it goes where the gateway is.
            AddressFamily::INET | AddressFamily::INET6 => {
                patiently(questions, question, &socket, || connect(&socket, copy).map_err(number))
            }
            AddressFamily::UNIX => {
                if ![SocketType::STREAM, SocketType::SEQPACKET].contains(&socket_type(&socket)?) {
                    return Err(Errno::ACCESS);
                }
                let directory = directory.as_deref().and_then(|directory| Utf8Path::from_path(directory));
                let asked = asked(copy, directory).ok_or(Errno::ACCESS)?;
                let known = self.known(&asked).or_else(|| self.found(&asked, question.thread));
                let path = known.ok_or(Errno::ACCESS)?;
                patiently(questions, question, &socket, || connect_to(&socket, path))
            }
            _ => Err(Errno::ACCESS),
        }
    }

    /// The socket of the manifest that a path names by what it says.
    fn known(&self, asked: &Utf8Path) -> Option<&Utf8Path> {
        let path = followed(asked, &self.links)?;
        self.paths.iter().map(Utf8PathBuf::as_path).find(|known| *known == path)
    }

    /// The socket of the manifest that a path leads to where the command is, by whatever links. They may change; what is connected to is
    /// the manifest's path all the same.
    fn found(&self, asked: &Utf8Path, thread: i32) -> Option<&Utf8Path> {
        let flags = OFlags::PATH | OFlags::CLOEXEC;
        let root = open(format!("/proc/{thread}/root"), flags | OFlags::DIRECTORY, Mode::empty()).ok()?;
        let inside = ResolveFlags::IN_ROOT | ResolveFlags::NO_MAGICLINKS;
        let there = fstat(openat2(root, asked.as_str(), flags, Mode::empty(), inside).ok()?).ok()?;
        let is_it = |known: &&Utf8Path| {
            let place = openat2(CWD, known.as_str(), flags, Mode::empty(), ResolveFlags::NO_SYMLINKS);
            let stat = place.and_then(fstat);
            stat.is_ok_and(|stat| (stat.st_dev, stat.st_ino) == (there.st_dev, there.st_ino))
        };
        self.paths.iter().map(Utf8PathBuf::as_path).find(is_it)
    }
}

/// The path in an address, from the root on.
fn asked(address: &[u8], directory: Option<&Utf8Path>) -> Option<Utf8PathBuf> {
    let (family, path) = address.split_first_chunk()?;
    if u16::from_ne_bytes(*family) != AddressFamily::UNIX.as_raw() {
        return None;
    }
    // An address without a path, and an abstract one that begins with a NUL, are none of these (unix(7)).
    let path = path.split(|byte| *byte == 0).next().filter(|path| !path.is_empty())?;
    // A socket is no directory.
    let asked = Utf8Path::new(std::str::from_utf8(path).ok().filter(|path| !path.ends_with('/'))?);
    Some(directory.map_or_else(|| asked.to_path_buf(), |directory| directory.join(asked)))
}

/// Counts itself among those that wait, as long as it lives.
struct Place {
    waiting: Arc<AtomicUsize>,
    /// How many waited before.
    number: usize,
}

impl Place {
    fn take(waiting: &Arc<AtomicUsize>) -> Self {
        Self { number: waiting.fetch_add(1, Ordering::AcqRel), waiting: waiting.clone() }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.waiting.fetch_sub(1, Ordering::AcqRel);
    }
}

/// Connects as long as it takes and whoever asked waits for it. In between it is seen whether that was killed, or is to handle a signal: the wait
/// for an answer is ended by no other (seccomp_unotify(2)), while connect(2) itself would be.
fn patiently(
    questions: BorrowedFd<'_>,
    question: &Question,
    socket: &OwnedFd,
    mut attempt: impl FnMut() -> Result<(), Errno>,
) -> Result<(), Errno> {
    if fcntl_getfl(socket)?.contains(OFlags::NONBLOCK) {
        return attempt();
    }
    let own = socket_timeout(socket, Timeout::Send)?;
    let until = own.map(|own| Instant::now() + own);
    set_socket_timeout(socket, Timeout::Send, Some(ATTEMPT))?;
    let result = loop {
        match attempt() {
            Err(Errno::AGAIN | Errno::INPROGRESS | Errno::ALREADY)
                if until.is_none_or(|until| Instant::now() < until) => {}
            done => break done,
        }
        if !still_waits(questions, question) {
            break Err(Errno::INTR);
        }
        if has_signal(question.thread) {
            // One with a time of its own is not made again (socket(7)): the time would begin anew.
            break Err(if own.is_some() { Errno::INTR } else { RESTART });
        }
    };
    set_socket_timeout(socket, Timeout::Send, own)?;
    result
}

/// Whether a signal waits for a thread that will take it: then the call may end, as any call that waits.
fn has_signal(thread: i32) -> bool {
    let Ok(status) = std::fs::read_to_string(format!("/proc/{thread}/status")) else { return false };
    let line = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
    let mask = |name: &str| line(name).and_then(|mask| u64::from_str_radix(mask, 16).ok()).unwrap_or(0);
    // One that is sent to the process is taken by its first thread, unless that blocks it; of the others it is not known.
    let is_first = line("Tgid:") == Some(thread.to_string().as_str());
    let pending = mask("SigPnd:") | if is_first { mask("ShdPnd:") } else { 0 };
    pending & !mask("SigBlk:") & !mask("SigIgn:") != 0
}

/// A path without `.`, `..` and the links of the manifest. It decides which of the sockets is meant, and nothing else.
fn followed(path: &Utf8Path, links: &[Link]) -> Option<Utf8PathBuf> {
    let mut path = plain(path)?;
    for _ in 0..MOST_LINKS {
        let Some((link, rest)) =
            links.iter().find_map(|link| Some((link, path.strip_prefix(&link.link).ok()?)))
        else {
            return Some(path);
        };
        path = plain(&link.link.parent()?.join(&link.target).join(rest))?;
    }
    None
}

fn plain(path: &Utf8Path) -> Option<Utf8PathBuf> {
    let mut plain = Utf8PathBuf::from("/");
    for part in path.is_absolute().then_some(path)?.components() {
        match part {
            camino::Utf8Component::ParentDir => drop(plain.pop()),
            camino::Utf8Component::Normal(name) => plain.push(name),
            _ => {}
        }
    }
    Some(plain)
}

/// Connects to a path of the host, where no link leads.
fn connect_to(socket: &OwnedFd, path: &Utf8Path) -> Result<(), Errno> {
    let resolve = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    let place = openat2(CWD, path.as_str(), OFlags::PATH | OFlags::CLOEXEC, Mode::empty(), resolve)?;
    if FileType::from_raw_mode(fstat(&place)?.st_mode) != FileType::Socket {
        return Err(Errno::CONNREFUSED);
    }
    // What was opened, whatever has its name by now.
    let mut address = AddressFamily::UNIX.as_raw().to_ne_bytes().to_vec();
    address.extend(format!("/proc/self/fd/{}\0", place.as_raw_fd()).into_bytes());
    connect(socket, &address).map_err(number)
}

fn number(error: io::Error) -> Errno {
    Errno::from_io_error(&error).unwrap_or(Errno::IO)
}

/// Who asked may have been killed meanwhile.
fn reply(questions: BorrowedFd<'_>, question: &Question, result: Result<(), Errno>) {
    let _ = answer(questions, question, result.map_err(Errno::raw_os_error));
}

/// Waits for a question; `false` where everybody has ended who could ask.
fn is_asked(questions: &OwnedFd) -> bool {
    let mut fds = [PollFd::new(questions, PollFlags::IN)];
    loop {
        match poll(&mut fds, None) {
            Err(Errno::INTR) => {}
            Err(_) => return false,
            Ok(_) => return fds[0].revents().contains(PollFlags::IN),
        }
    }
}

/// The process of a thread (`Tgid` of proc_pid_status(5)).
fn process_of(thread: i32) -> Option<Pid> {
    let status = std::fs::read_to_string(format!("/proc/{thread}/status")).ok()?;
    let number = status.lines().find_map(|line| line.strip_prefix("Tgid:"))?;
    Pid::from_raw(number.trim().parse().ok()?)
}

fn thread(work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    std::thread::Builder::new().stack_size(STACK).spawn(work).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(path: &[u8]) -> Vec<u8> {
        let mut address = AddressFamily::UNIX.as_raw().to_ne_bytes().to_vec();
        address.extend(path);
        address
    }

    #[test]
    fn an_address_names_a_listed_socket_or_none() {
        let sockets = Sockets {
            paths: vec!["/run/a/one.sock".into(), "/w/two.sock".into()],
            links: vec![
                Link { link: "/var/run".into(), target: "../run".into() },
                Link { link: "/loop".into(), target: "loop".into() },
                Link { link: "/run/one".into(), target: "/run/a/one.sock".into() },
            ],
        };
        let meant = |path: &[u8]| {
            let asked = asked(&address(path), Some("/run".into()))?;
            sockets.known(&asked).map(ToString::to_string)
        };
        for path in [
            "/run/a/one.sock",
            "/run/a/one.sock\0rest",
            "//run/./a/../a/one.sock",
            "/var/run/a/one.sock",
            "/run/one",
            "one",
            "a/one.sock",
        ] {
            assert_eq!(meant(path.as_bytes()).as_deref(), Some("/run/a/one.sock"), "{path:?}");
        }
        assert_eq!(meant(b"../w/two.sock").as_deref(), Some("/w/two.sock"));
        for path in [
            "",
            "\0",
            "\0/run/a/one.sock",
            "/run/a/one.soc",
            "/run/a/one.sock2",
            "/run/a/one.sock/",
            "/run/a",
            "/",
            "/loop",
            "/loop/x",
        ] {
            assert_eq!(meant(path.as_bytes()), None, "{path:?}");
        }
        assert_eq!(meant(b"\xff/run/a/one.sock"), None);
        assert_eq!(sockets.known(&asked(&address(b"a/one.sock"), None).unwrap()), None);
        assert_eq!(asked(&[1], None), None);
        let mut other = address(b"/run/a/one.sock");
        other[0] = 2;
        assert_eq!(asked(&other, None), None);
    }
}
