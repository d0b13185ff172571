//! Whole sandboxes on trial: this very program runs a command behind a small profile, as a user would.
//!
//! Each feature that some machines lack is in the first profile. Where that one is refused, a profile with none of them says whether
//! anything can be enforced, and one more for each feature which.

use camino::Utf8PathBuf;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use tempfile::TempDir;

/// What a profile can ask for and a machine be unable to give.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Feature {
    NetworkOff,
    WritableRoot,
    Denial,
    Processes,
    Terminal,
}

/// All of them, in the order in which they are told.
pub const FEATURES: [Feature; 5] =
    [Feature::NetworkOff, Feature::WritableRoot, Feature::Denial, Feature::Processes, Feature::Terminal];

impl Feature {
    /// As people write it in a profile.
    pub fn shown(self) -> &'static str {
        match self {
            Self::NetworkOff => "`network off`",
            Self::WritableRoot => "a writable root",
            Self::Denial => "a denied path",
            Self::Processes => "a limit on `processes`",
            Self::Terminal => "`needs terminal`",
        }
    }

    /// A name for machines.
    pub fn name(self) -> &'static str {
        match self {
            Self::NetworkOff => "network-off",
            Self::WritableRoot => "writable-root",
            Self::Denial => "denial",
            Self::Processes => "process-limit",
            Self::Terminal => "terminal",
        }
    }

    /// Whether a trial of it needs a directory to make things in.
    fn needs_place(self) -> bool {
        matches!(self, Self::WritableRoot | Self::Denial)
    }
}

/// How a trial ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trial {
    /// The command ran, and every wall that it leant against held.
    Held,
    /// The command did not run.
    Refused {
        message: String,
        help: Option<String>,
    },
    /// It ran, and this did not hold.
    Broken(String),
    /// It did not do what it should, and nothing is known of the walls.
    Failed(String),
    Untried,
}

/// All trials.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trials {
    /// With every feature that could be tried.
    pub whole: Trial,
    /// With none. Only where the whole did not hold.
    pub bare: Option<Trial>,
    /// With one each. Only where the bare one held and the whole did not, and for those that could not be tried.
    pub features: Vec<(Feature, Trial)>,
}

/// How one feature fared, if anything is known of it by itself.
pub fn feature(trials: &Trials, feature: Feature) -> Option<&Trial> {
    trials.features.iter().find(|(known, _)| *known == feature).map(|(_, trial)| trial)
}

impl Trials {
    /// Each of them.
    pub fn all(&self) -> impl Iterator<Item = &Trial> {
        [&self.whole].into_iter().chain(&self.bare).chain(self.features.iter().map(|(_, trial)| trial))
    }

    /// Runs them with this program. A directory is made for them and removed again; where none can be made, what needs one is not tried.
    pub fn run(program: &Path) -> Self {
        let place = Place::make();
        let possible: Vec<Feature> =
            FEATURES.into_iter().filter(|feature| place.is_ok() || !feature.needs_place()).collect();
        let untried = FEATURES.into_iter().filter(|feature| !possible.contains(feature));
        let mut features: Vec<(Feature, Trial)> = untried.map(|feature| (feature, Trial::Untried)).collect();
        let one = |features: &[Feature]| run(program, place.as_ref().ok(), features);
        let whole = one(&possible);
        let bare = (whole != Trial::Held).then(|| one(&[]));
        if bare == Some(Trial::Held) {
            features.extend(possible.iter().map(|feature| (*feature, one(&[*feature]))));
        }
        Self { whole, bare, features }
    }
}

/// A directory to try things in, removed when this is dropped.
pub struct Place {
    _directory: TempDir,
    path: Utf8PathBuf,
}

