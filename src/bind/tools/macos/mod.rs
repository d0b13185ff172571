//! In: the name or path of a program on a Mac. Out: where it is, and what beside it it needs there: Homebrew's kegs, the developer
//! directory, frameworks, application bundles, libraries outside the system's own.

mod bundles;
mod developer;
mod dyld;
mod homebrew;
mod shims;

use super::finder::Finder;
use super::needs::{LOAD, Needs, RUN};
use super::trees::Use;
use crate::host::Binary;
use crate::plan::{Operation, Operations};
use crate::policy::System;
use camino::{Utf8Path, Utf8PathBuf};
use developer::Developer;
use dyld::is_system;
use homebrew::Cellar;

pub use shims::selected_shell;

/// Where programs of the base system are, in the order in which they are looked for.
pub const BASE: &[&str] = &["/usr/bin", "/bin", "/usr/sbin", "/sbin"];

/// Where Homebrew puts links to its programs, where it is installed.
pub const BREWED: &[&str] = &["/opt/homebrew/bin", "/opt/homebrew/sbin", "/usr/local/bin", "/usr/local/sbin"];

/// An interpreter: Seatbelt tells running one for a script (`process-exec-interpreter`) from running it by itself.
pub const INTERPRET: Operations = LOAD.union(Operations::of(&[Operation::Interpret]));

/// What Rosetta needs to be there to run programs of the other architecture.
const ROSETTA: &str = "/Library/Apple/usr/libexec/oah/libRosettaRuntime";

/// What is remembered for the length of one compile.
#[derive(Debug, Default)]
pub struct Mac {
    cellars: Option<Vec<Cellar>>,
    developer: Option<Option<Result<Developer, String>>>,
    closures: homebrew::Closures,
}

/// Whose program it is.
enum Home {
    Homebrew { cellar: Cellar, keg: Utf8PathBuf },
    Developer(Developer),
    Base,
    Elsewhere,
}

