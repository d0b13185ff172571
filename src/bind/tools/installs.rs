//! Installs outside the known places: how each kind is told by its directory, and what of it a program gets.

use crate::host::Host;
use camino::{Utf8Path, Utf8PathBuf};

/// One row: a kind of install. The first that holds is taken.
#[derive(Debug)]
pub struct Kind {
    pub name: &'static str,
    /// Whether PREFIX, of `PREFIX/bin/PROGRAM`, is one.
    pub holds: fn(&dyn Host, &Utf8Path) -> bool,
    /// Whether PREFIX holds programs that have nothing to do with each other: then one gets only what bears its name.
    pub shared: bool,
    /// Directories below PREFIX whose programs it runs; a component `*` stands for every name there.
    pub runs: &'static [&'static str],
    pub because: &'static str,
}

pub const KINDS: &[Kind] = &[
    Kind {
        name: "venv",
        holds: |host, prefix| is_file(host, &prefix.join("pyvenv.cfg")),
        shared: false,
        runs: &[],
        because: "a virtual environment has modules of its own and borrows the interpreter that pyvenv.cfg names",
    },
    Kind {
        name: "rustup toolchain",
        holds: |host, prefix| is_directory(host, &prefix.join("lib/rustlib")),
        shared: false,
        runs: &["bin", "lib/rustlib/*/bin"],
        because: "cargo runs the rustc beside it, and rustc the linker of its own target",
    },
    Kind {
        name: "pyenv",
        holds: |_, prefix| below(prefix, &[".pyenv", "versions"]),
        shared: false,
        runs: &[],
        because: "pyenv keeps each version of Python as an install of its own",
    },
    Kind {
        name: "nvm",
        holds: |_, prefix| below(prefix, &["versions", "node"]),
        shared: false,
        runs: &[],
        because: "nvm keeps each version of Node as an install of its own",
    },
    Kind {
        name: "fnm",
        holds: |_, prefix| prefix.file_name() == Some("installation"),
        shared: false,
        runs: &[],
        because: "fnm keeps each version of Node in a directory `installation`",
    },
    Kind {
        name: "volta",
        holds: |_, prefix| prefix.iter().any(|name| name == ".volta") && below(prefix, &["image", "*"]),
        shared: false,
        runs: &[],
        because: "Volta keeps each version of a tool below `tools/image`",
    },
    Kind {
        name: "mise",
        holds: |_, prefix| below(prefix, &["mise", "installs", "*"]),
        shared: false,
        runs: &[],
        because: "mise keeps each version of a tool as an install of its own",
    },
    Kind {
        name: "asdf",
        holds: |_, prefix| below(prefix, &[".asdf", "installs", "*"]),
        shared: false,
        runs: &[],
        because: "asdf keeps each version of a tool as an install of its own",
    },
    Kind {
        name: "nix",
        holds: |_, prefix| prefix.parent().is_some_and(|parent| parent == "/nix/store"),
        shared: false,
        runs: &["bin", "libexec"],
        because: "a store path is one package, whose wrappers start a program beside them; libraries are followed, but what else of the store \
                  it names stands only in Nix's own database, and is stated with further `tool` statements",
    },
    Kind {
        name: "macports",
        holds: |host, prefix| prefix == "/opt/local" && is_file(host, &prefix.join("bin/port")),
        shared: true,
        runs: &[],
        because: "MacPorts puts all ports into one tree; which port a program belongs to stands only in its own database, so that it gets \
                  its libraries and what bears its name",
    },
    Kind {
        name: "install",
        holds: |host, prefix| {
            let parts = ["lib", "lib64", "libexec", "share"];
            // A repository with a `bin` and a `lib` is somebody's work, not an install.
            matches!(host.lstat(&prefix.join(".git")), Ok(None))
                && parts.iter().any(|it| is_directory(host, &prefix.join(it)))
        },
        shared: false,
        runs: &[],
        because: "a directory that holds bin beside lib, libexec or share was installed as one",
    },
];

