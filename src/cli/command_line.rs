//! The command line as data: `palisade completions`, `palisade man`.

use super::output::{READABLE, fail, print, write_atomically};
use super::{Cli, Exit};
use camino::{Utf8Path, Utf8PathBuf};
use clap::{Command, CommandFactory as _};
use clap_complete::Shell;
use clap_mangen::Man;
use std::io;

/// Print a script that completes the command line in a shell
///
/// For bash: `palisade completions bash > ~/.local/share/bash-completion/completions/palisade`.
#[derive(clap::Args)]
pub struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

pub fn completions(args: &CompletionsArgs) -> Exit {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "palisade", &mut script);
    print(&String::from_utf8_lossy(&script));
    Exit::Clean
}

/// Write the manual pages, one for each verb
///
/// Without a directory, palisade(1) is printed.
#[derive(clap::Args)]
pub struct ManArgs {
    /// Where to write them: a directory called `man1`, for man(1) to find them
    #[arg(value_name = "DIR")]
    directory: Option<Utf8PathBuf>,
}

pub fn man(args: &ManArgs) -> Exit {
    let mut command = Cli::command();
    command.build();
    let done = match &args.directory {
        None => page(&command).map(|text| print(&text)),
        Some(directory) => write_pages(&command, directory),
    };
    match done {
        Ok(()) => Exit::Clean,
        Err(error) => fail(Exit::Usage, &format!("the manual pages cannot be written: {error}"), None),
    }
}

/// The page of a command and those of the commands below it.
fn write_pages(command: &Command, directory: &Utf8Path) -> io::Result<()> {
    let page_of = Man::new(command.clone()).get_filename();
    write_atomically(&directory.join(page_of), &page(command)?, READABLE)?;
    command.get_subcommands().try_for_each(|below| write_pages(below, directory))
}

fn page(command: &Command) -> io::Result<String> {
    let mut text = Vec::new();
    Man::new(command.clone()).render(&mut text)?;
    String::from_utf8(text).map_err(io::Error::other)
}
