//! An operation and its place in the tree.

use super::table::TABLE;
use std::fmt;
use std::sync::LazyLock;

/// What the kernel does where no rule speaks for an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Builtin {
    /// Asks the parent.
    Inherit,
    /// Allows, whatever `default` says.
    Allow,
    /// Denies, whatever `default` says.
    Deny,
    /// Decides by a graph of its own that no published source spells out.
    Graph,
}

/// An operation of the table.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Operation(u16);

/// The parent of each, as an index.
static PARENTS: LazyLock<Vec<Option<Operation>>> =
    LazyLock::new(|| TABLE.iter().map(|entry| Operation::exactly(entry.parent)).collect());

impl Operation {
    pub const COUNT: usize = TABLE.len();

    /// The operation of that name or alias.
    pub fn named(name: &str) -> Option<Self> {
        Self::exactly(canonical(name))
    }

    /// As [`Self::named`], aliases left out.
    fn exactly(name: &str) -> Option<Self> {
        let at = TABLE.binary_search_by(|entry| entry.name.cmp(name)).ok()?;
        Some(Self(u16::try_from(at).ok()?))
    }

    pub fn all() -> impl Iterator<Item = Self> {
        (0..Self::COUNT as u16).map(Self)
    }

    pub fn index(self) -> usize {
        usize::from(self.0)
    }

    pub fn name(self) -> &'static str {
        TABLE[self.index()].name
    }

    /// `None` for `default`.
    pub fn parent(self) -> Option<Self> {
        PARENTS[self.index()]
    }

    pub fn builtin(self) -> Builtin {
        TABLE[self.index()].builtin
    }

    /// The kinds of filter that apply; `None` where no published table says.
    pub fn filters(self) -> Option<&'static [&'static str]> {
        TABLE[self.index()].filters
    }

    /// This one, its parent, and so on to `default`.
    pub fn ancestry(self) -> impl Iterator<Item = Self> {
        std::iter::successors(Some(self), |operation| operation.parent())
    }

    /// Whether `self` lies below `other` in the tree.
    pub fn is_below(self, other: Self) -> bool {
        self.ancestry().skip(1).any(|ancestor| ancestor == other)
    }

    /// Whether nothing lies below it.
    pub fn is_leaf(self) -> bool {
        !PARENTS.contains(&Some(self))
    }

    /// The leaves at or below it.
    pub fn leaves(self) -> impl Iterator<Item = Self> {
        Self::all().filter(move |other| other.is_leaf() && (*other == self || other.is_below(self)))
    }

    /// Whether filters on the path of a file or a socket apply.
    pub fn has_path(self) -> bool {
        self.name().starts_with("file-") || self.filters().is_some_and(|kinds| kinds.contains(&"path"))
    }
}

impl fmt::Debug for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What the library's own aliases stand for (published v1 libraries). `iokit-open` is one by inference: it became `iokit-open*`,
/// and profiles still write it.
pub const ALIASES: [(&str, &str); 9] = [
    ("file-fsctl", "system-fsctl"),
    ("file-unlink", "file-write-unlink"),
    ("file-write-mount", "file-mount"),
    ("file-write-unmount", "file-unmount"),
    ("iokit-open", "iokit-open*"),
    ("ipc-posix-sem", "ipc-posix-sem*"),
    ("ipc-posix-shm", "ipc-posix-shm*"),
    ("process-exec", "process-exec*"),
    ("time-set", "system-set-time"),
];

/// Names that once were operations: rules for them do nothing.
pub const DEAD: [&str; 4] =
    ["ipc-posix-shm-read-metadata", "mach-per-user-lookup", "qtn-download", "system-chud"];

fn canonical(name: &str) -> &str {
    ALIASES.iter().find(|(alias, _)| *alias == name).map_or(name, |(_, meant)| meant)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_a_sorted_tree() {
        assert!(TABLE.windows(2).all(|pair| pair[0].name < pair[1].name));
        for operation in Operation::all() {
            assert_eq!(operation.ancestry().last().map(Operation::name), Some("default"), "{operation:?}");
            assert_eq!(operation.parent().is_none(), operation.name() == "default");
        }
    }

    #[test]
    fn some_thirty_operations_are_open_whatever_default_says() {
        let open = Operation::all().filter(|operation| operation.builtin() == Builtin::Allow).count();
        assert_eq!(open, 34);
    }

    #[test]
    fn aliases_lead_to_operations_and_are_none_themselves() {
        for (alias, meant) in ALIASES {
            assert!(Operation::exactly(alias).is_none(), "{alias}");
            assert_eq!(Operation::named(alias).map(Operation::name), Some(meant));
        }
        assert!(DEAD.iter().all(|name| Operation::named(name).is_none()));
    }

    #[test]
    fn links_and_maps_are_no_children_of_files() {
        let file = Operation::named("file*").unwrap();
        for name in ["file-link", "file-clone", "file-map-executable", "file-write-setugid"] {
            assert!(!Operation::named(name).unwrap().is_below(file), "{name}");
        }
        assert!(Operation::named("file-write-unlink").unwrap().is_below(file));
        let leaves: Vec<_> = Operation::named("file-read*").unwrap().leaves().map(Operation::name).collect();
        assert_eq!(leaves, ["file-read-data", "file-read-metadata", "file-read-xattr"]);
    }
}
