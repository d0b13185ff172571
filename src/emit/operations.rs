//! What the plan's operations are called in Seatbelt: leaf operations only, and no operation under two of ours.

use crate::plan::{Operation, Operations};

/// The Seatbelt operations of one of ours. `process-exec*` is no leaf, but its one child is stated beside it wherever it stands.
pub fn of(operation: Operation) -> &'static [&'static str] {
    match operation {
        Operation::Read => &["file-read-data", "file-read-xattr"],
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
            "file-lock",
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_operation_stands_for_two() {
        let all = leaves(Operations::ALL);
        let distinct: std::collections::BTreeSet<_> = all.iter().collect();
        assert_eq!(all.len(), distinct.len());
    }
}
