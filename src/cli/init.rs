//! `palisade init`: a profile to start from.

use super::Exit;
use super::output::{fail, print};
use crate::resolve::library;
use camino::Utf8PathBuf;
use std::io::Write as _;

/// Write a profile to start from
#[derive(clap::Args)]
pub struct Args {
    /// The file to write; it must not exist yet
    #[arg(default_value = "agent.palisade")]
    file: Utf8PathBuf,
    /// Which example to start from
    #[arg(long, default_value = "worktree-agent", value_name = "EXAMPLE")]
    from: String,
}

pub fn run(args: &Args) -> Exit {
    let Some(text) = library::example(&args.from) else {
        let known: Vec<&str> = library::examples().map(|(name, _)| name).collect();
        let help = format!("one of: {}", known.join(", "));
        return fail(Exit::Usage, &format!("no example is called `{}`", args.from), Some(&help));
    };
    let created = std::fs::File::options()
        .write(true)
        .create_new(true)
        .open(&args.file)
        .and_then(|mut file| file.write_all(text.as_bytes()));
    match created {
        Ok(()) => {
            print(&format!("wrote {}\nnext: palisade check {}\n", args.file, args.file));
            Exit::Clean
        }
        Err(error) => fail(Exit::Usage, &format!("`{}` cannot be written: {error}", args.file), None),
    }
}
