//! The system call filter: what no sandboxed command needs and a kernel has often been attacked through, or what would go around the mounts.
//!
//! Everything else is allowed: files are the mounts' and Landlock's matter. The program is a binary search over the numbers, so that the
//! kernel, which tries every number when it loads a filter, is done in a tenth of the time that a linear list takes.

mod program;

use crate::manifest::Network;
use program::compile;
use seccompiler::sock_filter;

/// The highest system call number this list was made against (`file_setattr`, Linux 6.17); numbers of 424 and above are the same on
/// all architectures. Later calls, and those of x32, do not exist in here.
const LAST_KNOWN: u32 = 469;

const OPEN_TREE_ATTR: i64 = 467;
const FCHMODAT2: i64 = 452;
const MEMFD_NOEXEC_SEAL: u32 = 8;
const CLONE_NEW: u32 = (libc::CLONE_NEWNS
    | libc::CLONE_NEWCGROUP
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUSER
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWNET) as u32;

/// What the filter does with a system call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Action {
    /// It fails with this error number.
    Fail(i32),
    /// It is allowed where all tests of one of the alternatives hold, and fails with `EPERM` otherwise.
    Only(&'static [&'static [Test]]),
    /// The supervisor is asked, and does it in the command's stead.
    Ask,
}

/// Whether the low 32 bits of an argument, masked, are one of some values; or, with `not`, are none of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Test {
    argument: u32,
    mask: u32,
    values: &'static [u32],
    not: bool,
}

const fn is(argument: u32, values: &'static [u32]) -> Test {
    Test { argument, mask: u32::MAX, values, not: false }
}

const fn masked(argument: u32, mask: u32, values: &'static [u32]) -> Test {
    Test { argument, mask, values, not: false }
}

const fn is_not(argument: u32, values: &'static [u32]) -> Test {
    Test { argument, mask: u32::MAX, values, not: true }
}

const STREAM_OR_DATAGRAM: Test = masked(1, 0xf, &[libc::SOCK_STREAM as u32, libc::SOCK_DGRAM as u32]);

/// TCP and UDP, and the routing socket that the C library's name look-up asks for the local addresses.
const INTERNET: Action = Action::Only(&[INTERNET_SOCKETS, ROUTING]);
const INTERNET_SOCKETS: &[Test] = &[
    is(0, &[libc::AF_INET as u32, libc::AF_INET6 as u32]),
    STREAM_OR_DATAGRAM,
    is(2, &[0, libc::IPPROTO_TCP as u32, libc::IPPROTO_UDP as u32]),
];
const ROUTING: &[Test] = &[is(0, &[libc::AF_NETLINK as u32]), is(2, &[libc::NETLINK_ROUTE as u32])];

/// Streams only: a datagram can be aimed at any socket's path by each send (unix(7)), and `connect`, which is asked about, is not needed.
const UNIX: &[Test] = &[
    is(0, &[libc::AF_UNIX as u32]),
    masked(1, 0xf, &[libc::SOCK_STREAM as u32, libc::SOCK_SEQPACKET as u32]),
];
const ONLY_UNIX: Action = Action::Only(&[UNIX]);
const INTERNET_AND_UNIX: Action = Action::Only(&[INTERNET_SOCKETS, ROUTING, UNIX]);

/// No new namespaces.
const CLONE: Action = Action::Only(&[&[masked(0, CLONE_NEW, &[0])]]);
/// Memory files are on no mount: without the seal they could be executed.
const MEMFD: Action = Action::Only(&[&[masked(1, MEMFD_NOEXEC_SEAL, &[MEMFD_NOEXEC_SEAL])]]);
/// Not what puts input into a terminal as if it had been typed.
const IOCTL: Action = Action::Only(&[&[is_not(1, &[libc::TIOCSTI as u32, libc::TIOCLINUX as u32])]]);
/// Pairs stay connected to each other, but for datagram ones: those can be aimed at any socket's path (unix(7)). `SOCK_RAW` is the same.
const SOCKETPAIR: Action = Action::Only(&[&[
    is(0, &[libc::AF_UNIX as u32]),
    masked(1, 0xf, &[libc::SOCK_STREAM as u32, libc::SOCK_SEQPACKET as u32]),
]]);

const SET_ID: u32 = libc::S_ISUID | libc::S_ISGID;
const MAKES: u32 = (libc::O_CREAT | (libc::O_TMPFILE & !libc::O_DIRECTORY)) as u32;

/// No program that runs as its owner: behind walls it would gain nothing, and outside it would be somebody else's power.
const MODE_1: Action = Action::Only(&[&[masked(1, SET_ID, &[0])]]);
const MODE_2: Action = Action::Only(&[&[masked(2, SET_ID, &[0])]]);
/// A rename leaves nothing behind: what it can leave is a device by which overlayfs(5) hides what lies below it (rename(2)).
const RENAME: Action = Action::Only(&[&[masked(4, libc::RENAME_WHITEOUT, &[0])]]);
/// Where a call opens what is there, its mode means nothing and may be anything.
#[cfg(target_arch = "x86_64")]
const OPEN: Action = Action::Only(&[&[masked(1, MAKES, &[0])], &[masked(2, SET_ID, &[0])]]);
const OPENAT: Action = Action::Only(&[&[masked(2, MAKES, &[0])], &[masked(3, SET_ID, &[0])]]);

const DENIED: Action = Action::Fail(libc::EPERM);
/// Programs that find a call missing use an older one.
const MISSING: Action = Action::Fail(libc::ENOSYS);

