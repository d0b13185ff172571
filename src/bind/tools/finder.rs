//! Finding programs and following what they need to start.

use super::installs;
use super::libraries::Libraries;
use super::loader;
use super::looks::Looks;
use super::macos;
use super::needs::{INTERPRET, LOAD, Needs, RUN};
use super::script::{self, HEAD};
use super::trees::{MAX_ENTRIES, Use, prefix};
use super::{Lookup, Tool};
use crate::host::{Binary, Entry, Host, Resolution};
use crate::plan::{Operations, Scope};
use crate::policy::System;
use camino::{Utf8Path, Utf8PathBuf};
use std::sync::Arc;

/// Where programs are looked for on Linux, in this order. Never the caller's PATH.
pub const LINUX: &[&str] = &["/usr/local/bin", "/usr/bin", "/bin", "/usr/local/sbin", "/usr/sbin", "/sbin"];

/// Where a directory stands in the PATH of commands: in the order in which tools are looked up. Unknown ones on Linux come last.
pub fn rank(system: System, directory: &Utf8Path) -> usize {
    match system {
        System::Linux => LINUX.iter().position(|place| *place == directory).unwrap_or(LINUX.len()),
        System::Macos => macos::rank(directory),
    }
}

/// How many interpreters may be scripts themselves: the kernel's own bound (execve(2), "Interpreter scripts").
const MAX_SCRIPTS: usize = 4;

/// Looks for the tools of one compile, and remembers what they share.
pub struct Finder<'h> {
    pub(super) looks: Looks<'h>,
    pub(super) libraries: Libraries,
    pub(super) mac: macos::Mac,
}

/// What following a program gave.
pub(super) struct Followed {
    pub real: Utf8PathBuf,
    pub interpreter: Option<Utf8PathBuf>,
}

impl<'h> Finder<'h> {
    pub fn new(host: &'h dyn Host) -> Self {
        Self { looks: Looks::new(host), libraries: Libraries::default(), mac: macos::Mac::default() }
    }

    /// Looks for a program by name in the fixed places. The first that has the name counts, sound or not.
    pub fn find(&mut self, name: &str) -> Lookup {
        self.once(&format!("tool {name}"), |finder| finder.look_for(name))
    }

    /// Looks once for all profiles, where the host remembers.
    fn once(&mut self, question: &str, look: impl FnOnce(&mut Self) -> Lookup) -> Lookup {
        match self.looks.host.conclusions() {
            Some(conclusions) => Lookup::clone(&conclusions.of(question, || look(self))),
            None => look(self),
        }
    }

    fn look_for(&mut self, name: &str) -> Lookup {
        if name.is_empty() || name == "." || name == ".." || name.contains(['/', '\0']) {
            return Lookup::Broken { path: name.into(), reason: "it is not the name of a program".into() };
        }
        match self.place(name) {
            None => Lookup::Missing { searched: self.searched() },
            Some((path, Ok(()))) => self.tool(&path, name, false),
            Some((path, Err(reason))) => Lookup::Broken { path, reason },
        }
    }

    /// Follows a program outside the fixed places, stated by its absolute path.
    pub fn find_path(&mut self, path: &Utf8Path) -> Lookup {
        self.once(&format!("program {path}"), |finder| match path.file_name() {
            Some(name) if path.is_absolute() => finder.tool(path, name, true),
            _ => Lookup::Broken {
                path: path.into(),
                reason: "it is not the absolute path of a program".into(),
            },
        })
    }

    /// The shell, `/bin/sh`; on a Mac also the one that it starts.
    pub fn shell(&mut self) -> Lookup {
        self.once("shell", Self::look_for_shell)
    }

    fn look_for_shell(&mut self) -> Lookup {
        let mut lookup = self.tool("/bin/sh".into(), "sh", false);
        if self.looks.host.system() == System::Macos
            && let Lookup::Found(tool) = &mut lookup
        {
            macos::selected_shell(&mut self.looks, Arc::make_mut(tool));
        }
        lookup
    }

