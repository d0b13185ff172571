//! `palisade init`: a profile to start from.

use super::Exit;
use super::output::{fail, print};
use camino::Utf8PathBuf;
use std::io::Write as _;

/// The examples that people start from, by name.
const EXAMPLES: [(&str, &str); 5] = [
    ("build-and-test", include_str!("../../policies/examples/build-and-test.palisade")),
    ("docs-writer", include_str!("../../policies/examples/docs-writer.palisade")),
    ("mcp-files", include_str!("../../policies/examples/mcp-files.palisade")),
    ("pr-review", include_str!("../../policies/examples/pr-review.palisade")),
    ("worktree-agent", include_str!("../../policies/examples/worktree-agent.palisade")),
];

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
    let Some((_, text)) = EXAMPLES.iter().find(|(name, _)| *name == args.from) else {
        let known: Vec<&str> = EXAMPLES.iter().map(|(name, _)| *name).collect();
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

#[cfg(test)]
mod tests {
    use super::EXAMPLES;

    #[test]
    fn every_shipped_example_can_be_started_from() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/policies/examples");
        let mut shipped: Vec<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        shipped.sort();
        let known: Vec<String> = EXAMPLES.iter().map(|(name, _)| format!("{name}.palisade")).collect();
        assert_eq!(known, shipped);
    }
}
