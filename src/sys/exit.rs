//! The end of a process that is a copy of another.

use std::ffi::c_int;

/// Ends this process without running what `exit` would run: for a copy of a process whose buffers and handlers are not its own.
pub fn exit_now(code: c_int) -> ! {
    // SAFETY: does not return, and touches no memory.
    unsafe { libc::_exit(code) }
}
