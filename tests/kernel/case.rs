//! One random tree under one random profile: compiled, asked, and compared.

use crate::agent::{Ask, Said};
use crate::random::Random;
use crate::suite::PROGRAMS;
use crate::tree::{Kind, Tree, identity};
use camino::{Utf8Path, Utf8PathBuf};
use palisade::bind::subject;
use palisade::finding::Severity;
use palisade::host::{Host, LiveHost};
use palisade::pipeline::{self, Bound, Request};
use palisade::plan::question::Question;
use palisade::policy::System;
use palisade::resolve::MemoryLoader;
use palisade::source::Sources;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};

/// How a case went.
pub enum Outcome {
    /// Its profile has errors: nothing is asked.
    Unsound,
    /// So many questions had the same answer, and so many of them were answered yes.
    Agreed { asked: usize, allowed: usize },
    /// What disagreed, for people.
    Disagreed(String),
}

const OPERATIONS: [&str; 8] = ["metadata", "read", "map", "exec", "write", "create", "link", "rename"];

/// Where a command sees something else than the host.
const ELSEWHERE: [&str; 14] = [
    "/proc/1/environ",
    "/proc/1/root/etc/passwd",
    "/proc/kcore",
    "/proc/keys",
    "/proc/version",
    "/proc/self",
    "/proc/self/environ",
    "/proc/self/mem",
    "/proc/self/root/etc/passwd",
    "/proc/self/root/root",
    "/proc/self/cwd/zz-nope",
    "/proc/self/nope",
    "/proc/sys/kernel/core_pattern",
    "/proc/sysrq-trigger",
];

/// What of it is there, but not what the host has.
const HIDDEN: [&str; 3] = ["/proc/1/", "/proc/kcore", "/proc/keys"];

/// The whole of case `number`, as user `uid`.
pub fn run(number: u64, uid: u32) -> Outcome {
    let random = &mut Random::new(number);
    // Below the place of the commands' own temporary directory, and elsewhere.
    let place = *random.among(&["/tmp", "/var/tmp"]);
    let directory = tempfile::Builder::new().prefix("palisade-kernel-").tempdir_in(place).unwrap();
    let base = Utf8PathBuf::from_path_buf(directory.path().canonicalize().unwrap()).unwrap();
    crate::suite::give(&base, uid);
    for own in ["state", "policy"] {
        std::fs::create_dir(base.join(own)).unwrap();
        crate::suite::give(&base.join(own), uid);
    }
    let tree = Tree::make(random, &base, uid);
    let text = profile(random, &base, &tree);
    let host = LiveHost::with_home(&base).unwrap();
    let mut sources = Sources::new();
    let path = base.join("policy/case.palisade");
    let file = sources.add("case.palisade", Some(&path), text.clone());
    let request = Request {
        workspace: base.join("w"),
        set: BTreeMap::new(),
        target: System::Linux,
        artifacts: Vec::new(),
    };
    let checked = pipeline::check(&mut sources, file, &MemoryLoader::default(), &host, &request);
    let Some(bound) = checked.bound else { panic!("case {number}: {:#?}\n{text}", checked.findings) };
    if checked.findings.iter().any(|finding| finding.severity == Severity::Error) {
        if std::env::var_os("PALISADE_SHOW").is_some() {
            for finding in checked.findings.iter().filter(|finding| finding.severity == Severity::Error) {
                println!("{}: {}", finding.rule, finding.message);
            }
        }
        return Outcome::Unsound;
    }
    let artifact = pipeline::compile(&sources, &bound, &host, "case.sb").unwrap().unwrap();
    let manifest = base.join("policy/case.manifest.yaml");
    std::fs::write(&manifest, &artifact.manifest).unwrap();
    let asks = questions(random, &tree, &base, &bound);
    // Before the trials change anything.
    let expected: Vec<Option<bool>> = asks.iter().map(|ask| expected(&host, &bound, ask)).collect();
    let listing = tree.listing();
    let answers = match ask(&base, &manifest, &asks, uid) {
        Ok(answers) => answers,
        Err(error) => return Outcome::Disagreed(format!("case {number}: {error}\n{text}{listing}")),
    };
    let mut disagreements = String::new();
    let (mut asked, mut allowed) = (0, 0);
    for ((ask, said), expected) in asks.iter().zip(&answers).zip(expected) {
        let Some(expected) = expected else { continue };
        match said {
            Said::Moot => continue,
            Said::Spoilt(what) => {
                let _ = writeln!(disagreements, "{} {:?}: {what}", ask.operation, ask.path);
            }
            Said::Yes if expected => allowed += 1,
            Said::No(_) if !expected => {}
            // Nothing is there to be had.
            Said::No(_)
                if ask.identity.is_none()
                    && !matches!(ask.operation.as_str(), "create" | "rename" | "remove" | "link") => {}
            _ => {
                let word = if expected { "allowed" } else { "denied" };
                let _ = writeln!(
                    disagreements,
                    "{} {:?}: {word}, and the kernel: {said:?}",
                    ask.operation, ask.path
                );
            }
        }
        asked += 1;
    }
    if disagreements.is_empty() {
        Outcome::Agreed { asked, allowed }
    } else {
        Outcome::Disagreed(format!("case {number} as {uid}:\n{disagreements}{text}{listing}"))
    }
}