impl Finder<'_> {
    fn cellars(&mut self) -> Vec<Cellar> {
        self.mac.cellars.get_or_insert_with(|| homebrew::cellars(&mut self.looks)).clone()
    }

    /// The install of the developer directory; `None` where there is none.
    fn developer(&mut self) -> Option<Result<Developer, String>> {
        self.mac.developer.get_or_insert_with(|| developer::of(&mut self.looks)).clone()
    }

    /// The first place that has a name: Homebrew, the developer directory, the base system. Shims there count as not installed.
    pub(super) fn place_on_a_mac(&mut self, name: &str) -> Option<(Utf8PathBuf, Result<(), String>)> {
        for cellar in self.cellars() {
            for place in ["bin", "sbin"] {
                let asked = cellar.prefix.join(place).join(name);
                match self.there(&asked) {
                    Ok(false) => continue,
                    Err(reason) => return Some((asked, Err(reason))),
                    Ok(true) => {}
                }
                // Not missing but wrong: using another program of that name instead would be a guess.
                let sound = cellar.keg_behind(&mut self.looks, &asked).map(|_| ());
                return Some((asked, sound));
            }
        }
        if let Some((asked, sound)) = self.developer_place(name) {
            return Some((asked, sound));
        }
        let mut shim = None;
        for place in BASE {
            let asked = Utf8Path::new(place).join(name);
            match self.there(&asked) {
                Ok(false) => continue,
                Err(reason) => return Some((asked, Err(reason))),
                Ok(true) => match self.shim(&asked) {
                    None => return Some((asked, Ok(()))),
                    Some(reason) => {
                        shim.get_or_insert((asked, Err(reason)));
                    }
                },
            }
        }
        shim
    }

    /// Where programs are looked for on this Mac, in this order.
    pub(super) fn searched_on_a_mac(&mut self) -> Vec<Utf8PathBuf> {
        let brewed =
            self.cellars().into_iter().flat_map(|it| ["bin", "sbin"].map(|place| it.prefix.join(place)));
        let mut places: Vec<Utf8PathBuf> = brewed.collect();
        if let Some(Ok(developer)) = self.developer() {
            places.extend(developer.programs());
        }
        places.extend(BASE.iter().map(Utf8PathBuf::from));
        places
    }

    fn developer_place(&mut self, name: &str) -> Option<(Utf8PathBuf, Result<(), String>)> {
        let found = self.developer()?;
        let directories = match &found {
            Ok(developer) => developer.programs(),
            Err(_) => developer::programs_below(self.looks.host.developer_directory()?),
        };
        for place in directories {
            let asked = place.join(name);
            match (self.there(&asked), &found) {
                (Ok(false), _) => {}
                (Err(reason), _) => return Some((asked, Err(reason))),
                (Ok(true), Err(reason)) => return Some((asked, Err(reason.clone()))),
                (Ok(true), Ok(_)) => {
                    let sound = self.is_of_developer(&asked);
                    return Some((asked, sound));
                }
            }
        }
        None
    }

    /// Refuses a link of the developer directory that leads out of it: what is behind it, nobody granted.
    fn is_of_developer(&mut self, asked: &Utf8Path) -> Result<(), String> {
        let real = self.executable(asked)?.canonical;
        match self.home(&real) {
            Home::Developer(_) => Ok(()),
            _ => Err(format!("`{asked}` leads to `{real}`, out of the developer directory")),
        }
    }

    /// Whether a path names anything, its last component not followed.
    fn there(&mut self, path: &Utf8Path) -> Result<bool, String> {
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { return Ok(false) };
        let Some(directory) = self.looks.directory(parent) else {
            return self.looks.resolve(parent).map(|_| false).map_err(|error| error.to_string());
        };
        match self.looks.host.lstat(&directory.canonical.join(name)) {
            Ok(entry) => Ok(entry.is_some()),
            Err(error) => Err(error.to_string()),
        }
    }

    /// Checks a program in the machine's own code, and adds what it loads that is not the system's or its install's.
    pub(super) fn native_on_a_mac(
        &mut self,
        needs: &mut Needs,
        real: &Utf8Path,
        binary: &Binary,
        scripts: usize,
    ) -> Result<(), String> {
        let here = self.looks.host.architecture();
        let translated = here == "aarch64" && binary.machine == "x86_64";
        if binary.machine != here && !(translated && self.looks.is_file(ROSETTA.into())) {
            let rosetta = if translated { ", which has no Rosetta" } else { "" };
            return Err(format!(
                "`{real}` is a program for {}, and this machine is {here}{rosetta}",
                binary.machine
            ));
        }
        match self.home(real) {
            Home::Homebrew { .. } | Home::Developer(_) => Ok(()),
            Home::Base => match self.is_shim(real) {
                // The tool that it stands for is what runs; the shim starts it as a program, whatever it was started as itself.
                Ok(true) => self.behind_shim(needs, real, scripts),
                _ => self.shim(real).map_or(Ok(()), Err),
            },
            Home::Elsewhere => {
                let images = dyld::images(&mut self.looks, real, binary, Some(real));
                if let Some((library, by)) = &images.missing {
                    return Err(format!("the library `{library}`, which `{by}` needs, is missing"));
                }
                needs.images(&images);
                Ok(())
            }
        }
    }

    /// Adds the libraries of native code in a tree of modules. What it lacks fails by itself; the tool does not.
    pub(super) fn module_images(&mut self, needs: &mut Needs, path: &Utf8Path, binary: &Binary) {
        // What belongs to an install that states what it needs gets that, and nothing by its own word.
        if let Home::Elsewhere = self.home(path) {
            needs.images(&dyld::images(&mut self.looks, path, binary, None));
        }
    }

    fn home(&mut self, real: &Utf8Path) -> Home {
        for cellar in self.cellars() {
            if let Some(keg) = cellar.keg(real) {
                return Home::Homebrew { cellar, keg };
            }
        }
        if let Some(Ok(developer)) = self.developer()
            && real.starts_with(&developer.install)
        {
            return Home::Developer(developer);
        }
        let directory = real.parent().map(Utf8Path::as_str).unwrap_or_default();
        if BASE.contains(&directory) || is_system(real) { Home::Base } else { Home::Elsewhere }
    }

    /// Whether Homebrew, the developer directory or the base system installed a program, so that no other install is to be looked for.
    pub(super) fn is_of_an_install_on_a_mac(&mut self, path: &Utf8Path) -> bool {
        self.looks.host.system() == System::Macos && !matches!(self.home(path), Home::Elsewhere)
    }

    /// The install that a program belongs to, for the manifest; `None` where it is the base system or none is known.
    pub(super) fn source_on_a_mac(&mut self, real: &Utf8Path) -> Option<String> {
        if self.looks.host.system() != System::Macos {
            return None;
        }
        match self.home(real) {
            Home::Homebrew { keg, .. } => Some(format!("homebrew {keg}")),
            Home::Developer(developer) => Some(developer.source),
            Home::Base => Some("system".to_owned()),
            Home::Elsewhere => None,
        }
    }

    /// Adds what a program, or the script that it is, needs of the install that it belongs to.
    pub(super) fn surroundings_on_a_mac(
        &mut self,
        needs: &mut Needs,
        path: &Utf8Path,
        real: &Utf8Path,
        operations: Operations,
    ) -> Result<(), String> {
        let runs = operations.contains(Operation::Exec);
        let name = path.file_name().unwrap_or_default();
        match self.home(real) {
            Home::Homebrew { cellar, keg } => {
                let closure = self.mac.closures.of(&mut self.looks, &cellar, &keg)?;
                needs.kegs(&closure);
                if runs {
                    self.helpers(needs, &keg, name)?;
                    // Many formulas put a wrapper into bin that starts the program of the same name here.
                    let wrapped = keg.join("libexec/bin").join(name);
                    if let Ok(found) = self.executable(&wrapped)
                        && found.canonical.starts_with(&keg)
                        && found.canonical != real
                    {
                        needs.hops(&found.hops);
                        needs.file(&found.canonical, RUN, "helper programs");
                    }
                }
            }
            Home::Developer(developer) => {
                needs.developer(&developer);
                if runs {
                    self.developer_helpers(needs, &developer, name, real)?;
                }
            }
            Home::Base | Home::Elsewhere => {}
        }
        self.framework(needs, real, runs)
    }

    /// Programs that a tool keeps for itself: `libexec/NAME` and `libexec/NAME-core` of its install (git's are there).
    fn helpers(&mut self, needs: &mut Needs, install: &Utf8Path, name: &str) -> Result<(), String> {
        for tree in [format!("libexec/{name}"), format!("libexec/{name}-core")] {
            self.tree(needs, &install.join(tree), install, Use::Helpers)?;
        }
        Ok(())
    }

    fn developer_helpers(
        &mut self,
        needs: &mut Needs,
        developer: &Developer,
        name: &str,
        real: &Utf8Path,
    ) -> Result<(), String> {
        for place in developer.programs() {
            let Some(usr) = place.parent() else { continue };
            self.helpers(needs, usr, name)?;
        }
        // The tool may be started by its shim's name, as scripts do that say /usr/bin/NAME.
        let shim = Utf8Path::new("/usr/bin").join(name);
        if self.looks.is_file(&shim) && self.is_shim(&shim) == Ok(true) {
            needs.file(&shim, RUN, "program");
        }
        for program in super::families::of(name, None).map_or(&[][..], |family| family.programs) {
            let Some((asked, Ok(()))) = self.developer_place(program) else { continue };
            if let Ok(found) = self.executable(&asked)
                && found.canonical.starts_with(&developer.install)
                && found.canonical != real
            {
                needs.hops(&found.hops);
                needs.file(&found.canonical, RUN, "helper programs");
            }
        }
        Ok(())
    }
}

/// The order of PATH: as tools are looked up, so that a name leads to the one that was granted.
pub fn rank(directory: &Utf8Path) -> usize {
    let position = |places: &[&str]| places.iter().position(|place| *place == directory);
    let developer = BREWED.len() + usize::from(directory.ends_with(developer::TOOLCHAIN));
    match (position(BREWED), position(BASE)) {
        (Some(at), _) => at,
        (_, Some(at)) => BREWED.len() + 2 + at,
        (None, None) => developer,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn path_is_in_the_order_of_the_search() {
        let toolchain = "/Library/Developer/CommandLineTools/Toolchains/XcodeDefault.xctoolchain/usr/bin";
        let order = [
            "/opt/homebrew/bin",
            "/usr/local/sbin",
            "/Library/Developer/CommandLineTools/usr/bin",
            toolchain,
            "/usr/bin",
            "/sbin",
        ];
        let ranks: Vec<usize> = order.iter().map(|place| rank(Utf8Path::new(place))).collect();
        assert!(ranks.is_sorted_by(|a, b| a < b), "{ranks:?}");
    }
}
