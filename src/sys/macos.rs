//! The few calls of macOS that `rustix` and the standard library do not offer.

use rustix::event::kqueue::{Event, EventFilter, EventFlags, kevent_timespec, kqueue};
use rustix::fd::{AsFd, AsRawFd as _, BorrowedFd, OwnedFd};
use rustix::process::{Pid, Resource, Rlimit, Signal, setrlimit, setsid};
use rustix::time::Timespec;
use std::ffi::{CStr, CString, OsString, c_char, c_int, c_void};
use std::io;
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::Command;

/// Signals that are delivered through a descriptor instead of to a handler (EVFILT_SIGNAL of kqueue(2)), and the end of children.
#[derive(Debug)]
pub struct Signals {
    queue: OwnedFd,
    before: libc::sigset_t,
}

impl Signals {
    /// Blocks these signals, and reads them and `SIGCHLD` from a descriptor from now on.
    ///
    /// # Errors
    /// As sigprocmask(2) and kqueue(2).
    pub fn block(signals: &[Signal]) -> io::Result<Self> {
        let queue = kqueue()?;
        let watched = signals.iter().copied().chain([Signal::CHILD]);
        let changes: Vec<Event> = watched
            .map(|signal| {
                let filter = EventFilter::Signal { signal, times: 0 };
                Event::new(filter, EventFlags::ADD, std::ptr::null_mut())
            })
            .collect();
        // SAFETY: the changes name signals, no descriptors, and the list of events is empty.
        unsafe { kevent_timespec(&queue, &changes, &mut [] as &mut [Event], Some(&NOW))? };
        // SAFETY: the sets are plain memory that these calls initialise, and live through them. The disposition of SIGCHLD is set to
        // its default, since kqueue(2) tells nothing of it where a caller had it ignored.
        unsafe {
            libc::signal(libc::SIGCHLD, libc::SIG_DFL);
            let mut set: libc::sigset_t = std::mem::zeroed();
            let mut before: libc::sigset_t = std::mem::zeroed();
            libc::sigemptyset(&raw mut set);
            for signal in signals {
                libc::sigaddset(&raw mut set, signal.as_raw());
            }
            done(libc::sigprocmask(libc::SIG_BLOCK, &raw const set, &raw mut before))?;
            Ok(Self { queue, before })
        }
    }

    /// The next signal that came in, if one did.
    pub fn next(&self) -> Option<c_int> {
        let mut events: Vec<Event> = Vec::with_capacity(1);
        let room = rustix::buffer::spare_capacity(&mut events);
        // SAFETY: no changes are made.
        unsafe { kevent_timespec(&self.queue, &[], room, Some(&NOW)) }.ok()?;
        match events.first()?.filter() {
            EventFilter::Signal { signal, .. } => Some(signal.as_raw()),
            _ => None,
        }
    }
}

impl AsFd for Signals {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.queue.as_fd()
    }
}

const NOW: Timespec = Timespec { tv_sec: 0, tv_nsec: 0 };

/// Has a command start in a session of its own, so that it has no terminal to type into, with these limits, soft and hard, and with the
/// signals that were blocked before.
pub fn prepare_child(command: &mut Command, limits: Vec<(Resource, u64)>, signals: &Signals) {
    let before = signals.before;
    // SAFETY: between fork and exec only system calls are made, on memory that was allocated before (sigaction(2) lists what is safe).
    unsafe {
        command.pre_exec(move || {
            setsid()?;
            for &(resource, limit) in &limits {
                setrlimit(resource, Rlimit { current: Some(limit), maximum: Some(limit) })?;
            }
            done(libc::sigprocmask(libc::SIG_SETMASK, &raw const before, std::ptr::null_mut()))
        });
    }
}

