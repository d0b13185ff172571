//! An operation and its place in the tree.

use super::table::TABLE;
use std::collections::HashSet;
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

    /// Whether the kernel itself checks it: it has no children, or its name is no wildcard's. `process-exec*` is checked when a program
    /// starts, and its child for the interpreter of a script apart from it.
    pub fn is_checked(self) -> bool {
        let name = self.name();
        let is_wildcard = name.ends_with('*') || matches!(name, "default" | "default-message-filter");
        self.is_leaf() || !is_wildcard || name == "process-exec*"
    }

    /// What the kernel may ask where a profile says this: itself, if it is checked; else all below it that are.
    pub fn checked(self) -> impl Iterator<Item = Self> {
        Self::all().filter(move |other| {
            if self.is_checked() { *other == self } else { other.is_checked() && other.is_below(self) }
        })
    }

    /// Whether filters on the path of a file or a socket apply.
    pub fn has_path(self) -> bool {
        self.name().starts_with("file-") || self.filters().is_some_and(|kinds| kinds.contains(&"path"))
    }

    /// Whether filters of a kind apply to it or, for a wildcard, to anything below it; `None` where no published table says.
    pub fn takes(self, kind: &str) -> Option<bool> {
        let takes = |operation: Self| operation.filters().is_some_and(|kinds| kinds.contains(&kind));
        if kind.is_empty() {
            return None;
        }
        if takes(self) || (kind == "path" && self.has_path()) {
            return Some(true);
        }
        if !self.is_leaf() && Self::all().any(|below| below.is_below(self) && takes(below)) {
            return Some(true);
        }
        self.filters().map(|_| false)
    }
}

/// Whether any operation takes filters of both kinds, so that one access may have both.
pub fn may_meet(a: &str, b: &str) -> bool {
    static PAIRS: LazyLock<HashSet<(&str, &str)>> = LazyLock::new(|| {
        let lists = TABLE.iter().filter_map(|entry| entry.filters);
        lists.flat_map(|kinds| kinds.iter().flat_map(|a| kinds.iter().map(|b| (*a, *b)))).collect()
    });
    a.is_empty() || b.is_empty() || PAIRS.contains(&(a, b))
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
    fn what_the_kernel_checks_itself_is_no_wildcard() {
        let checked = |name: &str| -> Vec<_> {
            Operation::named(name).unwrap().checked().map(Operation::name).collect()
        };
        for name in [
            "process-exec*",
            "process-exec-interpreter",
            "network-inbound",
            "file-mount",
            "user-preference-read",
        ] {
            assert_eq!(checked(name), [name]);
        }
        assert_eq!(checked("network*"), ["network-bind", "network-inbound", "network-outbound"]);
        assert_eq!(checked("file-read*"), ["file-read-data", "file-read-metadata", "file-read-xattr"]);
        assert!(checked("default").contains(&"process-exec*"));
        assert!(Operation::all().all(|operation| !operation.is_leaf() || operation.is_checked()));
    }

    #[test]
    fn filters_of_two_kinds_may_speak_of_one_access() {
        assert!(may_meet("xattr", "path") && may_meet("socket", "network"));
        assert!(!may_meet("mach", "path") && !may_meet("sysctl", "posix-ipc"));
        let takes = |name: &str, kind| Operation::named(name).unwrap().takes(kind);
        for (name, kind) in
            [("mach*", "mach"), ("default", "path"), ("file-lock", "path"), ("process-info*", "target")]
        {
            assert_eq!(takes(name, kind), Some(true), "{name} {kind}");
        }
        for (name, kind) in
            [("mach-lookup", "path"), ("file-read*", "mach"), ("process-fork", "target"), ("mach*", "path-x")]
        {
            assert_eq!(takes(name, kind), Some(false), "{name} {kind}");
        }
        assert_eq!(takes("mach-bootstrap", "mach"), None);
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
