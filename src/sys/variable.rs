//! The environment that this process was started with, which its children get a copy of whatever is removed from it later.

use std::ffi::CString;
use std::io;

/// Overwrites the value of a variable where it stands, so that no copy of this process's memory has it, and no file of proc(5) shows it. The
/// variable is empty then. What is not set stays so.
///
/// # Errors
/// `EBUSY` where this process has other threads, `EINVAL` for a name that no variable has.
pub fn erase_variable(name: &str) -> io::Result<()> {
    let name = CString::new(name).map_err(|_| io::ErrorKind::InvalidInput)?;
    super::single_threaded()?;
    // SAFETY: no other thread reads or changes the environment meanwhile. The pointer is to a string that ends in a NUL, in memory that may be
    // written: that of the stack the program was started with, or of what the standard library copied it to (environ(7), setenv(3)).
    // Each byte up to the NUL is written once, and the NUL stays.
    unsafe {
        let mut at = libc::getenv(name.as_ptr());
        while !at.is_null() && *at != 0 {
            at.write_volatile(0);
            at = at.add(1);
        }
    }
    Ok(())
}