/// Marks every descriptor from `first` on to be closed by execve(2).
///
/// # Errors
/// Where they cannot be listed.
pub fn close_on_exec_from(first: c_int) -> io::Result<()> {
    for descriptor in descriptors()?.into_iter().filter(|descriptor| *descriptor >= first) {
        // SAFETY: no memory is passed. One of them was that of the list, which is closed: EBADF changes nothing.
        unsafe { libc::fcntl(descriptor, libc::F_SETFD, libc::FD_CLOEXEC) };
    }
    Ok(())
}

/// Closes every descriptor but these. Only for a process that uses no other any more and ends with [`super::exit_now`].
///
/// # Errors
/// Where they cannot be listed.
pub fn close_all_but(kept: &[BorrowedFd<'_>]) -> io::Result<()> {
    let is_kept = |descriptor: c_int| kept.iter().any(|fd| fd.as_raw_fd() == descriptor);
    for descriptor in descriptors()?.into_iter().filter(|descriptor| !is_kept(*descriptor)) {
        // SAFETY: the caller neither uses nor drops one of these from here on. One of them was that of the list, as above.
        unsafe { libc::close(descriptor) };
    }
    Ok(())
}

fn descriptors() -> io::Result<Vec<c_int>> {
    let mut open = Vec::new();
    for entry in std::fs::read_dir("/dev/fd")? {
        open.extend(entry?.file_name().to_str().and_then(|name| name.parse::<c_int>().ok()));
    }
    Ok(open)
}

/// Forks (fork(2)); `None` in the child.
///
/// # Errors
/// As fork(2).
pub fn fork() -> io::Result<Option<Pid>> {
    // SAFETY: whoever runs a command has one thread ([`crate::exec::run`]), so no lock stays taken in the copy.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        pid => Ok(Pid::from_raw(pid)),
    }
}

/// Whoever runs a command has one thread ([`crate::exec::run`]); the kernel would have to be asked for the ports of all of them.
pub(super) fn single_threaded() -> io::Result<()> {
    Ok(())
}

/// Kinds of lists of proc_listpids (sys/proc_info.h); not in the libc crate.
const PROC_ALL_PIDS: u32 = 1;
const PROC_RUID_ONLY: u32 = 5;

/// The numbers of all processes.
///
/// # Errors
/// As proc_listpids (libproc.h).
pub fn all_processes() -> io::Result<Vec<i32>> {
    list(PROC_ALL_PIDS, 0)
}

/// How many processes this user has, as the kernel counts for `RLIMIT_NPROC`: by the real user. 0 where it does not tell.
pub fn processes_of(user: u32) -> u64 {
    list(PROC_RUID_ONLY, user).map_or(0, |all| all.len() as u64)
}

fn list(kind: u32, of: u32) -> io::Result<Vec<i32>> {
    const WIDTH: usize = size_of::<libc::pid_t>();
    let mut room = 1024;
    loop {
        let mut numbers: Vec<libc::pid_t> = vec![0; room];
        let bytes = c_int::try_from(room * WIDTH).map_err(|_| io::ErrorKind::OutOfMemory)?;
        // SAFETY: the buffer has the size that is passed and lives through the call.
        let filled = unsafe { libc::proc_listpids(kind, of, numbers.as_mut_ptr().cast::<c_void>(), bytes) };
        let Ok(filled @ 1..) = usize::try_from(filled) else { return Err(io::Error::last_os_error()) };
        // What did not fit is not told of.
        if filled < room * WIDTH {
            numbers.truncate(filled / WIDTH);
            numbers.retain(|number| *number > 0);
            return Ok(numbers);
        }
        room *= 2;
    }
}

