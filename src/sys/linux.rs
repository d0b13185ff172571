//! The few system calls of Linux that `rustix` and the standard library do not offer.

mod questions;

pub use questions::{Question, answer, connect, filter_that_asks, next_question, still_waits};

use rustix::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use rustix::process::Pid;
use std::ffi::{c_int, c_long};
use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::time::Duration;

/// Namespaces for [`clone`], as in clone(2).
pub mod namespace {
    pub const MOUNT: u64 = libc::CLONE_NEWNS as u64;
    pub const CGROUP: u64 = libc::CLONE_NEWCGROUP as u64;
    pub const UTS: u64 = libc::CLONE_NEWUTS as u64;
    pub const IPC: u64 = libc::CLONE_NEWIPC as u64;
    pub const USER: u64 = libc::CLONE_NEWUSER as u64;
    pub const PID: u64 = libc::CLONE_NEWPID as u64;
    pub const NET: u64 = libc::CLONE_NEWNET as u64;
}

/// The two returns of a fork.
#[derive(Debug)]
pub enum Forked {
    Child,
    Parent { pid: Pid, pidfd: OwnedFd },
}

/// `struct clone_args` of clone3(2) as of Linux 5.7.
#[repr(C)]
#[derive(Default)]
struct CloneArgs {
    flags: u64,
    pidfd: u64,
    child_tid: u64,
    parent_tid: u64,
    exit_signal: u64,
    stack: u64,
    stack_size: u64,
    tls: u64,
    set_tid: u64,
    set_tid_size: u64,
    cgroup: u64,
}

/// Forks into new namespaces (clone3(2)), with a pidfd for the parent.
///
/// # Errors
/// `EBUSY` where this process has other threads; what clone3(2) says otherwise.
pub fn clone(namespaces: u64) -> io::Result<Forked> {
    single_threaded()?;
    let mut pidfd: RawFd = -1;
    let mut args = CloneArgs {
        flags: namespaces | libc::CLONE_PIDFD as u64,
        pidfd: (&raw mut pidfd) as u64,
        exit_signal: libc::SIGCHLD as u64,
        ..CloneArgs::default()
    };
    // SAFETY: the arguments live through the call and have the size that is passed. Without CLONE_VM and a stack of its own, the
    // child goes on with a copy of this process, as after fork(2). No other thread existed, so no lock stays taken in the copy.
    let result = unsafe { libc::syscall(libc::SYS_clone3, &raw mut args, size_of::<CloneArgs>()) };
    match result {
        0 => Ok(Forked::Child),
        pid if pid > 0 => Ok(Forked::Parent {
            pid: Pid::from_raw(pid as i32).ok_or(io::ErrorKind::InvalidData)?,
            // SAFETY: the kernel has just put an open descriptor there, and nobody else knows of it.
            pidfd: unsafe { OwnedFd::from_raw_fd(pidfd) },
        }),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Forks (fork(2)); `None` in the child. For where no namespace is wanted: unlike [`clone`] it does without clone3(2), which containers
/// often forbid.
///
/// # Errors
/// `EBUSY` where this process has other threads; what fork(2) says otherwise.
pub fn fork() -> io::Result<Option<Pid>> {
    single_threaded()?;
    // SAFETY: no other thread existed, so no lock stays taken in the copy.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        pid => Ok(Pid::from_raw(pid)),
    }
}

/// Each thread is a directory in /proc/self/task, and a link to it (proc(5)). One that has ended and was joined stays there for a moment.
pub(super) fn single_threaded() -> io::Result<()> {
    use std::os::unix::fs::MetadataExt;
    for _ in 0..PATIENCE {
        if std::fs::metadata("/proc/self/task")?.nlink() == 3 {
            return Ok(());
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    Err(io::Error::from_raw_os_error(libc::EBUSY))
}

/// Milliseconds that are waited for a thread to be gone.
const PATIENCE: u32 = 1000;

/// Mount attributes for [`mount_setattr`] (mount_setattr(2)).
pub mod attribute {
    pub const RDONLY: u64 = libc::MOUNT_ATTR_RDONLY;
    pub const NOSUID: u64 = libc::MOUNT_ATTR_NOSUID;
    pub const NODEV: u64 = libc::MOUNT_ATTR_NODEV;
    pub const NOEXEC: u64 = libc::MOUNT_ATTR_NOEXEC;
}

/// Adds attributes to the mount behind `mount` and makes it private: what the host mounts later does not show up in it.
/// With `recursive`, to all mounts below it as well.
///
/// # Errors
/// As mount_setattr(2): `ENOSYS` before Linux 5.12.
pub fn mount_setattr(mount: impl AsFd, attributes: u64, recursive: bool) -> io::Result<()> {
    let attr =
        libc::mount_attr { attr_set: attributes, attr_clr: 0, propagation: libc::MS_PRIVATE, userns_fd: 0 };
    let flags = libc::AT_EMPTY_PATH | if recursive { libc::AT_RECURSIVE } else { 0 };
    // SAFETY: the path is a C string, and the structure lives through the call and has the size that is passed.
    let result = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            mount.as_fd().as_raw_fd(),
            c"".as_ptr(),
            flags,
            &raw const attr,
            size_of::<libc::mount_attr>(),
        )
    };
    done(result)
}

/// Marks every descriptor from `first` on to be closed by execve(2).
///
/// # Errors
/// As close_range(2): `EINVAL` before Linux 5.11.
pub fn close_on_exec_from(first: u32) -> io::Result<()> {
    // SAFETY: no memory is passed; descriptors stay open until another program runs.
    done(unsafe { libc::syscall(libc::SYS_close_range, first, u32::MAX, libc::CLOSE_RANGE_CLOEXEC) })
}

/// Closes every descriptor but these. Only for a process that uses no other any more and ends with [`exit_now`].
///
/// # Errors
/// As close_range(2).
pub fn close_all_but(kept: &[BorrowedFd<'_>]) -> io::Result<()> {
    let mut kept: Vec<u32> = kept.iter().map(|fd| fd.as_raw_fd().unsigned_abs()).collect();
    kept.sort_unstable();
    let mut first = 0;
    for number in kept.into_iter().chain([u32::MAX]) {
        let last = if number == u32::MAX { number } else { number.saturating_sub(1) };
        if first < number {
            // SAFETY: no memory is passed, and the caller neither uses nor drops one of these from here on.
            done(unsafe { libc::syscall(libc::SYS_close_range, first, last, 0) })?;
        }
        first = number.saturating_add(1);
    }
    Ok(())
}

/// The version of Landlock that the kernel offers (landlock_create_ruleset(2)).
///
/// # Errors
/// `ENOSYS` where it is not built in, `EOPNOTSUPP` where it was not enabled at boot.
pub fn landlock_version() -> io::Result<u32> {
    const VERSION: u32 = 1;
    // SAFETY: with this flag the structure must be null and of size 0, and only a number is returned.
    let result =
        unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, std::ptr::null::<u8>(), 0usize, VERSION) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result as u32) }
}

