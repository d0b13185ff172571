//! The same policy in the words of other sandboxes, as far as each can say it.

use super::measure::Contestant;
use super::world::World;
use palisade::plan::{Effect, Operation, OriginKind, Rule, Scope};
use std::fs;
use std::path::PathBuf;
use std::process::Command;

/// Those that are installed. What is not is told on standard error.
pub fn installed(world: &World) -> Vec<Contestant<'_>> {
    let mut found = Vec::new();
    if let Some(bwrap) = which("bwrap") {
        let arguments = bwrap_arguments(world);
        let command = move || {
            let mut command = Command::new(&bwrap);
            command.args(&arguments).args(["--", "/usr/bin/true"]);
            command
        };
        // It reads the whole mount table for each mount, which takes seconds in the end.
        let every = if world.denied.len() > 100 { 4 } else { 1 };
        found.push(Contestant { name: "bwrap", every, command: Box::new(command) });
    }
    if let Some(srt) = which("srt") {
        let settings = srt_settings(world);
        let command = move || {
            let mut command = Command::new(&srt);
            command.current_dir(&world.workspace).arg("--settings").arg(&settings).arg("/usr/bin/true");
            command
        };
        found.push(Contestant { name: "srt", every: 8, command: Box::new(command) });
    }
    // On Linux it cannot take away what it has granted around it, and says so.
    if let Some(nono) = which("nono") {
        let command = move || {
            let mut command = Command::new(&nono);
            command.current_dir(&world.workspace);
            command.args(["run", "--silent", "--allow-cwd", "--block-net", "--allow"]).arg(&world.workspace);
            command.args(["--", "/usr/bin/true"]);
            command
        };
        found.push(Contestant { name: "nono", every: 8, command: Box::new(command) });
    }
    found
}

/// The same view of the machine for bubblewrap. It has no way to say "no programs here", so its islands are plain binds.
fn bwrap_arguments(world: &World) -> Vec<String> {
    let mut arguments: Vec<String> = [
        "--unshare-all",
        "--die-with-parent",
        "--new-session",
        "--clearenv",
        "--proc",
        "/proc",
        "--dev",
        "/dev",
    ]
    .map(String::from)
    .to_vec();
    arguments.extend(["--tmpfs", "/tmp", "--dir", "/var/empty"].map(String::from));
    for link in &world.manifest.links {
        let merged = link.link.components().count() == 2;
        if merged {
            arguments.extend(["--symlink".into(), link.target.to_string(), link.link.to_string()]);
        }
    }
    for rule in &world.manifest.rules {
        let rule = Rule::try_from(rule.clone()).expect("a rule");
        let path = rule.path.to_string();
        let there = fs::symlink_metadata(&path);
        let synthetic = ["/proc", "/dev", "/tmp", "/var/empty"].iter().any(|top| rule.path.starts_with(top));
        let own = rule.path.starts_with(world.workspace.to_str().expect("UTF-8"));
        let Ok(there) = there else { continue };
        if there.is_symlink() || (synthetic && !own) || path == "/" {
            continue;
        }
        let bind = match (rule.effect, rule.origin.kind) {
            (Effect::Allow, OriginKind::Ancestor) => continue,
            (Effect::Allow, _) if rule.operations.contains(Operation::Write) => "--bind",
            (Effect::Allow, _) => "--ro-bind",
            (Effect::Deny, OriginKind::Denial) if there.is_dir() => {
                arguments.extend(["--perms".into(), "0000".into(), "--tmpfs".into(), path.clone()]);
                arguments.extend(["--remount-ro".into(), path]);
                continue;
            }
            (Effect::Deny, OriginKind::Denial) => {
                arguments.extend(["--ro-bind".into(), "/dev/null".into(), path]);
                continue;
            }
            (Effect::Deny, OriginKind::Pin) => "--bind",
            (Effect::Deny, _) if rule.scope == Scope::Subtree => "--ro-bind",
            (Effect::Deny, _) => continue,
        };
        arguments.extend([bind.into(), path.clone(), path]);
    }
    arguments
}

/// Settings for `srt`, in a file beside the manifest. It lets everything be read that is not denied.
fn srt_settings(world: &World) -> PathBuf {
    let settings = serde_json::json!({
        "network": { "allowedDomains": [], "deniedDomains": [] },
        "filesystem": {
            "denyRead": world.denied,
            "allowWrite": [world.workspace],
            "denyWrite": [world.workspace.join("vendor")],
        },
    });
    let path = world.manifest_path.with_file_name("srt.json");
    fs::write(&path, settings.to_string()).expect("a file");
    path
}

fn which(name: &str) -> Option<PathBuf> {
    let found = std::env::var_os("PATH").and_then(|path| {
        std::env::split_paths(&path).map(|directory| directory.join(name)).find(|path| path.is_file())
    });
    if found.is_none() {
        eprintln!("{name} is not installed: no ratio to it");
    }
    found
}
