//! Directories that belong to a tool: helper programs, modules, what an install holds.

use super::Grant;
use super::families;
use super::finder::Finder;
use super::installs::{PRIVATE, too_broad};
use super::loader;
use super::needs::{LOAD, Needs, RUN};
use crate::host::{Binary, Resolution};
use crate::plan::{Operations, Scope};
use crate::policy::System;
use camino::{Utf8Path, Utf8PathBuf};

/// The most entries that are looked at in the trees of helper programs and modules of one tool. The largest known, the module trees of
/// a desktop's Python, have some ten thousand.
pub(super) const MAX_ENTRIES: usize = 200_000;

/// The same of a place of the user's own: the dependencies of a large repository of JavaScript have some hundred thousands.
const MAX_IN_A_PLACE: usize = 2_000_000;

/// What a tree is for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Use {
    /// Executed where it holds programs, else modules.
    Helpers,
    Modules,
    /// Read only; not looked into.
    Data,
}

impl Finder<'_> {
    /// Grants the directories a program keeps for itself, by its names, and those of its family.
    pub(super) fn own_trees(
        &mut self,
        needs: &mut Needs,
        real: &Utf8Path,
        asked_name: &str,
        machine: &str,
    ) -> Result<(), String> {
        let Some(prefix) = prefix(real) else { return Ok(()) };
        let prefix = prefix.to_path_buf();
        let triple = loader::triple(machine);
        let real_name = real.file_name().unwrap_or_default();
        let mut names = vec![real_name];
        if asked_name != real_name {
            names.push(asked_name);
        }
        for name in names.iter().filter(|name| families::keeps_helpers(name)) {
            let mut places: Vec<String> = ["lib", "libexec"]
                .iter()
                .flat_map(|lib| [format!("{lib}/{name}"), format!("{lib}/{name}-core")])
                .collect();
            places.extend(triple.map(|triple| format!("lib/{triple}/{name}")));
            for place in places {
                self.tree(needs, &prefix.join(place), &prefix, Use::Helpers)?;
            }
        }
        self.family(needs, real_name, &prefix, triple)
    }

    /// Grants an install, but for what a user keeps in it. Each part by name, so that none that is made later comes along.
    ///
    /// # Errors
    /// An install that cannot be listed.
    pub(super) fn install(&mut self, needs: &mut Needs, install: &Utf8Path) -> Result<(), String> {
        if install.starts_with("/nix/store") {
            // Nobody keeps anything there, and its `etc` is part of the package.
            needs.grant(install, Scope::Subtree, LOAD, "install");
            return Ok(());
        }
        let names = self.looks.host.read_dir(install).map_err(|error| error.to_string())?;
        needs.grant(install, Scope::Literal, Operations::READING, "install");
        for name in names.iter().filter(|name| !PRIVATE.contains(&name.as_str())) {
            let path = install.join(name);
            // A link within it can be followed; what lies outside is granted only if something else grants it.
            match crate::host::resolve::resolve(self.looks.host, &path) {
                Ok(found) if found.canonical == path => needs.grant(&path, Scope::Subtree, LOAD, "install"),
                Ok(found) if found.canonical.starts_with(install) => needs.hops(&found.hops),
                _ => {}
            }
        }
        Ok(())
    }

    /// Grants what the family of a program keeps, below `prefix` and in places of its own.
    pub(super) fn family(
        &mut self,
        needs: &mut Needs,
        name: &str,
        prefix: &Utf8Path,
        triple: Option<&str>,
    ) -> Result<(), String> {
        let Some(family) = families::of(name, triple) else { return Ok(()) };
        let groups =
            [(family.helpers, Use::Helpers), (family.modules, Use::Modules), (family.reads, Use::Data)];
        for (templates, purpose) in groups {
            for template in templates {
                let Some(template) = fill(template, prefix, name, triple) else { continue };
                let within = if template.starts_with(prefix.as_str()) { prefix } else { Utf8Path::new("/") };
                for path in self.expand(&template) {
                    self.tree(needs, &path, within, purpose)?;
                }
            }
        }
        for program in family.programs {
            // What is not installed is not missed: the program says so itself if it comes to that.
            if let Some((path, _)) = self.place(program) {
                let mut more = Needs::default();
                if self.program(&mut more, &path, "helper programs", RUN, 0).is_ok() {
                    needs.merge(more);
                }
            }
        }
        Ok(())
    }

    /// The paths a template stands for, each `*` replaced by every name in its place.
    pub(super) fn expand(&mut self, template: &str) -> Vec<Utf8PathBuf> {
        let mut paths = vec![Utf8PathBuf::from("/")];
        for component in template.split('/').filter(|component| !component.is_empty()) {
            paths = if component == "*" {
                let below = |path: Utf8PathBuf| {
                    let names = self.looks.names(&path).unwrap_or_default();
                    names.into_iter().map(move |name| path.join(name)).collect::<Vec<_>>()
                };
                paths.into_iter().flat_map(below).collect()
            } else {
                paths.into_iter().map(|path| path.join(component)).collect()
            };
        }
        paths
    }

    /// Grants one tree, if it is there, lies in `within` and is not shared by everybody.
    pub(super) fn tree(
        &mut self,
        needs: &mut Needs,
        path: &Utf8Path,
        within: &Utf8Path,
        purpose: Use,
    ) -> Result<(), String> {
        let Some(found) = self.looks.directory(path) else { return Ok(()) };
        let path = &found.canonical;
        if !path.starts_with(within) {
            return Ok(());
        }
        if purpose == Use::Data {
            // Reading what a compiler links with takes in directories that nothing may be run from.
            if path.components().count() > 2 && !self.looks.host.home().starts_with(path) {
                needs.hops(&found.hops);
                needs.grant(path, Scope::Subtree, Operations::READING, "files");
            }
            return Ok(());
        }
        if too_broad(self.looks.host, path) {
            return Ok(());
        }
        needs.hops(&found.hops);
        let programs = self.natives(needs, path, purpose == Use::Helpers, MAX_ENTRIES)?;
        match purpose {
            Use::Helpers if programs => needs.grant(path, Scope::Subtree, RUN, "helper programs"),
            _ => needs.grant(path, Scope::Subtree, LOAD, "modules"),
        }
        Ok(())
    }

    /// What the programs and modules at a place, or below it, load, wherever that lies.
    ///
    /// # Errors
    /// A directory that cannot be listed, or a tree of more than [`MAX_IN_A_PLACE`] entries.
    pub fn loads(&mut self, place: &Resolution) -> Result<Vec<Grant>, String> {
        let mut needs = Needs::default();
        match &place.entry {
            Some(entry) if entry.is_directory() => {
                self.natives(&mut needs, &place.canonical, true, MAX_IN_A_PLACE)?;
            }
            Some(entry) if entry.is_file() => {
                if let Ok(Some(binary)) = self.looks.binary(&place.canonical) {
                    self.loaded(&mut needs, &place.canonical, &binary);
                }
            }
            _ => {}
        }
        // Programs of the place itself are noted among the files, and are nothing that is loaded.
        Ok(needs.grants())
    }

    /// A helper or module that lacks a library fails by itself; what it belongs to does not.
    fn loaded(&mut self, needs: &mut Needs, path: &Utf8Path, binary: &Binary) {
        let loader = self.loader(needs, binary).ok().flatten();
        let closure = self.libraries.closure(&mut self.looks, path, binary, loader.as_deref());
        needs.libraries(&closure);
    }

    /// Walks a tree and adds the libraries that native code in it loads; where `programs` is asked for, notes them for their digests and
    /// says whether there are any; elsewhere notes that they are not to run. Symlinks are not followed: what they lead to is granted only if something else grants it.
    pub(super) fn natives(
        &mut self,
        needs: &mut Needs,
        tree: &Utf8Path,
        programs: bool,
        most: usize,
    ) -> Result<bool, String> {
        let mut found = false;
        let mut left = most;
        let mut directories = vec![tree.to_path_buf()];
        while let Some(directory) = directories.pop() {
            let names = self.looks.host.read_dir(&directory).map_err(|error| error.to_string())?;
            left = left.checked_sub(names.len()).ok_or_else(|| {
                format!("`{tree}` holds more than {most} entries, too many to look for libraries in")
            })?;
            for name in names {
                if !programs && is_source(&name) {
                    continue;
                }
                let path = directory.join(&name);
                let Some(entry) = self.looks.host.lstat(&path).map_err(|error| error.to_string())? else {
                    continue;
                };
                if entry.is_directory() {
                    directories.push(path);
                    continue;
                }
                let library = [".so", ".node", ".dylib", ".bundle"].iter().any(|end| name.ends_with(end))
                    || name.contains(".so.");
                let program = entry.is_executable() && !library;
                if !entry.is_file() || !(library || program) {
                    continue;
                }
                if program && !programs {
                    if matches!(self.looks.binary(&path), Ok(Some(binary)) if binary.loader.is_some()) {
                        needs.shut.insert(path);
                    }
                    continue;
                }
                if let Ok(Some(binary)) = self.looks.binary(&path) {
                    if self.looks.host.system() == System::Macos {
                        self.module_images(needs, &path, &binary);
                    } else {
                        self.loaded(needs, &path, &binary);
                    }
                }
                if program {
                    found = true;
                    needs.files.insert(path);
                }
            }
        }
        Ok(found)
    }
}

/// Files that hold no native code: sparing a look at each halves the walk through a module tree.
fn is_source(name: &str) -> bool {
    [".py", ".pyc", ".pyi", ".pm", ".pl", ".rb", ".js", ".json", ".txt", ".h"]
        .iter()
        .any(|end| name.ends_with(end))
}

/// PREFIX of `PREFIX/bin/NAME` or `PREFIX/sbin/NAME`.
pub fn prefix(real: &Utf8Path) -> Option<&Utf8Path> {
    let directory = real.parent()?;
    matches!(directory.file_name(), Some("bin" | "sbin")).then(|| directory.parent()).flatten()
}

/// A template with its names filled in; `None` where it needs one that there is not.
fn fill(template: &str, prefix: &Utf8Path, name: &str, triple: Option<&str>) -> Option<String> {
    if template.contains("{triple}") && triple.is_none() {
        return None;
    }
    let prefix = prefix.as_str().trim_end_matches('/');
    let filled = template.replace("{prefix}", prefix).replace("{name}", name);
    Some(filled.replace("{triple}", triple.unwrap_or_default()))
}
