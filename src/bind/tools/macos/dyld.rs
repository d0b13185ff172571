//! What a Mach-O program loads that is not the system's own, by the rules of dyld(1). The system's libraries are in the loader's
//! shared cache, which every program may read, and mostly not on the disk.

use crate::bind::tools::looks::Looks;
use crate::bind::tools::needs::{LOAD, Needs};
use crate::host::{Binary, Entry, Hop};
use camino::{Utf8Path, Utf8PathBuf};
use std::collections::{BTreeSet, HashSet};

/// More libraries than any program loads: past this, a file lies about what it needs.
const MAX_IMAGES: usize = 2000;

/// Where a library is looked for last, by the end of its name (dyld(1), `DYLD_FALLBACK_LIBRARY_PATH`); then in `/usr/lib`.
const FALLBACK: &str = "/usr/local/lib";

/// What a program or a module loads.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Images {
    /// Canonical.
    pub libraries: BTreeSet<Utf8PathBuf>,
    pub hops: Vec<Hop>,
    /// The first library that is not there, and what needs it.
    pub missing: Option<(String, Utf8PathBuf)>,
}

impl Needs {
    pub(super) fn images(&mut self, images: &Images) {
        for library in &images.libraries {
            self.file(library, LOAD, "library");
        }
        self.hops(&images.hops);
    }
}

/// Whether a path is the system's own, of which the loader's cache has what the disk has not.
pub fn is_system(path: &Utf8Path) -> bool {
    path.starts_with("/usr/lib") || path.starts_with("/System")
}

/// One thing that is loaded, and the index of what loaded it.
struct Loaded {
    /// Canonical.
    path: Utf8PathBuf,
    /// The directories that it is in: by the name it was loaded by, and in truth.
    origins: Vec<Utf8PathBuf>,
    binary: Binary,
    by: Option<usize>,
}

/// Follows what `real`, whose headers are `binary`, loads. `program` is what `@executable_path` stands for; `None` for a module, whose
/// program is not known.
pub fn images(looks: &mut Looks<'_>, real: &Utf8Path, binary: &Binary, program: Option<&Utf8Path>) -> Images {
    let mut images = Images::default();
    let mut names = HashSet::new();
    let mut loaded = vec![Loaded {
        path: real.into(),
        origins: directories(real, real),
        binary: binary.clone(),
        by: None,
    }];
    let mut at = 0;
    while let Some(image) = loaded.get(at) {
        let by = image.path.clone();
        let needed = image.binary.needed.iter().map(|name| (name.clone(), false));
        let needed: Vec<_> =
            needed.chain(image.binary.weak.iter().map(|name| (name.clone(), true))).collect();
        for (name, weak) in needed {
            let candidates = candidates(&name, &loaded, at, program);
            let mut found = None;
            for path in &candidates {
                if let Some(image) = look(looks, path) {
                    found = Some((path, image));
                    break;
                }
            }
            match found {
                Some((_, (resolution, _))) if is_system(&resolution.canonical) => {}
                Some((path, (resolution, binary))) => {
                    let canonical = resolution.canonical;
                    images.hops.extend(resolution.hops);
                    if names.insert(canonical.clone()) && loaded.len() < MAX_IMAGES && canonical != real {
                        images.libraries.insert(canonical.clone());
                        let origins = directories(path, &canonical);
                        loaded.push(Loaded { path: canonical, origins, binary, by: Some(at) });
                    }
                }
                None if weak || candidates.iter().any(|path| is_system(path)) => {}
                None => {
                    images.missing.get_or_insert((name, by.clone()));
                }
            }
        }
        at += 1;
    }
    images
}

fn directories(asked: &Utf8Path, real: &Utf8Path) -> Vec<Utf8PathBuf> {
    let mut all: Vec<Utf8PathBuf> =
        [asked, real].iter().filter_map(|path| path.parent()).map(Into::into).collect();
    all.dedup();
    all
}

fn look(looks: &mut Looks<'_>, path: &Utf8Path) -> Option<(crate::host::Resolution, Binary)> {
    let found = looks.resolve(path).ok()?;
    found.entry.as_ref().filter(|entry| Entry::is_file(entry))?;
    let binary = looks.binary(&found.canonical).ok()??;
    Some((found, binary))
}

/// The paths that a library's name stands for, in the order in which dyld tries them.
fn candidates(name: &str, loaded: &[Loaded], at: usize, program: Option<&Utf8Path>) -> Vec<Utf8PathBuf> {
    let Some(image) = loaded.get(at) else { return Vec::new() };
    let Some(rest) = name.strip_prefix("@rpath/") else {
        let mut paths = expand(name, &image.origins, program);
        if !name.starts_with('@')
            && let Some(leaf) = Utf8Path::new(name).file_name()
        {
            paths.push(Utf8Path::new(FALLBACK).join(leaf));
            // What has a place of its own and is gone from there is missed: another of its name in the system's cache would be chance.
            if leaf == name {
                paths.push(Utf8Path::new("/usr/lib").join(leaf));
            }
        }
        return paths;
    };
    // `LC_RPATH` counts for what is loaded by what is loaded …
    let mut paths = Vec::new();
    let mut above = Some(at);
    while let Some(it) = above.and_then(|above| loaded.get(above)) {
        let entries = it.binary.runpath.iter().flat_map(|entry| expand(entry, &it.origins, program));
        paths.extend(entries.map(|directory| directory.join(rest)));
        above = it.by;
    }
    paths
}

/// A path with `@loader_path` and `@executable_path` filled in. What is relative hangs on where a command is started, and is left out.
fn expand(path: &str, origins: &[Utf8PathBuf], program: Option<&Utf8Path>) -> Vec<Utf8PathBuf> {
    let below = |start: &str| {
        let rest = path.strip_prefix(start)?;
        (rest.is_empty() || rest.starts_with('/')).then(|| rest.trim_start_matches('/'))
    };
    if let Some(rest) = below("@loader_path") {
        return origins.iter().map(|origin| origin.join(rest)).collect();
    }
    if let Some(rest) = below("@executable_path") {
        return program
            .and_then(Utf8Path::parent)
            .map(|directory| directory.join(rest))
            .into_iter()
            .collect();
    }
    if path.starts_with('/') { vec![path.into()] } else { Vec::new() }
}
