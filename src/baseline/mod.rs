//! In: a run, and the text of a baseline. Out: the run without the findings that the baseline knows, and a finding for each entry that is known in vain;
//! or the text of a new baseline.
//!
//! A baseline lets a team gate what is new without having fixed what is old. It never holds what keeps a profile from being compiled.

mod entry;
mod key;
mod leave;
mod text;

pub use entry::{Entry, of_run};
pub use leave::leave_out;
pub use text::{is_one, read, write};

use crate::finding::{Finding, Severity};
use crate::lint;
use crate::policy::System;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What a baseline is best called: one of that name is guarded like a profile beside it.
pub const NAME: &str = "palisade-baseline.toml";

/// Where a run and its baseline lie.
pub struct Ground<'a> {
    /// What paths of the run are relative to; absolute.
    pub root: &'a Path,
    /// The directory of the baseline; absolute, without links.
    pub directory: &'a Path,
    /// What tells the machines of the run from others, in its order.
    pub machines: Vec<Machine>,
    pub asked: Asked,
    /// Whether there is such a file. One that is gone needs no check.
    pub exists: &'a dyn Fn(&Path) -> bool,
}

/// What the profiles of a run were checked with that does not stand in them: what a finding says hangs on it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Asked {
    /// Values of parameters.
    pub set: BTreeMap<String, String>,
    /// The workspace on each machine of the run, in its order. One that is not said is the baseline's directory.
    pub workspaces: Vec<Workspace>,
}

/// Where `$workspace` was: what is relative in a profile means other paths in another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Workspace {
    /// A directory of this machine, stated or not; absolute, without links.
    Here(PathBuf),
    /// The one that a recorded machine has anyway.
    Recorded,
    /// Another one for a recorded machine; absolute.
    Stated(PathBuf),
}

/// A machine that profiles were checked against.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Machine {
    /// The one that the program ran on: all of one system are taken for one.
    This(System),
    /// A recorded one, by the path of the recording.
    Recorded(PathBuf),
}

/// Whether a finding, as severe as it was found, may be known to a baseline: not where it keeps a profile from being compiled, nor where it stands for
/// findings that nobody has seen.
pub fn may_hold(finding: &Finding) -> bool {
    let is_allowable = lint::find_rule(finding.rule).is_some_and(|info| info.allowable);
    is_allowable && finding.severity < Severity::Error && !lint::is_remainder(finding)
}
