//! What a program needs that is no path: system services, names of sysctl, itself. The same for every plan, but for its network, its
//! ipc and its `needs`.
//!
//! Services and names are those that the profiles of Chromium, Firefox and WebKit, of agents in the field and the system's own
//! `system.sb` agree on, less what tells of other processes.

use crate::plan::{Plan, hosts};
use crate::policy::host::{Host, Target};
use crate::policy::{HostPattern, Ipc, Network};
use std::collections::{BTreeSet, HashSet};

/// One rule that names no path of the plan, and why it is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Service {
    pub operations: &'static [&'static str],
    /// The filters, written out; empty for all.
    pub filter: String,
    pub reason: &'static str,
}

/// The rules under one title.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Services {
    pub title: String,
    pub rules: Vec<Service>,
}

const START: [(&[&str], &str, &str); 19] = [
    (&["process-fork"], "", "programs start programs"),
    (&["signal"], "(target same-sandbox)", "to the command's own processes"),
    (
        &[
            "process-info-dirtycontrol",
            "process-info-pidfdinfo",
            "process-info-pidfileportinfo",
            "process-info-pidinfo",
            "process-info-rusage",
            "process-info-setcontrol",
        ],
        "(target same-sandbox)",
        "about the command's own processes",
    ),
    (&["process-info-codesignature"], "(target same-sandbox)", "about the command's own processes"),
    (&["file-ioctl"], "(literal \"/dev/dtracehelper\")", "the loader tells of probes"),
    (&["mach-lookup"], "(global-name \"com.apple.system.opendirectoryd.libinfo\")", "who the user is"),
    (&["mach-lookup"], "(global-name \"com.apple.system.DirectoryService.libinfo_v1\")", "who the user is"),
    (
        &["mach-lookup"],
        "(global-name \"com.apple.system.notification_center\")",
        "changes of time zone and settings",
    ),
    (&["mach-lookup"], "(global-name \"com.apple.system.logger\")", "the system's log"),
    (&["mach-lookup"], "(global-name \"com.apple.logd\")", "the system's log"),
    (&["mach-lookup"], "(global-name \"com.apple.logd.events\")", "the system's log"),
    (&["mach-lookup"], "(global-name \"com.apple.diagnosticd\")", "the system's log"),
    (
        &["mach-lookup"],
        "(global-name \"com.apple.cfprefsd.agent\")",
        "settings, which user-preference-read decides",
    ),
    (
        &["mach-lookup"],
        "(global-name \"com.apple.cfprefsd.daemon\")",
        "settings, which user-preference-read decides",
    ),
    (&["mach-lookup"], "(global-name \"com.apple.bsd.dirhelper\")", "where temporary files go"),
    (
        &["mach-lookup"],
        "(global-name \"com.apple.secinitd\")",
        "asked by programs with entitlements as they start",
    ),
    (
        &["ipc-posix-shm-read-data"],
        "(ipc-posix-name \"apple.shm.notification_center\")",
        "changes of time zone and settings",
    ),
    (&["ipc-posix-shm-read-data"], "(ipc-posix-name-prefix \"apple.cfprefs.\")", "changes of settings"),
    (
        &["sysctl-read"],
        "(sysctl-name-prefix \"hw.optional.\") (sysctl-name-prefix \"hw.perflevel\")",
        "what the processor can do",
    ),
];

