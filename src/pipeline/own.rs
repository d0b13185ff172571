//! Palisade's own files, which no profile may let a command write: profiles, fragments, and what they are compiled into.

use crate::baseline;
use crate::bind::guards::OwnFile;
use crate::config;
use crate::host::resolve::{resolve, resolve_parent};
use crate::host::{Entry, Host, HostError, concluded};
use crate::policy::{DenialKind, Policy};
use crate::source::Sources;
use camino::{Utf8Path, Utf8PathBuf};
use std::collections::BTreeSet;

/// Which of the files beside a profile's own are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    All,
    /// Where a directory holds very many: those that a finding may hang on. See [`Others::telling`].
    Telling,
}

/// What may lie beside policies where nothing else does.
const BESIDE: [&str; 5] = ["palisade.toml", "README.md", "README", ".gitignore", ".gitattributes"];

/// Those of a directory, while all of them are wanted anyway.
const FEW: usize = 64;

/// The profile, what it uses, what compiling it writes, and others beside them; and the directories that could not be listed.
pub fn files(
    sources: &Sources,
    policy: &Policy,
    host: &dyn Host,
    artifacts: &[Utf8PathBuf],
    wanted: Wanted,
) -> (Vec<OwnFile>, Vec<(Utf8PathBuf, HostError)>) {
    let canonical = |path: &Utf8Path| {
        resolve_parent(host, path).map_or_else(|_| path.to_path_buf(), |found| found.canonical)
    };
    let read = policy.files.iter().filter_map(|&id| sources.file(id).path.as_deref());
    let mut paths: Vec<Utf8PathBuf> =
        read.chain(artifacts.iter().map(Utf8PathBuf::as_path)).map(canonical).collect();
    // What the profile is checked by, wherever above it.
    let above: BTreeSet<Utf8PathBuf> =
        paths.iter().flat_map(|path| path.ancestors().skip(1)).map(|it| it.join(config::NAME)).collect();
    paths.extend(above.into_iter().filter(|path| !matches!(host.lstat(path), Ok(None))));
    // One profile must not rewrite another, nor what that was compiled into.
    let roots = policy.roots.iter().filter_map(|root| resolve(host, &root.path.path).ok());
    let roots: BTreeSet<Utf8PathBuf> = roots.map(|root| root.canonical).collect();
    let places: BTreeSet<Utf8PathBuf> = paths
        .iter()
        .filter_map(|path| path.parent())
        .map(Utf8Path::to_path_buf)
        // Where teams keep theirs: at the top of a repository, or in a folder of that name.
        .chain(roots.iter().flat_map(|root| [root.join("policies"), root.clone()]))
        .collect();
    let mentioned = (wanted == Wanted::Telling).then(|| mentioned(policy, host)).flatten();
    let mut unlisted = Vec::new();
    for place in &places {
        let others = concluded(host, place.as_str(), || Others::of(host, place));
        match &*others {
            Ok(others) => {
                if !roots.contains(place) && others.are_all(policy, &places, place) {
                    paths.push(place.clone());
                }
                match &mentioned {
                    Some(mentioned) if others.names.len() > FEW => {
                        paths.extend(others.telling(place, mentioned));
                    }
                    _ => paths.extend(others.names.iter().map(|name| place.join(name))),
                }
            }
            Err(error) => unlisted.push((place.clone(), error.clone())),
        }
    }
    let mut own: Vec<OwnFile> = paths.into_iter().map(|path| OwnFile { path }).collect();
    own.sort();
    own.dedup();
    (own, unlisted)
}

/// Those of one directory.
struct Others {
    names: BTreeSet<String>,
    /// The first, on which the pins of the directories above rest, and all that are not plain files with one name.
    telling: Vec<String>,
    /// What else is there, but for what usually lies beside policies.
    strangers: Vec<String>,
}

