//! In: a plan, or the text of a manifest. Out: the other. The manifest is the artifact that people review and that `exec` obeys:
//! on Linux its rules are what the walls are built from.
//!
//! Unknown fields and other schema versions are refused: a wall that an older program does not know of must not be skipped.

mod build;
pub mod plain;
mod text;

pub use build::{Beside, build};
pub use text::{ManifestError, differ_in_cache_only, digest, hex, read, write};

use crate::host::Identity;
use crate::plan::{Effect, Operations, Origin, OriginKind, Presence, Protection, Rule, Scope};
use crate::policy::requests::{PathFault, PathPattern, Requests};
use crate::policy::{Access, Ipc, LimitKind, System};
use camino::Utf8PathBuf;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::collections::BTreeMap;

/// The version of the manifest's form. Raised whenever an older reader would misread a newer manifest.
pub const SCHEMA: u32 = 1;

/// Everything `exec` needs to know, in the order in which a reviewer reads it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Manifest {
    pub schema: u32,
    /// The version of the program that wrote it.
    pub palisade: String,
    pub profile: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    pub target: System,
    /// `x86_64`, `aarch64`.
    pub architecture: String,
    pub sources: Vec<Source>,
    /// The `.sb` beside this file; only for macOS.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seatbelt: Option<Source>,
    /// Parameters that the `.sb` takes beside that of the private directory, by name: paths without a safe spelling in it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub parameters_of_seatbelt: BTreeMap<String, String>,
    pub workspace: Utf8PathBuf,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub parameters: BTreeMap<String, String>,
    pub working_directory: Utf8PathBuf,
    pub roots: Vec<Root>,
    /// What is more closed than the root it lies in.
    pub protected: Vec<Protected>,
    pub network: Network,
    /// The hosts of `network: only`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<HostRule>,
    /// Ports of the machine itself that `network: only` opens, at the same numbers inside.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub localhost: Vec<u16>,
    /// The unix sockets of the machine that may be connected to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unix: Vec<UnixSocket>,
    pub ipc: Ipc,
    pub needs: Vec<String>,
    /// What `seatbelt` statements open or close beyond paths and on them, as it stands in the `.sb`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub seatbelt_rules: Vec<SeatbeltRule>,
    pub limits: Limits,
    pub environment: Environment,
    pub shell: Utf8PathBuf,
    pub tools: Vec<Tool>,
    /// Optional tools and members of groups that this machine lacks.
    pub skipped_tools: Vec<Skipped>,
    /// What the target's walls cannot hold in full.
    pub losses: Vec<String>,
    /// What a reader must take for granted.
    pub assumptions: Vec<String>,
    /// The names of the checks that ran.
    pub checks: Vec<String>,
    /// Symlinks that the paths in here rest on.
    pub links: Vec<Link>,
    /// Ordered: later rules win.
    pub rules: Vec<ManifestRule>,
    /// What may be run or mapped, with the digests that were compiled.
    pub files: Vec<File>,
    /// Spares `exec` the digests of files whose identity, size and time are still these. Differs per machine; decides nothing.
    pub cache: Vec<CacheLine>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    pub name: String,
    /// `sha256:` and hexadecimal.
    pub digest: String,
}

/// A rule that the profile states in Seatbelt's own language.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SeatbeltRule {
    pub rule: String,
    pub from: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Root {
    pub path: Utf8PathBuf,
    #[serde(with = "access")]
    pub access: Access,
    pub from: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Protected {
    pub path: Utf8PathBuf,
    pub protection: Protection,
    pub presence: Presence,
    pub from: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Network {
    Off,
    All,
    /// Only [`Manifest::hosts`].
    Only,
}

/// A host that may be reached, or may not although another line says so.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostRule {
    pub allow: bool,
    /// As a profile has it, with its port: `*.example.com:443`.
    pub host: String,
    /// Where connections to the host are read: what may be asked there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requests: Option<AskRule>,
    pub from: String,
}

/// What may be asked of a host: any method where none is named, any path where none is.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct AskRule {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub methods: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<String>,
}

impl From<&Requests> for AskRule {
    fn from(requests: &Requests) -> Self {
        Self {
            methods: requests.methods.clone(),
            paths: requests.paths.iter().map(ToString::to_string).collect(),
        }
    }
}

impl TryFrom<&AskRule> for Requests {
    type Error = PathFault;

    fn try_from(rule: &AskRule) -> Result<Self, PathFault> {
        let paths = rule.paths.iter().map(|path| PathPattern::parse(path)).collect::<Result<_, _>>()?;
        Ok(Self { methods: rule.methods.clone(), paths })
    }
}

/// A unix socket that may be connected to. A rule says so too.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UnixSocket {
    pub path: Utf8PathBuf,
    pub from: String,
}

/// Base units as their field names say. Absent means no limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct Limits {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub open_files: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub processes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temporary_space_bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file_size_bytes: Option<u64>,
}

