//! What every command is shown of the system.

use crate::road::{Walked, machine, walk};
use palisade::plan::{Operation, OriginKind};

const ETC: [&str; 11] = [
    "/w/src: directory",
    "/etc/passwd: file",
    "/etc/shadow: file",
    "/etc/sudoers: file",
    "/etc/ssh/ssh_host_key: file",
    "/etc/hosts: file",
    "/etc/resolv.conf: -> ../run/resolve/stub.conf",
    "/run/resolve/stub.conf: file",
    "/etc/ssl/certs/ca.crt: file",
    "/etc/ssl/private/key.pem: file",
    "/etc/localtime: -> /usr/share/zoneinfo/UTC",
];

fn walked(statements: &str) -> Walked {
    walk(&machine(&ETC), &format!("root \"/w\" read-write\n{statements}"))
}

#[test]
fn of_etc_only_what_programs_need() {
    let walked = walked("");
    for path in [
        "/etc/passwd",
        "/etc/hosts",
        "/usr/share/zoneinfo/UTC",
        "/usr/include/x.h",
        "/dev/null",
        "/proc/self/status",
    ] {
        assert!(walked.allows(Operation::Read, path), "{path}");
        assert!(path == "/dev/null" || !walked.allows(Operation::Write, path), "{path}");
    }
    for path in [
        "/etc/shadow",
        "/etc/sudoers",
        "/etc/ssh/ssh_host_key",
        "/etc/ssl/private/key.pem",
        "/etc/resolv.conf",
        "/etc/ssl/certs/ca.crt",
        "/root",
        "/home/dev/.ssh",
        "/run/resolve/stub.conf",
        "/var/log/x",
        "/sys/kernel",
        "/dev/sda",
        "/dev/kmsg",
    ] {
        assert!(!walked.allows(Operation::Read, path), "{path}");
        assert!(!walked.allows(Operation::Metadata, path), "{path}");
    }
}

#[test]
fn certificates_and_name_servers_only_with_network() {
    for statements in ["network all", "network only { allow \"example.com\" }"] {
        let walked = walked(statements);
        for path in ["/run/resolve/stub.conf", "/etc/ssl/certs/ca.crt"] {
            assert!(walked.allows(Operation::Read, path), "{statements}: {path}");
        }
        assert!(!walked.allows(Operation::Read, "/etc/ssl/private/key.pem"));
        assert!(!walked.allows(Operation::Read, "/run/resolve/other"));
    }
}

#[test]
fn nothing_of_the_system_runs_but_tools_and_the_shell() {
    let walked = walked("");
    assert!(walked.allows(Operation::Exec, "/usr/bin/dash"));
    for path in ["/usr/bin/env", "/usr/lib/git-core/git", "/usr/sbin/x", "/w/src/a"] {
        assert!(!walked.allows(Operation::Exec, path), "{path}");
        assert!(!walked.allows(Operation::Map, path), "{path}");
    }
}

#[test]
fn shared_memory_and_terminals_only_where_stated() {
    let (shm, pts) = ("/dev/shm/x", "/dev/pts/0");
    let plain = walked("");
    assert!(!plain.allows(Operation::Read, shm) && !plain.allows(Operation::Read, pts));
    assert!(walked("ipc shared-memory").allows(Operation::Create, shm));
    assert!(walked("needs terminal").allows(Operation::Write, pts));
}

#[test]
fn every_grant_of_the_base_says_what_for() {
    let walked = walked("network all");
    let rules = walked.plan().rules.iter().filter(|rule| rule.origin.kind == OriginKind::System);
    for rule in rules {
        assert!(rule.origin.text.len() > 8, "{}: {:?}", rule.path, rule.origin.text);
    }
}
