//! What each wall is called, what was tried where it holds, and what is lost without it.

use super::observation::Wall;

/// What is said of a wall.
#[derive(Debug, Clone, Copy)]
pub struct About {
    /// A name for machines.
    pub name: &'static str,
    /// At most 18 characters.
    pub title: &'static str,
    pub tried: &'static str,
    pub lost: &'static str,
}

/// The first Landlock that has all that is asked of it (Linux 6.12). Version 7 only adds logging.
pub const FULL_LANDLOCK: u32 = 6;

/// What each version of Landlock brought, the Linux that did (landlock(7)), and what is lost without it.
pub const LANDLOCK_LEVELS: [(u32, &str, &str); 4] = [
    (3, "6.2", "truncating is left to read-only mounts"),
    (4, "6.7", "TCP is left to the network namespace and the system call filter"),
    (5, "6.10", "ioctl(2) on devices is left to the mounts, which show harmless ones only"),
    (6, "6.12", "signals and abstract sockets are left to the namespaces and the filter"),
];

const ALL: &str = "every profile";

impl Wall {
    pub fn about(self) -> About {
        let (name, title, tried, lost) = match self {
            Self::UserNamespace => {
                ("user-namespace", "user namespace", "this user mapped, a tmpfs mounted inside", ALL)
            }
            Self::PidNamespace => ("pid-namespace", "pid namespace", "a new one, not the one outside", ALL),
            Self::NetworkNamespace => (
                "network-namespace",
                "network namespace",
                "a new one, not the one outside",
                "profiles with `network off`",
            ),
            Self::IpcNamespace => ("ipc-namespace", "IPC namespace", "a new one, not the one outside", ALL),
            Self::UtsNamespace => ("uts-namespace", "UTS namespace", "a new one, not the one outside", ALL),
            Self::CgroupNamespace => {
                ("cgroup-namespace", "cgroup namespace", "a new one, not the one outside", ALL)
            }
            Self::PathResolution => ("path-resolution", "path resolution", "a symlink was not followed", ALL),
            Self::Mounts => ("mounts", "mounts", "a new root, read-only where it was made so", ALL),
            Self::Proc => ("proc", "fresh /proc", "shows the sandbox's processes only", ALL),
            Self::NestedNamespaces => {
                ("nested-namespaces", "nested namespaces", "none can be made inside", ALL)
            }
            Self::ProcessLimit => (
                "process-limit",
                "process limit",
                "starting more was refused",
                "profiles that limit `processes`",
            ),
            Self::Privileges => ("privileges", "privileges", "no capability is left", ALL),
            Self::Landlock => ("landlock", "Landlock", "writing what is not granted was refused", ALL),
            Self::Filter => ("filter", "system call filter", "a call that it forbids was refused", ALL),
            Self::Watch => (
                "watch",
                "directory watch",
                "a change in a directory was told",
                "profiles with anything denied or guarded: a replacement on the host would go unnoticed",
            ),
            Self::MountTable => (
                "mount-table",
                "mount table watch",
                "a new mount was told",
                "profiles with anything denied or guarded: a replacement on the host would go unnoticed",
            ),
            Self::Placeholders => (
                "placeholders",
                "placeholders",
                "a directory stood for a missing path",
                "profiles that deny or guard a missing path in a writable root",
            ),
            Self::State => (
                "state",
                "state directory",
                "a record was written and removed",
                "the record by which the next run removes what a killed one left; until the same profile runs again, its \
                 empty directories stay",
            ),
            Self::Terminals => {
                ("terminals", "terminals", "a /dev/pts of its own", "profiles with `needs terminal`")
            }
            Self::SandboxExec => ("sandbox-exec", "sandbox-exec", "it is there and starts", ALL),
            Self::Seatbelt => {
                ("seatbelt", "Seatbelt", "a profile was applied, and what it denies was refused", ALL)
            }
            Self::Trial => ("trial", "trial sandbox", "a command ran in it, and every wall held", ALL),
        };
        About { name, title, tried, lost }
    }
}
