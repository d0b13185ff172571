//! `palisade exec`: run a command behind a compiled artifact.

use super::Exit;
use super::input::read_text;
use super::output::fail;
use crate::exec::{self, Command, Seatbelt};
use crate::manifest;
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

pub fn run(args: &Args) -> Exit {
    let refuse = |message: &str, help: &str| fail(Exit::Command(125), message, Some(help));
    if args.manifest.extension() == Some("palisade") {
        let help = "compile it first, or use `palisade run`";
        return refuse(&format!("`{}` is a profile, not a manifest", args.manifest), help);
    }
    let text = match read_text(&args.manifest) {
        Ok(text) => text,
        Err(error) => {
            return refuse(
                &format!("`{}` cannot be read: {error}", args.manifest),
                "give the path of the `.manifest.yaml` that `palisade compile` wrote",
            );
        }
    };
    match manifest::read(&text) {
        Ok(manifest) => start(&manifest, Seatbelt::Beside(&args.manifest), &args.command.command()),
        Err(error) => {
            refuse(&format!("`{}`: {error}", args.manifest), "run `palisade compile` again; nothing was run")
        }
    }
}

/// Runs a command behind a manifest and says what kept it from starting, if anything did.
pub fn start(manifest: &manifest::Manifest, seatbelt: Seatbelt<'_>, command: &Command) -> Exit {
    match exec::run(manifest, seatbelt, command) {
        Ok(outcome) => {
            let code = u8::try_from(outcome.code).unwrap_or(125);
            for note in &outcome.notes {
                fail(Exit::Command(code), &note.message, note.help.as_deref());
            }
            Exit::Command(code)
        }
        Err(refusal) => fail(Exit::Command(125), &refusal.to_string(), refusal.help().as_deref()),
    }
}
