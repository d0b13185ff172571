//! A world compiled from a profile by the library, against the Mac that the suite runs on: there the whole road is under the suite.

use crate::world::{PROGRAMS, Place, World};
use camino::Utf8Path;
use palisade::finding::Severity;
use palisade::host::live::LiveHost;
use palisade::manifest::{self, Manifest};
use palisade::pipeline::{self, Request};
use palisade::plan::{Presence, Protection};
use palisade::policy::System;
use palisade::resolve::MemoryLoader;
use palisade::source::Sources;
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

/// A denied file whose name has two spellings: with one character, as here, or with a letter and an accent (Unicode's NFC and NFD).
pub const ACCENTED: &str = "caf\u{e9}";

/// The name of the `.sb`, which lies beside the manifest.
const SEATBELT: &str = "suite.sb";

/// Where worlds are made: outside the temporary directories that commands get for their own, and short, since the path of a unix socket
/// has 104 bytes at most (unix(4)).
pub fn place() -> PathBuf {
    "/private/var/tmp".into()
}

/// The `.sb` that goes with the manifest, and what it was compiled from beside the statements of every world.
pub struct Compiled {
    seatbelt: String,
    network: &'static str,
    denied: Vec<String>,
}

impl Compiled {
    /// Puts the `.sb` where the manifest says that it is.
    pub fn write(&self, place: &Place) {
        fs::write(place.base.join(SEATBELT), &self.seatbelt).unwrap();
    }
}

pub fn compile(place: &Place) -> (Manifest, Compiled) {
    fs::write(place.rw(ACCENTED), "secret").unwrap();
    compiled(place, "off", Vec::new())
}

fn compiled(place: &Place, network: &'static str, denied: Vec<String>) -> (Manifest, Compiled) {
    let mut sources = Sources::new();
    let file = sources.add("suite.palisade", None, profile(place, network, &denied));
    let host = LiveHost::with_home(&place.base.join("home")).unwrap();
    let request = Request {
        workspace: place.rw(""),
        set: BTreeMap::new(),
        target: System::this(),
        artifacts: Vec::new(),
    };
    let checked = pipeline::check(&mut sources, file, &MemoryLoader::default(), &host, &request);
    let errors: Vec<_> =
        checked.findings.iter().filter(|finding| finding.severity == Severity::Error).collect();
    assert!(errors.is_empty(), "{errors:#?}");
    let bound = checked.bound.unwrap();
    let artifact = pipeline::compile(&sources, &bound, &host, SEATBELT).unwrap().unwrap();
    let manifest = manifest::read(&artifact.manifest).unwrap();
    (manifest, Compiled { seatbelt: artifact.seatbelt.unwrap_or_default(), network, denied })
}

/// The same world as that of every system. What guards protect in it (`.git/hooks`, `.git/config` and others) needs no statement.
fn profile(place: &Place, network: &str, denied: &[String]) -> String {
    let Place { base, .. } = place;
    let bin = PROGRAMS.probe.parent().unwrap();
    let denied: String = denied.iter().map(|path| format!("    deny \"{path}\"\n")).collect();
    format!(
        r#"edition 1
profile "suite" {{
    root "{base}/rw" read-write
    root "{base}/ro" read-only
    root "{base}/rw/vendor" read-only
    root "{base}/rw/deep/x/kept" read-only
    root "{bin}" read-only
    executable "{base}/rw/target"
    deny "{base}/rw/a/b/secret.txt"
    deny "{base}/rw/.env"
    deny "{base}/rw/secrets"
    deny "{base}/rw/{ACCENTED}"
    deny "{base}/ro/hidden.txt"
{denied}    network {network}
    ipc off
    tool "{probe}"
    tool "{script}"
}}
"#,
        probe = PROGRAMS.probe,
        script = PROGRAMS.script,
    )
}

impl World {
    /// The same world with a network that is open.
    pub fn open_network(&mut self) {
        let denied = self.compiled.denied.clone();
        (self.manifest, self.compiled) = compiled(&self.place, "all", denied);
    }

    /// The same world with a list of hosts that may be reached.
    pub fn list_hosts(&mut self) {
        let denied = self.compiled.denied.clone();
        let list = "only { allow \"example.com\" }";
        (self.manifest, self.compiled) = compiled(&self.place, list, denied);
    }

    /// Has one more path protected, whether it is there or not. What is to be guarded must be among the guards that every root has.
    pub fn protect(&mut self, path: &Utf8Path, protection: Protection, _presence: Presence) {
        match protection {
            Protection::Denied => {
                let mut denied = self.compiled.denied.clone();
                denied.push(path.to_string());
                (self.manifest, self.compiled) = compiled(&self.place, self.compiled.network, denied);
            }
            Protection::Guarded | Protection::ReadOnly => {
                let mut guards = self.manifest.protected.iter().map(|protected| &protected.path);
                assert!(guards.any(|guard| path.starts_with(guard)), "`{path}` is no guard");
            }
        }
    }
}
