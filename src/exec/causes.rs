//! Where a refusal of the kernel usually comes from: facts that this process can read of its surroundings, each with its source.
//!
//! Nothing is concluded from them about what the kernel gives. They are read once something was refused, to say what to do, and by
//! `palisade doctor`.

/// A fact about the surroundings that changes what there is to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cause {
    /// AppArmor takes away from unprivileged user namespaces what they are for (Ubuntu 23.10 and later).
    AppArmor,
    /// Debian's own switch for unprivileged user namespaces is off.
    UsernsOff,
    /// No user namespace may be made here (user_namespaces(7), `max_user_namespaces` in namespaces(7)).
    NoneAllowed,
    /// A system call filter is loaded already (`Seccomp` in proc_pid_status(5)).
    Filtered,
    /// A sandbox that forbids another one in it, as palisade's own does.
    Sandboxed,
    /// What says so: a file or a variable.
    Container(String),
    /// The first thing mounted below /proc.
    MaskedProc(String),
    /// The kernel's release.
    Wsl(String),
    /// In a chroot there is no user namespace to be had (EPERM in clone(2)).
    Chroot,
}

impl Cause {
    /// A name for machines.
    pub fn name(&self) -> &'static str {
        match self {
            Self::AppArmor => "apparmor",
            Self::UsernsOff => "userns-off",
            Self::NoneAllowed => "no-user-namespaces",
            Self::Filtered => "filtered",
            Self::Sandboxed => "sandboxed",
            Self::Container(_) => "container",
            Self::MaskedProc(_) => "masked-proc",
            Self::Wsl(_) => "wsl",
            Self::Chroot => "chroot",
        }
    }

    /// What was read, and where.
    pub fn fact(&self) -> String {
        match self {
            Self::AppArmor => "kernel.apparmor_restrict_unprivileged_userns is 1".into(),
            Self::UsernsOff => "kernel.unprivileged_userns_clone is 0".into(),
            Self::NoneAllowed => "/proc/sys/user/max_user_namespaces is 0".into(),
            Self::Filtered => "/proc/self/status has `Seccomp: 2`".into(),
            Self::Sandboxed => {
                "/proc/sys/user/max_user_namespaces is 0, and /proc/self/status has `Seccomp: 2` and `NoNewPrivs: 1`".into()
            }
            Self::Container(evidence) => evidence.clone(),
            Self::MaskedProc(place) => format!("/proc/self/mountinfo has a mount at {place}"),
            Self::Wsl(release) => format!("/proc/sys/kernel/osrelease is `{release}`"),
            Self::Chroot => "/proc/self/mountinfo has no mount at `/`".into(),
        }
    }

    /// What it means for a sandbox.
    pub fn meaning(&self) -> &'static str {
        match self {
            Self::AppArmor => {
                "AppArmor: a program without a profile that allows `userns` gets a user namespace in which it may do nothing"
            }
            Self::UsernsOff => "unprivileged user namespaces are switched off",
            Self::NoneAllowed => "no user namespace may be made here",
            Self::Filtered => {
                "a system call filter: whoever started this program decides which calls it may make"
            }
            Self::Sandboxed => {
                "a sandbox that forbids another one in it, as palisade's own does: run palisade outside of it"
            }
            Self::Container(_) => "a container: what it was started with decides what is there",
            Self::MaskedProc(_) => "a partly masked /proc: the kernel refuses a fresh one then",
            Self::Wsl(_) => {
                "Windows Subsystem for Linux: Landlock does nothing on drives of Windows (/mnt/c), so keep roots off them"
            }
            Self::Chroot => "a chroot: the kernel gives no user namespace in one",
        }
    }
}

/// All that was found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Causes(Vec<Cause>);

impl Causes {
    /// Reads them of this machine.
    pub fn read() -> Self {
        Self::of(
            &|path| std::fs::read_to_string(path).ok(),
            &|path| std::path::Path::new(path).exists(),
            std::env::var("container").ok().filter(|value| !value.is_empty()),
        )
    }

