//! What families of programs keep outside the places that hold for every program. One row a family, with its reason.
//!
//! Paths are templates: `{prefix}` is the directory above the program's `bin`, `{name}` its real file name, `{triple}` the multiarch
//! name of its machine; a component `*` stands for every name there.

/// One row.
#[derive(Debug)]
pub struct Family {
    /// File names without a version at their end and without a `{triple}-` before them.
    pub names: &'static [&'static str],
    /// Trees of programs that it runs: read, mapped and executed.
    pub helpers: &'static [&'static str],
    /// Trees of modules: read and mapped, never executed.
    pub modules: &'static [&'static str],
    /// Trees that are only read.
    pub reads: &'static [&'static str],
    /// Other programs that it runs, by name, where they are installed.
    pub programs: &'static [&'static str],
    pub because: &'static str,
}

pub const FAMILIES: &[Family] = &[
    Family {
        names: &["gcc", "g++", "cc", "c++", "cpp", "gfortran", "gccgo", "gdc"],
        helpers: &["{prefix}/lib/gcc/*/*", "{prefix}/libexec/gcc/*/*"],
        modules: &[],
        reads: &["{prefix}/include", "{prefix}/lib/{triple}"],
        programs: &["as", "ld"],
        because: "a compiler driver runs cc1, collect2 and lto-wrapper from its own directory, and the assembler and linker of binutils",
    },
    Family {
        names: &["clang", "clang++"],
        helpers: &[],
        modules: &["{prefix}/lib/clang"],
        reads: &["/usr/include", "/usr/lib/gcc", "/usr/lib/{triple}"],
        programs: &["as", "ld", "ld.lld"],
        because: "clang is its own compiler, and needs its headers and run-time library and a linker",
    },
    Family {
        names: &["python"],
        helpers: &[],
        modules: &[
            "{prefix}/lib/{name}",
            "{prefix}/lib64/{name}",
            "{prefix}/lib/python3",
            "/usr/local/lib/{name}",
        ],
        reads: &["/etc/{name}"],
        programs: &[],
        because: "the standard library and what the distribution and the administrator installed are modules (sys.path)",
    },
    Family {
        names: &["perl"],
        helpers: &[],
        modules: &[
            "{prefix}/lib/{triple}/perl",
            "{prefix}/lib/{triple}/perl-base",
            "{prefix}/lib/{triple}/perl5",
            "{prefix}/lib/perl5",
            "{prefix}/lib64/perl5",
            "/usr/local/lib/{triple}/perl",
        ],
        reads: &["{prefix}/share/perl", "{prefix}/share/perl5", "/usr/local/share/perl", "/etc/perl"],
        programs: &[],
        because: "modules lie in the directories that were built into perl (@INC); those below share are never native",
    },
    Family {
        names: &["ruby", "irb", "gem"],
        helpers: &[],
        modules: &["{prefix}/lib/ruby", "{prefix}/lib64/ruby", "{prefix}/lib/{triple}/ruby", "/var/lib/gems"],
        reads: &["{prefix}/share/ruby", "{prefix}/share/rubygems-integration"],
        programs: &[],
        because: "the standard library, its native part and gems are modules ($LOAD_PATH)",
    },
    Family {
        names: &["node", "nodejs", "npm", "npx"],
        helpers: &[],
        modules: &[
            "{prefix}/lib/node_modules",
            "{prefix}/share/nodejs",
            "{prefix}/share/node_modules",
            "{prefix}/lib/{triple}/nodejs",
        ],
        reads: &[],
        programs: &[],
        because: "packages that are installed for everybody lie outside the program (NODE_PATH of the distribution)",
    },
];

/// Names after which `lib/NAME` holds what many programs share, so that it is no program's own directory.
pub const SHARED: &[&str] = &[
    "systemd",
    "init",
    "udev",
    "modules",
    "firmware",
    "locale",
    "pkgconfig",
    "ssl",
    "engines-3",
    "cmake",
    "dri",
    "gcc",
    "python3",
    "perl5",
    "ruby",
    "node_modules",
    "jvm",
    "debug",
    "apt",
    "dbus-1.0",
    "security",
    "mime",
    "rustlib",
    "llvm",
    "go",
];

/// The family of a program by its real file name.
pub fn of(name: &str, triple: Option<&str>) -> Option<&'static Family> {
    let name = triple.and_then(|triple| name.strip_prefix(triple)?.strip_prefix('-')).unwrap_or(name);
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '-');
    FAMILIES.iter().find(|family| family.names.contains(&stem))
}

/// Whether `lib/NAME` may be taken for a program's own directory.
pub fn keeps_helpers(name: &str) -> bool {
    let triple = name.contains("-linux-") || name.contains("-apple-");
    !triple && !SHARED.contains(&name) && !name.starts_with('.') && of(name, None).is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knows_versions_and_cross_names() {
        let first = |name| of(name, Some("x86_64-linux-gnu")).map(|family| family.names[0]);
        assert_eq!(first("python3.11"), Some("python"));
        assert_eq!(first("x86_64-linux-gnu-gcc-12"), Some("gcc"));
        assert_eq!(first("x86_64-linux-gnu-g++-12"), Some("gcc"));
        assert_eq!(first("clang-14"), Some("clang"));
        assert_eq!(first("perl5.36.0"), Some("perl"));
        for other in ["pythonx", "gcc-ar", "git", "perldoc", "nodemon", ""] {
            assert_eq!(first(other), None, "{other}");
        }
    }

    #[test]
    fn shared_directories_are_nobodys_helpers() {
        for name in ["systemd", "x86_64-linux-gnu", "python3", "python3.11", "gcc", ".hidden"] {
            assert!(!keeps_helpers(name), "{name}");
        }
        assert!(keeps_helpers("git") && keeps_helpers("sudo"));
    }

    #[test]
    fn every_row_has_its_reason_and_stays_below_a_directory_of_its_own() {
        for family in FAMILIES {
            assert!(!family.because.is_empty());
            for template in family.helpers.iter().chain(family.modules) {
                assert!(template.matches('/').count() >= 2, "{template}");
            }
        }
    }
}
