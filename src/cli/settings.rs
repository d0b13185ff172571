//! `palisade.toml`: finding it, and weighing findings by it.

use super::Exit;
use super::hosts;
use super::input::{here, open_regular, parse_set};
use super::output::problems;
use super::places::Places;
use crate::config::{self, Config, NAME, setting_of};
use crate::finding::{Finding, Severity};
use crate::host::placeholder;
use crate::report::collect::Collector;
use crate::report::{Found, Problem, ProblemKind, Run};
use crate::source::{FileId, MAX_BYTES, Sources};
use crate::syntax;
use camino::{Utf8Path, Utf8PathBuf};
use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;

/// Options about settings.
#[derive(clap::Args, Clone, Debug)]
pub struct ConfigArgs {
    /// Take these settings [default: `palisade.toml` here or above, up to the root of the repository]
    #[arg(long, value_name = "FILE", conflicts_with = "no_config")]
    config: Option<Utf8PathBuf>,
    /// Take no settings
    #[arg(long, visible_alias = "isolated")]
    no_config: bool,
}

/// Options about how findings are weighed.
#[derive(clap::Args, Clone, Debug)]
pub struct WeightArgs {
    #[command(flatten)]
    config: ConfigArgs,
    /// Set a rule to `error`, `warning`, `note` or `off`, whatever the settings say
    #[arg(long = "rule", value_name = "NAME=SEVERITY", value_parser = parse_set)]
    rules: Vec<(String, String)>,
}

/// Settings as they were found.
#[derive(Default)]
pub struct Settings {
    pub config: Config,
    /// What they were read from; empty where there are none.
    pub sources: Sources,
    /// Absolute, without links but for the last component.
    pub path: Option<Utf8PathBuf>,
}

/// Why there are no settings to go by.
pub struct Unusable {
    problems: Vec<Problem>,
    sources: Sources,
    findings: Vec<Finding>,
}

impl From<Problem> for Unusable {
    fn from(problem: Problem) -> Self {
        Self { problems: vec![problem], sources: Sources::new(), findings: Vec::new() }
    }
}

impl Unusable {
    /// As a run that has checked nothing.
    pub fn run(self, command: &'static str, fail_on: Severity) -> Run {
        let places = Places::here();
        let origin = |path: &std::path::Path| places.origin(path);
        let mut collector = Collector::new(&origin, Vec::new(), Vec::new());
        let mut problems = self.problems;
        problems.extend(collector.problems(ProblemKind::Settings, &self.sources, self.findings));
        collector.finish(command, problems, fail_on)
    }
}

impl Unusable {
    /// The same for a verb that does nothing without.
    pub fn fail(self) -> Exit {
        problems(&self.run("compile", Severity::Error));
        Exit::Usage
    }
}

impl WeightArgs {
    /// Finds and reads the settings, and puts the command line over them.
    pub fn load(&self) -> Result<Settings, Unusable> {
        let mut settings = self.config.load()?;
        for (rule, severity) in &self.rules {
            let given = format!("--rule {rule}={severity}");
            let problem = |message: String| Problem::new(ProblemKind::Usage, None, message);
            let (rule, setting) = setting_of(rule, severity).map_err(|refusal| {
                problem(format!("`{}`: {}", syntax::shown(&given), refusal.message)).help(refusal.help)
            })?;
            if settings.config.severities.command_line.insert(rule, setting).is_some() {
                return Err(problem(format!("`--rule {rule}` is given twice"))
                    .help("give each rule one severity")
                    .into());
            }
        }
        Ok(settings)
    }
}

impl ConfigArgs {
    /// Finds and reads the settings.
    pub fn load(&self) -> Result<Settings, Unusable> {
        match self.place()? {
            Some(path) => read(&path),
            None => Ok(Settings::default()),
        }
    }

