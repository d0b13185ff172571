//! What the verbs print: findings on standard output, failures of a run on standard error.

use super::Exit;
use crate::config::Config;
use crate::finding::{Finding, Severity};
use crate::report::{self, Run, human::Style};
use crate::source::Sources;
use camino::Utf8Path;
use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, Mode, OFlags, open, openat, renameat, unlinkat};
use std::io::{IsTerminal as _, Write as _};

/// Options about findings.
#[derive(clap::Args, Clone, Debug)]
pub struct FindingArgs {
    /// How findings are shown [default: human]
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// Show notes too where people read the findings (human, github)
    #[arg(long)]
    notes: bool,
    /// The lowest severity that makes the run fail [default: warning]
    #[arg(long, value_enum, value_name = "SEVERITY")]
    fail_on: Option<FailOn>,
}

/// How a run is shown and judged, once command line and settings have spoken.
#[derive(Clone, Copy, Debug)]
pub struct Output {
    pub format: Format,
    pub notes: bool,
    pub fail_on: Severity,
}

impl FindingArgs {
    /// The command line beats the settings.
    pub fn settled(&self, config: Option<&Config>) -> Output {
        let format = config.and_then(|config| config.format);
        let format = format.and_then(|name| <Format as clap::ValueEnum>::from_str(name, false).ok());
        let fail_on = self.fail_on.map(FailOn::severity).or(config.and_then(|config| config.fail_on));
        Output {
            format: self.format.or(format).unwrap_or(Format::Human),
            notes: self.notes,
            fail_on: fail_on.unwrap_or(Severity::Warning),
        }
    }
}

#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// With the text it is about
    Human,
    /// One line each
    Concise,
    /// For programs: docs/schemas/findings-1.json
    Json,
    /// SARIF 2.1.0, for code scanning
    Sarif,
    /// Annotations of a GitHub workflow
    Github,
    /// JUnit XML, for test reports
    Junit,
}

#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailOn {
    Note,
    Warning,
    Error,
}

impl FailOn {
    pub fn severity(self) -> Severity {
        match self {
            Self::Note => Severity::Note,
            Self::Warning => Severity::Warning,
            Self::Error => Severity::Error,
        }
    }
}

/// Says what went wrong with the run itself, and passes the exit code through.
pub fn fail(exit: Exit, message: &str, help: Option<&str>) -> Exit {
    // In a log each message stays on its line, to be searched for.
    let line: fn(&str, &str) -> String = if std::io::stderr().is_terminal() {
        report::wrapped
    } else {
        |first, text| format!("{first}{}\n", report::shown(text))
    };
    let mut text = line("palisade: ", message);
    if let Some(help) = help {
        text.push_str(&line("  help: ", help));
    }
    // Where standard error is closed there is nobody to tell.
    let _ = std::io::stderr().write_all(text.as_bytes());
    exit
}

/// Prints text. A reader that has gone away (`| head`) is no failure; output that is lost otherwise ends the program with
/// [`Exit::Failure`], since nobody may take half of it for all.
pub fn print(text: &str) {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            fail(Exit::Failure, &format!("standard output cannot be written: {error}"), None);
            std::process::exit(3);
        }
        _ => {}
    }
}

