//! Guards: paths in every writable root that are protected from writing without being asked, since somebody else's
//! program acts on what they hold: git runs hooks, an editor runs tasks, an agent starts the servers its configuration names.

use super::{Guard, git};
use crate::host::resolve::{resolve, resolve_parent};
use crate::host::{Host, Kind};
use camino::{Utf8Path, Utf8PathBuf};

/// A guarded name, relative to a writable root, and what acts on it.
pub struct Guarded {
    pub name: &'static str,
    pub reason: &'static str,
}

const SHELL: &str = "a shell runs it when it starts";
const AGENT: &str = "an agent's own configuration: it starts programs and lifts limits";
const EDITOR: &str = "an editor runs the tasks and settings in it";

const fn guarded(name: &'static str, reason: &'static str) -> Guarded {
    Guarded { name, reason }
}

/// Every guarded name at the top of a writable root, `.git` apart, which depends on what it is.
/// The agents' directories are those named by published escapes (Cymulate, April 2026; CVE-2025-59944; CVE-2026-25725).
pub const GUARDED: [Guarded; 30] = [
    guarded(".mcp.json", "an agent starts the servers it names"),
    guarded(".claude", AGENT),
    guarded(".codex", AGENT),
    guarded(".cursor", AGENT),
    guarded(".gemini", AGENT),
    guarded(".windsurf", AGENT),
    guarded(".continue", AGENT),
    guarded(".kiro", AGENT),
    guarded(".roo", AGENT),
    guarded(".opencode", AGENT),
    guarded(".aider.conf.yml", AGENT),
    guarded(".vscode", EDITOR),
    guarded(".idea", EDITOR),
    guarded(".envrc", "direnv runs it"),
    guarded(".bashrc", SHELL),
    guarded(".bash_profile", SHELL),
    guarded(".bash_login", SHELL),
    guarded(".bash_logout", SHELL),
    guarded(".profile", SHELL),
    guarded(".zshrc", SHELL),
    guarded(".zshenv", SHELL),
    guarded(".zprofile", SHELL),
    guarded(".zlogin", SHELL),
    guarded(".zlogout", SHELL),
    guarded(".kshrc", SHELL),
    guarded(".cshrc", SHELL),
    guarded(".tcshrc", SHELL),
    guarded(".login", SHELL),
    guarded(".gitconfig", "git runs the commands it names"),
    guarded("palisade.toml", "it decides how policies are checked"),
];

/// Why a file of Palisade's own is guarded.
pub const OWN: &str = "a policy must not be changed by what it restrains";

/// One of Palisade's own files, canonical: a profile, a fragment, an artifact, or a folder of nothing else. There when the command runs, whether or not
/// it is there yet when the profile is compiled.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct OwnFile {
    pub path: Utf8PathBuf,
}

/// The guards of one writable root.
pub fn of_root(host: &dyn Host, root: &Utf8Path, own: &[OwnFile]) -> Vec<Guard> {
    let mut guards: Vec<Guard> =
        GUARDED.iter().map(|guarded| guard(host, root.join(guarded.name), guarded.reason)).collect();
    guards.extend(git::guards(host, &root.join(".git")));
    guards.extend(own.iter().filter(|own| own.path.starts_with(root)).map(|own| Guard {
        path: own.path.clone(),
        entry: host.lstat(&own.path).ok().flatten(),
        reason: OWN,
        own: true,
        keep_absent: false,
        lifted_by: None,
    }));
    guards
}

/// What a guard at a symlink must guard as well: the links it goes through and what is at their end. Whoever acts on the
/// guarded name follows them.
pub fn behind(host: &dyn Host, link: &Guard) -> Vec<Guard> {
    if !is_symlink(link) {
        return Vec::new();
    }
    let Ok(found) = resolve(host, &link.path) else { return Vec::new() };
    let mut guards: Vec<Guard> =
        found.hops.iter().skip(1).map(|hop| guard(host, hop.link.clone(), link.reason)).collect();
    if link.path.file_name() == Some(".git") {
        guards.extend(git::guards(host, &found.canonical));
    } else {
        guards.push(guard(host, found.canonical, link.reason));
    }
    guards
}

/// A guard on a path, or on its first missing ancestor: a missing directory must not be made anew around what is guarded.
pub(super) fn guard(host: &dyn Host, path: Utf8PathBuf, reason: &'static str) -> Guard {
    let found = resolve_parent(host, &path).ok();
    match found {
        Some(found) if found.entry.is_some() => Guard {
            path: found.canonical,
            entry: found.entry,
            reason,
            own: false,
            keep_absent: false,
            lifted_by: None,
        },
        Some(found) => {
            let missing = first_missing(&found.canonical, &found.existing);
            Guard { path: missing, entry: None, reason, own: false, keep_absent: false, lifted_by: None }
        }
        None => Guard { path, entry: None, reason, own: false, keep_absent: false, lifted_by: None },
    }
}

fn first_missing(path: &Utf8Path, existing: &Utf8Path) -> Utf8PathBuf {
    path.ancestors().take_while(|ancestor| *ancestor != existing).last().unwrap_or(path).to_path_buf()
}

/// Whether a guard stands at a symlink, which the walls must keep as it is.
pub fn is_symlink(guard: &Guard) -> bool {
    guard.entry.as_ref().is_some_and(|entry| matches!(entry.kind, Kind::Symlink(_)))
}
