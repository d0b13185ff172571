//! What was seen on a machine, before anything is made of it.

use super::trial::Trials;
use crate::policy::System;

/// Something that a sandbox needs of a machine, each tried by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Wall {
    UserNamespace,
    PidNamespace,
    NetworkNamespace,
    IpcNamespace,
    UtsNamespace,
    CgroupNamespace,
    PathResolution,
    Mounts,
    Proc,
    NestedNamespaces,
    ProcessLimit,
    Privileges,
    Landlock,
    Filter,
    Watch,
    MountTable,
    Placeholders,
    State,
    Terminals,
    /// macOS: the program that applies a profile.
    SandboxExec,
    /// macOS: that a profile can be applied here.
    Seatbelt,
    /// A command behind all walls, from a profile's text to its exit code.
    Trial,
}

/// What became of a try.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    Works,
    /// Landlock's version.
    Level(u32),
    Missing(Missing),
    /// It was built, and this shows that it does not hold.
    Broken(String),
    /// It could not be tried, and why.
    Untried(String),
}

/// What the kernel said, and what `exec` makes of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missing {
    /// What was called and the kernel's own error.
    pub error: String,
    /// What to do.
    pub help: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Observation {
    pub wall: Wall,
    pub found: Found,
}

/// A fact about the surroundings that changes what there is to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    /// A name for machines.
    pub name: &'static str,
    /// What was read, and where.
    pub fact: String,
    /// What it means for a sandbox.
    pub meaning: String,
    /// Whether it matters where nothing is missing too.
    pub always: bool,
}

/// Everything that was seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Observations {
    pub system: System,
    /// Whether this user is root, for whom some walls are others.
    pub root: bool,
    pub surroundings: Vec<Setting>,
    /// In the order in which they are told.
    pub walls: Vec<Observation>,
    pub trials: Trials,
}
