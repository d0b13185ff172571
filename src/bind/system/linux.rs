//! The Linux base: the system's programs and libraries to read (not to run: that is what tools are for), the few files of
//! /etc that programs need, devices, and /proc of the command's own processes.

use super::{Base, HOME};
use crate::host::resolve::resolve;
use crate::host::{Host, Kind};
use crate::plan::{Operation, Operations, OriginKind, Scope};
use crate::policy::{Ipc, Network};
use camino::Utf8Path;

const READ: Operations = Operations::READING;
const DEVICE: Operations = Operations::of(&[Operation::Read, Operation::Metadata, Operation::Write]);

/// Directories that are links into /usr on a merged system (file-hierarchy(7)) and directories of their own elsewhere.
const BESIDE_USR: [&str; 6] = ["/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"];

/// What is shown of /etc to every command, and why.
const ETC: [(&str, &str); 19] = [
    ("/etc/passwd", "accounts: names of users"),
    ("/etc/group", "accounts: names of groups"),
    ("/etc/nsswitch.conf", "name look-up: which sources are asked"),
    ("/etc/hosts", "name look-up: names of this machine"),
    ("/etc/host.conf", "name look-up: order"),
    ("/etc/networks", "name look-up: names of networks"),
    ("/etc/protocols", "name look-up: names of protocols"),
    ("/etc/services", "name look-up: names of ports"),
    ("/etc/ld.so.cache", "loader: where libraries are"),
    ("/etc/ld.so.conf", "loader: where libraries are"),
    ("/etc/ld.so.conf.d", "loader: where libraries are"),
    ("/etc/localtime", "time zone"),
    ("/etc/timezone", "time zone"),
    ("/etc/locale.alias", "locale names"),
    ("/etc/alternatives", "which of several programs a name means"),
    ("/etc/terminfo", "terminal descriptions"),
    ("/etc/mime.types", "file types by name"),
    ("/etc/os-release", "which system this is"),
    ("/etc/debian_version", "which system this is"),
];

/// What is shown of /etc only to a command with network.
const ETC_NETWORK: [(&str, &str); 2] = [
    ("/etc/resolv.conf", "name look-up: which servers are asked"),
    ("/etc/gai.conf", "name look-up: which addresses are preferred"),
];

/// Where distributions keep the certificates of authorities and the settings of TLS libraries. Not the private keys beside them.
const CERTIFICATES: [&str; 8] = [
    "/etc/ssl/certs",
    "/etc/ssl/cert.pem",
    "/etc/ssl/openssl.cnf",
    "/etc/pki/tls/certs",
    "/etc/pki/tls/cert.pem",
    "/etc/pki/tls/openssl.cnf",
    "/etc/pki/ca-trust/extracted",
    "/etc/crypto-policies",
];

/// Devices that hold nothing (null(4), random(4)).
const DEVICES: [&str; 6] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"];

/// Files of `proc` that tell of the host's kernel, its memory and its keys; OCI runtimes hide the same ones (runtime-spec, "masked paths").
pub const HIDDEN_IN_PROC: [&str; 13] = [
    "acpi",
    "asound",
    "interrupts",
    "kcore",
    "key-users",
    "keys",
    "kpagecount",
    "kpageflags",
    "latency_stats",
    "sched_debug",
    "scsi",
    "timer_list",
    "vmallocinfo",
];

/// The base for a machine, with what the policy's network, ipc and needs add to it.
pub fn base(host: &dyn Host, network: &Network, ipc: Ipc, needs: &[String]) -> Base {
    let mut base = Base::default();
    base.grant("/", Scope::Literal, READ, "the top directory");
    base.grant("/usr", Scope::Subtree, READ, "the system's programs, libraries and data, to read");
    for path in BESIDE_USR {
        let path = Utf8Path::new(path);
        match host.lstat(path) {
            Ok(Some(entry)) if entry.is_directory() => {
                base.grant(path, Scope::Subtree, READ, "the system's programs and libraries, to read");
            }
            // A link into /usr, on a merged system, needs no more than to be there.
            Ok(Some(entry)) if matches!(entry.kind, Kind::Symlink(_)) => match resolve(host, path) {
                Ok(found) if found.canonical.starts_with("/usr") => base.links.extend(found.hops),
                _ => base.grant_resolved(host, path, READ, "the system's programs and libraries, to read"),
            },
            _ => {}
        }
    }
    for (path, reason) in ETC {
        base.grant_resolved(host, Utf8Path::new(path), READ, reason);
    }
    let needs = |name: &str| needs.iter().any(|need| need == name);
    if *network != Network::Off {
        for (path, reason) in ETC_NETWORK {
            base.grant_resolved(host, Utf8Path::new(path), READ, reason);
        }
    }
    if *network != Network::Off || needs("tls") {
        for path in CERTIFICATES {
            base.grant_resolved(
                host,
                Utf8Path::new(path),
                READ,
                "certificates of authorities, settings of TLS",
            );
        }
    }
    for path in DEVICES {
        base.grant(path, Scope::Literal, DEVICE, "a device that keeps nothing");
    }
    for path in ["/dev/fd", "/dev/stdin", "/dev/stdout", "/dev/stderr"] {
        base.grant(path, Scope::Literal, READ, "a link to the command's own open files");
    }
    base.grant("/dev", Scope::Literal, READ, "the devices granted here");
    base.grant("/proc", Scope::Subtree, READ, "the command's own processes, in a /proc of their own");
    base.close("/proc/1", "the first process of the sandbox, which is palisade's own and hidden");
    for name in HIDDEN_IN_PROC {
        base.close(Utf8Path::new("/proc").join(name), "tells of the host's kernel, its memory or its keys");
    }
    base.grant_as(OriginKind::Scratch, HOME, Scope::Literal, READ, "an empty home");
    if ipc == Ipc::SharedMemory || needs("semaphores") {
        // shm_open(3) and sem_open(3) keep theirs here.
        let reason = "shared memory of the command's own, removed afterwards";
        let operations = READ.union(Operations::WRITING);
        base.grant_as(OriginKind::Scratch, "/dev/shm", Scope::Subtree, operations, reason);
    }
    if needs("terminal") {
        let reason = "terminals of the command's own";
        base.grant_as(OriginKind::Need, "/dev/pts", Scope::Subtree, DEVICE, reason);
        base.grant_as(OriginKind::Need, "/dev/ptmx", Scope::Literal, DEVICE, reason);
    }
    if needs("cpu-info") {
        let reason = "the number and kind of processors";
        base.grant_as(OriginKind::Need, "/sys/devices/system/cpu", Scope::Subtree, READ, reason);
    }
    base.grants.dedup_by(|a, b| a.path == b.path && a.scope == b.scope);
    base
}
