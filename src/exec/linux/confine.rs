//! Takes away what the new process could still do inside the new root: capabilities, Landlock, limits, the system call filter.

use super::layout::Layout;
use super::report::{Failure, Stage, Staged};
use crate::manifest::{Limits, Network};
use crate::sys::linux::{filter_that_asks, landlock_version};
use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, PathBeneath, Ruleset, RulesetAttr,
    RulesetCreated, RulesetCreatedAttr, RulesetError, RulesetStatus, Scope, make_bitflags,
};
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{CWD, FileType, Mode, OFlags, ResolveFlags, fcntl_getfl, fstat, openat2};
use rustix::io::Errno;
use rustix::process::{DumpableBehavior, Resource, Rlimit, getrlimit, set_dumpable_behavior, setrlimit};
use rustix::thread::{
    CapabilitiesSecureBits, CapabilitySet, CapabilitySets, capabilities, clear_ambient_capability_set,
    remove_capability_from_bounding_set, set_capabilities, set_capabilities_secure_bits, set_no_new_privs,
};

/// The oldest Landlock that a wall can be built from: the first to know renaming between directories (Linux 5.19).
pub const LANDLOCK_NEEDED: u32 = 2;

/// Drops every capability for good and hides this process's memory from others.
pub fn drop_privileges() -> Result<(), Failure> {
    let bits = CapabilitiesSecureBits::NO_ROOT
        | CapabilitiesSecureBits::NO_ROOT_LOCKED
        | CapabilitiesSecureBits::NO_SETUID_FIXUP
        | CapabilitiesSecureBits::NO_SETUID_FIXUP_LOCKED
        | CapabilitiesSecureBits::KEEP_CAPS_LOCKED
        | CapabilitiesSecureBits::NO_CAP_AMBIENT_RAISE
        | CapabilitiesSecureBits::NO_CAP_AMBIENT_RAISE_LOCKED;
    set_capabilities_secure_bits(bits).at(Stage::Privileges, "secure bits")?;
    for capability in CapabilitySet::all().iter() {
        match remove_capability_from_bounding_set(capability) {
            // One that this kernel does not know.
            Err(Errno::INVAL) => {}
            removed => removed.at(Stage::Privileges, "bounding set")?,
        }
    }
    drop_capabilities()
}

/// The same outside of the sandbox, where an ordinary user has no capability, and may not bound what `no_new_privs` keeps it from gaining.
pub fn drop_own_privileges() -> Result<(), Failure> {
    let held = capabilities(None).at(Stage::Privileges, "capabilities")?;
    if held.effective.contains(CapabilitySet::SETPCAP) { drop_privileges() } else { drop_capabilities() }
}

fn drop_capabilities() -> Result<(), Failure> {
    clear_ambient_capability_set().at(Stage::Privileges, "ambient set")?;
    let none = CapabilitySet::empty();
    set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none })
        .at(Stage::Privileges, "capabilities")?;
    set_no_new_privs(true).at(Stage::Privileges, "no_new_privs")?;
    set_dumpable_behavior(DumpableBehavior::NotDumpable).at(Stage::Privileges, "dumpable")
}