/// Whether the directory above `prefix` ends in these names.
fn below(prefix: &Utf8Path, names: &[&str]) -> bool {
    let above: Vec<&str> = prefix.parent().map(|parent| parent.iter().collect()).unwrap_or_default();
    above.len() >= names.len()
        && above.iter().rev().zip(names.iter().rev()).all(|(is, name)| *name == "*" || is == name)
}

fn is_file(host: &dyn Host, path: &Utf8Path) -> bool {
    matches!(host.lstat(path), Ok(Some(entry)) if entry.is_file())
}

fn is_directory(host: &dyn Host, path: &Utf8Path) -> bool {
    matches!(host.lstat(path), Ok(Some(entry)) if entry.is_directory())
}

/// The install that a program, given by a canonical path, belongs to.
pub fn of(host: &dyn Host, program: &Utf8Path) -> Option<(&'static Kind, Utf8PathBuf)> {
    let directory = program.parent()?;
    if !matches!(directory.file_name(), Some("bin" | "sbin")) {
        return None;
    }
    let prefix = directory.parent()?;
    if let Some(kind) = KINDS.iter().find(|kind| kind.shared && (kind.holds)(host, prefix)) {
        return Some((kind, prefix.to_path_buf()));
    }
    let in_a_home = prefix.parent().is_some_and(|parent| is_a_home(host, parent));
    if too_broad(host, prefix) || in_a_home && !is_file(host, &prefix.join("pyvenv.cfg")) {
        // `~/.local` and `~/.cargo` hold more than programs: key rings, tokens.
        return None;
    }
    KINDS.iter().find(|kind| (kind.holds)(host, prefix)).map(|kind| (kind, prefix.to_path_buf()))
}

/// What of an install holds settings and state, registry tokens among them (`etc/npmrc`), and no code.
pub const PRIVATE: [&str; 2] = ["etc", "var"];

/// Directories that hold what many programs and people share, so that no rule of ours may grant one as a tree.
pub fn too_broad(host: &dyn Host, path: &Utf8Path) -> bool {
    const SHARED: &[&str] = &[
        "/usr/lib",
        "/usr/lib32",
        "/usr/lib64",
        "/usr/libx32",
        "/usr/libexec",
        "/usr/share",
        "/usr/include",
        "/usr/bin",
        "/usr/sbin",
        "/usr/local",
        "/usr/local/lib",
        "/usr/local/lib64",
        "/usr/local/libexec",
        "/usr/local/share",
        "/usr/local/bin",
        "/usr/local/sbin",
        "/usr/src",
        "/var/lib",
        "/nix/store",
        "/nix/var",
        "/opt/homebrew",
        "/opt/homebrew/Cellar",
        "/opt/homebrew/bin",
        "/opt/homebrew/etc",
        "/opt/homebrew/lib",
        "/opt/homebrew/opt",
        "/opt/homebrew/share",
        "/opt/homebrew/var",
        "/usr/local/Cellar",
        "/usr/local/etc",
        "/usr/local/opt",
        "/usr/local/var",
        "/opt/local",
        "/opt/local/bin",
        "/opt/local/etc",
        "/opt/local/lib",
        "/opt/local/libexec",
        "/opt/local/share",
        "/opt/local/var",
        "/Library/Application Support",
        "/Library/Developer",
        "/Library/Frameworks",
        "/Library/Preferences",
        "/System/Library",
        "/System/Volumes",
        "/private/etc",
        "/private/tmp",
        "/private/var",
    ];
    // What stands in these is a whole disk, or what a person's programs keep.
    let parent = path.parent();
    let whole_disk = parent.is_some_and(|parent| parent == "/Volumes" || parent == "/System/Volumes");
    let personal = ["Library", "Library/Application Support"].iter().any(|part| {
        path.as_str()
            .strip_suffix(part)
            .and_then(|rest| rest.strip_suffix('/'))
            .is_some_and(|home| is_a_home(host, home.into()))
    });
    // `/`, and what stands directly in it: `/usr`, `/opt`, `/home`, `/root`.
    let shallow = path.components().count() <= 2;
    let multiarch = path.file_name().is_some_and(|name| name.contains("-linux-gnu"))
        && path
            .parent()
            .is_some_and(|parent| matches!(parent.as_str(), "/usr/lib" | "/lib" | "/usr/local/lib"));
    shallow
        || whole_disk
        || personal
        || is_a_home(host, path)
        || multiarch
        || SHARED.contains(&path.as_str())
        || host.home().starts_with(path)
}

