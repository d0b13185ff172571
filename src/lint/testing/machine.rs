//! A machine in memory.

use crate::host::{Binary, Entry, Host, HostError, Identity, Kind, Mount};
use crate::policy::System;
use camino::{Utf8Path, Utf8PathBuf};
use std::collections::{BTreeMap, BTreeSet};

/// What is where, and which directories cannot be listed.
pub struct Machine {
    pub entries: BTreeMap<Utf8PathBuf, Entry>,
    pub mounts: Vec<Mount>,
    unreadable: BTreeSet<Utf8PathBuf>,
}

impl Machine {
    /// The machine the rules' examples are written for.
    pub fn standard() -> Self {
        let mut machine = Self { entries: BTreeMap::new(), mounts: Vec::new(), unreadable: BTreeSet::new() };
        for file in [
            "/home/dev/project/src/main.rs",
            "/home/dev/project/.env",
            "/home/dev/project/.git/HEAD",
            "/home/dev/project/.git/config",
            "/home/dev/project/.git/hooks/pre-commit",
            "/home/dev/project/.gitignore",
            "/home/dev/project/vendor/lib.c",
            "/home/dev/project/secrets/token",
            "/home/dev/project/target/build",
            "/home/dev/project/shared.key",
            "/home/dev/other/shared.key",
            "/home/dev/other/.env",
            "/home/dev/.ssh/id_ed25519",
            "/home/dev/.aws/credentials",
            "/usr/bin/git",
            "/usr/bin/python3",
            "/usr/bin/dash",
        ] {
            machine.add(file, Kind::File);
        }
        machine.add("/home/dev/project/link-to-env", Kind::Symlink(".env".into()));
        machine.add("/home/dev/project/out", Kind::Symlink("../other".into()));
        machine.add("/home/dev/project/linked.env", Kind::Symlink("/home/dev/other/.env".into()));
        machine.add("/home/dev/work", Kind::Symlink("project".into()));
        machine.add("/home/dev/project/third-party", Kind::Symlink("vendor".into()));
        machine.add("/home/dev/other/unreadable", Kind::Directory);
        machine.unreadable.insert("/home/dev/other/unreadable".into());
        machine
    }

    /// Adds a path and the directories it needs.
    pub fn add(&mut self, path: &str, kind: Kind) {
        let path = Utf8Path::new(path);
        for parent in path.ancestors().skip(1) {
            let next = self.entries.len() as u64;
            self.entries.entry(parent.into()).or_insert_with(|| entry(Kind::Directory, next));
        }
        let next = self.entries.len() as u64;
        self.entries.insert(path.into(), entry(kind, next));
    }
}

fn entry(kind: Kind, inode: u64) -> Entry {
    Entry {
        kind,
        identity: Identity { device: 1, inode },
        links: 1,
        mode: 0o755,
        uid: 1000,
        gid: 1000,
        size: 0,
        modified: 0,
    }
}

impl Host for Machine {
    fn system(&self) -> System {
        System::Linux
    }

    fn architecture(&self) -> &str {
        "x86_64"
    }

    fn home(&self) -> &Utf8Path {
        Utf8Path::new("/home/dev")
    }

    fn case_insensitive(&self) -> bool {
        false
    }

    fn lstat(&self, path: &Utf8Path) -> Result<Option<Entry>, HostError> {
        if path.parent().is_some_and(|parent| self.unreadable.contains(parent)) {
            return Err(HostError::Denied(path.into()));
        }
        Ok(self.entries.get(path).cloned())
    }

    fn read_dir(&self, path: &Utf8Path) -> Result<Vec<String>, HostError> {
        if self.unreadable.contains(path) {
            return Err(HostError::Denied(path.into()));
        }
        let children = self.entries.keys().filter(|entry| entry.parent() == Some(path));
        Ok(children.filter_map(|child| child.file_name().map(str::to_owned)).collect())
    }

    fn mounts(&self) -> Result<Vec<Mount>, HostError> {
        Ok(self.mounts.clone())
    }

    fn head(&self, path: &Utf8Path, _limit: usize) -> Result<Vec<u8>, HostError> {
        Err(HostError::NotRecorded(path.into()))
    }

    fn digest(&self, path: &Utf8Path) -> Result<String, HostError> {
        Err(HostError::NotRecorded(path.into()))
    }

    fn binary(&self, path: &Utf8Path) -> Result<Option<Binary>, HostError> {
        Err(HostError::NotRecorded(path.into()))
    }
}
