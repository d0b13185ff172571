//! Every operation that is not about a path of the plan: what is open to all, to some names, and closed.

use super::{Answers, Difference, ENGINES, PORTS, ReadBack};
use crate::emit::services::{self, Service};
use crate::emit::standing::{KERNEL, OPEN};
use crate::plan::seatbelt::{self as operations, CLOSED_ON_PATHS};
use crate::plan::{self, Operations, Plan};
use crate::policy::{Ipc, Network};
use crate::sbpl::decide::{Address, Fact, Family, Transport};
use crate::sbpl::{Operation, Subject, Verdict};
use std::collections::BTreeSet;

/// A name that no profile grants.
const UNKNOWN: &str = "org.example.granted-to-nobody";

pub fn check(plan: &Plan, read: &ReadBack<'_>) -> Result<(), Difference> {
    let rules: Vec<Service> = services::of(plan).into_iter().flat_map(|services| services.rules).collect();
    for operation in Operation::all().filter(|operation| operation.is_leaf()) {
        standing(operation, &rules, read)?;
    }
    connections(plan, read)?;
    names(plan, &rules, read)?;
    ipc(plan, read)?;
    processes(plan, read)?;
    devices(plan, read)
}

fn expect(
    read: &ReadBack<'_>,
    operation: &str,
    subject: &Subject,
    shown: &str,
    answers: Answers,
) -> Result<(), Difference> {
    let Some(operation) = Operation::named(operation) else {
        return Err(Difference::Unreadable(format!("no operation is called `{operation}`")));
    };
    for engine in ENGINES {
        let decision = read.profile.decide(operation, subject, engine);
        if !answers.hold(decision.verdict) {
            let planned = if answers.allow { "it is open" } else { "it is closed" };
            return Err(read.difference(operation, shown, planned.into(), engine, &decision));
        }
    }
    Ok(())
}

/// Whether an operation is one of `names`, or lies below one.
fn is_in<'a>(operation: Operation, names: impl IntoIterator<Item = &'a str>) -> bool {
    let names: Vec<&str> = names.into_iter().collect();
    operation.ancestry().any(|node| names.contains(&node.name()))
}

/// Of a subject of which nothing is known: what is open whatever it is, what is closed whatever it is.
fn standing(operation: Operation, rules: &[Service], read: &ReadBack<'_>) -> Result<(), Difference> {
    let name = operation.name();
    let on_paths = operations::leaves(Operations::ALL);
    if KERNEL.contains(&name) || on_paths.contains(&name) || CLOSED_ON_PATHS.contains(&name) {
        return Ok(());
    }
    let granted: Vec<&Service> =
        rules.iter().filter(|rule| is_in(operation, rule.operations.iter().copied())).collect();
    let answers = if granted.iter().any(|rule| rule.filter.is_empty()) {
        Answers::ALLOW
    } else if !granted.is_empty() {
        // Some names, and no others.
        for engine in ENGINES {
            let decision = read.profile.decide(operation, &Subject::any(), engine);
            if decision.verdict != Verdict::Unknown {
                let planned = "it is open in part".to_owned();
                return Err(read.difference(operation, "anything", planned, engine, &decision));
            }
        }
        return Ok(());
    } else {
        Answers::only(OPEN.iter().any(|(open, _)| *open == name))
    };
    expect(read, name, &Subject::any(), "anything", answers)
}

/// A unix socket of the system's own that looks up names, which is a way out.
const LOOK_UP: &str = "/private/var/run/mDNSResponder";

