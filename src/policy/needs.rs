//! What `needs` can name. A closed list: each is a thing that programs are known to fail without, and what it opens is known on
//! each system.

/// One named capability.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Need {
    pub name: &'static str,
    /// What it is for, in one line.
    pub summary: &'static str,
    /// What it opens on macOS.
    pub macos: &'static str,
    /// What it opens on Linux.
    pub linux: &'static str,
}

/// Every capability, sorted by name.
pub const NEEDS: [Need; 6] = [
    Need {
        name: "cpu-info",
        summary: "the number and kind of processors, as Node's `os.cpus()` and thread pools ask for them",
        macos: "reading the `hw.*` and `machdep.cpu.*` names of sysctl(3)",
        linux: "reading /sys/devices/system/cpu; /proc/cpuinfo can be read without it",
    },
    Need {
        name: "process-list",
        summary: "seeing which processes run, as `ps` and `pgrep` do",
        macos: "which processes run and what they use (`process-info-listpids`, `-pidinfo`, `-rusage`), the `kern.proc.*` names of sysctl(3), which hold no arguments, and the service com.apple.sysmond; not `ps` itself, which is set-user-ID",
        linux: "nothing more: /proc shows the command's own processes, and no others exist there",
    },
    Need {
        name: "semaphores",
        summary: "named semaphores, as Python's multiprocessing and LMDB use them",
        macos: "POSIX and System V semaphores, and reading the `kern.sysv.*` names of sysctl(3)",
        linux: "a /dev/shm of the command's own, where sem_open(3) keeps them; System V ones are its own without it",
    },
    Need {
        name: "terminal",
        summary: "the terminal: raw mode, window size, and making pseudo-terminals",
        macos: "/dev/ptmx, `pseudo-tty`, the terminals that the command makes itself (extension com.apple.sandbox.pty), and ioctl(2) on terminals it has open: it may also type into its own (TIOCSTI)",
        linux: "/dev/ptmx and a /dev/pts of the command's own, to make pseudo-terminals in and to find terminals by name; the one that a command is used at is its own without it",
    },
    Need {
        name: "tls",
        summary: "the system's own certificate check, without which Go programs on a Mac fail with an x509 error",
        macos: "the services com.apple.trustd and com.apple.trustd.agent, and reading /private/etc/ssl",
        linux: "reading the certificates of authorities in /etc/ssl and /etc/pki, also without network",
    },
    Need {
        name: "user-names",
        summary: "names of users and groups for their numbers, as `ls -l` and `git` ask for them",
        macos: "the services com.apple.system.opendirectoryd.libinfo, which every program may ask, and com.apple.system.opendirectoryd.membership",
        linux: "nothing more: /etc/passwd, /etc/group and /etc/nsswitch.conf can be read without it",
    },
];

/// The capability of that name.
pub fn named(name: &str) -> Option<&'static Need> {
    NEEDS.iter().find(|need| need.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_sorted_and_documented() {
        assert!(NEEDS.windows(2).all(|pair| pair[0].name < pair[1].name));
        for need in NEEDS {
            assert!(!need.summary.is_empty() && !need.macos.is_empty() && !need.linux.is_empty());
            assert_eq!(named(need.name), Some(&need));
        }
        assert_eq!(named("TLS"), None);
    }
}
