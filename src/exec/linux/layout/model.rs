//! A small model of what Linux does with a list of mounts: the deepest mount at or above a path serves it.

use super::{Kind, Layout, Mount, Step};
use crate::plan::{Operation, Operations};
use camino::{Utf8Path, Utf8PathBuf};
use std::collections::BTreeMap;

/// A host: what is not named is missing.
pub type Host = BTreeMap<Utf8PathBuf, Kind>;

pub fn kind(host: &Host, path: &Utf8Path) -> Kind {
    host.get(path).cloned().unwrap_or(Kind::Missing)
}

/// What a process can do to `path`, as the kernel would have it.
pub fn possible(layout: &Layout, host: &Host, path: &Utf8Path) -> Operations {
    let serving = |path: &Utf8Path| -> Option<&Step> {
        layout
            .steps
            .iter()
            .filter(|step| path.starts_with(&step.path))
            .max_by_key(|step| step.path.components().count())
    };
    let Some(step) = serving(path) else {
        let listed = path == "/" && layout.listed;
        return if listed { Operations::READING } else { Operations::NONE };
    };
    let here = step.path == path;
    let own = match &step.mount {
        Mount::Directory { listed } | Mount::Cover { listed } if here && *listed => Operations::READING,
        Mount::Directory { .. } | Mount::Cover { .. } | Mount::Mask { .. } => Operations::NONE,
        Mount::Symlink { .. } | Mount::Proc if here => Operations::READING,
        Mount::Proc => Operations::READING,
        Mount::Symlink { .. } => Operations::NONE,
        Mount::Device { .. } if !here => Operations::NONE,
        Mount::Scratch => Operations::READING.union(Operations::WRITING),
        Mount::Terminals | Mount::Device { write: true } => {
            Operations::READING.union(Operations::of(&[Operation::Write]))
        }
        Mount::Device { write: false } => Operations::READING,
        Mount::Bind { write, run, .. } => bound(layout, host, path, *write, *run),
    };
    if here {
        own.minus(Operations::of(&[Operation::Create, Operation::Remove, Operation::Link]))
    } else {
        own
    }
}

fn bound(layout: &Layout, host: &Host, path: &Utf8Path, write: bool, run: bool) -> Operations {
    let mut set = Operations::NONE;
    let exists = kind(host, path) != Kind::Missing;
    if exists {
        set = Operations::READING;
    }
    // Nothing can be made below what is no directory.
    let above = path.ancestors().skip(1).map(|above| kind(host, above)).find(|kind| *kind != Kind::Missing);
    if write && (exists || above == Some(Kind::Directory)) {
        set = set.union(Operations::of(&[Operation::Create]));
        if exists {
            set = set.union(Operations::WRITING);
        }
    }
    let file = kind(host, path) == Kind::File;
    if run && file {
        set = set.union(Operations::of(&[Operation::Map]));
        if layout.rights.iter().any(|right| right.exec && path.starts_with(&right.path)) {
            set = set.union(Operations::of(&[Operation::Exec, Operation::Interpret]));
        }
    }
    set
}