impl Place {
    /// Makes one where temporary files are, else where this user keeps things.
    ///
    /// # Errors
    /// The last candidate and why none can be made there.
    pub fn make() -> Result<Self, (PathBuf, io::Error)> {
        let named = ["XDG_RUNTIME_DIR", "HOME"].into_iter().filter_map(std::env::var_os).map(PathBuf::from);
        let candidates = [std::env::temp_dir(), "/tmp".into(), "/var/tmp".into()].into_iter().chain(named);
        let mut failed = (PathBuf::from("/tmp"), io::ErrorKind::NotFound.into());
        for candidate in candidates.filter(|path| path.is_absolute()) {
            match Self::make_in(&candidate) {
                Ok(place) => return Ok(place),
                Err(error) => failed = (candidate, error),
            }
        }
        Err(failed)
    }

    fn make_in(candidate: &Path) -> io::Result<Self> {
        let directory = tempfile::Builder::new().prefix("palisade-doctor-").tempdir_in(candidate)?;
        let path = Utf8PathBuf::from_path_buf(directory.path().canonicalize()?)
            .map_err(|_| io::Error::from(io::ErrorKind::InvalidData))?;
        for name in ["workspace", "state"] {
            std::fs::create_dir(path.join(name))?;
        }
        for name in ["note", "hidden"] {
            std::fs::File::create_new(path.join("workspace").join(name))?;
        }
        Ok(Self { _directory: directory, path })
    }

    #[cfg(any(target_os = "linux", test))]
    pub fn path(&self) -> &camino::Utf8Path {
        &self.path
    }
}

impl Drop for Place {
    /// By name what is known to be there, which needs no descriptor: there may be none left. The rest is removed with the directory.
    fn drop(&mut self) {
        for file in ["workspace/note", "workspace/hidden"] {
            let _ = std::fs::remove_file(self.path.join(file));
        }
        for directory in ["workspace", "state/palisade/runs", "state/palisade", "state", ""] {
            let _ = std::fs::remove_dir(self.path.join(directory));
        }
    }
}

/// A directory of every system that holds no programs, for where none can be made.
const READ_ONLY_PLACE: &str = "/usr/share";

fn profile(features: &[Feature]) -> String {
    let has = |feature| features.contains(&feature);
    let mut statements = vec![
        format!(
            "root \"$workspace\" {}",
            if has(Feature::WritableRoot) { "read-write" } else { "read-only" }
        ),
        format!("network {}", if has(Feature::NetworkOff) { "off" } else { "all" }),
    ];
    for (feature, statement) in [
        (Feature::Denial, "deny \"$workspace/hidden\""),
        (Feature::Processes, "limits { processes 64 }"),
        (Feature::Terminal, "needs terminal"),
    ] {
        if has(feature) {
            statements.push(statement.to_owned());
        }
    }
    // It ends by itself. This is for machines on which it does not.
    statements.push("limits { time 20s }".to_owned());
    format!("edition 1\nprofile \"doctor\" {{\n{}\n}}\n", statements.join("\n"))
}

/// What the command finds that must not be, by its exit code.
const FAILURES: [(i32, &str); 2] =
    [(41, "a granted file could not be read"), (42, "a writable root could not be written")];

/// The same for what must not be possible.
const BREACHES: [(i32, &str); 3] = [
    (43, "a guarded path could be written"),
    (44, "a read-only root could be written"),
    (45, "a denied file could be read"),
];

/// A line for the shell that leans against the walls of these features. Redirections are the shell's own, and need no program.
fn line(features: &[Feature], in_place: bool) -> String {
    let has = |feature| features.contains(&feature);
    let mut line = "exec 2>/dev/null; ".to_owned();
    if in_place {
        line.push_str("( : < note ) || exit 41; ");
        line.push_str(if has(Feature::WritableRoot) {
            "( : > new ) || exit 42; ( : > .mcp.json ) && exit 43; "
        } else {
            "( : > new ) && exit 44; "
        });
    }
    if has(Feature::Denial) {
        line.push_str("( : < hidden ) && exit 45; ");
    }
    line + "exit 0"
}

