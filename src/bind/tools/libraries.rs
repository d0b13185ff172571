//! What a program loads, found as the dynamic loader would find it: breadth first, by the rules of ld.so(8).

use super::loader;
use super::looks::Looks;
use crate::host::{Binary, Hop};
use camino::{Utf8Path, Utf8PathBuf};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::rc::Rc;

/// More libraries than any program loads: past this, a file lies about what it needs.
const MAX_LIBRARIES: usize = 2000;

/// A library as it was found.
#[derive(Debug)]
struct Library {
    real: Utf8PathBuf,
    /// The directory in which it was found, symlinks not followed: its `$ORIGIN`.
    origin: Utf8PathBuf,
    hops: Vec<Hop>,
    binary: Binary,
}

/// All that one program or library loads.
#[derive(Debug, Default)]
pub struct Closure {
    /// Canonical.
    pub libraries: BTreeSet<Utf8PathBuf>,
    pub hops: Vec<Hop>,
    /// The first library that is not there, and what needs it.
    pub missing: Option<(String, Utf8PathBuf)>,
    /// Where glibc is, if it is among them.
    pub glibc: Option<Utf8PathBuf>,
}

/// Remembers what was found, for all tools of one compile.
#[derive(Debug, Default)]
pub struct Libraries {
    directories: HashMap<(String, bool), Rc<Vec<Utf8PathBuf>>>,
    candidates: HashMap<Utf8PathBuf, Option<Rc<Library>>>,
    hardware: HashMap<Utf8PathBuf, Rc<Vec<Utf8PathBuf>>>,
    closures: HashMap<Utf8PathBuf, Rc<Closure>>,
    glibc: HashMap<Utf8PathBuf, Rc<Closure>>,
}

/// One thing that is loaded, and the index of what loaded it.
struct Loaded {
    path: Utf8PathBuf,
    origin: Utf8PathBuf,
    binary: Binary,
    by: Option<usize>,
}

impl Libraries {
    /// What `real`, a program or library whose headers are `binary`, loads. `loader` is that of the program.
    pub fn closure(
        &mut self,
        looks: &mut Looks<'_>,
        real: &Utf8Path,
        binary: &Binary,
        loader: Option<&Utf8Path>,
    ) -> Rc<Closure> {
        if let Some(known) = self.closures.get(real) {
            return Rc::clone(known);
        }
        let closure = Rc::new(self.search(looks, real, binary, loader));
        self.closures.insert(real.to_path_buf(), Rc::clone(&closure));
        closure
    }

    fn search(
        &mut self,
        looks: &mut Looks<'_>,
        real: &Utf8Path,
        binary: &Binary,
        loader: Option<&Utf8Path>,
    ) -> Closure {
        let mut closure = Closure::default();
        let mut names: HashSet<String> =
            loader.and_then(Utf8Path::file_name).map(str::to_owned).into_iter().collect();
        let origin = real.parent().unwrap_or(real).to_path_buf();
        let mut loaded = vec![Loaded { path: real.into(), origin, binary: binary.clone(), by: None }];
        let mut at = 0;
        while let Some(needed) = loaded.get(at).map(|it| it.binary.needed.clone()) {
            for name in needed {
                if !names.insert(name.clone()) || (loader::is_musl(loader) && is_musl_itself(&name)) {
                    continue;
                }
                let found = self.find(looks, &name, &loaded, at, loader);
                let Some(first) = found.first().filter(|_| loaded.len() < MAX_LIBRARIES) else {
                    let by = loaded.get(at).map(|it| it.path.clone()).unwrap_or_default();
                    closure.missing.get_or_insert((name, by));
                    continue;
                };
                for library in &found {
                    closure.hops.extend(library.hops.iter().cloned());
                    closure.libraries.insert(library.real.clone());
                }
                if name == "libc.so.6" {
                    closure.glibc = first.real.parent().map(Utf8Path::to_path_buf);
                }
                loaded.push(Loaded {
                    path: first.real.clone(),
                    origin: first.origin.clone(),
                    binary: first.binary.clone(),
                    by: Some(at),
                });
            }
            at += 1;
        }
        closure
    }

