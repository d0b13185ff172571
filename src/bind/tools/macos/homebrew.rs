//! Homebrew: a keg is the directory of one version of one formula, and its receipt names the formulas that it needs at run time.

use crate::bind::tools::installs::too_broad;
use crate::bind::tools::looks::Looks;
use crate::bind::tools::needs::{LOAD, Needs};
use crate::host::Hop;
use crate::plan::{Operations, Scope};
use camino::{Utf8Path, Utf8PathBuf};
use serde::Deserialize;
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

/// The two places that Homebrew's own packages are built for.
const PREFIXES: [&str; 2] = ["/opt/homebrew", "/usr/local"];

/// The largest receipt that is read, in bytes. The longest known have some hundred dependencies and 40 KiB.
const MAX_RECEIPT: usize = 1 << 20;

/// More kegs than any program needs: past this, receipts lie.
const MAX_KEGS: usize = 1000;

/// What formulas keep outside their kegs and cannot do without: certificates and settings of the TLS library, which hold no secrets.
const SETTINGS: &[(&str, &[&str])] = &[
    ("ca-certificates", &["etc/ca-certificates/cert.pem"]),
    ("openssl@3", &["etc/openssl@3/openssl.cnf", "etc/openssl@3/cert.pem"]),
];

/// An installed Homebrew.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cellar {
    /// As it is known: `/opt/homebrew`.
    pub prefix: Utf8PathBuf,
    /// Canonical.
    real_prefix: Utf8PathBuf,
    /// Canonical, inside the prefix.
    cellar: Utf8PathBuf,
}

/// The installed Homebrews: only where `bin/brew` is a file.
pub fn cellars(looks: &mut Looks<'_>) -> Vec<Cellar> {
    let mut found = Vec::new();
    for prefix in PREFIXES.map(Utf8Path::new) {
        let Some(directory) = looks.directory(prefix) else { continue };
        let Some(cellar) = looks.directory(&prefix.join("Cellar")) else { continue };
        if looks.is_file(&prefix.join("bin/brew")) && cellar.canonical.starts_with(&directory.canonical) {
            found.push(Cellar {
                prefix: prefix.into(),
                real_prefix: directory.canonical,
                cellar: cellar.canonical,
            });
        }
    }
    found
}

impl Cellar {
    /// The keg that holds a canonical path.
    pub fn keg(&self, path: &Utf8Path) -> Option<Utf8PathBuf> {
        let mut below = path.strip_prefix(&self.cellar).ok()?.components();
        let (formula, version) = (below.next()?, below.next()?);
        Some(self.cellar.join(formula).join(version))
    }

    /// The keg that a link of Homebrew's `bin` leads into.
    pub fn keg_behind(&self, looks: &mut Looks<'_>, link: &Utf8Path) -> Result<Utf8PathBuf, String> {
        let found = looks.resolve(link).map_err(|error| error.to_string())?;
        if !found.exists() {
            return Err(format!("it leads to `{}`, which is missing", found.canonical));
        }
        self.keg(&found.canonical).filter(|keg| *keg != found.canonical).ok_or_else(|| {
            format!(
                "it leads to `{real}`, which no formula of Homebrew installed; if it is to be used, state it with `tool \"{link}\"`",
                real = found.canonical
            )
        })
    }
}

/// All that the program of a keg may read.
#[derive(Debug, Default)]
pub struct Closure {
    kegs: BTreeSet<Utf8PathBuf>,
    /// `opt/FORMULA`: what libraries are named by.
    links: BTreeSet<Utf8PathBuf>,
    settings: BTreeSet<Utf8PathBuf>,
    hops: Vec<Hop>,
}

impl Needs {
    pub(super) fn kegs(&mut self, closure: &Closure) {
        for keg in &closure.kegs {
            self.grant(keg, Scope::Subtree, LOAD, "install");
        }
        for path in closure.links.iter().chain(&closure.settings) {
            self.grant(path, Scope::Literal, Operations::READING, "files");
        }
        self.hops(&closure.hops);
    }
}

/// Closures that were followed, by keg.
#[derive(Debug, Default)]
pub struct Closures(HashMap<Utf8PathBuf, Result<Rc<Closure>, String>>);

impl Closures {
    /// The keg and all that its receipt and theirs name.
    pub fn of(
        &mut self,
        looks: &mut Looks<'_>,
        cellar: &Cellar,
        keg: &Utf8Path,
    ) -> Result<Rc<Closure>, String> {
        let known = self.0.entry(keg.to_path_buf());
        known.or_insert_with(|| follow(looks, cellar, keg).map(Rc::new)).clone()
    }
}

fn follow(looks: &mut Looks<'_>, cellar: &Cellar, keg: &Utf8Path) -> Result<Closure, String> {
    let mut closure = Closure::default();
    let mut left = vec![keg.to_path_buf()];
    while let Some(keg) = left.pop() {
        if !closure.kegs.insert(keg.clone()) {
            continue;
        }
        if closure.kegs.len() > MAX_KEGS {
            return Err(format!("Homebrew's receipts name more than {MAX_KEGS} formulas"));
        }
        if too_broad(looks.host, &keg) {
            return Err(format!("`{keg}` is too wide a place for one formula"));
        }
        let formula = keg.parent().and_then(Utf8Path::file_name).unwrap_or_default().to_owned();
        // Its own link is the name by which its files and its dependents know it; a keg that is not the linked version has none.
        if let Ok(own) = opt(looks, cellar, &formula, &keg)
            && own.keg == keg
        {
            closure.add(own);
        }
        closure.settings(looks, cellar, &formula);
        for name in dependencies(looks, &keg)? {
            let dependency = opt(looks, cellar, &name, &keg)?;
            left.push(dependency.keg.clone());
            closure.add(dependency);
        }
    }
    Ok(closure)
}

