//! Tools of the base system of a Mac. The loader takes the system's libraries from the shared cache, which every program may read.

use super::Tool;
use super::looks::Looks;
use super::needs::{LOAD, RUN};
use crate::host::{Binary, Host};
use crate::plan::{Operation, Operations, Scope};
use camino::Utf8Path;

/// Where programs of the base system are, in the order in which they are looked for.
pub const BASE: &[&str] = &["/usr/bin", "/bin", "/usr/sbin", "/sbin"];

/// An interpreter: Seatbelt tells running one for a script (`process-exec-interpreter`) from running it by itself.
pub const INTERPRET: Operations = LOAD.union(Operations::of(&[Operation::Interpret]));

/// Shims are small; what is larger is a program of its own.
const MAX_SHIM: usize = 1 << 18;

/// Refuses the shims in `/usr/bin` that stand for tools of a developer directory: without one they would ask to install it.
pub fn check(host: &dyn Host, real: &Utf8Path, binary: &Binary) -> Result<(), String> {
    const CALL: &[u8] = b"_xcselect_invoke_xcrun";
    let linked = binary.needed.iter().any(|library| library.ends_with("/libxcselect.dylib"));
    let calls = || {
        let head = host.head(real, MAX_SHIM).map_err(|error| error.to_string())?;
        Ok::<_, String>(head.windows(CALL.len()).any(|window| window == CALL))
    };
    // A shim links what the symbol comes from; a file that says of no library is searched for the symbol itself.
    if linked || (binary.needed.is_empty() && calls()?) {
        return Err(format!(
            "`{real}` is a shim for a tool of the developer directory, which is not installed; install the Command Line Tools"
        ));
    }
    Ok(())
}

/// Adds the shell that `/bin/sh` starts (sh(1) on a Mac): what `/private/var/select/sh` names, else `/bin/bash`.
pub fn selected_shell(looks: &mut Looks<'_>, tool: &mut Tool) {
    for path in ["/private/var/select/sh", "/bin/bash"] {
        let Ok(found) = looks.resolve(path.into()) else { continue };
        if !found.entry.as_ref().is_some_and(|entry| entry.is_file() && entry.is_executable()) {
            continue;
        }
        tool.hops
            .extend(found.hops.iter().filter(|hop| !tool.hops.contains(hop)).cloned().collect::<Vec<_>>());
        let grant = super::Grant {
            path: found.canonical.clone(),
            scope: Scope::Literal,
            operations: RUN,
            role: "program",
        };
        if !tool.grants.iter().any(|it| it.path == grant.path) {
            tool.grants.push(grant);
            tool.grants.sort();
            tool.files.push(found.canonical);
            tool.files.sort();
        }
        return;
    }
}
