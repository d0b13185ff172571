//! Answering system calls of other processes (seccomp_unotify(2)).

use super::done;
use rustix::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::ffi::c_int;
use std::io;

/// One system call that waits for its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Question {
    id: u64,
    /// The thread that waits, as this process numbers it.
    pub thread: i32,
    pub arguments: [u64; 6],
}

/// What the kernel writes and reads, and room for what a later one may add.
#[repr(C)]
struct Roomy<T> {
    plain: T,
    room: [u64; 64],
}

/// Loads a filter that may ask, into a process without new privileges, and gives the descriptor where it asks. Once it was asked, only
/// being killed ends the wait (Linux 5.19).
///
/// # Errors
/// As seccomp(2): `EBUSY` where another filter of this process asks already.
pub fn filter_that_asks(program: &[libc::sock_filter]) -> io::Result<OwnedFd> {
    let program = libc::sock_fprog {
        len: u16::try_from(program.len()).map_err(|_| io::ErrorKind::InvalidInput)?,
        filter: program.as_ptr().cast_mut(),
    };
    let flags = libc::SECCOMP_FILTER_FLAG_NEW_LISTENER | libc::SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV;
    // SAFETY: the program and its instructions live through the call, which only reads them.
    let result =
        unsafe { libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, flags, &raw const program) };
    done(result)?;
    // SAFETY: the kernel has just opened this descriptor, and nobody else knows of it.
    Ok(unsafe { OwnedFd::from_raw_fd(result as RawFd) })
}

/// Waits for the next question.
///
/// # Errors
/// `ENOENT` where who asked has ended meanwhile; as ioctl(2).
pub fn next_question(questions: BorrowedFd<'_>) -> io::Result<Question> {
    // SAFETY: numbers only, which the kernel wants to be zero.
    let mut asked: Roomy<libc::seccomp_notif> = unsafe { std::mem::zeroed() };
    // SAFETY: the kernel writes one `struct seccomp_notif` there, for which there is more than enough room.
    let result =
        unsafe { libc::ioctl(questions.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_RECV, &raw mut asked) };
    done(result.into())?;
    let libc::seccomp_notif { id, pid, data, .. } = asked.plain;
    Ok(Question { id, thread: pid as i32, arguments: data.args })
}

/// Whether who asked still waits: what was looked up by its number in between was of no other.
pub fn still_waits(questions: BorrowedFd<'_>, question: &Question) -> bool {
    let id = question.id;
    // SAFETY: the kernel reads one number.
    unsafe { libc::ioctl(questions.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_ID_VALID, &raw const id) == 0 }
}

/// Has the call give 0, or fail with this error number.
///
/// # Errors
/// `ENOENT` where who asked has ended meanwhile.
pub fn answer(questions: BorrowedFd<'_>, question: &Question, answer: Result<(), i32>) -> io::Result<()> {
    let error = answer.err().map_or(0, |errno: c_int| -errno);
    let plain = libc::seccomp_notif_resp { id: question.id, val: 0, error, flags: 0 };
    let mut response = Roomy { plain, room: [0; 64] };
    // SAFETY: the kernel reads one `struct seccomp_notif_resp`.
    let result =
        unsafe { libc::ioctl(questions.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_SEND, &raw mut response) };
    done(result.into())
}

/// connect(2) with an address as it is in memory.
///
/// # Errors
/// As connect(2).
pub fn connect(socket: impl AsFd, address: &[u8]) -> io::Result<()> {
    let length = libc::socklen_t::try_from(address.len()).map_err(|_| io::ErrorKind::InvalidInput)?;
    // SAFETY: the kernel copies so many bytes, whatever they are.
    let result = unsafe { libc::connect(socket.as_fd().as_raw_fd(), address.as_ptr().cast(), length) };
    done(result.into())
}