    /// The causes that these texts tell of. `text` is what a file holds, `exists` whether it is there, `variable` is `$container`
    /// (container interface of systemd, which Podman and LXC follow).
    pub fn of(
        text: &dyn Fn(&str) -> Option<String>,
        exists: &dyn Fn(&str) -> bool,
        variable: Option<String>,
    ) -> Self {
        let is = |path: &str, value: &str| text(path).is_some_and(|text| text.trim() == value);
        let status = text("/proc/self/status").unwrap_or_default();
        let has = |name: &str, value: &str| {
            status
                .lines()
                .filter_map(|line| line.split_once(':'))
                .any(|(key, rest)| key == name && rest.trim() == value)
        };
        let mut found = Vec::new();
        let mut add = |holds: bool, cause: Cause| {
            if holds {
                found.push(cause);
            }
        };
        add(is("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1"), Cause::AppArmor);
        add(is("/proc/sys/kernel/unprivileged_userns_clone", "0"), Cause::UsernsOff);
        let none_allowed = is("/proc/sys/user/max_user_namespaces", "0");
        let filtered = has("Seccomp", "2");
        let sandboxed = none_allowed && filtered && has("NoNewPrivs", "1");
        add(sandboxed, Cause::Sandboxed);
        add(none_allowed && !sandboxed, Cause::NoneAllowed);
        add(filtered && !sandboxed, Cause::Filtered);
        if let Some(file) = ["/.dockerenv", "/run/.containerenv", "/run/systemd/container"]
            .into_iter()
            .find(|file| exists(file))
        {
            add(true, Cause::Container(format!("`{file}` is there")));
        } else if let Some(value) = variable {
            add(true, Cause::Container(format!("$container is `{value}`")));
        }
        if let Some(release) = text("/proc/sys/kernel/osrelease")
            && release.to_ascii_lowercase().contains("microsoft")
        {
            add(true, Cause::Wsl(release.trim().to_owned()));
        }
        let mounts = text("/proc/self/mountinfo").unwrap_or_default();
        // The fifth field is the mount point, as this process sees it (proc_pid_mountinfo(5)).
        let places: Vec<&str> = mounts.lines().filter_map(|line| line.split(' ').nth(4)).collect();
        add(!places.is_empty() && !places.contains(&"/"), Cause::Chroot);
        // What is mounted there by default shows nothing that a fresh /proc would not.
        let masks = |place: &&&str| place.starts_with("/proc/") && **place != "/proc/sys/fs/binfmt_misc";
        if let Some(place) = places.iter().find(masks) {
            add(true, Cause::MaskedProc((*place).to_owned()));
        }
        Self(found)
    }

    pub fn all(&self) -> &[Cause] {
        &self.0
    }

    pub fn has(&self, cause: &Cause) -> bool {
        self.0.contains(cause)
    }

    pub fn is_container(&self) -> bool {
        self.0.iter().any(|cause| matches!(cause, Cause::Container(_)))
    }
}

impl<const N: usize> From<[Cause; N]> for Causes {
    fn from(causes: [Cause; N]) -> Self {
        Self(causes.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(files: &[(&str, &str)], variable: Option<&str>) -> Vec<Cause> {
        let text =
            |path: &str| files.iter().find(|(name, _)| *name == path).map(|(_, text)| (*text).to_owned());
        Causes::of(&text, &|path| text(path).is_some(), variable.map(str::to_owned)).0
    }

    const ROOT: &str = "22 1 254:0 / / rw - ext4 /dev/vda rw\n23 22 0:21 / /proc rw - proc proc rw\n";

    #[test]
    fn an_ordinary_machine_has_none() {
        let files = [
            ("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "0\n"),
            ("/proc/sys/kernel/unprivileged_userns_clone", "1\n"),
            ("/proc/sys/user/max_user_namespaces", "63000\n"),
            ("/proc/self/status", "Name:\tpalisade\nNoNewPrivs:\t0\nSeccomp:\t0\n"),
            ("/proc/sys/kernel/osrelease", "6.12.1-amd64\n"),
            ("/proc/self/mountinfo", ROOT),
        ];
        assert_eq!(of(&files, None), []);
        assert_eq!(of(&[], None), [], "what cannot be read is no fact");
    }

    #[test]
    fn each_fact_gives_its_cause() {
        let binfmt = format!("{ROOT}30 23 0:30 / /proc/sys/fs/binfmt_misc rw - autofs systemd-1 rw\n");
        let masked = format!("{binfmt}31 23 0:5 /null /proc/kcore rw - devtmpfs devtmpfs rw\n");
        let chroot = "23 22 0:21 / /proc rw - proc proc rw\n";
        for (file, text, cause) in [
            ("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1\n", Some(Cause::AppArmor)),
            ("/proc/sys/kernel/unprivileged_userns_clone", "0\n", Some(Cause::UsernsOff)),
            ("/proc/sys/user/max_user_namespaces", "0\n", Some(Cause::NoneAllowed)),
            ("/proc/self/status", "Seccomp:\t2\n", Some(Cause::Filtered)),
            ("/proc/self/status", "Seccomp_filters:\t2\n", None),
            ("/.dockerenv", "", Some(Cause::Container("`/.dockerenv` is there".into()))),
            ("/run/.containerenv", "", Some(Cause::Container("`/run/.containerenv` is there".into()))),
            (
                "/proc/sys/kernel/osrelease",
                "5.15.167.4-microsoft-standard-WSL2\n",
                Some(Cause::Wsl("5.15.167.4-microsoft-standard-WSL2".into())),
            ),
            ("/proc/self/mountinfo", &binfmt, None),
            ("/proc/self/mountinfo", &masked, Some(Cause::MaskedProc("/proc/kcore".into()))),
            ("/proc/self/mountinfo", chroot, Some(Cause::Chroot)),
        ] {
            assert_eq!(of(&[(file, text)], None), Vec::from_iter(cause), "{file}: {text}");
        }
        assert_eq!(of(&[], Some("podman")), [Cause::Container("$container is `podman`".into())]);
    }

    #[test]
    fn a_sandbox_of_ours_is_one_cause_not_two() {
        let files = [
            ("/proc/sys/user/max_user_namespaces", "0\n"),
            ("/proc/self/status", "NoNewPrivs:\t1\nSeccomp:\t2\n"),
        ];
        assert_eq!(of(&files, None), [Cause::Sandboxed]);
    }
}
