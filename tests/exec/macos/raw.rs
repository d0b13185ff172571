//! System calls of macOS that an attacker would make.

use camino::Utf8Path;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::io;
use std::ptr::null_mut;

fn done(result: c_int) -> io::Result<()> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

fn text(path: &Utf8Path) -> io::Result<CString> {
    Ok(CString::new(path.as_str())?)
}

/// clonefile(2): a file or a tree under another name, whose contents are shared until one of them is written.
pub fn clone_file(from: &Utf8Path, to: &Utf8Path) -> io::Result<()> {
    let (from, to) = (text(from)?, text(to)?);
    // SAFETY: both end with NUL and live through the call.
    done(unsafe { libc::clonefile(from.as_ptr(), to.as_ptr(), 0) })
}

/// listxattr(2), of which only the length is asked.
pub fn list_attributes(path: &Utf8Path) -> io::Result<()> {
    let path = text(path)?;
    // SAFETY: it ends with NUL and lives through the call; without a buffer nothing is written.
    let length = unsafe { libc::listxattr(path.as_ptr(), null_mut(), 0, 0) };
    if length < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// mknod(2) with the number of a disk.
pub fn make_device(path: &Utf8Path) -> io::Result<()> {
    let path = text(path)?;
    // SAFETY: it ends with NUL and lives through the call.
    done(unsafe { libc::mknod(path.as_ptr(), libc::S_IFBLK | 0o600, 0x0100_0000) })
}

/// What sysctl(3) gives under a name in numbers.
fn sysctl(name: &mut [c_int]) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0u8; 8 << 20];
    let mut length = bytes.len();
    // SAFETY: name and buffer have the lengths that are passed and live through the call.
    done(unsafe {
        libc::sysctl(
            name.as_mut_ptr(),
            name.len() as u32,
            bytes.as_mut_ptr().cast::<c_void>(),
            &raw mut length,
            null_mut(),
            0,
        )
    })?;
    bytes.truncate(length);
    Ok(bytes)
}

/// The arguments and the environment of a process.
pub fn arguments_of(process: i32) -> io::Result<Vec<u8>> {
    sysctl(&mut [libc::CTL_KERN, libc::KERN_PROCARGS2, process])
}

/// All processes, with their users and names.
pub fn process_table() -> io::Result<Vec<u8>> {
    sysctl(&mut [libc::CTL_KERN, libc::KERN_PROC, libc::KERN_PROC_ALL])
}

/// How many processes there are (libproc.h).
pub fn process_count() -> io::Result<usize> {
    let mut numbers: Vec<libc::pid_t> = vec![0; 1 << 16];
    let bytes = size_of_val(numbers.as_slice()) as c_int;
    // SAFETY: the buffer has the size that is passed and lives through the call.
    let filled = unsafe { libc::proc_listallpids(numbers.as_mut_ptr().cast::<c_void>(), bytes) };
    usize::try_from(filled).map_err(|_| io::Error::last_os_error())
}

/// Whether the kernel tells of a process what every process may ask without walls (libproc.h).
pub fn describe(process: i32) -> io::Result<()> {
    // SAFETY: it is plain memory, for which zero is a value.
    let mut info: libc::proc_bsdinfo = unsafe { std::mem::zeroed() };
    let size = size_of::<libc::proc_bsdinfo>() as c_int;
    let buffer = (&raw mut info).cast::<c_void>();
    // SAFETY: the buffer has the size that is passed and lives through the call.
    let filled = unsafe { libc::proc_pidinfo(process, libc::PROC_PIDTBSDINFO, 0, buffer, size) };
    if filled == size { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Sets `kern.hostname` to what it is.
pub fn set_hostname() -> io::Result<()> {
    let mut name = sysctl(&mut [libc::CTL_KERN, libc::KERN_HOSTNAME])?;
    let setting = c"kern.hostname";
    // SAFETY: the name ends with NUL, and the value has the length that is passed; both live through the call.
    done(unsafe {
        libc::sysctlbyname(
            setting.as_ptr(),
            null_mut(),
            null_mut(),
            name.as_mut_ptr().cast::<c_void>(),
            name.len(),
        )
    })
}

/// Opens or makes a region of shared memory (shm_open(2)).
pub fn open_region(name: &CStr, flags: c_int) -> io::Result<()> {
    // SAFETY: the name ends with NUL and lives through the call; the mode is the variable argument.
    let descriptor = unsafe { libc::shm_open(name.as_ptr(), flags, 0o600 as c_int) };
    done(descriptor)?;
    // SAFETY: the descriptor was just opened and is not used further.
    done(unsafe { libc::close(descriptor) })
}

/// shm_unlink(2).
pub fn remove_region(name: &CStr) -> io::Result<()> {
    // SAFETY: the name ends with NUL and lives through the call.
    done(unsafe { libc::shm_unlink(name.as_ptr()) })
}

/// Makes a semaphore (sem_open(2)) and removes it.
pub fn make_semaphore(name: &CStr) -> io::Result<()> {
    // SAFETY: the name ends with NUL and lives through the calls; mode and value are the variable arguments.
    unsafe {
        if libc::sem_open(name.as_ptr(), libc::O_CREAT, 0o600 as c_int, 1 as c_int) == libc::SEM_FAILED {
            return Err(io::Error::last_os_error());
        }
        done(libc::sem_unlink(name.as_ptr()))
    }
}

// Of libSystem. The first two are in <sandbox.h>, deprecated since 10.8 and used by many; the others in <servers/bootstrap.h>.
unsafe extern "C" {
    fn sandbox_init(profile: *const c_char, flags: u64, error: *mut *mut c_char) -> c_int;
    fn sandbox_free_error(error: *mut c_char);
    static bootstrap_port: libc::mach_port_t;
    fn bootstrap_look_up(at: libc::mach_port_t, name: *const c_char, port: *mut libc::mach_port_t) -> c_int;
}

/// Puts this process into a sandbox of its own making. Without flags the argument is the profile's text.
pub fn enter_sandbox(profile: &CStr) -> io::Result<()> {
    let mut error = null_mut();
    // SAFETY: the text ends with NUL and lives through the call; an error that is given is freed as its header says.
    unsafe {
        if sandbox_init(profile.as_ptr(), 0, &raw mut error) == 0 {
            return Ok(());
        }
        if !error.is_null() {
            sandbox_free_error(error);
        }
    }
    Err(io::ErrorKind::PermissionDenied.into())
}

/// Asks launchd for a service.
pub fn can_look_up(service: &CStr) -> io::Result<()> {
    let mut port = 0;
    // SAFETY: the name ends with NUL, and both live through the call. The port of launchd is set before `main`.
    let result = unsafe { bootstrap_look_up(bootstrap_port, service.as_ptr(), &raw mut port) };
    if result == 0 { Ok(()) } else { Err(io::Error::other(format!("error {result}"))) }
}
