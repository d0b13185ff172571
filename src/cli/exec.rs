//! `palisade exec`: run a command behind a compiled artifact.

use super::Exit;
use super::input::read_text;
use super::output::fail;
use super::report::Report;
use crate::exec::secrets::{Given, Source};
use crate::exec::{self, Command, Seatbelt};
use crate::manifest::{self, Manifest, ManifestError};
use camino::Utf8PathBuf;
use std::ffi::OsString;

/// Run a command behind a compiled artifact
///
/// Exits with the command's own code, 128+N where signal N killed it, 124 where a limit ended it, 125 where it was refused before it started,
/// 126 or 127 where it could not be run.
#[derive(clap::Args)]
pub struct Args {
    /// The manifest that `compile` wrote
    manifest: Utf8PathBuf,
    #[command(flatten)]
    pub command: CommandArgs,
}

/// What to run.
#[derive(clap::Args)]
pub struct CommandArgs {
    /// A line for the shell to run
    #[arg(short = 'c', value_name = "LINE", conflicts_with = "argv")]
    line: Option<String>,
    /// Write a record of the run, as JSON, to a file where the command cannot write
    #[arg(long, value_name = "FILE")]
    pub report: Option<Utf8PathBuf>,
    /// Append a line of JSON for each connection of a `network only` command to a file where the command cannot write
    #[arg(long, value_name = "FILE")]
    pub network_log: Option<Utf8PathBuf>,
    /// Take the value of a masked variable from a file
    #[arg(long, value_name = "NAME=PATH")]
    secret_file: Vec<String>,
    /// Take the value of a masked variable from what a line of the shell writes, run outside the walls
    #[arg(long, value_name = "NAME=COMMAND")]
    secret_command: Vec<String>,
    /// The program and its arguments
    #[arg(last = true, value_name = "ARGV")]
    argv: Vec<OsString>,
}

impl CommandArgs {
    pub fn command(&self) -> Command {
        match &self.line {
            Some(line) => Command::Shell(line.clone()),
            None => Command::Argv(self.argv.clone()),
        }
    }
}

impl CommandArgs {
    /// Where the values of masked variables are taken from.
    ///
    /// # Errors
    /// Which option is wrong. What was written there is not said: it may be the value itself, put there by mistake.
    pub fn secrets(&self) -> Result<Vec<Given>, &'static str> {
        let file =
            |(name, path): (&str, &str)| Given { name: name.to_owned(), source: Source::File(path.into()) };
        let command = |(name, line): (&str, &str)| Given {
            name: name.to_owned(),
            source: Source::Command(line.to_owned()),
        };
        let files = self.secret_file.iter().map(|text| named(text).map(file).ok_or("--secret-file"));
        let commands =
            self.secret_command.iter().map(|text| named(text).map(command).ok_or("--secret-command"));
        files.chain(commands).collect()
    }
}

fn named(text: &str) -> Option<(&str, &str)> {
    text.split_once('=').filter(|(name, source)| !name.is_empty() && !source.is_empty())
}

pub fn run(args: &Args) -> Exit {
    let report = match Report::begin(&args.command, &[&args.manifest]) {
        Ok(report) => report,
        Err(exit) => return exit,
    };
    if args.manifest.extension() == Some("palisade") {
        let help = "compile it first, or use `palisade run`";
        return report.refused(&format!("`{}` is a profile, not a manifest", args.manifest), Some(help));
    }
    let text = match read_text(&args.manifest) {
        Ok(text) => text,
        Err(error) => {
            return report.refused(
                &format!("`{}` cannot be read: {error}", args.manifest),
                Some("give the path of the `.manifest.yaml` that `palisade compile` wrote"),
            );
        }
    };
    match manifest::read(&text) {
        Ok(manifest) => {
            let artifact =
                Artifact { manifest: &manifest, text: &text, seatbelt: Seatbelt::Beside(&args.manifest) };
            start(&artifact, &args.command, report)
        }
        Err(error) => {
            let help = if is_newer(&error) {
                "use the version of palisade that compiled it, or run `palisade compile` again with this one; nothing was run"
            } else {
                "run `palisade compile` again; nothing was run"
            };
            report.refused(&format!("`{}`: {error}", args.manifest), Some(help))
        }
    }
}

/// Whether a later version of this program wrote it.
fn is_newer(error: &ManifestError) -> bool {
    match error {
        ManifestError::Newer(_) => true,
        ManifestError::Schema(schema) => *schema > manifest::SCHEMA,
        _ => false,
    }
}

/// What was compiled.
pub struct Artifact<'a> {
    pub manifest: &'a Manifest,
    /// The manifest as text.
    pub text: &'a str,
    pub seatbelt: Seatbelt<'a>,
}

/// Runs a command behind a manifest and says what kept it from starting, if anything did.
pub fn start(artifact: &Artifact<'_>, args: &CommandArgs, report: Report) -> Exit {
    let mut report = match report.behind(artifact.manifest, artifact.text) {
        Ok(report) => report,
        Err(exit) => return exit,
    };
    let log = report.take_log();
    let secrets = match args.secrets() {
        Ok(secrets) => secrets,
        Err(option) => {
            let message = format!("`{option}` is not given a name, `=` and where its value is");
            return report.refused(&message, Some("write `NAME=` before it; nothing was run"));
        }
    };
    match exec::run(artifact.manifest, artifact.seatbelt, &args.command(), log, &secrets) {
        Ok(outcome) => {
            let code = u8::try_from(outcome.code).unwrap_or(125);
            for note in &outcome.notes {
                fail(Exit::Command(code), &note.message, note.help.as_deref());
            }
            report.ran(&outcome, Exit::Command(code))
        }
        Err(refusal) => report.refused(&refusal.to_string(), refusal.help().as_deref()),
    }
}
