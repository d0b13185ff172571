//! Start-up of `palisade exec` beside bubblewrap with the same mounts, and beside a bare fork and exec. Runs are
//! interleaved, so that all three meet the same weather; what counts is the ratio of medians.
//!
//! `cargo bench --bench startup`; needs Linux and `bwrap` on the PATH.

use palisade::manifest::{self, Manifest};
use palisade::plan::{Effect, Operation, OriginKind, Rule, Scope};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const ROUNDS: usize = 200;
const WARM_UP: usize = 10;

/// A name and a way to make the command anew.
type Contestant = (&'static str, Box<dyn Fn() -> Command>);

fn main() {
    // A workspace that has everything that is guarded: both programs mount over what is there.
    compare("the same mounts", true);
    // A bare one: palisade also makes, shares and removes a placeholder for each missing guard, which bubblewrap has no word for.
    compare("guards without anything there yet", false);
}

fn compare(title: &str, guards_present: bool) {
    let scratch = tempfile::tempdir_in("/var/tmp").expect("a place to work");
    let workspace = scratch.path().join("project");
    for directory in ["src", ".git/hooks", "secrets", "vendor"] {
        fs::create_dir_all(workspace.join(directory)).expect("a workspace");
    }
    for file in ["src/main.rs", ".git/config", ".git/HEAD", ".env", "secrets/token", "vendor/lib.c"] {
        fs::write(workspace.join(file), "x\n").expect("a file");
    }
    if guards_present {
        for guarded in palisade::bind::guards::GUARDED {
            fs::create_dir(workspace.join(guarded.name)).expect("a guarded directory");
        }
        fs::write(workspace.join(".git/config.worktree"), "").expect("a file");
    }
    let profile = scratch.path().join("bench.palisade");
    fs::write(&profile, PROFILE).expect("a profile");
    let palisade = env!("CARGO_BIN_EXE_palisade");
    let compiled = Command::new(palisade)
        .args(["compile", "--workspace"])
        .args([&workspace, &profile])
        .stdout(Stdio::null())
        .status()
        .expect("palisade runs");
    assert!(compiled.success(), "the profile compiles");
    let manifest_path = scratch.path().join("bench.manifest.yaml");
    let text = fs::read_to_string(&manifest_path).expect("a manifest");
    let manifest = manifest::read(&text).expect("a manifest");

    let mut commands: Vec<Contestant> = vec![
        ("bare", Box::new(|| Command::new("/usr/bin/true"))),
        (
            "palisade",
            Box::new(move || {
                let mut command = Command::new(palisade);
                command.arg("exec").arg(&manifest_path).args(["--", "true"]);
                command
            }),
        ),
    ];
    match which("bwrap") {
        Some(bwrap) => {
            let arguments = bwrap_arguments(&manifest);
            commands.push((
                "bwrap",
                Box::new(move || {
                    let mut command = Command::new(&bwrap);
                    command.args(&arguments).args(["--", "/usr/bin/true"]);
                    command
                }),
            ));
        }
        None => eprintln!("bwrap is not installed: no ratio to it"),
    }
    let mut times: Vec<Vec<Duration>> = vec![Vec::new(); commands.len()];
    for round in 0..ROUNDS + WARM_UP {
        for (at, (name, command)) in commands.iter().enumerate() {
            let mut command = command();
            command.stdin(Stdio::null()).stdout(Stdio::null());
            let start = Instant::now();
            let status = command.status().expect("it starts");
            let time = start.elapsed();
            assert!(status.success(), "{name} failed: {status}");
            if round >= WARM_UP {
                times[at].push(time);
            }
        }
    }
    let medians: Vec<f64> = times.iter_mut().map(|times| median(times)).collect();
    println!("{title}: {} rules, medians of {ROUNDS} interleaved runs of true", manifest.rules.len());
    for ((name, _), median) in commands.iter().zip(&medians) {
        println!("  {name:10} {median:8.0} us   {:6.2} times bare", median / medians[0]);
    }
    if let [_, palisade, bwrap] = medians[..] {
        println!("  palisade / bwrap: {:.2}", palisade / bwrap);
    }
}

const PROFILE: &str = r#"
edition 1
profile "bench" {
    root "$workspace" read-write
    root "$workspace/vendor" read-only
    deny "$workspace/.env"
    deny "$workspace/secrets"
    tools true cat ls grep sed awk find sort head tail
}
"#;

/// The same view of the machine in bubblewrap's words. It has no way to say "no programs here", so its islands are plain binds.
fn bwrap_arguments(manifest: &Manifest) -> Vec<String> {
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
    for link in &manifest.links {
        let merged = link.link.components().count() == 2;
        if merged {
            arguments.extend(["--symlink".into(), link.target.to_string(), link.link.to_string()]);
        }
    }
    for rule in &manifest.rules {
        let rule = Rule::try_from(rule.clone()).expect("a rule");
        let path = rule.path.to_string();
        let there = fs::symlink_metadata(&path);
        let synthetic = ["/proc", "/dev", "/tmp", "/var/empty"].iter().any(|top| rule.path.starts_with(top));
        let Ok(there) = there else { continue };
        if there.is_symlink() || synthetic || path == "/" {
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

fn median(times: &mut [Duration]) -> f64 {
    times.sort();
    times[times.len() / 2].as_secs_f64() * 1e6
}

fn which(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|directory| directory.join(name)).find(|path| Path::new(path).is_file())
}
