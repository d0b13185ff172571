//! The verbs. One file each: its arguments and a function that gives an [`Exit`].

mod check;
mod command_line;
mod compile;
mod doctor;
mod exec;
mod explain;
mod fix;
mod fmt;
mod host;
mod hosts;
mod init;
mod input;
mod known;
mod network_log;
mod output;
mod places;
mod profiles;
mod report;
mod run;
mod sb;
mod settings;
mod weighed;
mod why;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// How a run ends, apart from what a sandboxed command returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    Clean,
    /// Findings at or above the level that fails.
    Findings,
    /// Usage, or input that cannot be read.
    Usage,
    /// A failure of the program.
    Failure,
    /// `exec` and `run`: the code of the command, or 124 to 127 as documented there.
    Command(u8),
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Clean => 0,
            Exit::Findings => 1,
            Exit::Usage => 2,
            Exit::Failure => 3,
            Exit::Command(code) => code,
        })
    }
}

/// Check, compile and enforce sandbox profiles for AI agents and local MCP servers.
#[derive(Parser)]
#[command(name = "palisade", version, max_term_width = 80, disable_help_subcommand = true)]
struct Cli {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    Check(check::Args),
    Compile(compile::Args),
    Exec(exec::Args),
    Run(run::Args),
    Why(why::Args),
    Fmt(fmt::Args),
    Explain(explain::Args),
    /// List every rule with its severity
    Rules,
    Init(init::Args),
    Doctor(doctor::Args),
    #[command(subcommand)]
    Host(host::Verb),
    #[command(subcommand)]
    Sb(sb::Verb),
    Completions(command_line::CompletionsArgs),
    Man(command_line::ManArgs),
}

/// Reads the command line, does what it says, and gives the exit code.
pub fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // `exec` and `run` promise that their own failures never look like the command's.
            let failed = error.use_stderr();
            let _ = error.print();
            let sandboxing = std::env::args_os().nth(1).is_some_and(|verb| verb == "exec" || verb == "run");
            return match (failed, sandboxing) {
                (false, _) => Exit::Clean,
                (true, true) => Exit::Command(125),
                (true, false) => Exit::Usage,
            }
            .into();
        }
    };
    match cli.verb {
        Verb::Check(args) => check::run(&args),
        Verb::Compile(args) => compile::run(&args),
        Verb::Exec(args) => exec::run(&args),
        Verb::Run(args) => run::run(&args),
        Verb::Why(args) => why::run(&args),
        Verb::Fmt(args) => fmt::run(&args),
        Verb::Explain(args) => explain::run(&args),
        Verb::Rules => explain::rules(),
        Verb::Init(args) => init::run(&args),
        Verb::Doctor(args) => doctor::run(&args),
        Verb::Host(verb) => host::run(&verb),
        Verb::Sb(verb) => sb::run(&verb),
        Verb::Completions(args) => command_line::completions(&args),
        Verb::Man(args) => command_line::man(&args),
    }
    .into()
}