    /// The file to take.
    fn place(&self) -> Result<Option<Utf8PathBuf>, Unusable> {
        if self.no_config || self.config.is_some() {
            return Ok(self.config.clone());
        }
        // Where there is no directory, there is nothing in it or above.
        let Ok(here) = here() else { return Ok(None) };
        let root = Places::here().root().to_path_buf();
        let on_the_way = here.ancestors().take_while(|directory| directory.as_std_path().starts_with(&root));
        let found: Vec<Utf8PathBuf> = on_the_way
            .map(|directory| directory.join(NAME))
            .filter(|path| {
                // While a command runs, an empty directory can stand where there are none.
                path.symlink_metadata().is_ok_and(|found| !placeholder::is_one(path, found.mode()))
            })
            .collect();
        match found.as_slice() {
            [] => Ok(None),
            [only] => Ok(Some(shown(only, &here))),
            // The inner one would hide the outer one, and may have been written by what the outer one's profiles restrain.
            [inner, .., outer] => {
                let message = format!(
                    "there are settings in `{}` and in `{}`",
                    shown(inner, &here),
                    shown(outer, &here)
                );
                let problem =
                    Problem::new(ProblemKind::Settings, Some(inner.clone().into_std_path_buf()), message);
                let help = "keep one for a repository, with `[[overrides]]` for its parts, or name one with `--config FILE`";
                Err(problem.help(help).into())
            }
        }
    }
}

/// A path in an ancestor of a directory, as seen from there.
fn shown(path: &Utf8Path, here: &Utf8Path) -> Utf8PathBuf {
    let up = here.ancestors().take_while(|ancestor| Some(*ancestor) != path.parent()).map(|_| "..");
    up.chain(path.file_name()).collect()
}

/// Reads a file of settings.
fn read(path: &Utf8Path) -> Result<Settings, Unusable> {
    let mut sources = Sources::new();
    let file = read_file(&mut sources, path, ProblemKind::Settings)?;
    match config::read(&sources, file) {
        Ok(config) => {
            let path = sources.file(file).path.clone();
            Ok(Settings { config, sources, path })
        }
        Err(findings) => Err(Unusable { problems: Vec::new(), sources, findings }),
    }
}

/// Reads a file that is no profile.
pub fn read_file(sources: &mut Sources, path: &Utf8Path, kind: ProblemKind) -> Result<FileId, Problem> {
    let problem = |message: String| Problem::new(kind, Some(path.to_path_buf().into()), message);
    let mut bytes = Vec::new();
    open_regular(path)
        .and_then(|file| file.take(MAX_BYTES as u64 + 1).read_to_end(&mut bytes))
        .map_err(|error| problem(format!("`{path}` cannot be read: {error}")))?;
    let place = canonical(path)?;
    syntax::load(sources, path.as_str(), Some(&place), bytes).map_err(|error| problem(error.to_string()))
}

/// Absolute, without links but for the last component.
pub fn canonical(path: &Utf8Path) -> Result<Utf8PathBuf, Problem> {
    let path = if path.is_absolute() { path.to_path_buf() } else { here()?.join(path) };
    Ok(match (path.parent(), path.file_name()) {
        (Some(parent), Some(name)) => {
            parent.canonicalize_utf8().map_or_else(|_| path.clone(), |parent| parent.join(name))
        }
        _ => path,
    })
}

impl Settings {
    /// What the file is called.
    pub fn name(&self) -> Option<&str> {
        self.config.file.map(|file| self.sources.file(file).name.as_str())
    }

    /// A path that is written in the file, as seen from the current directory.
    pub fn beside(&self, path: &str) -> Utf8PathBuf {
        let directory = self.name().and_then(|name| Utf8Path::new(name).parent());
        directory.unwrap_or(Utf8Path::new("")).join(path)
    }

    /// The recorded machines that the file names.
    pub fn hosts(&self, problems: &mut Vec<Problem>) -> Vec<Utf8PathBuf> {
        let hosts: Vec<Utf8PathBuf> = self.config.hosts.iter().map(|host| self.beside(&host.value)).collect();
        hosts::named(&hosts, "hosts = ", problems)
    }

    /// What must not be written by what is checked by it: the file, and what it names.
    pub fn own_files(&self) -> Vec<Utf8PathBuf> {
        let baseline = self.config.baseline.iter().map(|it| self.beside(&it.value));
        let named = baseline.chain(self.hosts(&mut Vec::new()));
        self.path.iter().cloned().chain(named.filter_map(|path| canonical(&path).ok())).collect()
    }