/// Names of sysctl(3) that loaders, runtimes and shells read as they start. `kern.procargs2`, which shows other processes' arguments
/// and environment, is never among them.
const SYSCTLS: [&str; 75] = [
    "hw.activecpu",
    "hw.busfrequency_compat",
    "hw.byteorder",
    "hw.cacheconfig",
    "hw.cachelinesize",
    "hw.cachelinesize_compat",
    "hw.cachesize",
    "hw.cpu64bit_capable",
    "hw.cpufamily",
    "hw.cpufrequency",
    "hw.cpufrequency_compat",
    "hw.cpusubfamily",
    "hw.cputhreadtype",
    "hw.cputype",
    "hw.l1dcachesize",
    "hw.l1dcachesize_compat",
    "hw.l1icachesize",
    "hw.l1icachesize_compat",
    "hw.l2cachesize",
    "hw.l2cachesize_compat",
    "hw.l3cachesize",
    "hw.l3cachesize_compat",
    "hw.logicalcpu",
    "hw.logicalcpu_max",
    "hw.machine",
    "hw.memsize",
    "hw.memsize_usable",
    "hw.model",
    "hw.ncpu",
    "hw.nperflevels",
    "hw.packages",
    "hw.pagesize",
    "hw.pagesize32",
    "hw.pagesize_compat",
    "hw.physicalcpu",
    "hw.physicalcpu_max",
    "hw.tbfrequency",
    "hw.tbfrequency_compat",
    "hw.targettype",
    "hw.vectorunit",
    "kern.argmax",
    "kern.bootargs",
    "kern.boottime",
    "kern.clockrate",
    "kern.hostname",
    "kern.hv_vmm_present",
    "kern.iossupportversion",
    "kern.maxfiles",
    "kern.maxfilesperproc",
    "kern.maxproc",
    "kern.maxprocperuid",
    "kern.ngroups",
    "kern.osproductversion",
    "kern.osproductversioncompat",
    "kern.osrelease",
    "kern.ostype",
    "kern.osvariant_status",
    "kern.osversion",
    "kern.saved_ids",
    "kern.secure_kernel",
    "kern.securelevel",
    "kern.tcsm_available",
    "kern.tcsm_enable",
    "kern.usrstack64",
    "kern.version",
    "kern.willshutdown",
    "machdep.cpu.brand_string",
    "machdep.ptrauth_enabled",
    "security.mac.lockdown_mode_state",
    "sysctl.name2oid",
    "sysctl.oidfmt",
    "sysctl.proc_cputype",
    "sysctl.proc_native",
    "sysctl.proc_translated",
    "vm.loadavg",
];

const NETWORK: [(&[&str], &str, &str); 12] = [
    (&["network-outbound"], "(remote ip \"*:*\")", "to every host"),
    (&["network-inbound"], "(local ip \"*:*\")", "from every host"),
    (&["network-bind"], "(local ip \"*:*\")", "on every port"),
    (&["system-socket"], "(socket-domain AF_ROUTE)", "which interfaces there are"),
    (&["sysctl-read"], "(sysctl-name-prefix \"net.routetable.\")", "which interfaces there are"),
    (&["necp-client-open"], "", "connections of the system's own network library"),
    (&["system-necp-client-action"], "", "connections of the system's own network library"),
    (&["mach-lookup"], "(global-name \"com.apple.trustd\")", "TLS: which certificates are trusted"),
    (&["mach-lookup"], "(global-name \"com.apple.trustd.agent\")", "TLS: which certificates are trusted"),
    (&["mach-lookup"], "(global-name \"com.apple.SystemConfiguration.configd\")", "proxies and interfaces"),
    (
        &["mach-lookup"],
        "(global-name \"com.apple.SystemConfiguration.DNSConfiguration\")",
        "name look-up: which servers are asked",
    ),
    (
        &["mach-lookup"],
        "(global-name \"com.apple.SystemConfiguration.SCNetworkReachability\")",
        "whether there is a network",
    ),
];

/// Where only some hosts may be reached, all that opens beside stated ports of this machine is the way to the proxy, which looks up names and connects. A filter knows no
/// host but `localhost`, so the rest is the proxy's. `trustd` stays with `needs tls`: what it fetches for others passes no proxy.
const PROXY: [(&[&str], &str, &str); 2] = [
    (
        &["network-outbound"],
        "(remote tcp (string-append \"localhost:\" (param \"PROXY_PORT\")))",
        "to the proxy, which admits the hosts of the profile",
    ),
    (
        &["mach-lookup"],
        "(global-name \"com.apple.SystemConfiguration.configd\")",
        "proxies and interfaces: HTTP libraries abort where nobody answers",
    ),
];

const SHARED_MEMORY: [(&[&str], &str, &str); 2] = [
    (
        &[
            "ipc-posix-shm-read-data",
            "ipc-posix-shm-write-create",
            "ipc-posix-shm-write-data",
            "ipc-posix-shm-write-unlink",
        ],
        "",
        "shm_open(2)",
    ),
    (&["ipc-sysv-shm"], "", "shmget(2)"),
];

