//! One run of a checker: everything that a report of it can say. It is made by a [`super::collect::Collector`]; whatever hides or changes findings
//! works on it, and every format is written from it.

use super::origin::Origin;
use super::whereabouts::Whereabouts;
use crate::finding::{Finding, Severity};
use crate::source::{FileId, Sources, Span};
use std::collections::BTreeSet;
use std::path::PathBuf;

/// One run.
pub struct Run {
    /// As on the command line: `check`, `sb check`.
    pub command: &'static str,
    pub sources: Sources,
    /// What was read and checked, in the order given.
    pub profiles: Vec<FileId>,
    /// The recorded machines, as named on the command line; none where the profiles were checked against this one, or against no machine.
    pub hosts: Vec<String>,
    /// By profile and place.
    pub findings: Vec<Found>,
    /// What kept something from being checked, in the order in which it was met.
    pub problems: Vec<Problem>,
    /// The lowest severity that makes the run fail.
    pub fail_on: Severity,
    /// Where profiles lie on each machine that they were checked against; none where they were checked against no machine.
    pub whereabouts: Vec<Whereabouts>,
    /// What the run was told beside the command line.
    pub told: Told,
    /// By the index of the file.
    pub(super) origins: Vec<Origin>,
}

/// What a run was told beside the command line, and what came of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Told {
    /// The name of the settings that were taken.
    pub settings: Option<String>,
    /// How many profiles these passed over.
    pub excluded: usize,
    /// The name of the baseline.
    pub baseline: Option<String>,
    /// How many findings it left out.
    pub left_out: usize,
    /// The addresses of the pages of rules, as the settings have them ([`super::pages`]).
    pub pages: Option<String>,
}

impl Told {
    /// In words: what else there was, and what said so.
    pub fn asides(&self) -> Vec<String> {
        let mut asides = Vec::new();
        if let Some(baseline) = &self.baseline {
            asides.push(format!("{} left out by {baseline}", self.left_out));
        }
        if let Some(settings) = &self.settings {
            let excluded = match self.excluded {
                0 => String::new(),
                1 => ", which excludes 1 profile".to_owned(),
                many => format!(", which excludes {many} profiles"),
            };
            asides.push(format!("settings of {settings}{excluded}"));
        }
        asides
    }
}

/// A finding, once for all profiles and hosts that agree about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    pub finding: Finding,
    /// The profile, and the index of the host in [`Run::hosts`] (0 where there is none).
    pub seen: BTreeSet<(FileId, usize)>,
    /// The same as long as the rule, the file, the words of the statement and the message are: 32 hexadecimal digits, and `/2` and so on behind
    /// them where several findings have all of these alike.
    pub fingerprint: String,
}

/// What a [`Problem`] is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ProblemKind {
    /// A profile that cannot be read.
    Profile,
    /// A directory that cannot be searched, or that holds nothing to check.
    Directory,
    /// A recorded host that cannot be read.
    Host,
    /// What was asked for on the command line.
    Usage,
    /// A `palisade.toml` that cannot be read or meant.
    Settings,
    /// A baseline that cannot be read or meant.
    Baseline,
}

/// What kept something from being checked. A run with one is no success, whatever was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    pub kind: ProblemKind,
    /// As given.
    pub path: Option<PathBuf>,
    /// Where that lies; the collector says it.
    pub origin: Option<Origin>,
    pub message: String,
    pub help: Option<String>,
    /// The same as a finding, where it has a place in a file of the run.
    pub finding: Option<Box<Finding>>,
}

impl Problem {
    pub fn new(kind: ProblemKind, path: Option<PathBuf>, message: impl Into<String>) -> Self {
        Self { kind, path, origin: None, message: message.into(), help: None, finding: None }
    }

    pub fn help(mut self, text: impl Into<String>) -> Self {
        self.help = Some(text.into());
        self
    }

    /// The place that it is about, in a file of the run.
    pub fn span(&self) -> Option<Span> {
        self.finding.as_deref().and_then(Finding::span)
    }
}

impl Run {
    /// The addresses of the pages of rules, where there are any.
    pub fn pages(&self) -> Option<String> {
        self.told.pages.clone().or_else(super::pages::own)
    }

    /// Where a file of [`Run::sources`] lies.
    pub fn origin(&self, file: FileId) -> &Origin {
        self.origins.get(file.index()).unwrap_or(&Origin::Input)
    }

    /// What a file is called in reports.
    pub fn name(&self, file: FileId) -> &str {
        &self.sources.file(file).name
    }

    /// The profiles that a finding is about, in order.
    pub fn profiles_of(&self, found: &Found) -> Vec<FileId> {
        let mut profiles: Vec<FileId> = found.seen.iter().map(|(profile, _)| *profile).collect();
        profiles.dedup();
        profiles
    }

    /// The hosts that a finding was made on; none where it was on all of them, or none is named.
    pub fn only_on(&self, found: &Found) -> Vec<&str> {
        if self.hosts.len() < 2 || found.seen.len() == self.profiles_of(found).len() * self.hosts.len() {
            return Vec::new();
        }
        let hosts: BTreeSet<usize> = found.seen.iter().map(|(_, host)| *host).collect();
        hosts.into_iter().filter_map(|host| self.hosts.get(host)).map(String::as_str).collect()
    }

    /// What is to be said beside a finding: the profile where it has no place of its own and there are several, and the hosts where not all agree.
    pub fn asides(&self, found: &Found) -> Vec<String> {
        let mut asides = Vec::new();
        if let (None, [profile]) = (found.finding.span(), self.profiles_of(found).as_slice())
            && self.profiles.len() > 1
        {
            asides.push(format!("in {}", self.name(*profile)));
        }
        let hosts = self.only_on(found);
        if !hosts.is_empty() {
            asides.push(format!("only on {}", hosts.join(", ")));
        }
        asides
    }

    /// How many findings have that severity.
    pub fn count(&self, severity: Severity) -> usize {
        self.findings.iter().filter(|found| found.finding.severity == severity).count()
    }

    /// Whether a finding makes the run fail.
    pub fn fails(&self, found: &Found) -> bool {
        found.finding.severity >= self.fail_on
    }
}