/// A path as the language quotes it literally.
fn quoted(path: &Utf8Path) -> String {
    format!("r#\"{path}\"#")
}

fn profile(random: &mut Random, base: &Utf8Path, tree: &Tree) -> String {
    let plain = |path: &Utf8Path| !path.as_str().contains(['\n']) && !path.as_str().contains("\"#");
    let mut lines = vec![format!("tool \"{}\"", PROGRAMS.agent)];
    let mut root = |path: Utf8PathBuf, access| lines.push(format!("root {} {access}", quoted(&path)));
    let writable = !random.once_in(4);
    root(base.join("w"), if writable { "read-write" } else { "read-only" });
    let mut roots = vec![base.join("w")];
    for _ in 0..random.below(4) {
        let path = tree.any_directory(random);
        if plain(&path) && !roots.contains(&path) && !path.starts_with(base.join("out")) {
            root(path.clone(), *random.among(&["read-only", "read-write", "read-write"]));
            roots.push(path);
        }
    }
    for _ in 0..random.below(5) {
        let path = tree.any_name(random);
        let deeper = random.once_in(6).then(|| path.join("missing/deep"));
        let path = deeper.unwrap_or(path);
        let held = roots.iter().any(|root| path.starts_with(root));
        if plain(&path) && held && !roots.iter().any(|root| root.starts_with(&path)) {
            lines.push(format!("deny {}", quoted(&path)));
        }
    }
    if random.once_in(3) {
        let pattern = random.among(&["**/a*", "*/b", "**/.env", "{a,b}/**", "**/?"]);
        lines.push(format!("deny glob \"$workspace/{pattern}\""));
    }
    if random.once_in(3) {
        let path = tree.any_directory(random);
        if plain(&path) && roots.iter().any(|root| path.starts_with(root) && path != *root) {
            lines.push(format!("executable {}", quoted(&path)));
        }
    }
    if writable && random.once_in(4) {
        lines.push(format!("unguard {} because \"the case says so\"", quoted(&base.join("w/.vscode"))));
    }
    lines.push(format!("working-directory {}", quoted(&base.join("w"))));
    format!("edition 1\nprofile \"case\" {{\n{}\n}}\n", lines.join("\n"))
}

/// Every path of the tree, beside it, through its links, and around it.
fn questions(random: &mut Random, tree: &Tree, base: &Utf8Path, bound: &Bound) -> Vec<Ask> {
    let mut paths: Vec<Utf8PathBuf> = tree.entries.iter().map(|entry| entry.path.clone()).collect();
    for entry in &tree.entries {
        if entry.path.is_dir() {
            for name in ["nope", ".mcp.json", ".vscode", "missing"] {
                paths.push(entry.path.join(name));
            }
        }
    }
    paths.extend(["etc/passwd", "dev/null", "usr", "root"].map(|path| Utf8Path::new("/").join(path)));
    paths.extend([base.to_path_buf(), base.join("policy"), base.join("state")]);
    paths.sort();
    paths.dedup();
    let ours = |path: &Utf8Path| path.starts_with(base) && path != base;
    let mut asks = Vec::new();
    for operation in OPERATIONS {
        for path in &paths {
            let fifo = std::fs::metadata(path).is_ok_and(|found| {
                use std::os::unix::fs::FileTypeExt as _;
                found.file_type().is_fifo()
            });
            if fifo && matches!(operation, "read" | "write" | "map" | "exec") {
                continue;
            }
            // What is not there cannot be moved or linked; and a link that is moved by its own way leaves no way back.
            if matches!(operation, "link" | "rename")
                && !tree.entries.iter().any(|entry| entry.path == *path && path.symlink_metadata().is_ok())
            {
                continue;
            }
            // Outside everything it is enough to ask once.
            let outside = !ours(path) || path.starts_with(base.join("out")) && !random.once_in(4);
            if outside && !matches!(operation, "read" | "create") {
                continue;
            }
            asks.push(ask_for(operation, path, bound, tree));
        }
    }
    for path in ELSEWHERE {
        for operation in ["metadata", "read", "write", "create"] {
            let hidden = HIDDEN.iter().any(|hidden| path.starts_with(hidden));
            asks.push(Ask { exact: hidden, ..ask_for(operation, Utf8Path::new(path), bound, tree) });
        }
    }
    // What the host has in the place of the command's own directory.
    for operation in ["metadata", "read", "write", "create", "remove"] {
        asks.push(Ask { identity: None, ..ask_for(operation, &PROGRAMS.private, bound, tree) });
    }
    // From one directory to another: mounts part them, which no name shows.
    let directories: Vec<&Utf8PathBuf> =
        tree.entries.iter().filter(|entry| entry.kind == Kind::Directory).map(|entry| &entry.path).collect();
    for entry in tree.entries.iter().filter(|entry| matches!(entry.kind, Kind::File(_))) {
        let target = random.among(&directories).join("zz-linked").into_string();
        asks.push(Ask { text: Some(target), ..ask_for("link-to", &entry.path, bound, tree) });
    }
    // Deepest first, by real names only: what is gone is asked about no more.
    let mut real: Vec<&Utf8PathBuf> = tree.entries.iter().map(|entry| &entry.path).collect();
    real.sort_by_key(|path| std::cmp::Reverse(path.components().count()));
    asks.extend(real.into_iter().map(|path| ask_for("remove", path, bound, tree)));
    asks
}