/// Signals that are delivered through a descriptor instead of to a handler (signalfd(2)).
#[derive(Debug)]
pub struct Signals {
    fd: OwnedFd,
    before: libc::sigset_t,
}

/// Undoes what the caller of this program may have chosen for a signal: an ignored `SIGCHLD` would take ended children away before they are
/// waited for (signal(7)).
pub fn default_disposition(signal: c_int) {
    // SAFETY: the default disposition runs no code of ours.
    unsafe { libc::signal(signal, libc::SIG_DFL) };
}

/// Whether the caller of this program has a signal ignored, as nohup(1) does.
pub fn is_ignored(signal: c_int) -> bool {
    // SAFETY: it is plain memory, for which zero is a value, and which the kernel fills.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        libc::sigaction(signal, std::ptr::null(), &raw mut action) == 0
            && action.sa_sigaction == libc::SIG_IGN
    }
}

/// Whether the kernel lets this process have so many more children now. It makes them, and ends them at once. Only for a process with one
/// thread.
pub fn has_room_for(children: usize) -> bool {
    let mut made = Vec::with_capacity(children);
    for _ in 0..children {
        // SAFETY: the child waits to be killed, without touching what it shares.
        match unsafe { libc::fork() } {
            0 => loop {
                // SAFETY: no memory is passed.
                unsafe { libc::pause() };
            },
            pid if pid > 0 => made.push(pid),
            _ => break,
        }
    }
    for &child in &made {
        // SAFETY: children of ours that were not waited for, and no memory is passed.
        unsafe {
            libc::kill(child, libc::SIGKILL);
            libc::waitpid(child, std::ptr::null_mut(), 0);
        }
    }
    made.len() == children
}

/// Sends a signal to every process of the pid namespace but its first, which calls this (kill(2)).
pub fn signal_all(signal: c_int) {
    // SAFETY: no memory is passed. That there is nobody to be signalled is no failure.
    unsafe { libc::kill(-1, signal) };
}