fn run(program: &Path, place: Option<&Place>, features: &[Feature]) -> Trial {
    let workspace = place.map_or(READ_ONLY_PLACE.into(), |place| place.path.join("workspace"));
    let mut command = Command::new(program);
    command
        .args(["run", "-", "--workspace", workspace.as_str(), "-c", &line(features, place.is_some())])
        .current_dir("/")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    if let Some(place) = place {
        // So that what is left behind is left here.
        command.env("XDG_STATE_HOME", place.path.join("state"));
    }
    let ended = command.spawn().and_then(|child| finish(child, &profile(features)));
    // For the next trial; it is not there where the root was read-only.
    let _ = std::fs::remove_file(workspace.join("new"));
    match ended {
        Ok((Some(0), _)) => Trial::Held,
        Ok((Some(125), said)) => refusal(&said),
        Ok((Some(code), said)) => {
            let known = |list: &[(i32, &str)]| {
                list.iter().find(|(known, _)| *known == code).map(|(_, text)| (*text).to_owned())
            };
            let failed = || {
                let other = || format!("the command ended with {code}: {}", first_line(&said));
                Trial::Failed(known(&FAILURES).unwrap_or_else(other))
            };
            known(&BREACHES).map_or_else(failed, Trial::Broken)
        }
        Ok((None, _)) => Trial::Failed("it was killed by a signal, or did not end".to_owned()),
        Err(error) => {
            Trial::Refused { message: format!("this program cannot be started again: {error}"), help: None }
        }
    }
}

/// Gives a program its input, and waits for what it says and its code.
fn finish(mut child: Child, input: &str) -> io::Result<(Option<i32>, String)> {
    if let Some(mut to) = child.stdin.take() {
        // Where it ended before it had read all, its code says why.
        let _ = to.write_all(input.as_bytes());
    }
    let mut said = Vec::new();
    if let Some(mut from) = child.stderr.take() {
        loop {
            let patience = Timespec { tv_sec: 30, tv_nsec: 0 };
            match poll(&mut [PollFd::new(&from, PollFlags::IN)], Some(&patience)) {
                Err(Errno::INTR) => continue,
                Err(error) => return Err(error.into()),
                Ok(0) => {
                    child.kill()?;
                    break;
                }
                Ok(_) => {}
            }
            let mut part = [0; 4096];
            match from.read(&mut part)? {
                0 => break,
                length => said.extend_from_slice(part.get(..length).unwrap_or_default()),
            }
        }
    }
    Ok((child.wait()?.code(), String::from_utf8_lossy(&said).into_owned()))
}

/// What `run` says where it refuses: `palisade: …`, and `help: …` below.
fn refusal(said: &str) -> Trial {
    let after =
        |mark: &str| said.lines().find_map(|line| line.trim_start().strip_prefix(mark)).map(str::to_owned);
    Trial::Refused {
        message: after("palisade: ").unwrap_or_else(|| first_line(said).to_owned()),
        help: after("help: "),
    }
}

fn first_line(said: &str) -> &str {
    said.lines().next().unwrap_or("it said nothing")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_refusal_says_is_taken_apart() {
        let said = "palisade: cannot mount a fresh /proc (EPERM)\n  help: do this; nothing was run\n";
        let message = "cannot mount a fresh /proc (EPERM)".to_owned();
        assert_eq!(refusal(said), Trial::Refused { message, help: Some("do this; nothing was run".into()) });
        assert_eq!(refusal(""), Trial::Refused { message: "it said nothing".into(), help: None });
    }

    #[test]
    fn a_place_is_gone_when_it_is_dropped() {
        let place = Place::make().unwrap();
        let path = place.path().to_path_buf();
        assert!(path.join("workspace/note").is_file());
        drop(place);
        assert!(path.symlink_metadata().is_err());
    }

    #[test]
    fn every_failure_that_is_named_can_be_found() {
        let lines = format!("{}{}", line(&FEATURES, true), line(&[], true));
        for (code, _) in FAILURES.into_iter().chain(BREACHES) {
            assert!(lines.contains(&format!("exit {code}; ")), "{code}");
        }
    }
}