fn ask_for(operation: &str, path: &Utf8Path, bound: &Bound, tree: &Tree) -> Ask {
    let of_name = matches!(operation, "create" | "rename" | "remove" | "link");
    let real = path.canonicalize_utf8().ok();
    let in_root =
        real.as_ref().is_some_and(|real| bound.plan.roots.iter().any(|root| real.starts_with(&root.path)));
    let known = real.as_ref().and_then(|real| tree.entries.iter().find(|entry| entry.path == *real));
    let names = match known {
        Some(entry) if entry.kind == Kind::Directory && in_root => {
            let names = entry.path.read_dir_utf8().unwrap().map(|it| it.unwrap().file_name().to_owned());
            Some(names.collect())
        }
        _ => real.as_ref().filter(|real| real.is_dir()).map(|_| Vec::new()),
    };
    let text =
        known.and_then(|entry| if let Kind::File(text) = &entry.kind { Some(text.clone()) } else { None });
    let there = if of_name { path.symlink_metadata().is_ok() } else { real.is_some() };
    let identity = there.then(|| identity(path).unwrap_or((0, 0)));
    // A directory on the way to a root is one of the walls' own.
    let exact = !real.as_ref().is_some_and(|real| {
        bound.plan.roots.iter().any(|root| root.path.starts_with(real) && root.path != *real)
    });
    Ask { operation: operation.into(), path: path.as_str().into(), identity, exact, names, text }
}

/// What `why` says; of what needs two, both. Nothing where it says that this depends on who asks.
fn expected(host: &dyn Host, bound: &Bound, ask: &Ask) -> Option<bool> {
    let why = |word: &str, path: &str| {
        let question = Question::named(word, path).unwrap();
        let Ok(subject) = subject::locate(host, &bound.policy, &bound.binding, question, path) else {
            return (!path.starts_with("/proc/")).then_some(false);
        };
        Some(subject::answer(&bound.plan.decider(), question, &subject).allowed)
    };
    let mount = |path: &str| subject::mount_of(&bound.plan.decider(), Utf8Path::new(path));
    let beside = || Utf8Path::new(&ask.path).with_file_name("zz-beside").into_string();
    match ask.operation.as_str() {
        "rename" | "link" => Some(why(&ask.operation, &ask.path)? && why("create", &beside())?),
        "link-to" => {
            let target = ask.text.as_deref()?;
            Some(why("link", &ask.path)? && why("create", target)? && mount(&ask.path) == mount(target))
        }
        word => why(word, &ask.path),
    }
}

/// Has the questions asked behind the walls.
fn ask(base: &Utf8Path, manifest: &Utf8Path, asks: &[Ask], uid: u32) -> Result<Vec<Said>, String> {
    let mut command = Command::new(&PROGRAMS.palisade);
    if rustix::process::geteuid().as_raw() != uid {
        command.uid(uid).gid(uid);
    }
    let mut child = command
        .args(["exec", manifest.as_str(), "--", PROGRAMS.agent.as_str(), "--agent"])
        .current_dir(base.join("w"))
        .env("HOME", base)
        .env("XDG_STATE_HOME", base.join("state"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let text: String = asks.iter().map(|ask| serde_json::to_string(ask).unwrap() + "\n").collect();
    let mut stdin = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || stdin.write_all(text.as_bytes()));
    let output = child.wait_with_output().unwrap();
    let _ = writer.join().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let answers: Vec<Said> = said.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    if answers.len() != asks.len() || !output.status.success() {
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        return Err(format!("{}: {} answers of {}: {error}", output.status, answers.len(), asks.len()));
    }
    Ok(answers)
}