    /// Where programs are looked for on this machine, in this order.
    fn searched(&mut self) -> Vec<Utf8PathBuf> {
        match self.looks.host.system() {
            System::Linux => LINUX.iter().map(Utf8PathBuf::from).collect(),
            System::Macos => self.searched_on_a_mac(),
        }
    }

    /// The first path at which a name of a program is looked for, and what is there where that is a program.
    pub fn first_place(&mut self, name: &str) -> (Utf8PathBuf, Option<Resolution>) {
        if let Some((path, _)) = self.place(name)
            && let Ok(found) = self.looks.resolve(&path)
            && found.exists()
        {
            return (path, Some(found));
        }
        let first = self.searched().into_iter().next().unwrap_or_else(|| "/bin".into());
        (first.join(name), None)
    }

    /// The first place that has a name, or that cannot be looked into.
    pub(super) fn place(&mut self, name: &str) -> Option<(Utf8PathBuf, Result<(), String>)> {
        if self.looks.host.system() == System::Macos {
            return self.place_on_a_mac(name);
        }
        for &place in LINUX {
            let asked = Utf8Path::new(place).join(name);
            let Some(directory) = self.looks.directory(place.into()) else {
                match self.looks.resolve(place.into()) {
                    Err(error) => return Some((asked, Err(error.to_string()))),
                    Ok(_) => continue,
                }
            };
            match self.looks.host.lstat(&directory.canonical.join(name)) {
                Ok(None) => {}
                Ok(Some(_)) => return Some((asked, Ok(()))),
                Err(error) => return Some((asked, Err(error.to_string()))),
            }
        }
        None
    }

    fn tool(&mut self, path: &Utf8Path, name: &str, stated: bool) -> Lookup {
        let mut needs = Needs::default();
        let mut source = "system".to_owned();
        let followed = self.program(&mut needs, path, "program", RUN, 0).and_then(|followed| {
            let known = self.source_on_a_mac(&followed.real);
            source = match known {
                Some(known) => known,
                None if stated => self.installs(&mut needs, path, &followed)?,
                None => source.clone(),
            };
            Ok(followed)
        });
        match followed {
            Err(reason) => Lookup::Broken { path: path.into(), reason },
            Ok(Followed { real, interpreter }) => Lookup::Found(Arc::new(Tool {
                name: name.to_owned(),
                path: path.to_path_buf(),
                real,
                hops: std::mem::take(&mut needs.hops),
                source,
                interpreter,
                files: std::mem::take(&mut needs.files).into_iter().collect(),
                shut: std::mem::take(&mut needs.shut).into_iter().collect(),
                directory: path.parent().unwrap_or(path).to_path_buf(),
                also_on_path: std::mem::take(&mut needs.also_on_path).into_iter().collect(),
                developer_directory: needs.developer_directory.take(),
                grants: needs.grants(),
            })),
        }
    }

    /// Follows a path to a program that can run, and adds what it needs.
    pub(super) fn program(
        &mut self,
        needs: &mut Needs,
        path: &Utf8Path,
        role: &'static str,
        operations: Operations,
        scripts: usize,
    ) -> Result<Followed, String> {
        let found = self.executable(path)?;
        let real = found.canonical;
        if let Some(reason) = installs::stand_in(self.looks.host, path, &real) {
            return Err(reason);
        }
        needs.hops(&found.hops);
        let binary = self.looks.binary(&real).map_err(|error| error.to_string())?;
        let machine = binary
            .as_ref()
            .map_or_else(|| self.looks.host.architecture().to_owned(), |it| it.machine.clone());
        let interpreter = match &binary {
            Some(binary) => {
                self.native(needs, &real, binary, scripts)?;
                None
            }
            None => Some(self.script(needs, path, &real, scripts)?),
        };
        needs.file(&real, operations, role);
        match self.looks.host.system() {
            System::Linux => {
                self.own_trees(needs, &real, path.file_name().unwrap_or_default(), &machine)?;
            }
            System::Macos => self.surroundings_on_a_mac(needs, path, &real, operations)?,
        }
        Ok(Followed { real, interpreter })
    }

