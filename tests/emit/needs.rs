//! What `needs`, `network` and `ipc` open on a Mac, and what they do not.

use crate::plans::read;
use crate::road::{mac, walk};
use palisade::emit;
use palisade::pipeline;
use palisade::plan::Operation;
use palisade::sbpl::decide::{Address, Fact};
use palisade::sbpl::{Engine, Operation as Leaf, Profile, Subject, Verdict};

fn profile(statements: &str) -> Profile {
    let walked =
        walk(&mac(), &format!("root \"$workspace\" read-only\ndeny \"$workspace/.env\"\n{statements}"));
    assert_eq!(walked.errors(), [""; 0]);
    pipeline::compile(&walked.sources, walked.bound(), &mac(), "case.sb").unwrap().unwrap();
    read(walked.plan(), &emit::seatbelt(walked.plan(), "case").unwrap())
}

fn allows(profile: &Profile, operation: &str, subject: &Subject) -> bool {
    let operation = Leaf::named(operation).unwrap();
    profile.decide(operation, subject, Engine::PerOperation).verdict == Verdict::Allow
}

fn service(name: &str) -> Subject {
    Subject::named("global-name", name)
}

fn setting(name: &str) -> Subject {
    Subject::named("sysctl-name", name)
}

#[test]
fn each_need_opens_what_it_says_and_nothing_is_open_without() {
    let others = || Subject::any().with("target", Fact::Is(b"others".to_vec()));
    let own_terminal =
        || Subject::path("/dev/ttys004").with("extension", Fact::Is(b"com.apple.sandbox.pty".to_vec()));
    let cases: [(&str, &str, Subject); 13] = [
        ("needs cpu-info", "sysctl-read", setting("hw.cpufrequency_max")),
        ("needs cpu-info", "sysctl-read", setting("machdep.cpu.core_count")),
        ("needs process-list", "process-info-pidinfo", others()),
        ("needs process-list", "process-info-listpids", others()),
        ("needs process-list", "mach-lookup", service("com.apple.sysmond")),
        ("needs semaphores", "ipc-posix-sem-open", Subject::named("ipc-posix-name", "/mp-1")),
        ("needs semaphores", "ipc-sysv-sem", Subject::any()),
        ("needs terminal", "pseudo-tty", Subject::any()),
        ("needs terminal", "file-ioctl", Subject::path("/dev/ttys004")),
        ("needs terminal", "file-write-data", own_terminal()),
        ("needs tls", "mach-lookup", service("com.apple.trustd.agent")),
        ("needs tls", "file-read-data", Subject::path("/private/etc/ssl/cert.pem")),
        ("needs user-names", "mach-lookup", service("com.apple.system.opendirectoryd.membership")),
    ];
    let without = profile("");
    for (need, operation, subject) in cases {
        assert!(allows(&profile(need), operation, &subject), "{need}: {operation} {subject:?}");
        assert!(!allows(&without, operation, &subject), "{operation} {subject:?} without {need}");
    }
}

#[test]
fn no_need_shows_arguments_of_other_processes_or_their_terminals() {
    let all = profile(
        "needs cpu-info process-list semaphores terminal tls user-names\nnetwork all\nipc shared-memory",
    );
    assert!(!allows(&all, "sysctl-read", &setting("kern.procargs2")));
    let others = Subject::any().with("target", Fact::Is(b"others".to_vec()));
    for operation in ["process-info-setcontrol", "process-info-dirtycontrol", "process-info-pidfdinfo"] {
        assert!(!allows(&all, operation, &others), "{operation}");
    }
    let other = Subject::path("/dev/ttys004").with("extension", Fact::Absent);
    for operation in ["file-read-data", "file-write-data"] {
        assert!(!allows(&all, operation, &other), "{operation}");
    }
    assert!(!allows(&all, "mach-lookup", &service("com.apple.securityd")));
}

#[test]
fn a_network_has_names_and_certificates_and_no_other_sockets() {
    let (off, all) = (profile("network off"), profile("network all"));
    let connection = Subject::connection(Address::default(), Address::default());
    for (operation, subject) in [
        ("network-outbound", connection),
        ("network-outbound", Subject::path("/private/var/run/mDNSResponder")),
        ("mach-lookup", service("com.apple.trustd")),
        ("mach-lookup", service("com.apple.SystemConfiguration.configd")),
        ("mach-lookup", service("com.apple.SystemConfiguration.DNSConfiguration")),
        ("file-read-data", Subject::path("/private/etc/ssl/cert.pem")),
    ] {
        assert!(allows(&all, operation, &subject), "{operation} {subject:?}");
        assert!(!allows(&off, operation, &subject), "{operation} {subject:?}");
    }
    for socket in ["/private/var/run/docker.sock", "/private/tmp/com.apple.launchd.x/Listeners"] {
        assert!(!allows(&all, "network-outbound", &Subject::path(socket)), "{socket}");
    }
}

#[test]
fn shared_memory_is_no_more_than_that() {
    let shared = profile("ipc shared-memory");
    let name = Subject::named("ipc-posix-name", "/mine");
    assert!(allows(&shared, "ipc-posix-shm-write-create", &name));
    assert!(!allows(&profile(""), "ipc-posix-shm-write-create", &name));
    for operation in ["ipc-posix-sem-open", "ipc-sysv-msg", "ipc-sysv-sem", "ipc-posix-issue-extension"] {
        assert!(!allows(&shared, operation, &name), "{operation}");
    }
}

#[test]
fn the_one_decision_function_knows_the_paths_of_needs() {
    let walked = walk(&mac(), "root \"$workspace\" read-only\nneeds tls terminal\nnetwork all");
    assert!(walked.allows(Operation::Read, "/private/etc/ssl/cert.pem"));
    assert!(walked.allows(Operation::Write, "/dev/ptmx"));
    assert!(walked.allows(Operation::Connect, "/private/var/run/mDNSResponder"));
    assert!(!walk(&mac(), "root \"$workspace\" read-only").allows(Operation::Read, "/private/etc/ssl/x"));
}
