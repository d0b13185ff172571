//! The record of a run: JSON for other programs, `docs/exec.md` describes it. It holds no values of the environment.

use super::{Cause, Command, Ended, Outcome, Refusal, Violation};
use crate::host::Mount;
use crate::manifest::Manifest;
use crate::network::record::Summary;
use crate::plan::{Decider, Operation, OriginKind, Rule, Spelling, names};
use crate::policy::{Access, LimitKind, LimitUnit, System};
use camino::{Utf8Path, Utf8PathBuf};
use serde::Serialize;
use std::os::unix::fs::MetadataExt;
use std::time::{Duration, Instant, SystemTime};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// The version of the record's form. Raised whenever an older reader would misread a newer record.
pub const SCHEMA: u32 = 1;

/// Everything known of one run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Record {
    pub schema: u32,
    /// The version of this program.
    pub palisade: &'static str,
    /// `null` where none could be read.
    pub manifest: Option<Artifact>,
    pub command: Asked,
    /// RFC 3339, in UTC.
    pub started: String,
    pub ended: String,
    pub duration_ms: u64,
    pub exit: i32,
    pub end: End,
    /// Those that were stated.
    pub limits: Vec<LimitRecord>,
    /// `null` where nothing was run.
    pub usage: Option<UsageRecord>,
    /// `null` where the command had the caller's own streams.
    pub output_bytes: Option<u64>,
    pub violations: Vec<ViolationRecord>,
    /// `null` where the network is off or open as a whole.
    pub network: Option<Summary>,
    /// What was said on standard error.
    pub messages: Vec<Message>,
}

/// Which manifest it was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Artifact {
    pub profile: String,
    pub digest: String,
}

/// The command as it was asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Asked {
    Arguments(Vec<String>),
    Line(String),
}

/// How it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(tag = "how", rename_all = "kebab-case")]
pub enum End {
    Exited,
    Signalled { signal: i32 },
    Limit { limit: &'static str },
    Violation,
    OutputLost,
    SandboxLost,
    NotStarted,
    Refused,
}

/// A limit, and what is known of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LimitRecord {
    pub name: &'static str,
    pub value: u64,
    pub unit: &'static str,
    pub reached: Reached,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reached {
    Yes,
    No,
    /// The command said what programs say then.
    Perhaps,
    /// The kernel does not tell.
    Unknown,
}

/// What it used. Memory is the most that one process had.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct UsageRecord {
    pub user_ms: u64,
    pub system_ms: u64,
    pub peak_memory_bytes: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "what", rename_all = "kebab-case")]
pub enum ViolationRecord {
    Replaced {
        path: Utf8PathBuf,
    },
    Made {
        path: Utf8PathBuf,
        #[serde(rename = "moved-to")]
        moved_to: Option<Utf8PathBuf>,
    },
    LeftRunning,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Message {
    pub message: String,
    pub help: Option<String>,
}

/// A run that has begun.
#[derive(Debug)]
pub struct Recorder {
    command: Asked,
    manifest: Option<(Artifact, Vec<(LimitKind, u64)>)>,
    since: Instant,
    started: SystemTime,
}

impl Recorder {
    /// It begins now.
    pub fn new(command: &Command) -> Self {
        let command = match command {
            Command::Argv(words) => {
                Asked::Arguments(words.iter().map(|word| word.to_string_lossy().into_owned()).collect())
            }
            Command::Shell(line) => Asked::Line(line.clone()),
        };
        Self { command, manifest: None, since: Instant::now(), started: SystemTime::now() }
    }

    /// Says what it runs behind; `digest` is what the manifest's text states.
    pub fn behind(&mut self, manifest: &Manifest, digest: &str) {
        let artifact = Artifact { profile: manifest.profile.clone(), digest: digest.to_owned() };
        let limits = LimitKind::ALL.into_iter().filter_map(|kind| Some((kind, manifest.limits.get(kind)?)));
        self.manifest = Some((artifact, limits.collect()));
    }

    /// The command was run, or could not be.
    pub fn ran(self, outcome: &Outcome) -> Record {
        let seen = &outcome.observed;
        let reached = |kind| {
            if outcome.cause == Cause::Limit(kind) || seen.reached.contains(&kind) {
                Reached::Yes
            } else if matches!(kind, LimitKind::Time | LimitKind::Output)
                || outcome.cause == Cause::NotStarted
            {
                Reached::No
            } else if seen.said.iter().any(|(said, _)| *said == kind) {
                Reached::Perhaps
            } else {
                Reached::Unknown
            }
        };
        let usage = seen.usage.map(|usage| UsageRecord {
            user_ms: milliseconds(usage.user),
            system_ms: milliseconds(usage.system),
            peak_memory_bytes: usage.peak_memory,
        });
        let violations = outcome.violations.iter().map(ViolationRecord::from).collect();
        let messages = outcome
            .notes
            .iter()
            .map(|note| Message { message: note.message.clone(), help: note.help.clone() });
        let messages = messages.collect();
        let output_bytes = seen.output_bytes;
        let network = seen.network.clone();
        Record {
            usage,
            output_bytes,
            violations,
            network,
            messages,
            ..self.ended(outcome.code, outcome.cause.into(), reached)
        }
    }