/// The first 15 bytes of the name of the program that a process runs or, where it has ended and was not waited for, ran last
/// (`PROC_PIDTBSDINFO`, whose argument 1 asks for ended ones too: bsd/kern/proc_info.c). `None` where the kernel does not tell.
pub fn command_name(process: i32) -> Option<OsString> {
    // SAFETY: it is plain memory, for which zero is a value.
    let mut info: libc::proc_bsdinfo = unsafe { std::mem::zeroed() };
    let size = size_of::<libc::proc_bsdinfo>() as c_int;
    let buffer = (&raw mut info).cast::<c_void>();
    // SAFETY: the buffer has the size that is passed and lives through the call.
    let filled = unsafe { libc::proc_pidinfo(process, libc::PROC_PIDTBSDINFO, 1, buffer, size) };
    if filled != size {
        return None;
    }
    let name = info.pbi_comm.iter().take_while(|byte| **byte != 0).map(|byte| *byte as u8);
    Some(OsString::from_vec(name.collect()))
}

// Of libsystem_sandbox, which every program has; its header is not public. `type` is `enum sandbox_filter_type`; the path is the variable
// argument. WebKit and dyld, both public, use it in the same way.
unsafe extern "C" {
    static SANDBOX_CHECK_NO_REPORT: c_int;
    fn sandbox_check(process: libc::pid_t, operation: *const c_char, kind: c_int, ...) -> c_int;
}

const SANDBOX_FILTER_PATH: c_int = 1;

/// Whether the policy of a process lets it read the data of a file; without a policy it does. Nothing is logged. `None` where the process has
/// gone, or the kernel does not tell.
pub fn may_read(process: i32, path: &str) -> Option<bool> {
    let path = CString::new(path).ok()?;
    // SAFETY: both strings end with NUL and live through the call, and a path is what this filter takes. The constant is never written.
    let result = unsafe {
        let kind = SANDBOX_FILTER_PATH | SANDBOX_CHECK_NO_REPORT;
        sandbox_check(process, c"file-read-data".as_ptr(), kind, path.as_ptr())
    };
    match result {
        0 => Some(true),
        1 => Some(false),
        _ => None,
    }
}

/// Whether this process is in a sandbox. Chromium, which is public, asks in the same way.
pub fn is_sandboxed() -> bool {
    // SAFETY: without an operation and a filter no memory is passed, and no variable argument is read.
    unsafe { sandbox_check(libc::getpid(), std::ptr::null(), 0) == 1 }
}

// Of libsystem_sandbox too, and in its public header, sandbox.h. That a text is taken where no flag is set is how WebKit and Chromium,
// both public, use it.
unsafe extern "C" {
    fn sandbox_init(profile: *const c_char, flags: u64, error: *mut *mut c_char) -> c_int;
    fn sandbox_free_error(error: *mut c_char);
}

/// Puts this process, for good, behind a profile in Seatbelt's language.
///
/// # Errors
/// What the system says of the profile, or that it is in a sandbox already.
pub fn enter_sandbox(profile: &CStr) -> io::Result<()> {
    let mut error: *mut c_char = std::ptr::null_mut();
    // SAFETY: the text ends with NUL and lives through the call, which puts a text of its own into `error` or leaves it alone.
    if unsafe { sandbox_init(profile.as_ptr(), 0, &raw mut error) } == 0 {
        return Ok(());
    }
    if error.is_null() {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    // SAFETY: the call has put a text there that ends with NUL, and nobody reads it after it is freed.
    let said = unsafe {
        let said = CStr::from_ptr(error).to_string_lossy().into_owned();
        sandbox_free_error(error);
        said
    };
    Err(io::Error::other(said))
}

/// The temporary directory of this user (confstr(3)), which does not depend on the environment.
pub fn user_temporary_directory() -> Option<PathBuf> {
    let mut buffer = vec![0u8; 1024];
    // SAFETY: the buffer has the size that is passed and lives through the call.
    let length =
        unsafe { libc::confstr(libc::_CS_DARWIN_USER_TEMP_DIR, buffer.as_mut_ptr().cast(), buffer.len()) };
    // The length counts the NUL; 0 says that there is none.
    buffer.truncate(length.checked_sub(1).filter(|length| *length < 1024)?);
    Some(PathBuf::from(OsString::from_vec(buffer)))
}

fn done(result: c_int) -> io::Result<()> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