/// The list, unordered. `unix` is whether some unix sockets may be connected to.
fn actions(network: Network, unix: bool) -> Vec<(i64, Action)> {
    let mut actions: Vec<(i64, Action)> = [
        // Mounts and namespaces: the walls themselves.
        libc::SYS_mount,
        libc::SYS_umount2,
        libc::SYS_pivot_root,
        libc::SYS_chroot,
        libc::SYS_fsopen,
        libc::SYS_fsconfig,
        libc::SYS_fsmount,
        libc::SYS_fspick,
        libc::SYS_open_tree,
        OPEN_TREE_ATTR,
        libc::SYS_move_mount,
        libc::SYS_mount_setattr,
        libc::SYS_unshare,
        libc::SYS_setns,
        libc::SYS_open_by_handle_at,
        // Other processes' memory and descriptors.
        libc::SYS_ptrace,
        libc::SYS_process_vm_readv,
        libc::SYS_process_vm_writev,
        libc::SYS_process_madvise,
        libc::SYS_pidfd_getfd,
        libc::SYS_kcmp,
        // Large parts of the kernel that need no more than a call to reach.
        libc::SYS_bpf,
        libc::SYS_perf_event_open,
        libc::SYS_userfaultfd,
        libc::SYS_add_key,
        libc::SYS_request_key,
        libc::SYS_keyctl,
        libc::SYS_fanotify_init,
        libc::SYS_fanotify_mark,
        libc::SYS_memfd_secret,
        // The machine.
        libc::SYS_kexec_load,
        libc::SYS_kexec_file_load,
        libc::SYS_init_module,
        libc::SYS_finit_module,
        libc::SYS_delete_module,
        libc::SYS_reboot,
        libc::SYS_swapon,
        libc::SYS_swapoff,
        libc::SYS_acct,
        libc::SYS_quotactl,
        libc::SYS_quotactl_fd,
        libc::SYS_syslog,
        libc::SYS_settimeofday,
        libc::SYS_clock_settime,
        libc::SYS_sethostname,
        libc::SYS_setdomainname,
        libc::SYS_vhangup,
        libc::SYS_nfsservctl,
    ]
    .into_iter()
    .map(|number| (number, DENIED))
    .collect();
    #[cfg(target_arch = "x86_64")]
    actions.extend(
        [
            libc::SYS_iopl,
            libc::SYS_ioperm,
            libc::SYS_modify_ldt,
            libc::SYS_uselib,
            libc::SYS__sysctl,
            libc::SYS_ustat,
            libc::SYS_sysfs,
        ]
        .map(|number| (number, DENIED)),
    );
    #[cfg(target_arch = "x86_64")]
    actions.extend([
        (libc::SYS_chmod, MODE_1),
        (libc::SYS_creat, MODE_1),
        (libc::SYS_mknod, MODE_1),
        (libc::SYS_open, OPEN),
    ]);
    actions.extend([
        // Its flags lie in memory, where a filter cannot look.
        (libc::SYS_clone3, MISSING),
        // Does what other calls do, unseen by a filter.
        (libc::SYS_io_uring_setup, MISSING),
        (libc::SYS_io_uring_enter, MISSING),
        (libc::SYS_io_uring_register, MISSING),
        // Its mode lies in memory too.
        (libc::SYS_openat2, MISSING),
        (libc::SYS_fchmod, MODE_1),
        (libc::SYS_fchmodat, MODE_2),
        (FCHMODAT2, MODE_2),
        (libc::SYS_mknodat, MODE_2),
        (libc::SYS_renameat2, RENAME),
        (libc::SYS_openat, OPENAT),
        (libc::SYS_clone, CLONE),
        (libc::SYS_memfd_create, MEMFD),
        (libc::SYS_ioctl, IOCTL),
        (libc::SYS_socketpair, SOCKETPAIR),
        (
            libc::SYS_socket,
            match (network, unix) {
                (Network::Off, false) => DENIED,
                (Network::Off, true) => ONLY_UNIX,
                (Network::All | Network::Only, false) => INTERNET,
                (Network::All | Network::Only, true) => INTERNET_AND_UNIX,
            },
        ),
    ]);
    if unix {
        actions.push((libc::SYS_connect, Action::Ask));
    }
    actions
}

/// What carries connections runs no program, and has no part in any other process.
fn gateway_actions() -> Vec<(i64, Action)> {
    let mut actions = actions(Network::All, false);
    let own =
        [libc::SYS_execve, libc::SYS_execveat, libc::SYS_kill, libc::SYS_tkill, libc::SYS_pidfd_send_signal];
    actions.extend(own.map(|number| (number, DENIED)));
    // It asks the name services of the host, which are behind sockets of every kind.
    actions.retain(|(number, _)| ![libc::SYS_socket, libc::SYS_socketpair].contains(number));
    actions
}

/// The filter of the gateway.
pub fn gateway_filter() -> Option<Vec<sock_filter>> {
    Some(compile(ARCHITECTURE?, LAST_KNOWN, &gateway_actions()))
}

/// linux/audit.h
const ARCHITECTURE: Option<u32> = if cfg!(target_arch = "x86_64") {
    Some(0xC000_003E)
} else if cfg!(target_arch = "aarch64") {
    Some(0xC000_00B7)
} else {
    None
};

/// The filter for this machine's architecture, or `None` where there is none. With `unix`, whoever loads it gets to answer for `connect`.
pub fn filter(network: Network, unix: bool) -> Option<Vec<sock_filter>> {
    Some(compile(ARCHITECTURE?, LAST_KNOWN, &actions(network, unix)))
}