/// Restricts this process and all its children to the layout's rights. Newer rights are used where the kernel has them. `terminal` is one
/// of the command's own, which it may open again.
pub fn restrict_files(layout: &Layout, network: Network, terminal: Option<&OwnedFd>) -> Result<(), Failure> {
    let version = landlock_version().at(Stage::Landlock, "0")?;
    if version < LANDLOCK_NEEDED {
        return Err(Failure { stage: Stage::Landlock, errno: 0, subject: version.to_string() });
    }
    let mut ruleset = ruleset(network).map_err(|error| refused(&error))?;
    let look = AccessFs::ReadFile | AccessFs::ReadDir;
    grant(&mut ruleset, open("/")?, look)?;
    for right in &layout.rights {
        // Reading was granted at the top. The kernel climbs from a file until everything that was asked for is granted: again here it need
        // not climb further, which opening a file in a root spares half of what this wall costs.
        let mut access = if right.directory { look } else { AccessFs::ReadFile.into() };
        if right.write && right.directory {
            access |= make_bitflags!(AccessFs::{
                WriteFile | Truncate | RemoveDir | RemoveFile | MakeDir | MakeReg | MakeFifo | Refer
            });
            if right.links {
                access |= AccessFs::MakeSym;
            }
        } else if right.write {
            access |= AccessFs::WriteFile | AccessFs::Truncate;
        }
        if right.exec {
            access |= AccessFs::Execute;
        }
        if right.device {
            access |= AccessFs::IoctlDev;
        }
        grant(&mut ruleset, open(right.path.as_str())?, access)?;
    }
    grant_streams(&mut ruleset)?;
    if let Some(terminal) = terminal {
        // Where no path leads to it this is refused, and /dev/tty is another way.
        let _ = grant(&mut ruleset, terminal, AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::IoctlDev);
    }
    let status = ruleset.restrict_self().map_err(|error| refused(&error))?;
    if status.ruleset == RulesetStatus::NotEnforced {
        return Err(Failure { stage: Stage::Landlock, errno: 0, subject: "it was not enforced".into() });
    }
    Ok(())
}

fn ruleset(network: Network) -> Result<RulesetCreated, RulesetError> {
    let mut ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(ABI::V2))?
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(ABI::V7))?
        .scope(Scope::from_all(ABI::V7))?;
    if network == Network::Off {
        ruleset = ruleset.handle_access(AccessNet::from_all(ABI::V7))?;
    }
    ruleset.create()
}

/// A program may open its own standard streams again, as `/dev/stderr` does, where they are files of the host.
fn grant_streams(ruleset: &mut RulesetCreated) -> Result<(), Failure> {
    for stream in [rustix::stdio::stdin(), rustix::stdio::stdout(), rustix::stdio::stderr()] {
        let stat = fstat(stream).at(Stage::Landlock, "standard stream")?;
        let kind = FileType::from_raw_mode(stat.st_mode);
        if !matches!(kind, FileType::RegularFile | FileType::CharacterDevice) {
            continue;
        }
        let mode = fcntl_getfl(stream).at(Stage::Landlock, "standard stream")? & OFlags::RWMODE;
        let mut access = BitFlags::EMPTY;
        if mode != OFlags::WRONLY {
            access |= AccessFs::ReadFile;
        }
        if mode != OFlags::RDONLY {
            access |= AccessFs::WriteFile;
        }
        if mode != OFlags::RDONLY && kind == FileType::RegularFile {
            access |= AccessFs::Truncate;
        }
        // A file without a path, as of memfd_create(2), can have no rule, and does not need one.
        let _ = grant(ruleset, stream, access);
    }
    Ok(())
}

fn grant(
    ruleset: &mut RulesetCreated,
    path: impl AsFd,
    access: impl Into<BitFlags<AccessFs>>,
) -> Result<(), Failure> {
    ruleset.add_rule(PathBeneath::new(path, access)).map(drop).map_err(|error| refused(&error))
}

fn open(path: &str) -> Result<OwnedFd, Failure> {
    let resolve = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    openat2(CWD, path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty(), resolve).at(Stage::Landlock, path)
}

fn refused(error: &RulesetError) -> Failure {
    Failure { stage: Stage::Landlock, errno: 0, subject: error.to_string() }
}

/// Lets this program have as many open files as it may: it needs one for each mount point that it keeps an eye on. Gives what the limit
/// was, where it could be raised.
pub fn raise_open_files() -> Option<u64> {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let before = current.filter(|current| maximum.is_none_or(|maximum| *current < maximum))?;
    setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }).ok().map(|()| before)
}