    /// Nothing was run.
    pub fn refused(self, message: String, help: Option<String>) -> Record {
        let messages = vec![Message { message, help }];
        Record { messages, ..self.ended(Refusal::CODE, End::Refused, |_| Reached::No) }
    }

    fn ended(self, exit: i32, end: End, reached: impl Fn(LimitKind) -> Reached) -> Record {
        let duration = self.since.elapsed();
        let (manifest, limits) = self.manifest.unzip();
        let limit = |(kind, value): (LimitKind, u64)| LimitRecord {
            name: kind.name(),
            value,
            unit: match kind.unit() {
                LimitUnit::Milliseconds => "ms",
                LimitUnit::Bytes => "bytes",
                LimitUnit::Count => "count",
            },
            reached: reached(kind),
        };
        Record {
            schema: SCHEMA,
            palisade: env!("CARGO_PKG_VERSION"),
            manifest,
            command: self.command,
            started: written(self.started),
            ended: written(SystemTime::now()),
            duration_ms: milliseconds(duration),
            exit,
            end,
            limits: limits.unwrap_or_default().into_iter().map(limit).collect(),
            usage: None,
            output_bytes: None,
            violations: Vec::new(),
            network: None,
            messages: Vec::new(),
        }
    }
}

impl From<Cause> for End {
    fn from(cause: Cause) -> Self {
        match cause {
            Cause::Command(Ended::Exited(_)) => Self::Exited,
            Cause::Command(Ended::Killed(signal)) => Self::Signalled { signal },
            Cause::Limit(kind) => Self::Limit { limit: kind.name() },
            Cause::Violation => Self::Violation,
            Cause::OutputLost => Self::OutputLost,
            Cause::SandboxLost => Self::SandboxLost,
            Cause::NotStarted => Self::NotStarted,
        }
    }
}

impl From<&Violation> for ViolationRecord {
    fn from(violation: &Violation) -> Self {
        match violation.clone() {
            Violation::Replaced(path) => Self::Replaced { path },
            Violation::Made { path, moved_to } => Self::Made { path, moved_to },
            Violation::LeftRunning => Self::LeftRunning,
        }
    }
}

/// To the millisecond.
fn written(time: SystemTime) -> String {
    let time = OffsetDateTime::from(time);
    let time = time.replace_millisecond(time.millisecond()).unwrap_or(time);
    time.format(&Rfc3339).unwrap_or_default()
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// The writable root, or other grant, through which the command of a manifest could replace a file at this path, which must be canonical but
/// for its last component. `mounts` are those of the machine, by which the place may have other names. Private directories are not those of
/// the host.
pub fn writable_by_command(manifest: &Manifest, path: &Utf8Path, mounts: &[Mount]) -> Option<Utf8PathBuf> {
    let identity = |path: &Utf8Path| std::fs::metadata(path).map(|found| (found.dev(), found.ino())).ok();
    let above: Vec<_> = path.ancestors().skip(1).filter_map(identity).collect();
    let names = names(mounts, path);
    let holds = |root: &Utf8Path| {
        names.iter().any(|name| name.starts_with(root))
            || identity(root).is_some_and(|root| above.contains(&root))
    };
    let writable = manifest.roots.iter().filter(|root| root.access == Access::ReadWrite);
    if let Some(root) = writable.map(|root| &root.path).find(|root| holds(root)) {
        return Some(root.clone());
    }
    let rules: Vec<Rule> =
        manifest.rules.iter().filter_map(|rule| Rule::try_from(rule.clone()).ok()).collect();
    let spelling = if manifest.target == System::Macos { Spelling::Folded } else { Spelling::Exact };
    let decider = Decider::new(&rules, spelling);
    let operations = [Operation::Write, Operation::Create, Operation::Remove];
    names.iter().flat_map(|name| operations.map(|operation| (name, operation))).find_map(
        |(name, operation)| {
            let decision = decider.decide(operation, name);
            let rule =
                decision.rule.filter(|rule| decision.allowed && rule.origin.kind != OriginKind::Scratch)?;
            Some(rule.path.clone())
        },
    )
}
