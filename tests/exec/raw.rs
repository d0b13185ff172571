//! System calls that safe crates do not offer because nobody should make them: the suite tries what an attacker would.

use std::io;

/// Makes a system call with numbers and pointers as its arguments.
pub fn call(number: i64, arguments: [usize; 6]) -> io::Result<i64> {
    let [a, b, c, d, e, f] = arguments;
    // SAFETY: the callers pass numbers, null, or pointers to memory of their own that lives through the call.
    let result = unsafe { libc::syscall(number, a, b, c, d, e, f) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

/// Maps a file executable, as a loader does.
pub fn map_executable(file: &std::fs::File) -> io::Result<()> {
    use std::os::fd::AsRawFd;
    let protection = libc::PROT_READ | libc::PROT_EXEC;
    // SAFETY: a new mapping at a place the kernel chooses; nothing is read from it.
    let mapped =
        unsafe { libc::mmap(std::ptr::null_mut(), 1, protection, libc::MAP_PRIVATE, file.as_raw_fd(), 0) };
    if mapped == libc::MAP_FAILED { Err(io::Error::last_os_error()) } else { Ok(()) }
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

/// What probes say when something else than an error number stops them.
pub fn no(text: &str) -> io::Error {
    io::Error::other(text.to_owned())
}

/// Has a command start as the first of a session whose terminal is its standard input.
pub fn at_terminal(command: &mut std::process::Command) {
    use std::os::unix::process::CommandExt;
    let lead = || {
        rustix::process::setsid()?;
        Ok(rustix::process::ioctl_tiocsctty(rustix::stdio::stdin())?)
    };
    // SAFETY: between fork and exec it only makes system calls.
    unsafe { command.pre_exec(lead) };
}
