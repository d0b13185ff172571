//! System calls of Linux that an attacker would make.

use std::io;

/// Makes a system call with numbers and pointers as its arguments.
pub fn call(number: i64, arguments: [usize; 6]) -> io::Result<i64> {
    let [a, b, c, d, e, f] = arguments;
    // SAFETY: the callers pass numbers, null, or pointers to memory of their own that lives through the call.
    let result = unsafe { libc::syscall(number, a, b, c, d, e, f) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

/// fork(2) for a probe with one thread; `true` in the child.
pub fn fork() -> io::Result<Option<i32>> {
    // SAFETY: the probe has one thread.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        0 => Ok(None),
        pid => Ok(Some(pid)),
    }
}