/// Whether a path is somebody's home directory, as far as can be told without the accounts.
fn is_a_home(host: &dyn Host, path: &Utf8Path) -> bool {
    let homes = |parent: &Utf8Path| matches!(parent.as_str(), "/home" | "/Users");
    path == host.home() || path == "/root" || path.parent().is_some_and(homes)
}

/// A program that only stands for another one, chosen when it runs: says what to state instead. `asked` is the path as given, `real`
/// where it leads.
pub fn stand_in(host: &dyn Host, asked: &Utf8Path, real: &Utf8Path) -> Option<String> {
    const SHIMS: &[(&[&str], &str, &str)] = &[
        (&[".pyenv", "shims"], "pyenv", "~/.pyenv/versions/VERSION/bin"),
        (&[".rbenv", "shims"], "rbenv", "~/.rbenv/versions/VERSION/bin"),
        (&[".nodenv", "shims"], "nodenv", "~/.nodenv/versions/VERSION/bin"),
        (&[".goenv", "shims"], "goenv", "~/.goenv/versions/VERSION/bin"),
        (&[".asdf", "shims"], "asdf", "~/.asdf/installs/TOOL/VERSION/bin"),
        (&["mise", "shims"], "mise", "~/.local/share/mise/installs/TOOL/VERSION/bin"),
    ];
    let name = asked.file_name().unwrap_or_default();
    let directory: Vec<&str> = asked.parent().map(|parent| parent.iter().collect()).unwrap_or_default();
    for (ends, manager, instead) in SHIMS {
        if directory.ends_with(ends) {
            return Some(format!(
                "it is a shim of {manager}, which picks a version when it runs; state that version's own program with \
                 `tool \"{instead}/{name}\"`"
            ));
        }
    }
    let real_name = real.file_name().unwrap_or_default();
    let proxy = match real_name {
        "rustup" | "rustup-init" => name != real_name,
        _ => same_file(host, real, &real.with_file_name("rustup")),
    };
    if proxy {
        return Some(format!(
            "it is a proxy of rustup, which picks a toolchain when it runs; state the toolchain's own program with \
             `tool \"~/.rustup/toolchains/TOOLCHAIN/bin/{name}\"`"
        ));
    }
    let (manager, instead) = match real_name {
        "volta-shim" => ("Volta", "~/.volta/tools/image/TOOL/VERSION/bin"),
        "mise" if name != "mise" => ("mise", "~/.local/share/mise/installs/TOOL/VERSION/bin"),
        _ => return None,
    };
    Some(format!(
        "it is a shim of {manager}, which picks a version when it runs; state that version's own program with \
         `tool \"{instead}/{name}\"`"
    ))
}

/// Older versions of rustup made their proxies hard links.
fn same_file(host: &dyn Host, one: &Utf8Path, other: &Utf8Path) -> bool {
    if one == other {
        return false;
    }
    match (host.lstat(one), host.lstat(other)) {
        (Ok(Some(one)), Ok(Some(other))) => one.is_file() && one.identity == other.identity,
        _ => false,
    }
}

/// The directory of the interpreter that a virtual environment borrows: `home` of its pyvenv.cfg (PEP 405).
pub fn venv_home(host: &dyn Host, prefix: &Utf8Path) -> Option<Utf8PathBuf> {
    let text = String::from_utf8(host.head(&prefix.join("pyvenv.cfg"), 1 << 14).ok()?).ok()?;
    let home = text.lines().find_map(|line| {
        let (key, value) = line.split_once('=')?;
        (key.trim() == "home").then(|| Utf8PathBuf::from(value.trim()))
    })?;
    home.is_absolute().then_some(home)
}