    /// Where a file of the run lies, as the patterns of the settings see it.
    fn relative(&self, run: &Run, file: FileId, places: &Places) -> Option<Utf8PathBuf> {
        let path = places.absolute(run.origin(file))?;
        let below = path.strip_prefix(self.path.as_deref()?.parent()?).ok()?;
        Utf8PathBuf::from_path_buf(below.to_path_buf()).ok()
    }

    /// Takes the fixes off what is off where it stands: nobody wants those made.
    pub fn leave_alone(&self, findings: &mut [Finding], sources: &Sources, profile: FileId) {
        let directory = self.path.as_deref().and_then(Utf8Path::parent);
        for finding in findings {
            let file = sources.file(finding.span().map_or(profile, |span| span.file));
            let below = directory.and_then(|directory| file.path.as_deref()?.strip_prefix(directory).ok());
            if self.config.severities.of(finding, below).is_none() {
                finding.fix = None;
            }
        }
    }

    /// How severe a finding is: in the file that it is in, or where that is none, in the profile in which it is most severe.
    fn weight(&self, run: &Run, found: &Found, places: &Places, compiling: bool) -> Option<Severity> {
        let severities = &self.config.severities;
        let of = |file: FileId| {
            let path = self.relative(run, file, places);
            if compiling {
                severities.of_compiling(&found.finding, path.as_deref())
            } else {
                severities.of(&found.finding, path.as_deref())
            }
        };
        match found.finding.span() {
            Some(span) if run.origin(span.file).is_file() => of(span.file),
            _ => run.profiles_of(found).into_iter().filter_map(of).max(),
        }
    }

    /// Takes out the findings of rules that are off, then lets `between` look at the rest, as severe as it was found and with
    /// what says how severe it will be, then weighs what is left.
    pub fn weigh(
        &self,
        run: &mut Run,
        places: &Places,
        compiling: bool,
        between: impl FnOnce(&mut Run, &dyn Fn(&Run, &Found) -> Severity),
    ) {
        let on: Vec<bool> =
            run.findings.iter().map(|found| self.weight(run, found, places, compiling).is_some()).collect();
        let mut on = on.into_iter();
        run.findings.retain(|_| on.next().unwrap_or(true));
        between(run, &|run, found| {
            self.weight(run, found, places, compiling).unwrap_or(found.finding.severity)
        });
        let weights: Vec<Option<Severity>> =
            run.findings.iter().map(|found| self.weight(run, found, places, compiling)).collect();
        for (found, weight) in run.findings.iter_mut().zip(weights) {
            found.finding.severity = weight.unwrap_or(found.finding.severity);
        }
    }

    /// Takes out the profiles that the file excludes, but for those that were named, and counts them.
    pub fn exclude(
        &self,
        profiles: &mut Vec<Utf8PathBuf>,
        named: &[std::path::PathBuf],
        places: &Places,
        problems: &mut Vec<Problem>,
    ) -> usize {
        let before = profiles.len();
        let directory = self.path.as_deref().and_then(Utf8Path::parent);
        profiles.retain(|profile| {
            let is_named = named.iter().any(|path| path == profile.as_std_path());
            let path = places.absolute(&places.origin(profile.as_std_path()));
            let below = directory.and_then(|it| path.as_deref()?.strip_prefix(it).ok());
            let below = below.and_then(Utf8Path::from_path);
            is_named || !below.is_some_and(|below| self.config.exclude.matches(below))
        });
        let excluded = before - profiles.len();
        if profiles.is_empty() && excluded > 0 {
            let message =
                format!("no profile is left: `{}` excludes all of them", self.name().unwrap_or(NAME));
            let problem = Problem::new(ProblemKind::Directory, None, message);
            problems.push(problem.help("name a profile to check it all the same"));
        }
        excluded
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_above_are_named_from_here() {
        let here = Utf8Path::new("/a/b/c");
        assert_eq!(shown(Utf8Path::new("/a/b/c/palisade.toml"), here), "palisade.toml");
        assert_eq!(shown(Utf8Path::new("/a/palisade.toml"), here), "../../palisade.toml");
    }
}