    /// A library by name, for the loaded thing at `by`: the one that is taken, then those in `glibc-hwcaps` that a newer processor takes instead.
    fn find(
        &mut self,
        looks: &mut Looks<'_>,
        name: &str,
        loaded: &[Loaded],
        by: usize,
        loader: Option<&Utf8Path>,
    ) -> Vec<Rc<Library>> {
        let Some(needing) = loaded.get(by) else { return Vec::new() };
        let machine = needing.binary.machine.as_str();
        if name.contains('/') {
            let paths = loader::expand(name, &needing.origin, machine);
            return paths.iter().find_map(|path| self.candidate(looks, path, machine)).into_iter().collect();
        }
        let mut directories = Vec::new();
        if needing.binary.runpath.is_empty() {
            // DT_RPATH counts for what is loaded by what is loaded …; DT_RUNPATH only for itself, and switches the other off.
            let mut above = Some(by);
            while let Some(it) = above.and_then(|above| loaded.get(above)) {
                if it.binary.runpath.is_empty() {
                    directories.extend(
                        it.binary.rpath.iter().flat_map(|entry| loader::expand(entry, &it.origin, machine)),
                    );
                }
                above = it.by;
            }
        } else {
            let entries = needing.binary.runpath.iter();
            directories.extend(entries.flat_map(|entry| loader::expand(entry, &needing.origin, machine)));
        }
        let key = (machine.to_owned(), loader::is_musl(loader));
        let system = self
            .directories
            .entry(key)
            .or_insert_with(|| Rc::new(loader::system_directories(looks.host, machine, loader)));
        let system = Rc::clone(system);
        let mut found = Vec::new();
        for directory in directories.iter().chain(system.iter()) {
            found.extend(self.candidate(looks, &directory.join(name), machine));
            for special in self.hardware(looks, directory).iter() {
                found.extend(self.candidate(looks, &special.join(name), machine));
            }
            if !found.is_empty() {
                break;
            }
        }
        found
    }

    fn candidate(&mut self, looks: &mut Looks<'_>, path: &Utf8Path, machine: &str) -> Option<Rc<Library>> {
        let known = self.candidates.entry(path.to_path_buf()).or_insert_with(|| {
            let found = looks.resolve(path).ok()?;
            if !found.entry.as_ref()?.is_file() {
                return None;
            }
            let binary = looks.binary(&found.canonical).ok()??;
            let origin = path.parent().unwrap_or(path).to_path_buf();
            Some(Rc::new(Library { real: found.canonical.clone(), origin, hops: found.hops.clone(), binary }))
        });
        // ld.so goes on past a library of another machine.
        known.as_ref().filter(|library| library.binary.machine == machine).map(Rc::clone)
    }

    /// The directories below `glibc-hwcaps` (ld.so(8)): which of them counts hangs on the processor.
    fn hardware(&mut self, looks: &mut Looks<'_>, directory: &Utf8Path) -> Rc<Vec<Utf8PathBuf>> {
        let known = self.hardware.entry(directory.to_path_buf()).or_insert_with(|| {
            let base = directory.join("glibc-hwcaps");
            let names = looks.names(&base).unwrap_or_default();
            Rc::new(names.iter().map(|name| base.join(name)).collect())
        });
        Rc::clone(known)
    }

    /// What glibc in `directory` loads on its own: name services (nsswitch.conf(5)) and the unwinder that `pthread_exit` and `backtrace`
    /// use. What is not there is left out.
    pub fn glibc(&mut self, looks: &mut Looks<'_>, directory: &Utf8Path, machine: &str) -> Rc<Closure> {
        if let Some(known) = self.glibc.get(directory) {
            return Rc::clone(known);
        }
        let mut all = Closure::default();
        let names = looks.names(directory).unwrap_or_default();
        let wanted = |name: &&String| {
            *name == "libgcc_s.so.1" || (name.starts_with("libnss_") && name.contains(".so."))
        };
        for name in names.iter().filter(wanted) {
            let Some(library) = self.candidate(looks, &directory.join(name), machine) else { continue };
            let closure = self.closure(looks, &library.real, &library.binary, None);
            all.hops.extend(library.hops.iter().chain(&closure.hops).cloned());
            all.libraries.insert(library.real.clone());
            all.libraries.extend(closure.libraries.iter().cloned());
        }
        let all = Rc::new(all);
        self.glibc.insert(directory.to_path_buf(), Rc::clone(&all));
        all
    }
}

/// Names that musl takes for itself (`ldso/dynlink.c`).
fn is_musl_itself(name: &str) -> bool {
    let own = ["c.", "pthread.", "rt.", "m.", "dl.", "util.", "xnet."];
    name.strip_prefix("lib").is_some_and(|rest| own.iter().any(|own| rest.starts_with(own)))
}
