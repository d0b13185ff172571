//! What the plan's operations are called in Seatbelt: leaf operations only, and no operation under two of ours.

use super::{Operation, Operations};

/// The Seatbelt operations of one of ours. `process-exec*` is no leaf, but its one child is stated beside it wherever it stands.
/// Locking asks for an open file and no more, so it goes with reading: SQLite locks what it only reads.
pub fn of(operation: Operation) -> &'static [&'static str] {
    match operation {
        Operation::Read => &["file-read-data", "file-read-xattr", "file-lock"],
        Operation::Metadata => &["file-read-metadata", "file-test-existence"],
        Operation::Write => &[
            "file-write-acl",
            "file-write-data",
            "file-write-finderinfo",
            "file-write-flags",
            "file-write-mode",
            "file-write-owner",
            "file-write-times",
            "file-write-xattr",
        ],
        Operation::Create => &["file-write-create"],
        Operation::Remove => &["file-write-unlink"],
        Operation::Link => &["file-link", "file-clone"],
        Operation::Exec => &["process-exec*"],
        Operation::Interpret => &["process-exec-interpreter"],
        Operation::Map => &["file-map-executable"],
        Operation::Connect => &["network-outbound"],
    }
}

/// The Seatbelt operations of a set, in the order of ours.
pub fn leaves(operations: Operations) -> Vec<&'static str> {
    operations.iter().flat_map(of).copied().collect()
}

/// Operations on paths that nothing grants to a path of the plan: devices, mounts, set-id bits, listening on a unix socket.
pub const CLOSED_ON_PATHS: [&str; 12] = [
    "file-chroot",
    "file-issue-extension",
    "file-mknod",
    "file-mount",
    "file-mount-update",
    "file-revoke",
    "file-search",
    "file-unmount",
    "file-write-setugid",
    "network-bind",
    "network-inbound",
    "qtn-user",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sbpl;
    use std::collections::BTreeSet;

    #[test]
    fn no_operation_stands_for_two() {
        let all = leaves(Operations::ALL);
        let distinct: BTreeSet<_> = all.iter().collect();
        assert_eq!(all.len(), distinct.len());
    }

    #[test]
    fn every_file_operation_is_one_of_a_path_or_closed() {
        let known: BTreeSet<_> = leaves(Operations::ALL).into_iter().chain(CLOSED_ON_PATHS).collect();
        for name in &known {
            assert!(sbpl::Operation::named(name).is_some(), "{name}");
        }
        let file = |name: &str| name.starts_with("file-") || name.starts_with("network-");
        for operation in sbpl::Operation::all().filter(|operation| operation.is_leaf()) {
            let name = operation.name();
            // Stated for devices only, by the emitter itself.
            assert!(!file(name) || known.contains(name) || name == "file-ioctl", "{name}");
        }
    }
}
