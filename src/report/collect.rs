//! From what each check of one profile on one host gave to one [`Run`]: files that were read several times become one, and so do findings.

use super::fingerprint;
use super::origin::{Origin, STANDARD_INPUT};
use super::run::{Found, Problem, ProblemKind, Run, Told};
use super::whereabouts::Whereabouts;
use crate::finding::{Finding, Severity};
use crate::source::{FileId, SourceFile, Sources};
use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap};
use std::path::Path;
use std::sync::Arc;

/// Profiles and hosts, as in [`Found::seen`].
type Seen = BTreeSet<(FileId, usize)>;

/// Takes what was found, in the order in which it is to be told.
pub struct Collector<'o> {
    origin: &'o dyn Fn(&Path) -> Origin,
    hosts: Vec<String>,
    whereabouts: Vec<Whereabouts>,
    sources: Sources,
    origins: Vec<Origin>,
    known: HashMap<(Origin, Arc<str>), FileId>,
    /// Ids are given in the order of adoption.
    profiles: BTreeSet<FileId>,
    /// Where a finding has no place, the profile tells it from others. The number is the order in which it was first met.
    found: HashMap<(Finding, Option<FileId>), (usize, Seen)>,
}

impl<'o> Collector<'o> {
    /// `origin` says where a path lies. `hosts` are the names of the recorded machines; `whereabouts` is where profiles lie on each machine, in the
    /// same order.
    pub fn new(
        origin: &'o dyn Fn(&Path) -> Origin,
        hosts: Vec<String>,
        whereabouts: Vec<Whereabouts>,
    ) -> Self {
        Self {
            origin,
            hosts,
            whereabouts,
            sources: Sources::new(),
            origins: Vec::new(),
            known: HashMap::new(),
            profiles: BTreeSet::new(),
            found: HashMap::new(),
        }
    }

    /// Names a profile that is checked. All of them are named before anything is added, so that each is shown under the name it was given.
    pub fn profile(&mut self, file: &SourceFile) -> FileId {
        let id = self.adopt(file);
        self.profiles.insert(id);
        id
    }

    /// Adds what was found in a profile on a host, by its index. The findings speak of `sources`. Of several hosts, each has its own paths: what is
    /// said is said of `$workspace` and `~` then, so that hosts can agree.
    pub fn add(&mut self, profile: FileId, host: usize, sources: &Sources, findings: Vec<Finding>) {
        let ids: Vec<FileId> = sources.files().map(|(_, file)| self.adopt(file)).collect();
        for finding in findings {
            let finding = finding.with_files(|id| ids.get(id.index()).copied().unwrap_or(profile));
            let finding = match self.whereabouts.get(host).filter(|_| self.hosts.len() > 1) {
                Some(whereabouts) => whereabouts.leave_out_of(finding),
                None => finding,
            };
            let apart = finding.span().is_none().then_some(profile);
            let order = self.found.len();
            let (_, seen) = self.found.entry((finding, apart)).or_insert_with(|| (order, Seen::new()));
            seen.insert((profile, host));
        }
    }

    /// What is wrong with a text that is no profile, as problems of the run. The findings speak of `sources`.
    pub fn problems(&mut self, kind: ProblemKind, sources: &Sources, findings: Vec<Finding>) -> Vec<Problem> {
        let ids: Vec<FileId> = sources.files().map(|(_, file)| self.adopt(file)).collect();
        let problem = |finding: Finding| {
            let path = finding.span().and_then(|span| sources.file(span.file).path.clone());
            let place = finding.span().map(|span| sources.file_line_column(span)).unwrap_or_default();
            let finding =
                finding.with_files(|id| ids.get(id.index()).copied().or(ids.first().copied()).unwrap_or(id));
            let problem = Problem::new(kind, path.map(Into::into), format!("{place}: {}", finding.message));
            Problem { help: finding.help.clone(), finding: Some(Box::new(finding)), ..problem }
        };
        findings.into_iter().map(problem).collect()
    }

    /// Names a text that is no profile and of which something is said later.
    pub fn adopt(&mut self, file: &SourceFile) -> FileId {
        let origin = match &file.path {
            Some(path) => (self.origin)(path.as_std_path()),
            None if file.name == STANDARD_INPUT => Origin::Input,
            None => Origin::Shipped(file.name.clone()),
        };
        let (sources, origins) = (&mut self.sources, &mut self.origins);
        *self.known.entry((origin.clone(), Arc::clone(&file.text))).or_insert_with(|| {
            origins.push(origin);
            sources.adopt(file)
        })
    }

    /// The run.
    pub fn finish(self, command: &'static str, mut problems: Vec<Problem>, fail_on: Severity) -> Run {
        let mut ordered: Vec<_> = self.found.into_iter().collect();
        ordered.sort_by_key(|(_, (order, _))| *order);
        let mut findings: Vec<Found> = ordered
            .into_iter()
            .map(|((finding, _), (_, seen))| Found { finding, seen, fingerprint: String::new() })
            .collect();
        findings.sort_by(|a, b| key(a).cmp(&key(b)));
        for problem in &mut problems {
            problem.origin = problem.path.as_deref().map(|path| match path.to_str() {
                Some("-") => Origin::Input,
                _ => (self.origin)(path),
            });
        }
        let (sources, origins) = (&self.sources, &self.origins);
        fingerprint::assign(&mut findings, |found| {
            let first = found.seen.first();
            let span = found.finding.span();
            let file = span.map(|span| span.file).or(first.map(|(profile, _)| *profile));
            let uri = file.and_then(|file| origins.get(file.index())).map(Origin::uri).unwrap_or_default();
            let on = first.and_then(|(_, host)| self.whereabouts.get(*host));
            (uri, span.map(|span| sources.text(span)).unwrap_or_default(), on)
        });
        Run {
            command,
            sources: self.sources,
            profiles: self.profiles.into_iter().collect(),
            hosts: self.hosts,
            findings,
            problems,
            fail_on,
            whereabouts: self.whereabouts,
            told: Told::default(),
            origins: self.origins,
        }
    }
}

/// By profile, then as within one.
fn key(found: &Found) -> impl Ord + '_ {
    let Finding { rule, message, severity, .. } = &found.finding;
    let profile = found.seen.first().map(|(profile, _)| *profile);
    (profile, found.finding.span(), *rule, message, Reverse(*severity))
}
