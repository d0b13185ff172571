//! Files of a sandbox's own, in the place of this machine's: how names are looked up in there, and whom its programs are to trust.

use super::super::trust::{self, Trust};
use super::filesystems::OwnFile;
use crate::manifest::Network;
use crate::plan::{Decider, Operation, Rule, Spelling};
use camino::{Utf8Path, Utf8PathBuf};
use std::collections::BTreeSet;

/// Where the command finds what its programs are to trust: in the root of the sandbox, which no directory of this machine takes the place of.
pub const TRUST: &str = "/.palisade";

/// The files of what programs are to trust: in a directory of their own, and in the stead of the system's where the command may read those.
pub fn trusted(trust: &Trust, rules: &[Rule]) -> Vec<OwnFile> {
    let directory = Utf8Path::new(TRUST);
    let decider = Decider::new(rules, Spelling::Exact);
    let system = trust::SYSTEM.iter().filter_map(|name| Utf8Path::new(name).canonicalize_utf8().ok());
    let system: BTreeSet<Utf8PathBuf> =
        system.filter(|path| path.is_file() && decider.decide(Operation::Read, path).allowed).collect();
    let own = trust
        .files(TRUST)
        .into_iter()
        .map(|(name, contents)| OwnFile { place: directory.join(name), contents });
    own.chain(system.into_iter().map(|place| OwnFile { place, contents: trust.bundle().to_vec() })).collect()
}

/// The files by which programs look up names, as they are to be in a network of its own; at the places where those of this machine are.
pub fn own_files(network: Network) -> Vec<OwnFile> {
    if network != Network::Only {
        return Vec::new();
    }
    let sources = std::fs::read_to_string("/etc/nsswitch.conf").unwrap_or_default();
    super::super::network::files(&sources)
        .into_iter()
        .map(|(name, text)| {
            let path = Utf8PathBuf::from(name);
            // A link leads to where the layout mounts what it stands for.
            OwnFile { place: path.canonicalize_utf8().unwrap_or(path), contents: text.into_bytes() }
        })
        .collect()
}
