//! Programs of the base system that only stand for others: the shims of developer tools, and `/bin/sh`.

use crate::bind::tools::finder::Finder;
use crate::bind::tools::looks::Looks;
use crate::bind::tools::needs::{Needs, RUN};
use crate::bind::tools::{Grant, Tool};
use crate::host::Entry;
use crate::plan::Scope;
use camino::Utf8Path;

/// Shims are small; what is larger is a program of its own.
const MAX_SHIM: usize = 1 << 18;

impl Finder<'_> {
    /// Why a program of the base system stands for a tool of a developer directory, if it does. One that cannot be read counts as such.
    pub(super) fn shim(&mut self, path: &Utf8Path) -> Option<String> {
        let found = self.looks.resolve(path).ok()?;
        if !found.entry.as_ref().is_some_and(Entry::is_file) {
            return None;
        }
        let real = found.canonical;
        let missing = match self.developer() {
            None => "which is not installed; install the Command Line Tools".to_owned(),
            Some(Ok(developer)) => format!("and `{}` has none of that name", developer.install),
            Some(Err(reason)) => format!("which cannot be used: {reason}"),
        };
        match self.is_shim(&real) {
            Ok(false) => None,
            Ok(true) => Some(format!("`{real}` is a shim for a tool of the developer directory, {missing}")),
            Err(reason) => Some(format!(
                "`{real}` counts as a shim for a tool of the developer directory, as it cannot be read: {reason}"
            )),
        }
    }

    /// Whether a file calls `_xcselect_invoke_xcrun`. What calls it links the library that it comes from, and of those that do only
    /// `xcode-select` has a purpose of its own; a file that names no library is searched for the call.
    pub(super) fn is_shim(&mut self, real: &Utf8Path) -> Result<bool, String> {
        const CALL: &[u8] = b"_xcselect_invoke_xcrun";
        let Some(binary) = self.looks.binary(real).map_err(|error| error.to_string())? else {
            return Ok(false);
        };
        if binary.needed.iter().any(|library| library.ends_with("/libxcselect.dylib")) {
            return Ok(real.file_name() != Some("xcode-select"));
        }
        if !binary.needed.is_empty() {
            return Ok(false);
        }
        let head = self.looks.host.head(real, MAX_SHIM).map_err(|error| error.to_string())?;
        Ok(head.windows(CALL.len()).any(|window| window == CALL))
    }

    /// Adds the tool that a shim stands for.
    pub(super) fn behind_shim(
        &mut self,
        needs: &mut Needs,
        shim: &Utf8Path,
        scripts: usize,
    ) -> Result<(), String> {
        let name = shim.file_name().unwrap_or_default().to_owned();
        let tool = match self.developer_place(&name) {
            Some((tool, Ok(()))) => tool,
            Some((_, Err(reason))) => return Err(reason),
            None => return self.shim(shim).map_or(Ok(()), Err),
        };
        let mut more = Needs::default();
        // A tool that is a script may name a shim as its interpreter.
        self.program(&mut more, &tool, "program", RUN, scripts + 1)?;
        needs.merge(more);
        Ok(())
    }
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
        let grant =
            Grant { path: found.canonical.clone(), scope: Scope::Literal, operations: RUN, role: "program" };
        if !tool.grants.iter().any(|it| it.path == grant.path) {
            tool.grants.push(grant);
            tool.grants.sort();
            tool.files.push(found.canonical);
            tool.files.sort();
        }
        return;
    }
}
