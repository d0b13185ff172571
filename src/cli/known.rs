//! `--baseline` and `--write-baseline`: findings that are known.

use super::input::open_regular;
use super::output::{READABLE, write_atomically};
use super::places::Places;
use super::settings::{Settings, canonical, read_file};
use crate::baseline::{self, Asked, Entry, Ground, Machine};
use crate::finding::Severity;
use crate::report::collect::Collector;
use crate::report::{Found, Problem, ProblemKind, Run, shown};
use crate::source::{FileId, Sources};
use camino::{Utf8Path, Utf8PathBuf};
use std::io::Write as _;
use std::path::Path;

/// Options about findings that are known.
#[derive(clap::Args, Clone, Debug)]
pub struct BaselineArgs {
    /// Leave out the findings that this file knows
    #[arg(long, value_name = "FILE", conflicts_with_all = ["no_baseline", "write_baseline"])]
    baseline: Option<Utf8PathBuf>,
    /// Leave out nothing, whatever the settings say
    #[arg(long)]
    no_baseline: bool,
    /// Write what makes the run fail to a file for `--baseline`, and leave it out
    #[arg(long, value_name = "FILE", conflicts_with = "no_baseline")]
    write_baseline: Option<Utf8PathBuf>,
}

/// A baseline that is taken, or to be written.
pub struct Known {
    /// As given.
    path: Utf8PathBuf,
    /// Absolute, without links but for the last component.
    place: Utf8PathBuf,
    /// What it holds, and the file that the run knows it by; `None` where it is to be written.
    held: Option<(Vec<Entry>, FileId)>,
}

impl BaselineArgs {
    /// The baseline that is meant, if any.
    pub fn path(&self, settings: &Settings) -> Option<Utf8PathBuf> {
        if self.no_baseline {
            return None;
        }
        let given = self.write_baseline.clone().or_else(|| self.baseline.clone());
        given.or_else(|| from_settings(settings))
    }

    /// Reads the baseline, where one is to be read.
    pub fn open(
        &self,
        settings: &Settings,
        collector: &mut Collector<'_>,
        problems: &mut Vec<Problem>,
    ) -> Option<Known> {
        let path = self.path(settings)?;
        if self.write_baseline.is_some() {
            let place = canonical(&path).map_err(|problem| problems.push(problem)).ok()?;
            return Some(Known { path, place, held: None });
        }
        open(path, collector, problems)
    }
}

/// The baseline that the settings name.
pub fn from_settings(settings: &Settings) -> Option<Utf8PathBuf> {
    settings.config.baseline.as_ref().map(|baseline| settings.beside(&baseline.value))
}

/// Reads a baseline.
pub fn open(path: Utf8PathBuf, collector: &mut Collector<'_>, problems: &mut Vec<Problem>) -> Option<Known> {
    let mut sources = Sources::new();
    let file = read_file(&mut sources, &path, ProblemKind::Baseline)
        .map_err(|problem| problems.push(problem.help("`--write-baseline FILE` writes one")))
        .ok()?;
    let place = sources.file(file).path.clone()?;
    match baseline::read(&sources, file) {
        Ok(entries) => {
            let id = collector.adopt(sources.file(file));
            Some(Known { path, place, held: Some((entries, id)) })
        }
        Err(finding) => {
            problems.extend(collector.problems(ProblemKind::Baseline, &sources, vec![*finding]));
            None
        }
    }
}

impl Known {
    /// Leaves out what is known, and says which entries are stale where `stale` is so; or writes what makes the run fail and leaves that out. `weigh`
    /// says how severe a finding is to be.
    pub fn apply(
        &self,
        run: &mut Run,
        places: &Places,
        (machines, asked): (Vec<Machine>, Asked),
        stale: bool,
        weigh: &dyn Fn(&Run, &Found) -> Severity,
    ) {
        let ground = Ground {
            root: places.root(),
            directory: self.place.parent().map_or(Path::new("/"), Utf8Path::as_std_path),
            machines,
            asked,
            exists: &|path| path.symlink_metadata().is_ok(),
        };
        match &self.held {
            Some((entries, file)) => {
                baseline::leave_out(run, entries, stale.then_some(*file), &ground);
                run.told.baseline = Some(self.path.to_string());
            }
            None => {
                let fails = |found: &Found| weigh(run, found) >= run.fail_on;
                let entries = baseline::of_run(run, &ground, &fails);
                let held: usize = entries.iter().map(|entry| entry.count).sum();
                let left = run.findings.iter().filter(|found| fails(found)).count() - held;
                match self.write(run, &entries, held, left) {
                    Ok(()) => {
                        baseline::leave_out(run, &entries, None, &ground);
                        run.told.baseline = Some(self.path.to_string());
                    }
                    Err(problem) => run.problems.push(*problem),
                }
            }
        }
    }

    /// Writes entries for `held` findings, and says how much that is and how many are `left`.
    fn write(&self, run: &Run, entries: &[Entry], held: usize, left: usize) -> Result<(), Box<Problem>> {
        let path = &self.path;
        let problem = |message: String, help: &str| {
            let problem =
                Problem::new(ProblemKind::Baseline, Some(path.clone().into_std_path_buf()), message);
            Box::new(problem.help(help))
        };
        if !run.problems.is_empty() {
            let message = format!("`{path}` was not written: not everything could be checked");
            return Err(problem(message, "what was not checked would be missing in it"));
        }
        if path.symlink_metadata().is_ok() && !self.is_baseline() {
            let message = format!("`{path}` was not written: something else than a baseline stands there");
            return Err(problem(message, "name another file, or remove that one"));
        }
        let text = baseline::write(entries).map_err(|error| {
            problem(format!("`{path}` cannot be written: {error}"), "this is a failure of the program")
        })?;
        write_atomically(&self.place, &text, READABLE).map_err(|error| {
            problem(
                format!("`{path}` cannot be written: {error}"),
                "name a file in a directory that is there",
            )
        })?;
        let findings = |count: usize| format!("{count} finding{}", if count == 1 { "" } else { "s" });
        let rest = if left == 0 { String::new() } else { format!("; {} cannot be left out", findings(left)) };
        let said = format!("palisade: wrote {} ({}{rest})\n", shown(path.as_str()), findings(held));
        // Where standard error is closed there is nobody to tell.
        let _ = std::io::stderr().write_all(said.as_bytes());
        Ok(())
    }

    /// Whether a baseline stands at the place, of whatever version.
    fn is_baseline(&self) -> bool {
        use std::io::Read as _;
        let mut text = String::new();
        let read = open_regular(&self.place)
            .and_then(|file| file.take(crate::source::MAX_BYTES as u64).read_to_string(&mut text));
        read.is_ok() && baseline::is_one(&text)
    }
}