/// Has a command start in a process group of its own which, with `front`, is the one in the foreground of the terminal on its standard
/// input before it runs: it could not read from it otherwise.
pub fn in_own_group(command: &mut Command, front: bool) {
    command.process_group(0);
    if !front {
        return;
    }
    let to_front = || {
        let (mut stop, mut before) = (EMPTY_SET, EMPTY_SET);
        // SAFETY: the sets live through the calls. Who is not in front yet is stopped for asking, unless the signal is blocked
        // (tcsetpgrp(3)).
        unsafe {
            libc::sigemptyset(&raw mut stop);
            libc::sigaddset(&raw mut stop, libc::SIGTTOU);
            libc::sigprocmask(libc::SIG_BLOCK, &raw const stop, &raw mut before);
        }
        let moved = rustix::termios::tcsetpgrp(rustix::stdio::stdin(), rustix::process::getpid());
        // SAFETY: as above.
        unsafe { libc::sigprocmask(libc::SIG_SETMASK, &raw const before, std::ptr::null_mut()) };
        Ok(moved?)
    };
    // SAFETY: between fork and exec it only makes system calls, on memory of its own.
    unsafe { command.pre_exec(to_front) };
}

// SAFETY: a set of signals is plain memory, for which zero is a value: the empty one.
const EMPTY_SET: libc::sigset_t = unsafe { std::mem::zeroed() };

impl Signals {
    /// Blocks these signals and reads them from a descriptor from now on.
    ///
    /// # Errors
    /// As sigprocmask(2) and signalfd(2).
    pub fn block(signals: &[c_int]) -> io::Result<Self> {
        // SAFETY: the sets are plain memory that these calls initialise, and live through them.
        unsafe {
            let mut set: libc::sigset_t = std::mem::zeroed();
            let mut before: libc::sigset_t = std::mem::zeroed();
            libc::sigemptyset(&raw mut set);
            for &signal in signals {
                libc::sigaddset(&raw mut set, signal);
            }
            if libc::sigprocmask(libc::SIG_BLOCK, &raw const set, &raw mut before) != 0 {
                return Err(io::Error::last_os_error());
            }
            let fd = libc::signalfd(-1, &raw const set, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK);
            if fd < 0 {
                return Err(io::Error::last_os_error());
            }
            Ok(Self { fd: OwnedFd::from_raw_fd(fd), before })
        }
    }

    /// Sets the mask to what it was before, for a child that is to run another program.
    ///
    /// # Errors
    /// As sigprocmask(2).
    pub fn restore_mask(&self) -> io::Result<()> {
        // SAFETY: the set was filled by the kernel and lives through the call.
        done(c_long::from(unsafe {
            libc::sigprocmask(libc::SIG_SETMASK, &raw const self.before, std::ptr::null_mut())
        }))
    }

    /// Lets one of the blocked signals that is pending take effect, then blocks it again. Where it stops this process, returns once it goes on.
    ///
    /// # Errors
    /// As sigprocmask(2).
    pub fn let_through(&self, signal: c_int) -> io::Result<()> {
        let mut set = EMPTY_SET;
        // SAFETY: the set lives through the calls.
        unsafe {
            libc::sigemptyset(&raw mut set);
            libc::sigaddset(&raw mut set, signal);
            done(c_long::from(libc::sigprocmask(libc::SIG_UNBLOCK, &raw const set, std::ptr::null_mut())))?;
            done(c_long::from(libc::sigprocmask(libc::SIG_BLOCK, &raw const set, std::ptr::null_mut())))
        }
    }

    /// The next signal that came in, if one did.
    pub fn next(&self) -> Option<c_int> {
        let mut info = [0u8; size_of::<libc::signalfd_siginfo>()];
        let read = rustix::io::read(&self.fd, &mut info).ok()?;
        // `ssi_signo` is the first field, 32 bits.
        let (number, _) = info.get(..read)?.split_first_chunk::<4>()?;
        Some(u32::from_ne_bytes(*number) as c_int)
    }
}

impl AsFd for Signals {
    fn as_fd(&self) -> rustix::fd::BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// The signal by which [`notify_changes`] tells.
pub const NOTIFIED: c_int = libc::SIGIO;

/// Has [`NOTIFIED`] sent to this process whenever a name is made in, removed from or renamed in an open directory, until it is closed
/// (F_NOTIFY in fcntl(2)). Unlike inotify(7), ending it does not wait for a grace period of the kernel, which takes longer than a
/// whole sandbox.
///
/// # Errors
/// As fcntl(2): `EINVAL` where the kernel was built without it or it is switched off.
pub fn notify_changes(directory: impl AsFd) -> io::Result<()> {
    // linux/fcntl.h; not in the libc crate.
    const DN_CREATE: c_int = 0x4;
    const DN_DELETE: c_int = 0x8;
    const DN_RENAME: c_int = 0x10;
    const DN_MULTISHOT: c_int = i32::MIN;
    let fd = directory.as_fd().as_raw_fd();
    let changes = DN_CREATE | DN_DELETE | DN_RENAME | DN_MULTISHOT;
    // SAFETY: no memory is passed.
    done(c_long::from(unsafe { libc::fcntl(fd, libc::F_NOTIFY, changes) }))
}

fn done(result: c_long) -> io::Result<()> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