/// What a need opens beside paths, which are in the plan.
fn need(name: &str) -> &'static [(&'static [&'static str], &'static str, &'static str)] {
    match name {
        "cpu-info" => &[(
            &["sysctl-read"],
            "(sysctl-name-prefix \"hw.\") (sysctl-name-prefix \"machdep.cpu.\")",
            "the number and kind of processors",
        )],
        "process-list" => &[
            (
                &["process-info-listpids", "process-info-pidinfo", "process-info-rusage"],
                "",
                "which processes run, and what they use",
            ),
            (
                &["sysctl-read"],
                "(sysctl-name-prefix \"kern.proc.\")",
                "about every process, arguments left out",
            ),
            (&["mach-lookup"], "(global-name \"com.apple.sysmond\")", "about every process"),
        ],
        "semaphores" => &[
            (&["ipc-posix-sem*"], "", "sem_open(2)"),
            (&["ipc-sysv-sem"], "", "semget(2)"),
            (&["sysctl-read"], "(sysctl-name-prefix \"kern.sysv.\")", "limits of semget(2)"),
        ],
        "terminal" => &[
            (&["pseudo-tty"], "", "posix_openpt(3)"),
            (
                &["file-ioctl"],
                "(literal \"/dev/tty\") (literal \"/dev/ptmx\") (regex #\"^/dev/ttys[0-9]+$\")",
                "modes and sizes of terminals that are open",
            ),
            (
                &["file-read-data", "file-read-metadata", "file-write-data"],
                "(require-all (regex #\"^/dev/ttys[0-9]+$\") (extension \"com.apple.sandbox.pty\"))",
                "terminals that the command made itself",
            ),
        ],
        "tls" => &[
            (&["mach-lookup"], "(global-name \"com.apple.trustd\")", "which certificates are trusted"),
            (&["mach-lookup"], "(global-name \"com.apple.trustd.agent\")", "which certificates are trusted"),
        ],
        "user-names" => &[
            (
                &["mach-lookup"],
                "(global-name \"com.apple.system.opendirectoryd.libinfo\")",
                "names of users and groups",
            ),
            (
                &["mach-lookup"],
                "(global-name \"com.apple.system.opendirectoryd.membership\")",
                "who is in which group",
            ),
        ],
        _ => &[],
    }
}

/// The ports of this machine that may be connected to, in order. No denial beats one, nor any other port of it.
pub fn ports_of_this_machine(plan: &Plan) -> Vec<u16> {
    let Network::Only(rules) = &plan.network else { return Vec::new() };
    let stated = rules.iter().filter(|rule| rule.is_localhost()).filter_map(|rule| rule.pattern.port);
    let open = |port: &u16| {
        let host = Host::Name(HostPattern::localhost(*port).host);
        hosts::admit(rules, &Target::new(host, *port)).allowed
    };
    stated.filter(open).collect::<BTreeSet<u16>>().into_iter().collect()
}

fn own_ports(plan: &Plan) -> impl Iterator<Item = Service> {
    ports_of_this_machine(plan).into_iter().map(|port| Service {
        operations: &["network-outbound"],
        filter: format!("(remote tcp \"localhost:{port}\")"),
        reason: "a port of this machine, whoever listens there",
    })
}

/// Everything that is no path of the plan, in the order in which it is written.
pub fn of(plan: &Plan) -> Vec<Services> {
    let rules = |list: &[(&'static [&'static str], &str, &'static str)]| -> Vec<Service> {
        list.iter()
            .map(|&(operations, filter, reason)| Service { operations, filter: filter.to_owned(), reason })
            .collect()
    };
    let mut start = rules(&START);
    start.extend(SYSCTLS.map(|name| Service {
        operations: &["sysctl-read"],
        filter: format!("(sysctl-name \"{name}\")"),
        reason: "",
    }));
    let network = match plan.network {
        Network::All => rules(&NETWORK),
        Network::Only(_) => rules(&PROXY).into_iter().chain(own_ports(plan)).collect(),
        Network::Off => Vec::new(),
    };
    let memory = match plan.ipc {
        Ipc::SharedMemory => rules(&SHARED_MEMORY),
        Ipc::Off => Vec::new(),
    };
    let mut services = vec![
        Services { title: "what every program needs to start, beside paths".into(), rules: start },
        Services { title: "network".into(), rules: network },
        Services { title: "shared memory".into(), rules: memory },
    ];
    services.extend(
        plan.needs
            .iter()
            .map(|name| Services { title: format!("needs {name}, beside paths"), rules: rules(need(name)) }),
    );
    // What is open already is not said again.
    let mut said: HashSet<(&[&str], String)> = HashSet::new();
    for part in &mut services {
        part.rules.retain(|rule| said.insert((rule.operations, rule.filter.clone())));
    }
    services.retain(|part| !part.rules.is_empty() || !part.title.starts_with("needs "));
    services
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_need_is_known_and_sysctls_are_sorted() {
        for known in crate::policy::needs::NEEDS {
            assert!(!need(known.name).is_empty(), "{}", known.name);
        }
        assert!(need("TLS").is_empty());
        assert!(SYSCTLS.iter().all(|name| !name.starts_with("kern.proc")));
    }
}
