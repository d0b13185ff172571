//! Bundles: frameworks, whose programs start themselves anew from inside, and applications, whose Info.plist says what they are.

use crate::bind::tools::finder::Finder;
use crate::bind::tools::installs::too_broad;
use crate::bind::tools::needs::{Needs, RUN};
use crate::bind::tools::trees::MAX_ENTRIES;
use crate::host::Host;
use crate::plan::Scope;
use crate::policy::System;
use camino::{Utf8Path, Utf8PathBuf};
use serde::Deserialize;
use serde::de::DeserializeOwned;

/// The largest property list that is read, in bytes. That of Xcode, with all the types of documents it opens, has some 60 KiB.
const MAX_PLIST: usize = 1 << 20;

/// The part of a bundle's Info.plist that counts here.
#[derive(Debug, Deserialize, PartialEq, Eq)]
pub struct Info {
    #[serde(rename = "CFBundleIdentifier")]
    pub identifier: String,
    #[serde(rename = "CFBundleShortVersionString")]
    pub version: Option<String>,
}

/// What an application's Info.plist says.
///
/// # Errors
/// Says why it cannot be read.
pub fn info(host: &dyn Host, bundle: &Utf8Path) -> Result<Info, String> {
    read(host, &bundle.join("Contents/Info.plist"))
}

/// Reads a property list, in XML or binary.
///
/// # Errors
/// A file that cannot be read, is larger than 1 MiB, or does not hold what is asked for.
pub fn read<T: DeserializeOwned>(host: &dyn Host, path: &Utf8Path) -> Result<T, String> {
    let bytes = host.head(path, MAX_PLIST).map_err(|error| error.to_string())?;
    if bytes.len() >= MAX_PLIST {
        return Err(format!("`{path}` is larger than 1 MiB"));
    }
    plist::from_bytes(&bytes).map_err(|error| format!("`{path}` is not a sound property list: {error}"))
}

/// `X.framework/Versions/V` that holds a canonical path; the innermost where there are several.
pub fn framework_version(path: &Utf8Path) -> Option<&Utf8Path> {
    path.ancestors().skip(1).find(|version| {
        let versions = version.parent().filter(|parent| parent.file_name() == Some("Versions"));
        versions.and_then(Utf8Path::parent).is_some_and(|it| it.extension() == Some("framework"))
    })
}

impl Finder<'_> {
    /// The outermost application bundle that holds a canonical path: its programs read its Info.plist, resources and frameworks.
    pub(in crate::bind::tools) fn application(&mut self, path: &Utf8Path) -> Option<Utf8PathBuf> {
        let host = self.looks.host;
        if host.system() != System::Macos {
            return None;
        }
        let is_bundle = |above: &&Utf8Path| {
            above.extension() == Some("app")
                && path.starts_with(above.join("Contents"))
                && !too_broad(host, above)
                && info(host, above).is_ok()
        };
        path.ancestors().skip(1).filter(is_bundle).last().map(Utf8Path::to_path_buf)
    }

    /// Lets a program inside a framework execute what lies in its version of it: Python starts itself anew from
    /// `Resources/Python.app` there. As an interpreter only from `Resources`, so that it cannot be started by its own name.
    pub(super) fn framework(&mut self, needs: &mut Needs, real: &Utf8Path, runs: bool) -> Result<(), String> {
        let Some(version) = framework_version(real) else { return Ok(()) };
        let tree = if runs { version.to_path_buf() } else { version.join("Resources") };
        let Some(found) = self.looks.directory(&tree) else { return Ok(()) };
        if !found.canonical.starts_with(version) || too_broad(self.looks.host, &found.canonical) {
            return Ok(());
        }
        needs.grant(version, Scope::Subtree, super::LOAD, "install");
        // For their digests.
        for programs in [found.canonical.join("bin"), version.join("Resources")] {
            if programs.starts_with(&found.canonical) && self.looks.directory(&programs).is_some() {
                self.natives(needs, &programs, true, MAX_ENTRIES)?;
            }
        }
        needs.grant(&found.canonical, Scope::Subtree, RUN, "helper programs");
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_framework_is_told_by_its_version() {
        let version = |path: &str| framework_version(path.into()).map(ToString::to_string);
        let python = "/Library/Frameworks/Python.framework/Versions/3.12";
        assert_eq!(version(&format!("{python}/bin/python3.12")).as_deref(), Some(python));
        assert_eq!(
            version(&format!("{python}/Resources/Python.app/Contents/MacOS/Python")).as_deref(),
            Some(python)
        );
        for path in [python, "/x/Versions/3.12/bin/a", "/Python.framework/3.12/bin/python", "/bin/sh"] {
            assert_eq!(version(path), None, "{path}");
        }
    }
}