struct Opt {
    link: Utf8PathBuf,
    keg: Utf8PathBuf,
    hops: Vec<Hop>,
}

/// Where `opt/FORMULA` leads.
fn opt(looks: &mut Looks<'_>, cellar: &Cellar, formula: &str, by: &Utf8Path) -> Result<Opt, String> {
    let link = cellar.prefix.join("opt").join(formula);
    let missing = |why: String| {
        format!(
            "the formula `{formula}`, which `{by}` needs, is not soundly installed: {why}; run `brew reinstall {formula}`"
        )
    };
    let found = looks.resolve(&link).map_err(|error| missing(error.to_string()))?;
    if !found.entry.as_ref().is_some_and(crate::host::Entry::is_directory) {
        return Err(missing(format!("`{link}` leads to no directory")));
    }
    match cellar.keg(&found.canonical) {
        Some(keg) if keg == found.canonical => {
            // Canonical but for the link itself.
            let link = cellar.real_prefix.join("opt").join(formula);
            Ok(Opt { link, keg, hops: found.hops })
        }
        _ => Err(missing(format!("`{link}` leads to `{}`, which is no keg", found.canonical))),
    }
}

impl Closure {
    fn add(&mut self, opt: Opt) {
        self.hops.extend(opt.hops);
        self.links.insert(opt.link);
    }

    fn settings(&mut self, looks: &mut Looks<'_>, cellar: &Cellar, formula: &str) {
        let wanted = SETTINGS.iter().filter(|(name, _)| *name == formula).flat_map(|(_, paths)| *paths);
        for path in wanted {
            let Ok(found) = looks.resolve(&cellar.prefix.join(path)) else { continue };
            let inside = found.canonical.starts_with(&cellar.real_prefix);
            if inside && found.entry.as_ref().is_some_and(crate::host::Entry::is_file) {
                self.settings.insert(found.canonical);
                self.hops.extend(found.hops);
            }
        }
    }
}

/// The part of `INSTALL_RECEIPT.json` that counts here.
#[derive(Deserialize)]
struct Receipt {
    runtime_dependencies: Vec<Dependency>,
}

#[derive(Deserialize)]
struct Dependency {
    full_name: String,
}

/// The formulas that a keg's receipt names, without the tap that they come from.
fn dependencies(looks: &Looks<'_>, keg: &Utf8Path) -> Result<Vec<String>, String> {
    let path = keg.join("INSTALL_RECEIPT.json");
    let text = looks.host.head(&path, MAX_RECEIPT).map_err(|error| format!("Homebrew's receipt {error}"))?;
    parse(&text).map_err(|reason| format!("Homebrew's receipt `{path}` cannot be used: {reason}"))
}

fn parse(text: &[u8]) -> Result<Vec<String>, String> {
    if text.len() >= MAX_RECEIPT {
        return Err("it is larger than 1 MiB".into());
    }
    let receipt: Receipt = serde_json::from_slice(text).map_err(|error| error.to_string())?;
    let mut names = Vec::new();
    for Dependency { full_name } in receipt.runtime_dependencies {
        // `homebrew/core/pcre2` and `user/tap/formula`: the last part is the formula.
        let name = full_name.rsplit('/').next().unwrap_or_default();
        if matches!(name, "" | "." | "..") || name.contains('\0') {
            return Err(format!("`{}` is not the name of a formula", full_name.escape_debug()));
        }
        names.push(name.to_owned());
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_names_without_their_tap() {
        let text = br#"{ "homebrew_version": "4.4", "runtime_dependencies": [
            { "full_name": "pcre2", "version": "10.44" }, { "full_name": "user/tap/lib@2" } ] }"#;
        assert_eq!(parse(text).unwrap(), ["pcre2", "lib@2"]);
        assert_eq!(parse(br#"{ "runtime_dependencies": [] }"#).unwrap(), Vec::<String>::new());
    }

    #[test]
    fn refuses_a_receipt_that_does_not_say() {
        for text in [
            "",
            "{}",
            "[]",
            r#"{ "runtime_dependencies": null }"#,
            r#"{ "runtime_dependencies": ["pcre2"] }"#,
            r#"{ "runtime_dependencies": [{ "full_name": "" }] }"#,
            r#"{ "runtime_dependencies": [{ "full_name": "a/.." }] }"#,
            r#"{ "runtime_dependencies": [{ "full_name": "a\u0000" }] }"#,
            r#"{ "runtime_dependencies": [{ "version": "1" }] }"#,
            r#"{ "runtime_dependencies": [] "#,
        ] {
            assert!(parse(text.as_bytes()).is_err(), "{text}");
        }
        let large = format!("{{ \"runtime_dependencies\": [] {}}}", " ".repeat(MAX_RECEIPT));
        assert!(parse(large.as_bytes()).is_err());
    }
}