/// Over IP all, nothing, or the proxy and the stated ports of this machine; unix sockets are paths.
pub fn connections(plan: &Plan, read: &ReadBack<'_>) -> Result<(), Difference> {
    let open = Answers::only(plan.network == Network::All);
    let mut own = services::ports_of_this_machine(plan);
    if let Network::Only(_) = plan.network {
        own.push(read.port);
    }
    let usual = ends([read.port - 1, read.port + 1].into_iter().chain(PORTS));
    let further = ends(own.iter().flat_map(|port| [port.saturating_sub(1), *port, port.saturating_add(1)]));
    // What one end of a connection is says nothing of the other: beside the usual ones each is asked about with one.
    let remotes = usual.iter().map(|remote| (remote, usual.as_slice()));
    let remotes = remotes.chain(further.iter().map(|remote| (remote, usual.get(..1).unwrap_or_default())));
    let remotes = remotes.chain(usual.first().map(|remote| (remote, further.as_slice())));
    for (remote, locals) in remotes {
        let outbound = if is_one(remote, &own) { Answers::ALLOW } else { open };
        for local in locals {
            let subject = Subject::connection(*local, *remote);
            let shown = format!("a connection from {} to {}", named(local), named(remote));
            expect(read, "network-outbound", &subject, &shown, outbound)?;
            for operation in ["network-inbound", "network-bind"] {
                expect(read, operation, &subject, &shown, open)?;
            }
        }
    }
    let planned = plan.decider().decide(plan::Operation::Connect, LOOK_UP.into()).allowed;
    expect(read, "network-outbound", &Subject::path(LOOK_UP), LOOK_UP, Answers::only(planned))
}

fn is_one(end: &Address, own: &[u16]) -> bool {
    (end.transport, end.loopback) == (Some(Transport::Tcp), Some(true))
        && end.port.is_some_and(|port| own.contains(&port))
}

/// Ends of every kind: at these ports and at some that programs use.
fn ends(ports: impl Iterator<Item = u16>) -> Vec<Address> {
    let ports: BTreeSet<u16> = ports.chain([0, 53, 443]).collect();
    let mut ends = Vec::new();
    for transport in [Transport::Tcp, Transport::Udp] {
        for family in [Family::V4, Family::V6] {
            for loopback in [true, false] {
                ends.extend(ports.iter().map(|&port| Address {
                    transport: Some(transport),
                    family: Some(family),
                    loopback: Some(loopback),
                    port: Some(port),
                }));
            }
        }
    }
    ends
}

fn named(end: &Address) -> String {
    let transport = if end.transport == Some(Transport::Udp) { "UDP" } else { "TCP" };
    let family = if end.family == Some(Family::V6) { "IPv6" } else { "IPv4" };
    let host = if end.loopback == Some(true) { "this machine" } else { "another machine" };
    format!("port {} of {host} ({transport}, {family})", end.port.unwrap_or_default())
}

/// Each name that is granted, and some that are not: above all those that an open network would have.
fn names(plan: &Plan, rules: &[Service], read: &ReadBack<'_>) -> Result<(), Difference> {
    let open = Plan { network: Network::All, ..plan.clone() };
    let open: Vec<Service> = services::of(&open).into_iter().flat_map(|services| services.rules).collect();
    for (operation, attribute) in [
        ("mach-lookup", "global-name"),
        ("mach-register", "global-name"),
        ("sysctl-read", "sysctl-name"),
        ("sysctl-write", "sysctl-name"),
        ("ipc-posix-shm-read-data", "ipc-posix-name"),
    ] {
        let all = rules.iter().any(|rule| rule.filter.is_empty() && rule.operations.contains(&operation));
        if all {
            continue;
        }
        for name in
            [UNKNOWN, "kern.procargs2", "com.apple.securityd", "com.apple.coreservices.launchservicesd"]
        {
            expect(read, operation, &Subject::named(attribute, name), name, Answers::DENY)?;
        }
        for rule in open.iter().filter(|rule| rule.operations.contains(&operation)) {
            let stated = |own: &Service| own.filter == rule.filter && own.operations.contains(&operation);
            let answers = Answers::only(rules.iter().any(stated));
            for (name, is_prefix) in granted(&rule.filter, attribute) {
                let subject = if is_prefix { format!("{name}~fresh") } else { name.to_owned() };
                expect(read, operation, &Subject::named(attribute, subject.as_str()), &subject, answers)?;
            }
        }
    }
    Ok(())
}

/// The texts in filters on an attribute, and whether each is a prefix.
fn granted<'a>(filter: &'a str, attribute: &str) -> Vec<(&'a str, bool)> {
    let part = |part: &'a str| {
        let rest = part.strip_prefix(attribute)?;
        let (rest, is_prefix) = match rest.strip_prefix("-prefix") {
            Some(rest) => (rest, true),
            None => (rest, false),
        };
        Some((rest.split('"').nth(1)?, is_prefix))
    };
    filter.split('(').filter_map(part).collect()
}

