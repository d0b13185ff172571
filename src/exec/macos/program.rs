//! Which program a command starts. sandbox-exec(1) says 71 for whatever goes wrong, so what a shell says 126 and 127 for is found out before.

use crate::plan::{Decider, Operation};
use camino::{Utf8Path, Utf8PathBuf};
use rustix::fs::{Access, access};
use std::path::{Path, PathBuf};

/// Why there is nothing to start.
#[derive(Debug, PartialEq, Eq)]
pub struct NotStarted {
    /// 126 or 127.
    pub code: i32,
    pub reason: &'static str,
}

/// The first of these places whose program may be run, as execvp(3) tries them, seen from the working directory.
///
/// # Errors
/// None of them.
pub fn choose(
    places: &[PathBuf],
    directory: &Utf8Path,
    decider: &Decider<'_>,
) -> Result<PathBuf, NotStarted> {
    let mut failure = NotStarted { code: 127, reason: "not found" };
    for place in places {
        let place = directory.as_std_path().join(place);
        let Ok(real) = place.canonicalize() else { continue };
        match may_run(&real, decider) {
            Ok(()) => return Ok(place),
            Err(reason) => failure = NotStarted { code: 126, reason },
        }
    }
    Err(failure)
}

fn may_run(real: &Path, decider: &Decider<'_>) -> Result<(), &'static str> {
    if !real.is_file() {
        return Err("it is no file");
    }
    if access(real, Access::EXEC_OK).is_err() {
        return Err("it is not executable");
    }
    let granted = Utf8PathBuf::from_path_buf(real.to_path_buf())
        .is_ok_and(|real| decider.decide(Operation::Exec, &real).allowed);
    if granted { Ok(()) } else { Err("operation not permitted") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Effect, Operations, Origin, OriginKind, Rule, Scope, Spelling};
    use std::fs;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    #[test]
    fn as_a_shell_would_say() {
        let directory = tempfile::tempdir().unwrap();
        let base = Utf8PathBuf::from_path_buf(directory.path().canonicalize().unwrap()).unwrap();
        for (path, mode) in [("a/tool", 0o755), ("b/tool", 0o755), ("b/plain", 0o644), ("b/listed", 0o755)] {
            fs::create_dir_all(base.join(path).parent().unwrap()).unwrap();
            fs::write(base.join(path), "").unwrap();
            fs::set_permissions(base.join(path), fs::Permissions::from_mode(mode)).unwrap();
        }
        symlink("listed", base.join("b/link")).unwrap();
        symlink("missing", base.join("b/dangling")).unwrap();
        let rules: Vec<Rule> = ["b/tool", "b/listed", "b/plain", "b/directory"]
            .map(|path| Rule {
                effect: Effect::Allow,
                operations: Operations::of(&[Operation::Exec]),
                scope: Scope::Literal,
                path: base.join(path),
                origin: Origin { kind: OriginKind::Tool, text: "test".into(), span: None },
            })
            .into();
        fs::create_dir(base.join("b/directory")).unwrap();
        let decider = Decider::new(&rules, Spelling::Exact);
        let choose = |places: &[&str]| {
            let places: Vec<PathBuf> = places.iter().map(PathBuf::from).collect();
            super::choose(&places, &base, &decider)
        };
        let place = |path: &str| Ok(base.join(path).into_std_path_buf());
        let failed = |code, reason| Err(NotStarted { code, reason });
        assert_eq!(choose(&["b/listed"]), place("b/listed"));
        assert_eq!(choose(&["a/tool", "b/tool"]), place("b/tool"), "the next one that may run");
        assert_eq!(choose(&["b/link"]), place("b/link"), "by its own name, judged by where it leads");
        assert_eq!(choose(&["a/tool", "c/tool"]), failed(126, "operation not permitted"));
        assert_eq!(choose(&["b/plain"]), failed(126, "it is not executable"));
        assert_eq!(choose(&["b/directory"]), failed(126, "it is no file"));
        assert_eq!(choose(&["c/tool", "b/dangling"]), failed(127, "not found"));
        assert_eq!(choose(&[]), failed(127, "not found"));
    }
}