/// Sets the limits that are this process's own, never above what it was given. `open_files` is the limit that the caller had.
pub fn limit(limits: &Limits, open_files: Option<u64>) -> Result<(), Failure> {
    if let Some(current) = open_files {
        let maximum = getrlimit(Resource::Nofile).maximum;
        let before = Rlimit { current: Some(current), maximum };
        setrlimit(Resource::Nofile, before).at(Stage::Limits, "open files")?;
    }
    // pid 1 of the new namespace counts as a process of the user as well.
    let processes = limits.processes.map(|processes| processes.saturating_add(1));
    let seconds = limits.cpu_ms.map(|milliseconds| milliseconds.div_ceil(1000));
    for (name, resource, limit) in [
        ("open files", Resource::Nofile, limits.open_files),
        ("processes", Resource::Nproc, processes),
        ("file size", Resource::Fsize, limits.file_size_bytes),
        ("processor time", Resource::Cpu, seconds),
        // A core file could be written by a helper of the host, outside.
        ("core size", Resource::Core, Some(0)),
    ] {
        let Some(limit) = limit else { continue };
        let hard = getrlimit(resource).maximum;
        let within = |limit: u64| hard.map_or(limit, |hard| hard.min(limit));
        // A second more until the kernel kills without saying why: at the soft limit it sends SIGXCPU.
        let last = if resource == Resource::Cpu { limit.saturating_add(1) } else { limit };
        let limits = Rlimit { current: Some(within(limit)), maximum: Some(within(last)) };
        setrlimit(resource, limits).at(Stage::Limits, name)?;
    }
    Ok(())
}

/// What looking up a name reads (nsswitch.conf(5)): its settings, and the libraries that are loaded for them.
const NAME_LOOKUP: [&str; 9] =
    ["/etc", "/usr", "/lib", "/lib32", "/lib64", "/nix/store", "/run", "/var/lib/sss", "/proc/sys/net"];

/// Restricts a process that only carries connections: it reads what looking up a name takes, and writes and runs nothing.
pub fn restrict_gateway() -> Result<(), Failure> {
    let mut ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(ABI::V2))
        .and_then(|ruleset| {
            ruleset.set_compatibility(CompatLevel::BestEffort).handle_access(AccessFs::from_all(ABI::V7))
        })
        .and_then(|ruleset| ruleset.scope(Scope::Signal))
        .and_then(|ruleset| ruleset.create())
        .map_err(|error| refused(&error))?;
    for path in NAME_LOOKUP {
        let flags = OFlags::PATH | OFlags::CLOEXEC;
        // What this machine lacks needs no right.
        if let Ok(place) = rustix::fs::open(path, flags, Mode::empty()) {
            grant(&mut ruleset, place, AccessFs::ReadFile | AccessFs::ReadDir)?;
        }
    }
    ruleset.restrict_self().map(drop).map_err(|error| refused(&error))
}

/// Loads the filter of a process that only carries connections.
pub fn filter_gateway() -> Result<(), Failure> {
    load(super::seccomp::gateway_filter())
}

/// Loads the system call filter.
pub fn filter(network: Network) -> Result<(), Failure> {
    load(super::seccomp::filter(network, false))
}

/// Loads the one that leaves it to others to connect, and gives where they are asked.
pub fn filter_asking(network: Network) -> Result<OwnedFd, Failure> {
    let Some(program) = super::seccomp::filter(network, true) else {
        return Err(Failure::new(Stage::Filter, Errno::NOSYS, std::env::consts::ARCH));
    };
    // As filters of seccompiler are, which cannot ask: the same instructions.
    let program: Vec<libc::sock_filter> =
        program.iter().map(|op| libc::sock_filter { code: op.code, jt: op.jt, jf: op.jf, k: op.k }).collect();
    filter_that_asks(&program).at(Stage::Filter, "a filter that asks")
}

fn load(program: Option<Vec<seccompiler::sock_filter>>) -> Result<(), Failure> {
    let Some(program) = program else {
        return Err(Failure::new(Stage::Filter, Errno::NOSYS, std::env::consts::ARCH));
    };
    seccompiler::apply_filter(&program).map_err(|error| {
        let errno = match &error {
            seccompiler::Error::Prctl(error) | seccompiler::Error::Seccomp(error) => {
                error.raw_os_error().unwrap_or(0)
            }
            _ => 0,
        };
        Failure { stage: Stage::Filter, errno, subject: error.to_string() }
    })
}
