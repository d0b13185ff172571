//! System calls that safe crates do not offer.

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, RawFd};

fn call(number: i64, arguments: [usize; 5]) -> io::Result<i64> {
    let [a, b, c, d, e] = arguments;
    // SAFETY: the callers pass numbers, null, or pointers to memory of their own that lives through the call.
    let result = unsafe { libc::syscall(number, a, b, c, d, e) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

pub fn unshare(spaces: i32) -> io::Result<()> {
    call(libc::SYS_unshare, [spaces as usize, 0, 0, 0, 0]).map(drop)
}

/// Makes a mount and all below it read-only.
pub fn read_only(mount: RawFd) -> io::Result<()> {
    let attr = libc::mount_attr {
        attr_set: libc::MOUNT_ATTR_RDONLY,
        attr_clr: 0,
        propagation: libc::MS_PRIVATE,
        userns_fd: 0,
    };
    let flags = libc::AT_EMPTY_PATH | libc::AT_RECURSIVE;
    let (path, attr, size) = (c"".as_ptr() as usize, &raw const attr as usize, size_of::<libc::mount_attr>());
    call(libc::SYS_mount_setattr, [mount as usize, path, flags as usize, attr, size]).map(drop)
}

/// Loads a filter that has another process answer a system call with one argument of one value (seccomp(2), seccomp_unotify(2)).
/// Gives the descriptor through which it is asked.
pub fn ask_about(number: i64, argument: u32, value: u32) -> io::Result<File> {
    let statement = |code: u32, k: u32| libc::sock_filter { code: code as u16, jt: 0, jf: 0, k };
    let unless = |k: u32, over: u8| libc::sock_filter {
        code: (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16,
        jt: 0,
        jf: over,
        k,
    };
    let load = libc::BPF_LD | libc::BPF_W | libc::BPF_ABS;
    let mut program = [
        statement(load, 0),
        unless(number as u32, 3),
        // The arguments begin at 16, 8 bytes each, low half first (struct seccomp_data).
        statement(load, 16 + 8 * argument),
        unless(value, 1),
        statement(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_USER_NOTIF),
        statement(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ALLOW),
    ];
    let program = libc::sock_fprog { len: program.len() as u16, filter: program.as_mut_ptr() };
    let flags = libc::SECCOMP_FILTER_FLAG_NEW_LISTENER as usize;
    let mode = libc::SECCOMP_SET_MODE_FILTER as usize;
    let listener = call(libc::SYS_seccomp, [mode, flags, &raw const program as usize, 0, 0])?;
    // SAFETY: the kernel has just given this descriptor.
    Ok(unsafe { File::from_raw_fd(listener as RawFd) })
}

/// Answers the next question with this value.
pub fn answer(listener: &File, value: i64) -> io::Result<()> {
    // SAFETY: plain memory, for which zero is a value, and which the kernel demands.
    let mut asked: libc::seccomp_notif = unsafe { std::mem::zeroed() };
    // SECCOMP_IOCTL_NOTIF_RECV and _SEND of linux/seccomp.h.
    ioctl(listener, 0xC050_2100, &raw mut asked as usize)?;
    let answer = libc::seccomp_notif_resp { id: asked.id, val: value, error: 0, flags: 0 };
    ioctl(listener, 0xC018_2101, &raw const answer as usize)
}

fn ioctl(file: &File, request: usize, argument: usize) -> io::Result<()> {
    call(libc::SYS_ioctl, [file.as_raw_fd() as usize, request, argument, 0, 0]).map(drop)
}