    /// Resolves a path to a regular file that may be executed.
    pub(super) fn executable(&mut self, path: &Utf8Path) -> Result<Resolution, String> {
        let found = self.looks.resolve(path).map_err(|error| error.to_string())?;
        let real = &found.canonical;
        match &found.entry {
            None if found.hops.is_empty() => Err("nothing is there".into()),
            None => Err(format!("it leads to `{real}`, which is missing")),
            Some(entry) if !Entry::is_file(entry) => Err(format!("`{real}` is not a regular file")),
            Some(entry) if !entry.is_executable() => Err(format!("`{real}` is not executable")),
            Some(_) => Ok(found),
        }
    }

    /// What a program in the machine's own code needs: its loader and libraries.
    fn native(
        &mut self,
        needs: &mut Needs,
        real: &Utf8Path,
        binary: &Binary,
        scripts: usize,
    ) -> Result<(), String> {
        let host = self.looks.host;
        if host.system() == System::Macos {
            return self.native_on_a_mac(needs, real, binary, scripts);
        }
        if binary.machine != host.architecture() {
            let (is, here) = (&binary.machine, host.architecture());
            return Err(format!("`{real}` is a program for {is}, and this machine is {here}"));
        }
        let loader = self.loader(needs, binary)?;
        if loader.is_none() && !binary.needed.is_empty() {
            return Err(format!("`{real}` is a library: it names no loader"));
        }
        let closure = self.libraries.closure(&mut self.looks, real, binary, loader.as_deref());
        if let Some((library, by)) = &closure.missing {
            return Err(format!("the library `{library}`, which `{by}` needs, is missing"));
        }
        needs.libraries(&closure);
        if let Some(directory) = &closure.glibc {
            let more = self.libraries.glibc(&mut self.looks, directory, &binary.machine);
            needs.libraries(&more);
            // Character sets for iconv(3), loaded by name.
            if let Some(gconv) = self.looks.directory(&directory.join("gconv")) {
                needs.grant(&gconv.canonical, Scope::Subtree, LOAD, "library");
            }
        }
        Ok(())
    }

    /// Grants the loader that a program names; `None` for a static one.
    pub(super) fn loader(
        &mut self,
        needs: &mut Needs,
        binary: &Binary,
    ) -> Result<Option<Utf8PathBuf>, String> {
        let Some(path) = &binary.loader else { return Ok(None) };
        let found = self
            .executable(path)
            .map_err(|reason| format!("its loader `{path}` cannot be used: {reason}"))?;
        needs.hops(&found.hops);
        needs.file(&found.canonical, RUN, "loader");
        Ok(Some(found.canonical))
    }

    /// Follows a script to its interpreter.
    fn script(
        &mut self,
        needs: &mut Needs,
        path: &Utf8Path,
        real: &Utf8Path,
        scripts: usize,
    ) -> Result<Utf8PathBuf, String> {
        if scripts >= MAX_SCRIPTS {
            return Err(
                "its interpreters are scripts themselves, more of them than the kernel follows".into()
            );
        }
        let head = self.looks.host.head(real, HEAD).map_err(|error| error.to_string())?;
        let line = script::shebang(&head)
            .map_err(|reason| format!("`{real}`: {reason}"))?
            .ok_or_else(|| format!("`{real}` is neither a program nor a script with a `#!` line"))?;
        let interpreter = Utf8Path::new(&line.interpreter);
        let because = |reason| format!("its interpreter `{interpreter}` cannot be used: {reason}");
        let operations = match self.looks.host.system() {
            System::Linux => INTERPRET,
            System::Macos => macos::INTERPRET,
        };
        let followed =
            self.program(needs, interpreter, "interpreter", operations, scripts + 1).map_err(because)?;
        if interpreter.file_name() != Some("env") {
            return Ok(followed.real);
        }
        // XNU passes each word of the line by itself (`exec_shell_imgact`), so that `env` needs no option to part them.
        let words = line.argument.map(|argument| match self.looks.host.system() {
            System::Macos if !argument.starts_with('-') => format!("-S {argument}"),
            _ => argument,
        });
        let name = script::env_program(words.as_deref())?;
        let because = |reason| format!("its interpreter `{name}` cannot be used: {reason}");
        let program = self.for_env(&name, path).map_err(because)?;
        // `env` starts it as any other program.
        let operations = operations.union(RUN);
        let followed =
            self.program(needs, &program, "interpreter", operations, scripts + 1).map_err(because)?;
        needs.also_on_path.extend(program.parent().map(Utf8Path::to_path_buf));
        Ok(followed.real)
    }