impl Limits {
    /// One of them.
    pub fn get(&self, kind: LimitKind) -> Option<u64> {
        match kind {
            LimitKind::Time => self.time_ms,
            LimitKind::Cpu => self.cpu_ms,
            LimitKind::Output => self.output_bytes,
            LimitKind::OpenFiles => self.open_files,
            LimitKind::Processes => self.processes,
            LimitKind::TemporarySpace => self.temporary_space_bytes,
            LimitKind::FileSize => self.file_size_bytes,
        }
    }
}

/// The command's whole environment.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Environment {
    pub set: BTreeMap<String, String>,
    /// Taken from whoever runs `exec`, where set there.
    pub pass: Vec<String>,
    /// What stands for the caller's value inside, and the hosts that get the value.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mask: Vec<MaskedVariable>,
}

/// A variable whose value never gets into the sandbox.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct MaskedVariable {
    pub name: String,
    /// Single names, each with its port: `api.example.com:443`.
    pub hosts: Vec<String>,
    pub from: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tool {
    pub name: String,
    pub path: Utf8PathBuf,
    pub real: Utf8PathBuf,
    /// The SHA-256 of `real`; also among `files`.
    pub sha256: String,
    pub source: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interpreter: Option<Utf8PathBuf>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub trees: Vec<Utf8PathBuf>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub optional: bool,
    pub from: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Skipped {
    pub name: String,
    pub reason: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Link {
    pub link: Utf8PathBuf,
    pub target: Utf8PathBuf,
}

/// A [`Rule`] as written: `allow: read metadata` or `deny: everything`, then `literal:` or `subtree:`, then where it comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ManifestRule {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    allow: Option<Operations>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    deny: Option<Operations>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    literal: Option<Utf8PathBuf>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    subtree: Option<Utf8PathBuf>,
    kind: OriginKind,
    from: String,
}

impl From<&Rule> for ManifestRule {
    fn from(rule: &Rule) -> Self {
        let (allow, deny) = match rule.effect {
            Effect::Allow => (Some(rule.operations), None),
            Effect::Deny => (None, Some(rule.operations)),
        };
        let (literal, subtree) = match rule.scope {
            Scope::Literal => (Some(rule.path.clone()), None),
            Scope::Subtree => (None, Some(rule.path.clone())),
        };
        Self { allow, deny, literal, subtree, kind: rule.origin.kind, from: rule.origin.text.clone() }
    }
}

impl TryFrom<ManifestRule> for Rule {
    type Error = ManifestError;

    fn try_from(rule: ManifestRule) -> Result<Self, ManifestError> {
        let (effect, operations) = match (rule.allow, rule.deny) {
            (Some(operations), None) => (Effect::Allow, operations),
            (None, Some(operations)) => (Effect::Deny, operations),
            _ => return Err(ManifestError::Rule("a rule must say either `allow` or `deny`".into())),
        };
        let (scope, path) = match (rule.literal, rule.subtree) {
            (Some(path), None) => (Scope::Literal, path),
            (None, Some(path)) => (Scope::Subtree, path),
            _ => return Err(ManifestError::Rule("a rule must say either `literal` or `subtree`".into())),
        };
        if !path.is_absolute() {
            return Err(ManifestError::Rule(format!("`{path}` is not an absolute path")));
        }
        Ok(Self {
            effect,
            operations,
            scope,
            path,
            origin: Origin { kind: rule.kind, text: rule.from, span: None },
        })
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct File {
    pub path: Utf8PathBuf,
    pub sha256: String,
}

/// Device, inode, size and modification time (nanoseconds) of a root or file, written as one line, path last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CacheLine {
    pub identity: Identity,
    pub size: u64,
    pub modified: i128,
    pub path: Utf8PathBuf,
}

impl Serialize for CacheLine {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { identity, size, modified, path } = self;
        serializer
            .collect_str(&format_args!("{} {} {size} {modified} {path}", identity.device, identity.inode))
    }
}

impl<'de> Deserialize<'de> for CacheLine {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let line = String::deserialize(deserializer)?;
        let mut parts = line.splitn(5, ' ');
        let parsed = (|| {
            Some(Self {
                identity: Identity {
                    device: parts.next()?.parse().ok()?,
                    inode: parts.next()?.parse().ok()?,
                },
                size: parts.next()?.parse().ok()?,
                modified: parts.next()?.parse().ok()?,
                path: parts.next()?.into(),
            })
        })();
        parsed.ok_or_else(|| de::Error::custom(format!("`{line}` is not `device inode size modified path`")))
    }
}

mod access {
    use super::Access;
    use serde::{Deserialize, Deserializer, Serializer, de};

    pub fn serialize<S: Serializer>(access: &Access, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(match access {
            Access::ReadOnly => "read-only",
            Access::ReadWrite => "read-write",
        })
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Access, D::Error> {
        match String::deserialize(deserializer)?.as_str() {
            "read-only" => Ok(Access::ReadOnly),
            "read-write" => Ok(Access::ReadWrite),
            other => Err(de::Error::custom(format!("unknown access `{other}`"))),
        }
    }
}
