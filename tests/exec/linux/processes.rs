//! Ways to other processes, to new privileges and into the kernel.

use super::raw::{call, fork};
use crate::raw::no;
use crate::suite::{Probe, denied, denied_anyway};
use rustix::process::{Pid, Signal};
use std::fs;
use std::io;

pub const PROBES: &[Probe] = &[
    denied("p01 signal a host process", |place| {
        if rustix::process::geteuid().is_root() {
            return Ok(rustix::process::test_kill_process(Pid::from_raw(place.host).unwrap())?);
        }
        // Not one's own, but it is there.
        match rustix::process::test_kill_process(Pid::from_raw(place.host).unwrap()) {
            Err(rustix::io::Errno::PERM) | Ok(()) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }),
    denied_anyway("p02 trace pid 1", |_| ptrace_attach(1)),
    denied_anyway("p03 trace the parent", |_| {
        ptrace_attach(rustix::process::getppid().unwrap().as_raw_pid())
    }),
    denied("p04 trace a child", |_| {
        let Some(child) = fork()? else {
            std::thread::sleep(std::time::Duration::from_secs(5));
            std::process::exit(0);
        };
        let traced = ptrace_attach(child);
        let _ = rustix::process::kill_process(Pid::from_raw(child).unwrap(), Signal::KILL);
        traced
    }),
    denied("p05 read a host process's command line", |place| {
        fs::read(format!("/proc/{}/cmdline", place.host)).map(drop)
    }),
    denied_anyway("p06 open the memory of pid 1", |_| {
        fs::OpenOptions::new().write(true).open("/proc/1/mem").map(drop)
    }),
    denied("p07 see many processes", |_| {
        let numbers = fs::read_dir("/proc")?
            .filter(|entry| {
                let name = entry.as_ref().unwrap().file_name();
                name.to_string_lossy().bytes().all(|byte| byte.is_ascii_digit())
            })
            .count();
        if numbers > 3 { Ok(()) } else { Err(no("only its own")) }
    }),
    denied("p08 unshare a user namespace", |_| {
        call(libc::SYS_unshare, [libc::CLONE_NEWUSER as usize, 0, 0, 0, 0, 0]).map(drop)
    }),
    denied("p09 clone into a user namespace", |_| {
        let flags = libc::CLONE_NEWUSER | libc::SIGCHLD;
        match call(libc::SYS_clone, [flags as usize, 0, 0, 0, 0, 0])? {
            0 => std::process::exit(0),
            _ => Ok(()),
        }
    }),
    denied("p10 clone3", |_| {
        let mut arguments = [0u64; 8];
        arguments[4] = libc::SIGCHLD as u64;
        let pointer = arguments.as_mut_ptr() as usize;
        match call(libc::SYS_clone3, [pointer, size_of_val(&arguments), 0, 0, 0, 0])? {
            0 => std::process::exit(0),
            _ => Ok(()),
        }
    }),
    denied_anyway("p11 mount a tmpfs", |_| {
        let (kind, target) = (c"tmpfs".as_ptr() as usize, c"/tmp".as_ptr() as usize);
        call(libc::SYS_mount, [kind, target, kind, 0, 0, 0]).map(drop)
    }),
    denied_anyway("p11a take a mask off", |place| {
        let path = std::ffi::CString::new(place.rw(".env").as_str()).unwrap();
        call(libc::SYS_umount2, [path.as_ptr() as usize, libc::MNT_DETACH as usize, 0, 0, 0, 0]).map(drop)
    }),
    denied("p12 ask for a key ring", |_| {
        const GET_KEYRING_ID: usize = 0;
        const SESSION: isize = -3;
        call(libc::SYS_keyctl, [GET_KEYRING_ID, SESSION as usize, 1, 0, 0, 0]).map(drop)
    }),
    denied_anyway("p13 load a BPF program", |_| {
        let attributes = [0u64; 16];
        call(libc::SYS_bpf, [5, attributes.as_ptr() as usize, 128, 0, 0, 0]).map(drop)
    }),
    denied("p14 set up an io_uring", |_| {
        let mut parameters = [0u32; 30];
        call(libc::SYS_io_uring_setup, [4, parameters.as_mut_ptr() as usize, 0, 0, 0, 0]).map(drop)
    }),
    denied_anyway("p15 open a performance counter", |_| {
        let mut attributes = [0u32; 32];
        attributes[1] = 128;
        call(libc::SYS_perf_event_open, [attributes.as_ptr() as usize, 0, usize::MAX, usize::MAX, 0, 0])
            .map(drop)
    }),
    denied("p16 open a userfaultfd", |_| {
        const USER_MODE_ONLY: usize = 1;
        call(libc::SYS_userfaultfd, [USER_MODE_ONLY, 0, 0, 0, 0, 0]).map(drop)
    }),
    denied("p17 type into a terminal", |_| {
        // The filter must stop the call before the kernel sees that this is no terminal.
        let fd = fs::File::open("/dev/null")?;
        let number = std::os::fd::AsRawFd::as_raw_fd(&fd) as usize;
        let byte = b"x".as_ptr() as usize;
        match call(libc::SYS_ioctl, [number, libc::TIOCSTI as usize, byte, 0, 0, 0]) {
            Err(error) if error.raw_os_error() == Some(libc::EPERM) => Err(error),
            _ => Ok(()),
        }
    }),
    denied_anyway("p18 make a system call of x32", |_| call(0x4000_0027, [0; 6]).map(drop)),
    denied("p19 open a host process by number", |place| {
        rustix::process::pidfd_open(
            Pid::from_raw(place.host).unwrap(),
            rustix::process::PidfdFlags::empty(),
        )?;
        Ok(())
    }),
    denied_anyway("p20 open a setting of the kernel for writing", |_| {
        for path in ["/proc/sys/kernel/core_pattern", "/proc/sysrq-trigger", "/proc/sys/kernel/pid_max"] {
            if fs::OpenOptions::new().write(true).open(path).is_ok() {
                // Root may do so without walls; nothing is written.
                return Ok(());
            }
        }
        Err(no("none"))
    }),
    denied("p21 see /sys", |_| fs::read_dir("/sys").map(drop)),
    denied_anyway("p23 hold a capability", |_| {
        let status = fs::read_to_string("/proc/self/status")?;
        let sets = status.lines().filter(|line| line.starts_with("Cap"));
        if sets.clone().count() == 5 && sets.clone().all(|line| line.ends_with("\t0000000000000000")) {
            return Err(no("none"));
        }
        Ok(())
    }),
    denied_anyway("p24 gain new privileges", |_| {
        let status = fs::read_to_string("/proc/self/status")?;
        let held = ["NoNewPrivs:\t1", "Seccomp:\t2"].iter().all(|line| status.contains(line));
        if held { Err(no("held")) } else { Ok(()) }
    }),
    denied("p25 read kernel keys and timers", |_| {
        if fs::read("/proc/keys").is_ok() || fs::read("/proc/interrupts").is_ok() {
            Ok(())
        } else {
            Err(no("no"))
        }
    }),
    denied_anyway("p26 kill pid 1", |_| {
        let pid = Pid::from_raw(1).unwrap();
        let _ = rustix::process::kill_process(pid, Signal::KILL);
        let _ = rustix::process::kill_process(pid, Signal::TERM);
        std::thread::sleep(std::time::Duration::from_millis(100));
        Err(no("still here"))
    }),
    denied("p27 use memory that could be executed", |_| {
        rustix::fs::memfd_create("m", rustix::fs::MemfdFlags::empty())?;
        Ok(())
    }),
    denied_anyway("p28 enter another root", |_| {
        let path = c"/".as_ptr() as usize;
        call(libc::SYS_chroot, [path, 0, 0, 0, 0, 0]).map(drop)
    }),
    denied("p29 look at another process's memory", |_| {
        let mut byte = [0u8; 1];
        let iovec = [byte.as_mut_ptr() as usize, 1];
        let pointer = iovec.as_ptr() as usize;
        let me = std::process::id() as usize;
        call(libc::SYS_process_vm_readv, [me, pointer, 1, pointer, 1, 0]).map(drop)
    }),
];

fn ptrace_attach(pid: i32) -> io::Result<()> {
    call(libc::SYS_ptrace, [libc::PTRACE_ATTACH as usize, pid as usize, 0, 0, 0, 0]).map(drop)
}