fn ipc(plan: &Plan, read: &ReadBack<'_>) -> Result<(), Difference> {
    let memory = Answers::only(plan.ipc == Ipc::SharedMemory);
    let semaphores = Answers::only(plan.needs.iter().any(|need| need == "semaphores"));
    let named = Subject::named("ipc-posix-name", UNKNOWN);
    for operation in Operation::all().filter(|operation| operation.is_leaf()) {
        let name = operation.name();
        let answers = if name.starts_with("ipc-posix-shm-") {
            memory
        } else if name.starts_with("ipc-posix-sem-") {
            semaphores
        } else {
            continue;
        };
        expect(read, name, &named, UNKNOWN, answers)?;
    }
    expect(read, "ipc-posix-issue-extension", &named, UNKNOWN, Answers::DENY)?;
    for (operation, answers) in
        [("ipc-sysv-shm", memory), ("ipc-sysv-sem", semaphores), ("ipc-sysv-msg", Answers::DENY)]
    {
        expect(read, operation, &Subject::any(), "anything", answers)?;
    }
    Ok(())
}

/// What a process may ask of its own kind.
const OWN_PROCESSES: [&str; 6] = [
    "process-info-dirtycontrol",
    "process-info-pidfdinfo",
    "process-info-pidfileportinfo",
    "process-info-pidinfo",
    "process-info-rusage",
    "process-info-setcontrol",
];

/// The command's own processes, and others.
fn processes(plan: &Plan, read: &ReadBack<'_>) -> Result<(), Difference> {
    let sees_all = plan.needs.iter().any(|need| need == "process-list");
    let target = |word: &str| Subject::any().with("target", Fact::Is(word.as_bytes().to_vec()));
    for (word, own) in [("same-sandbox", true), ("others", false), ("initproc", false)] {
        expect(read, "signal", &target(word), word, Answers::only(own))?;
        for operation in OWN_PROCESSES {
            let seen = sees_all && ["process-info-pidinfo", "process-info-rusage"].contains(&operation);
            expect(read, operation, &target(word), word, Answers::only(own || seen))?;
        }
        expect(read, "process-info-codesignature", &target(word), word, Answers::only(own))?;
        expect(read, "process-info-listpids", &target(word), word, Answers::only(sees_all))?;
    }
    Ok(())
}

/// Terminals, the loader's device, and sockets that are no connections.
fn devices(plan: &Plan, read: &ReadBack<'_>) -> Result<(), Difference> {
    let terminal = plan.needs.iter().any(|need| need == "terminal");
    for (path, answers) in [
        ("/dev/dtracehelper", Answers::ALLOW),
        ("/dev/tty", Answers::only(terminal)),
        ("/dev/ptmx", Answers::only(terminal)),
        ("/dev/ttys007", Answers::only(terminal)),
        ("/dev/ttys", Answers::DENY),
        ("/dev/disk0", Answers::DENY),
        ("/private/tmp/dev/ttys007", Answers::DENY),
    ] {
        expect(read, "file-ioctl", &Subject::path(path), path, answers)?;
    }
    let path = "/dev/ttys007";
    let own = Subject::path(path).with("extension", Fact::Is(b"com.apple.sandbox.pty".to_vec()));
    for (operation, ours) in [
        ("file-read-data", plan::Operation::Read),
        ("file-read-metadata", plan::Operation::Metadata),
        ("file-write-data", plan::Operation::Write),
    ] {
        let decision = plan.decider().decide(ours, path.into());
        let answers = if decision.rule.is_some() { Answers::EITHER } else { Answers::only(terminal) };
        expect(read, operation, &own, path, answers)?;
    }
    for (domain, answers) in
        [("AF_ROUTE", Answers::only(plan.network == Network::All)), ("AF_SYSTEM", Answers::DENY)]
    {
        let socket = Subject::any().with("socket-domain", Fact::Is(domain.as_bytes().to_vec()));
        expect(read, "system-socket", &socket, domain, answers)?;
    }
    Ok(())
}
