//! What can be done to a path. The plan speaks of these; each system's emitter says what they are there.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::fmt;

/// One kind of access to one path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Operation {
    /// Contents: a file's bytes, a directory's names, a link's target.
    Read,
    /// That it exists, its kind, size, times.
    Metadata,
    /// Changing contents, mode, owner, times, attributes of what exists.
    Write,
    /// Making it where it was not, and being the new end of a rename.
    Create,
    /// Unlinking it, and being the old end of a rename.
    Remove,
    /// Being an end of a hard link.
    Link,
    /// Running it as a program.
    Exec,
    /// Running it as the interpreter of a script, not by itself. Linux cannot tell the two apart and gives both.
    Interpret,
    /// Mapping it executable: what a loader does with libraries.
    Map,
    /// Connecting to the unix socket bound there.
    Connect,
}

impl Operation {
    pub const ALL: [Self; 10] = [
        Self::Read,
        Self::Metadata,
        Self::Write,
        Self::Create,
        Self::Remove,
        Self::Link,
        Self::Exec,
        Self::Interpret,
        Self::Map,
        Self::Connect,
    ];

    /// The word used in manifests, `why` and `expect`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Metadata => "metadata",
            Self::Write => "write",
            Self::Create => "create",
            Self::Remove => "remove",
            Self::Link => "link",
            Self::Exec => "exec",
            Self::Interpret => "interpret",
            Self::Map => "map",
            Self::Connect => "connect",
        }
    }

    /// The operation of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|operation| operation.name() == name)
    }
}

/// A set of operations. Written as their names in a fixed order, parted by blanks.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Operations(u16);

impl Operations {
    pub const NONE: Self = Self(0);
    pub const ALL: Self = Self((1 << Operation::ALL.len()) - 1);
    /// Looking, no more.
    pub const READING: Self = Self::of(&[Operation::Read, Operation::Metadata]);
    /// Everything that changes what is on the disk.
    pub const WRITING: Self =
        Self::of(&[Operation::Write, Operation::Create, Operation::Remove, Operation::Link]);
    /// What moves a path away, gives it another name, or puts something else in its place: a directory that is missing or empty can be
    /// the new end of a rename, with whatever was prepared in it.
    pub const MOVING: Self = Self::of(&[Operation::Create, Operation::Remove, Operation::Link]);
    /// Every way to run what a file holds.
    pub const RUNNING: Self = Self::of(&[Operation::Exec, Operation::Interpret, Operation::Map]);

    pub const fn of(operations: &[Operation]) -> Self {
        let mut bits = 0;
        let mut at = 0;
        while at < operations.len() {
            bits |= 1 << operations[at] as u16;
            at += 1;
        }
        Self(bits)
    }

    pub const fn contains(self, operation: Operation) -> bool {
        self.0 & (1 << operation as u16) != 0
    }

    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub const fn intersection(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    pub const fn minus(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub fn iter(self) -> impl Iterator<Item = Operation> {
        Operation::ALL.into_iter().filter(move |&operation| self.contains(operation))
    }
}

impl fmt::Display for Operations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Self::ALL {
            return f.write_str("everything");
        }
        for (at, operation) in self.iter().enumerate() {
            if at > 0 {
                f.write_str(" ")?;
            }
            f.write_str(operation.name())?;
        }
        Ok(())
    }
}

impl fmt::Debug for Operations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{{{self}}}")
    }
}

impl std::str::FromStr for Operations {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "everything" {
            return Ok(Self::ALL);
        }
        let mut set = Self::NONE;
        for word in text.split(' ') {
            let operation = Operation::named(word).ok_or_else(|| format!("unknown operation `{word}`"))?;
            set = set.union(Self::of(&[operation]));
        }
        Ok(set)
    }
}

impl Serialize for Operations {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Operations {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_and_reads_back_every_set_of_two() {
        for a in Operation::ALL {
            for b in Operation::ALL {
                let set = Operations::of(&[a, b]);
                assert_eq!(set.to_string().parse::<Operations>().unwrap(), set);
            }
        }
        assert_eq!("everything".parse::<Operations>().unwrap(), Operations::ALL);
        assert!("raed".parse::<Operations>().is_err());
    }
}