/// Whether output to that stream may have colour (no-color.org).
fn colour(terminal: bool) -> bool {
    terminal && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// Prints a run on standard output, says on standard error what could not be read, and gives the exit, which does not hang on the format.
pub fn report(args: &Output, run: &Run) -> Exit {
    report_on(args, run, std::io::stdout().is_terminal(), &print)
}

/// The same with the run on standard error, where standard output belongs to something else.
pub fn report_aside(args: &Output, run: &Run) -> Exit {
    report_on(args, run, std::io::stderr().is_terminal(), &|text| {
        let _ = std::io::stderr().write_all(text.as_bytes());
    })
}

fn report_on(args: &Output, run: &Run, terminal: bool, print: &dyn Fn(&str)) -> Exit {
    problems(run);
    let notes = args.notes || args.fail_on == Severity::Note;
    let text = match args.format {
        Format::Human => {
            let links = terminal && supports_hyperlinks::on(supports_hyperlinks::Stream::Stdout);
            Ok(report::human::run(run, Style { links, ..style(terminal, notes) }))
        }
        Format::Concise => Ok(report::concise::run(run)),
        Format::Json => report::json::run(run),
        Format::Sarif => report::sarif::run(run),
        Format::Github => Ok(report::github::run(run, notes)),
        Format::Junit => report::junit::run(run),
    };
    match text {
        Ok(text) => print(&text),
        Err(error) => return fail(Exit::Failure, &format!("the report cannot be written: {error}"), None),
    }
    if !run.problems.is_empty() {
        return Exit::Usage;
    }
    let fails = run.findings.iter().any(|found| run.fails(found));
    if fails { Exit::Findings } else { Exit::Clean }
}

/// Says on standard error what kept something from being checked, with its place where it has one.
pub fn problems(run: &Run) {
    let style = style(std::io::stderr().is_terminal(), true);
    for problem in &run.problems {
        match &problem.finding {
            Some(finding) => {
                let text = report::human::one(&run.sources, finding, style) + "\n";
                let _ = std::io::stderr().write_all(text.as_bytes());
            }
            None => drop(fail(Exit::Usage, &problem.message, problem.help.as_deref())),
        }
    }
}

/// Findings on standard error, where standard output belongs to something else. Notes are counted, not shown.
pub fn findings_aside(sources: &Sources, findings: &[Finding], subject: &str) {
    if findings.iter().all(|finding| finding.severity == Severity::Note) {
        return;
    }
    let style = style(std::io::stderr().is_terminal(), false);
    let _ = std::io::stderr().write_all(report::human::render(sources, findings, subject, style).as_bytes());
}

/// 80 columns, and colour where the terminal and the user want it.
pub fn style(terminal: bool, notes: bool) -> Style {
    Style { color: colour(terminal), notes, ..Style::default() }
}

/// The exit of a run with these findings.
pub fn exit_for(findings: &[Finding], fail_on: FailOn) -> Exit {
    let fails = findings.iter().any(|finding| finding.severity >= fail_on.severity());
    if fails { Exit::Findings } else { Exit::Clean }
}

/// The permissions of a new artifact.
pub const READABLE: u32 = 0o644;
/// The permissions of what may hold a secret.
pub const PRIVATE: u32 = 0o600;

/// Writes a file with these permissions beside its place and moves it there. A link at the place is replaced. Where the system has files
/// without a name, one that could not be finished leaves none behind, even where this program is killed.
pub fn write_atomically(path: &Utf8Path, text: &str, mode: u32) -> std::io::Result<()> {
    let directory = path.parent().unwrap_or(Utf8Path::new("/"));
    if !directory.is_dir() {
        return Err(std::io::Error::other(format!("there is no directory `{directory}`")));
    }
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let held = open(directory.as_str(), flags, Mode::empty())?;
    write_atomically_in(&held, path.file_name().unwrap_or_default(), text, mode)
}

/// The same in a directory that is open, wherever it is by now.
pub fn write_atomically_in(directory: &OwnedFd, name: &str, text: &str, mode: u32) -> std::io::Result<()> {
    let mode = Mode::from_raw_mode(mode as rustix::fs::RawMode);
    #[cfg(target_os = "linux")]
    if write_nameless(directory, name, text, mode)? {
        return Ok(());
    }
    // Always the same name: what a killed run leaves, the next one takes.
    let between = between(name);
    let _ = unlinkat(directory, between.as_str(), AtFlags::empty());
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut file = std::fs::File::from(openat(directory, between.as_str(), flags, mode)?);
    let written = file.write_all(text.as_bytes()).and_then(|()| file.sync_all());
    let moved = written.and_then(|()| Ok(renameat(directory, between.as_str(), directory, name)?));
    if moved.is_err() {
        let _ = unlinkat(directory, between.as_str(), AtFlags::empty());
    }
    moved
}

/// What a file is called before it has its own name.
fn between(name: &str) -> String {
    format!(".palisade-new-{name}")
}

/// The same by a file that has no name until it is whole (O_TMPFILE in open(2)). `false` where the file system has none, or no name can be
/// given to it.
#[cfg(target_os = "linux")]
fn write_nameless(directory: &OwnedFd, name: &str, text: &str, mode: Mode) -> std::io::Result<bool> {
    use rustix::fs::{CWD, linkat};
    use rustix::io::Errno;
    use std::os::fd::AsRawFd as _;
    let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
    let mut file = match openat(directory, ".", flags, mode) {
        Ok(file) => std::fs::File::from(file),
        Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::NOENT | Errno::INVAL) => return Ok(false),
        Err(error) => return Err(error.into()),
    };
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    let source = format!("/proc/self/fd/{}", file.as_raw_fd());
    let name_it = |name: &str| linkat(CWD, source.as_str(), directory, name, AtFlags::SYMLINK_FOLLOW);
    match name_it(name) {
        Ok(()) => return Ok(true),
        Err(Errno::EXIST) => {}
        Err(_) => return Ok(false),
    }
    // A name can only be taken over from another one.
    let between = between(name);
    let _ = unlinkat(directory, between.as_str(), AtFlags::empty());
    if name_it(&between).is_err() {
        return Ok(false);
    }
    let moved = renameat(directory, between.as_str(), directory, name);
    if moved.is_err() {
        let _ = unlinkat(directory, between.as_str(), AtFlags::empty());
    }
    Ok(moved.map(|()| true)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::ValueEnum as _;

    #[test]
    fn every_format_has_the_name_that_settings_know() {
        let names = Format::value_variants().iter().filter_map(|format| format.to_possible_value());
        let names: Vec<String> = names.map(|name| name.get_name().to_owned()).collect();
        assert_eq!(names, report::FORMATS);
    }
}