    /// The program that `env` is to run: beside the script where that is an install of its own, as its directory comes first on PATH, else
    /// in the fixed places.
    fn for_env(&mut self, name: &str, script: &Utf8Path) -> Result<Utf8PathBuf, String> {
        if name.contains('/') {
            return if name.starts_with('/') {
                Ok(name.into())
            } else {
                Err("it is not an absolute path".into())
            };
        }
        let beside = script.with_file_name(name);
        let known = beside.parent().is_some_and(|directory| self.searched().iter().any(|it| it == directory));
        if !known && beside != script && self.executable(&beside).is_ok() {
            return Ok(beside);
        }
        match self.place(name) {
            Some((program, Ok(()))) => Ok(program),
            Some((_, Err(reason))) => Err(reason),
            None => Err("it is in none of the places where tools are looked for".into()),
        }
    }

    /// Grants the installs that a stated program and its interpreter belong to, and gives the first as the tool's source.
    fn installs(
        &mut self,
        needs: &mut Needs,
        path: &Utf8Path,
        followed: &Followed,
    ) -> Result<String, String> {
        let mut source = None;
        // As asked, for what an install borrows from elsewhere; and as it is.
        let mut places: Vec<Utf8PathBuf> = crate::host::resolve_parent(self.looks.host, path)
            .ok()
            .map(|it| it.canonical)
            .into_iter()
            .collect();
        places.extend(needs.hops.iter().map(|hop| hop.link.clone()));
        places.push(followed.real.clone());
        places.extend(followed.interpreter.clone());
        let mut seen = Vec::new();
        for place in places {
            if self.is_of_an_install_on_a_mac(&place) {
                continue;
            }
            if let Some(bundle) = self.application(&place) {
                source.get_or_insert_with(|| format!("application {bundle}"));
                needs.grant(&bundle, Scope::Subtree, LOAD, "install");
                continue;
            }
            let Some((kind, install)) = installs::of(self.looks.host, &place) else { continue };
            if seen.contains(&install) {
                continue;
            }
            source.get_or_insert_with(|| format!("{} {install}", kind.name));
            if kind.shared {
                let name = path.file_name().unwrap_or_default();
                let machine = self.looks.host.architecture().to_owned();
                self.own_trees(needs, &place, name, &machine)?;
                for data in [format!("share/{name}"), format!("share/{name}-core")] {
                    self.tree(needs, &install.join(data), &install, Use::Data)?;
                }
                seen.push(install);
                continue;
            }
            self.install(needs, &install)?;
            // On a Mac an interpreter runs for its script only, and what would start it is no help to it.
            let runs =
                self.looks.host.system() == System::Linux || followed.interpreter.as_ref() != Some(&place);
            for template in kind.runs.iter().filter(|_| runs) {
                for tree in self.expand(&format!("{install}/{template}")) {
                    self.tree(needs, &tree, &install, Use::Helpers)?;
                }
            }
            for modules in ["bin", "sbin", "lib", "lib64", "libexec"] {
                if let Some(found) = self
                    .looks
                    .directory(&install.join(modules))
                    .filter(|it| it.canonical.starts_with(&install))
                {
                    self.natives(needs, &found.canonical, false, MAX_ENTRIES)?;
                }
            }
            if self.looks.host.system() == System::Linux
                && let Some(home) =
                    installs::venv_home(self.looks.host, &install).filter(|_| kind.name == "venv")
                && let Some(found) = self.looks.directory(&home)
                && let Some(base) = prefix(&found.canonical.join("python")).map(Utf8Path::to_path_buf)
                && let Some(name) = followed.interpreter.as_ref().unwrap_or(&followed.real).file_name()
            {
                let triple = loader::triple(self.looks.host.architecture());
                self.family(needs, name, &base, triple)?;
            }
            seen.push(install);
        }
        Ok(source.unwrap_or_else(|| "stated".to_owned()))
    }
}