impl Others {
    fn of(host: &dyn Host, place: &Utf8Path) -> Result<Self, HostError> {
        let there = match host.read_dir(place) {
            Ok(there) => there,
            // Not made yet: `--out-dir` must be there when something is written to it.
            Err(_) if matches!(host.lstat(place), Ok(None)) => Vec::new(),
            Err(error) => return Err(error),
        };
        let names: BTreeSet<String> = there.iter().flat_map(|name| palisade_names(name)).collect();
        let is_strange = |name: &String| !names.contains(name) && !BESIDE.contains(&name.as_str());
        let strangers = there.into_iter().filter(is_strange).collect();
        let is_plain = |entry: &Entry| entry.is_file() && entry.links < 2;
        let telling = |(at, name): &(usize, &String)| {
            *at == 0 || !host.lstat(&place.join(name)).is_ok_and(|entry| entry.as_ref().is_none_or(is_plain))
        };
        let told =
            if names.len() > FEW { names.iter().enumerate().filter(telling).collect() } else { Vec::new() };
        Ok(Self { telling: told.into_iter().map(|(_, name)| name.clone()).collect(), names, strangers })
    }

    /// Whether a directory holds policies and nothing else, so that it is guarded as a whole: no command has anything to make there, and a profile
    /// under a new name is none that somebody has read. Not where an `unguard` speaks of what is in it, which would lift nothing then.
    fn are_all(&self, policy: &Policy, places: &BTreeSet<Utf8PathBuf>, directory: &Utf8Path) -> bool {
        !self.names.is_empty()
            && self.strangers.iter().all(|name| places.contains(&directory.join(name)))
            && !policy.unguards.iter().any(|unguard| unguard.path.path.starts_with(directory))
    }

    /// Those that a finding may hang on. A guard on any other is a denial to write one plain file, about which nobody asks: no statement
    /// speaks of it, no link leads on from it, and it has no other name.
    fn telling<'a>(
        &'a self,
        place: &'a Utf8Path,
        mentioned: &'a BTreeSet<Utf8PathBuf>,
    ) -> impl Iterator<Item = Utf8PathBuf> + 'a {
        let below = mentioned.range(place.to_path_buf()..).take_while(move |path| path.starts_with(place));
        let names = below.filter_map(move |path| path.strip_prefix(place).ok()?.components().next());
        let spoken = names.map(|name| name.as_str()).filter(|name| self.names.contains(*name));
        self.telling.iter().map(String::as_str).chain(spoken).map(|name| place.join(name))
    }
}

/// Every path that a statement speaks of. `None` where one speaks of what cannot be told so: of guards, or in Seatbelt's own language.
fn mentioned(policy: &Policy, host: &dyn Host) -> Option<BTreeSet<Utf8PathBuf>> {
    if !(policy.unguards.is_empty() && policy.seatbelt.is_empty()) {
        return None;
    }
    let stated = |path: &'_ crate::policy::PolicyPath| path.path.clone();
    let denied = policy.denials.iter().filter_map(|denial| match &denial.kind {
        DenialKind::Path(path) | DenialKind::Gitignored { path, .. } => Some(stated(path)),
        // What a pattern takes is denied, whether or not it is guarded.
        DenialKind::Glob(_) => None,
    });
    let asked = policy.expectations.iter().filter(|it| it.subject.starts_with('/'));
    let paths = policy
        .roots
        .iter()
        .map(|root| stated(&root.path))
        .chain(denied)
        .chain(policy.executables.iter().map(stated))
        .chain(policy.git_worktrees.iter().map(stated))
        .chain(policy.tool_paths.iter().map(stated))
        .chain(policy.working_directory.iter().map(stated))
        .chain(asked.map(|it| Utf8PathBuf::from(&it.subject)));
    let mut mentioned = BTreeSet::new();
    for path in paths {
        for found in [resolve(host, &path), resolve_parent(host, &path)].into_iter().flatten() {
            mentioned.extend(found.hops.into_iter().map(|hop| hop.link));
            mentioned.insert(found.canonical);
        }
        mentioned.insert(path);
    }
    Some(mentioned)
}

/// The names that a file stands for, if it is Palisade's: itself, and for a profile what it is compiled into.
fn palisade_names(name: &str) -> Vec<String> {
    let mut names = Vec::new();
    if let Some(stem) = name.strip_suffix(".palisade") {
        names.extend([format!("{stem}.manifest.yaml"), format!("{stem}.sb")]);
    } else if name != baseline::NAME && !name.ends_with(".manifest.yaml") && !name.ends_with(".sb") {
        return names;
    }
    names.push(name.to_owned());
    names
}
