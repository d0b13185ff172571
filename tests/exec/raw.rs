//! System calls that safe crates do not offer because nobody should make them: the suite tries what an attacker would.

use std::io;

/// shmget(2).
pub fn shmget(key: libc::key_t, bytes: usize, flags: i32) -> io::Result<i32> {
    // SAFETY: no pointers are passed.
    let segment = unsafe { libc::shmget(key, bytes, flags) };
    if segment < 0 { Err(io::Error::last_os_error()) } else { Ok(segment) }
}

/// Removes a segment of shared memory (shmctl(2)).
pub fn shmctl_remove(segment: i32) -> io::Result<()> {
    // SAFETY: this command takes no buffer.
    let result = unsafe { libc::shmctl(segment, libc::IPC_RMID, std::ptr::null_mut()) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
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

/// What probes say when something else than an error number stops them.
pub fn no(text: &str) -> io::Error {
    io::Error::other(text.to_owned())
}

/// Has a command start as the first of a session whose terminal is its standard input.
#[cfg(target_os = "linux")]
pub fn at_terminal(command: &mut std::process::Command) {
    use std::os::unix::process::CommandExt;
    let lead = || {
        rustix::process::setsid()?;
        Ok(rustix::process::ioctl_tiocsctty(rustix::stdio::stdin())?)
    };
    // SAFETY: between fork and exec it only makes system calls.
    unsafe { command.pre_exec(lead) };
}
