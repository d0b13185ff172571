//! Programs of the system that lead out of the walls, and ways to bring code of one's own into a listed tool.

use super::raw::enter_sandbox;
use crate::programs::{beside, copy};
use crate::raw::no;
use crate::suite::{Probe, denied, denied_anyway, show};
use crate::world::PROGRAMS;
use std::io;
use std::process::{Command, Stdio};

pub const PROBES: &[Probe] = &[
    denied("e30 start launchctl", |_| start("/bin/launchctl", &["help"])),
    denied("e31 start osascript", |_| start("/usr/bin/osascript", &["-e", "1"])),
    denied("e32 start open", |_| start("/usr/bin/open", &[])),
    denied("e33 start sandbox-exec", |_| start("/usr/bin/sandbox-exec", &[])),
    // It has the set-user-id bit.
    denied("e34 start ps", |_| start("/bin/ps", &[])),
    // A question to a Mac: a process that is in a sandbox is said not to enter another.
    denied("e35 enter a sandbox that allows everything", |_| enter_sandbox(c"(version 1)(allow default)")),
    denied("e36 insert a library of a root", |place| {
        let library = place.rw("inserted.dylib");
        copy(beside(LIBRARY), &library)?;
        let inserted = Command::new(beside("probe"))
            .args(["--probe", ASKED.name, place.base.as_str(), "1"])
            .env("DYLD_INSERT_LIBRARIES", library)
            .output()?;
        if inserted.status.success() { Ok(()) } else { Err(no(&show(&inserted))) }
    }),
];

/// Asked by another probe, never by itself.
pub const ASKED: Probe = denied_anyway("e38 see what is inserted", |_| {
    if std::env::var_os("SUITE_INSERTED").is_some() { Ok(()) } else { Err(no("nothing")) }
});

const LIBRARY: &str = "inserted.dylib";

/// Builds a library that says that it was loaded, beside the programs. Where this suite could be built, there is a linker, and the
/// compiler that comes with it.
pub fn build_inserted() {
    let path = PROGRAMS.probe.with_file_name(LIBRARY);
    let source = path.with_extension("c");
    let text = "#include <stdlib.h>\n__attribute__((constructor)) static void loaded(void) { setenv(\"SUITE_INSERTED\", \"1\", 1); }\n";
    std::fs::write(&source, text).unwrap();
    let built =
        Command::new("/usr/bin/cc").args(["-dynamiclib", "-o", path.as_str(), source.as_str()]).output();
    let built = built.unwrap();
    assert!(built.status.success(), "{}", show(&built));
}

/// Whether a program starts; how it ends does not matter.
fn start(program: &str, arguments: &[&str]) -> io::Result<()> {
    let started = Command::new(program).args(arguments).stdin(Stdio::null()).output();
    started.map(drop)
}
