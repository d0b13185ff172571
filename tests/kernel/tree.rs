//! A random tree on the disk, and what is in it.

use crate::random::Random;
use camino::{Utf8Path, Utf8PathBuf};
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};

/// Plain names, names that need quoting, two that differ in composition or case only, and names that are guarded.
const NAMES: [&str; 22] = [
    "a",
    "b",
    "c",
    "src",
    "target",
    "A",
    "a b",
    "quo\"te",
    "back\\slash",
    "\u{e9}",
    "e\u{301}",
    "*",
    "[x]",
    "-f",
    "new\nline",
    ".git",
    ".mcp.json",
    ".vscode",
    ".claude",
    ".env",
    "$workspace",
    "#not",
];

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    Directory,
    File(String),
    Symlink,
    Fifo,
}

#[derive(Debug, Clone)]
pub struct Entry {
    pub path: Utf8PathBuf,
    pub kind: Kind,
}

pub struct Tree {
    /// Parents before what is in them.
    pub entries: Vec<Entry>,
}

impl Tree {
    /// Makes a tree below `base` with the directories `w`, `x` and `out` at its top, all of it `uid`'s.
    pub fn make(random: &mut Random, base: &Utf8Path, uid: u32) -> Self {
        let mut tree = Self { entries: Vec::new() };
        for top in ["w", "x", "out"] {
            tree.directory(base.join(top));
        }
        for _ in 0..8 + random.below(20) {
            let parent = tree.any_directory(random);
            let depth = parent.strip_prefix(base).map_or(0, |below| below.components().count());
            let path = parent.join(random.among(&NAMES));
            if path.symlink_metadata().is_ok() {
                continue;
            }
            match random.below(10) {
                0..=3 if depth < 4 => tree.directory(path),
                4 | 5 => tree.link(random, base, path),
                6 if random.once_in(3) => {
                    rustix::fs::mknodat(
                        rustix::fs::CWD,
                        path.as_str(),
                        rustix::fs::FileType::Fifo,
                        0o644.into(),
                        0,
                    )
                    .unwrap();
                    tree.entries.push(Entry { path, kind: Kind::Fifo });
                }
                _ => tree.file(path),
            }
        }
        for entry in &tree.entries {
            std::os::unix::fs::lchown(&entry.path, Some(uid), Some(uid)).unwrap();
        }
        tree
    }

    fn directory(&mut self, path: Utf8PathBuf) {
        fs::create_dir(&path).unwrap();
        self.entries.push(Entry { path, kind: Kind::Directory });
    }

    fn file(&mut self, path: Utf8PathBuf) {
        let text = format!("#!/bin/sh\nexit 0\n# {}\n", path.as_str().escape_default());
        fs::write(&path, &text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        self.entries.push(Entry { path, kind: Kind::File(text) });
    }

    /// To something of the tree, beside it or from the top; out of it; to nothing.
    fn link(&mut self, random: &mut Random, base: &Utf8Path, path: Utf8PathBuf) {
        let target = match random.below(8) {
            0 => "nothing-there".into(),
            1 => "..".into(),
            2 => base.join("out"),
            3 => "../out".into(),
            4 => random.among(&self.entries).path.file_name().unwrap_or("a").into(),
            _ => random.among(&self.entries).path.clone(),
        };
        symlink(&target, &path).unwrap();
        self.entries.push(Entry { path, kind: Kind::Symlink });
    }

    pub fn any_directory(&self, random: &mut Random) -> Utf8PathBuf {
        let directories: Vec<&Entry> =
            self.entries.iter().filter(|entry| entry.kind == Kind::Directory).collect();
        random.among(&directories).path.clone()
    }

    /// A name that may or may not be there, in a directory that is.
    pub fn any_name(&self, random: &mut Random) -> Utf8PathBuf {
        if random.once_in(3) {
            self.any_directory(random).join(random.among(&NAMES))
        } else {
            random.among(&self.entries).path.clone()
        }
    }

    /// For whoever reads of a disagreement.
    pub fn listing(&self) -> String {
        let line = |entry: &Entry| match entry.kind {
            Kind::Symlink => format!("  {:?} -> {:?}\n", entry.path, fs::read_link(&entry.path).ok()),
            _ => format!("  {:?} {:?}\n", entry.path, std::mem::discriminant(&entry.kind)),
        };
        self.entries.iter().map(line).collect()
    }
}

/// Device and inode of what a path leads to.
pub fn identity(path: &Utf8Path) -> Option<(u64, u64)> {
    fs::metadata(path).ok().map(|found| (found.dev(), found.ino()))
}
