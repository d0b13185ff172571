//! System calls that safe crates do not offer.

use std::io;

/// Into new namespaces, as unshare(2).
pub fn unshare(spaces: i32) -> io::Result<()> {
    // SAFETY: no memory is passed.
    if unsafe { libc::unshare(spaces) } == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// A socket of any family, closed again; as socket(2).
pub fn socket(family: i32, kind: i32, protocol: i32) -> io::Result<()> {
    // SAFETY: no memory is passed, and the descriptor is nobody else's.
    unsafe {
        match libc::socket(family, kind, protocol) {
            -1 => Err(io::Error::last_os_error()),
            fd => {
                libc::close(fd);
                Ok(())
            }
        }
    }
}

/// A copy of this process, which must have one thread; `None` in the copy.
pub fn fork() -> Option<rustix::process::Pid> {
    // SAFETY: with one thread no lock stays taken in the copy.
    let pid = unsafe { libc::fork() };
    assert!(pid >= 0, "{}", io::Error::last_os_error());
    rustix::process::Pid::from_raw(pid)
}
