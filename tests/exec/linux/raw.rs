//! System calls of Linux that an attacker would make.

use std::io;

/// Makes a system call with numbers and pointers as its arguments.
pub fn call(number: i64, arguments: [usize; 6]) -> io::Result<i64> {
    let [a, b, c, d, e, f] = arguments;
    // SAFETY: the callers pass numbers, null, or pointers to memory of their own that lives through the call.
    let result = unsafe { libc::syscall(number, a, b, c, d, e, f) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

/// Has a signal come to this process in so many milliseconds (setitimer(2)), whose handler does nothing, and has calls made `again` that can be
/// (`SA_RESTART` in sigaction(2)).
pub fn signal_in(milliseconds: i64, again: bool) -> io::Result<()> {
    extern "C" fn nothing(_: i32) {}
    // SAFETY: numbers only, of which all zero is a value; the handler touches nothing; the kernel reads what lives through the calls.
    let result = unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = nothing as extern "C" fn(i32) as usize;
        action.sa_flags = if again { libc::SA_RESTART } else { 0 };
        libc::sigaction(libc::SIGALRM, &raw const action, std::ptr::null_mut());
        let mut timer: libc::itimerval = std::mem::zeroed();
        timer.it_value.tv_sec = milliseconds / 1000;
        timer.it_value.tv_usec = milliseconds % 1000 * 1000;
        libc::setitimer(libc::ITIMER_REAL, &raw const timer, std::ptr::null_mut())
    };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
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

/// Has a command start where the host has mounted `source` at `target` too (mount(8), `--bind`): in a mount namespace of its own, and a user
/// namespace where that takes one.
pub fn with_mount(command: &mut std::process::Command, source: &str, target: &str, uid: u32) {
    use rustix::mount::{MountPropagationFlags, mount_bind, mount_change};
    use std::os::unix::process::CommandExt;
    let (source, target) = (source.to_owned(), target.to_owned());
    let mount = move || {
        let user = if uid == 0 { 0 } else { libc::CLONE_NEWUSER };
        // SAFETY: the child of a fork has one thread, and no memory is passed.
        if unsafe { libc::unshare(user | libc::CLONE_NEWNS) } != 0 {
            return Err(io::Error::last_os_error());
        }
        if uid != 0 {
            // Having become another user it may not write there otherwise (PR_SET_DUMPABLE in prctl(2)).
            // SAFETY: no memory is passed.
            unsafe { libc::prctl(libc::PR_SET_DUMPABLE, 1, 0, 0, 0) };
            std::fs::write("/proc/self/uid_map", format!("{uid} {uid} 1"))?;
            std::fs::write("/proc/self/setgroups", "deny")?;
            std::fs::write("/proc/self/gid_map", format!("{uid} {uid} 1"))?;
        }
        mount_change("/", MountPropagationFlags::REC | MountPropagationFlags::PRIVATE)?;
        Ok(mount_bind(source.as_str(), target.as_str())?)
    };
    // SAFETY: the test that starts it uses no lock in here that another thread could hold but the allocator's, which glibc keeps
    // usable after fork(2).
    unsafe { command.pre_exec(mount) };
}
