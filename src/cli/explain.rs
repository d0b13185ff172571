//! `palisade explain RULE` and `palisade rules`: what the rules say of themselves.

use super::Exit;
use super::output::{fail, print};
use crate::lint;

/// Print what a rule does, why, and how to answer it
#[derive(clap::Args)]
pub struct Args {
    /// The rule's name, as it stands in brackets beside a finding
    rule: String,
}

pub fn run(args: &Args) -> Exit {
    match lint::explain(&args.rule) {
        Some(text) => {
            print(&text);
            Exit::Clean
        }
        None => {
            let help = match lint::nearest_name(&args.rule) {
                Some(name) => format!("did you mean `{name}`?"),
                None => "`palisade rules` lists them".to_owned(),
            };
            fail(Exit::Usage, &format!("no rule is called `{}`", args.rule), Some(&help))
        }
    }
}

pub fn rules() -> Exit {
    print(&lint::rules_table());
    Exit::Clean
}
