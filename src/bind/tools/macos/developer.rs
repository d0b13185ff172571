//! The developer directory: the Command Line Tools, or the one inside an Xcode.

use super::bundles;
use crate::bind::tools::installs::too_broad;
use crate::bind::tools::looks::Looks;
use crate::bind::tools::needs::{LOAD, Needs};
use crate::host::Hop;
use crate::plan::{Operations, Scope};
use camino::{Utf8Path, Utf8PathBuf};
use serde::Deserialize;

/// Where compilers are, below the developer directory.
pub const TOOLCHAIN: &str = "Toolchains/XcodeDefault.xctoolchain/usr/bin";

/// Which licence of Xcode was agreed to, for the whole machine.
const LICENCE: &str = "/Library/Preferences/com.apple.dt.Xcode.plist";

/// Links by which shims find the developer directory.
const SELECTED: [&str; 2] = ["/private/var/db/xcode_select_link", "/private/var/select/developer_dir"];

/// An install of developer tools.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Developer {
    /// Canonical; `DEVELOPER_DIR` of commands.
    pub directory: Utf8PathBuf,
    /// What is granted: the directory itself, or the whole bundle that it is in, whose Info.plist and frameworks its tools read.
    pub install: Utf8PathBuf,
    /// For the manifest.
    pub source: String,
    /// Files that are read beside the install. Canonical.
    reads: Vec<Utf8PathBuf>,
    hops: Vec<Hop>,
}

/// What tools of an install are looked for in.
pub fn programs_below(directory: &Utf8Path) -> [Utf8PathBuf; 2] {
    [directory.join("usr/bin"), directory.join(TOOLCHAIN)]
}

impl Developer {
    pub fn programs(&self) -> [Utf8PathBuf; 2] {
        programs_below(&self.directory)
    }
}

impl Needs {
    pub(super) fn developer(&mut self, developer: &Developer) {
        self.grant(&developer.install, Scope::Subtree, LOAD, "install");
        for path in &developer.reads {
            self.grant(path, Scope::Literal, Operations::READING, "files");
        }
        self.hops(&developer.hops);
        self.developer_directory = Some(developer.directory.clone());
    }
}

/// The active install, or why it cannot be used. `None` where there is none: nothing selected, or what was selected is gone.
pub fn of(looks: &mut Looks<'_>) -> Option<Result<Developer, String>> {
    let selected = looks.host.developer_directory()?.to_path_buf();
    let found = looks.directory(&selected)?;
    Some(install(looks, found.canonical, found.hops))
}

fn install(looks: &mut Looks<'_>, directory: Utf8PathBuf, mut hops: Vec<Hop>) -> Result<Developer, String> {
    let mut reads = Vec::new();
    for path in SELECTED {
        let Ok(found) = looks.resolve(path.into()) else { continue };
        if let Some(first) = found.hops.first() {
            reads.push(first.link.clone());
            hops.extend(found.hops);
        }
    }
    let bundle = directory
        .as_str()
        .strip_suffix("/Contents/Developer")
        .filter(|bundle| bundle.ends_with(".app"))
        .map(Utf8PathBuf::from);
    let (install, source) = match bundle {
        None => (directory.clone(), format!("developer directory {directory}")),
        Some(bundle) => {
            let info = bundles::info(looks.host, &bundle)?;
            reads.push(licence(looks)?);
            let version = info.version.map(|version| format!(" {version}")).unwrap_or_default();
            let source = format!("Xcode{version} {bundle}");
            (bundle, source)
        }
    };
    if too_broad(looks.host, &install) {
        return Err(format!("the developer directory `{directory}` is too wide a place to grant"));
    }
    Ok(Developer { directory, install, source, reads, hops })
}

/// What the licence record says: the number of the licence that was agreed to last, of releases and of betas.
#[derive(Deserialize)]
struct Licence {
    #[serde(rename = "IDELastGMLicenseAgreedTo")]
    release: Option<String>,
    #[serde(rename = "IDELastBetaLicenseAgreedTo")]
    beta: Option<String>,
}

/// The licence record, once it is seen to hold an agreement: without one, Xcode's tools refuse to run. Whether it is one with this
/// version's licence is for Xcode to say.
fn licence(looks: &mut Looks<'_>) -> Result<Utf8PathBuf, String> {
    const HELP: &str = "run `sudo xcodebuild -license`";
    let found = looks.resolve(LICENCE.into()).map_err(|error| error.to_string())?;
    if !found.exists() {
        return Err(format!("the licence of Xcode was not agreed to: `{LICENCE}` is missing; {HELP}"));
    }
    let record: Licence = bundles::read(looks.host, &found.canonical)?;
    match record.release.or(record.beta) {
        Some(_) => Ok(found.canonical),
        None => Err(format!("the licence of Xcode was not agreed to: `{LICENCE}` names none; {HELP}")),
    }
}
