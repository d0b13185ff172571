//! System calls that safe crates do not offer.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// Into new namespaces, as unshare(2).
pub fn unshare(spaces: i32) -> io::Result<()> {
    // SAFETY: no memory is passed.
    if unsafe { libc::unshare(spaces) } == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Has the kernel end this process unless it comes back here in time; 0 takes it back (alarm(2)).
pub fn end_in(seconds: u32) {
    // SAFETY: no memory is passed.
    unsafe { libc::alarm(seconds) };
}

pub fn kill(pid: i32) {
    // SAFETY: no memory is passed. It may have ended by itself.
    unsafe { libc::kill(pid, libc::SIGKILL) };
}

/// Has a command be traced by this thread from its first instruction on (ptrace(2)).
pub fn be_traced(command: &mut Command) {
    let ask = || {
        // SAFETY: no memory is passed.
        match unsafe { libc::ptrace(libc::PTRACE_TRACEME, 0, 0, 0) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    };
    // SAFETY: between fork and exec it makes one system call.
    unsafe { command.pre_exec(ask) };
}

/// A request to the kernel about a stopped process that passes a number. It may have been killed meanwhile.
pub fn trace(request: u32, pid: i32, data: i32) -> io::Result<()> {
    // SAFETY: the requests that are made pass a number as data, and no address.
    match unsafe { libc::ptrace(request, pid, std::ptr::null_mut::<u8>(), data as usize) } {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

/// The system call that a stopped process is about to make, with its arguments; `None` where it has just made one.
pub fn call_of(pid: i32) -> io::Result<Option<(i64, [u64; 6])>> {
    // SAFETY: plain memory, for which zero is a value, and whose size is passed; the kernel says which part it has filled.
    unsafe {
        let mut info: libc::ptrace_syscall_info = std::mem::zeroed();
        let size = size_of_val(&info);
        match libc::ptrace(libc::PTRACE_GET_SYSCALL_INFO, pid, size, &raw mut info) {
            -1 => Err(io::Error::last_os_error()),
            _ if info.op == libc::PTRACE_SYSCALL_INFO_ENTRY => {
                Ok(Some((info.u.entry.nr as i64, info.u.entry.args)))
            }
            _ => Ok(None),
        }
    }
}

/// The next process of this thread's that has changed, traced or not, and its status; `None` where there is none left (waitpid(2)).
pub fn wait_for_any() -> Option<(i32, i32)> {
    loop {
        let mut status = 0;
        // SAFETY: the status lives through the call.
        match unsafe { libc::waitpid(-1, &raw mut status, libc::__WALL) } {
            -1 if io::Error::last_os_error().raw_os_error() == Some(libc::EINTR) => {}
            -1 => return None,
            pid => return Some((pid, status)),
        }
    }
}
