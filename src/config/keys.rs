//! Every key, and what it means: the reader, the schema and the help of a typo are told by these tables.

/// A key of a table.
pub struct Key {
    pub name: &'static str,
    /// As the schema describes it.
    pub meaning: &'static str,
}

const fn key(name: &'static str, meaning: &'static str) -> Key {
    Key { name, meaning }
}

pub const FAIL_ON: &str = "fail-on";
pub const FORMAT: &str = "format";
pub const HOSTS: &str = "hosts";
pub const EXCLUDE: &str = "exclude";
pub const BASELINE: &str = "baseline";
pub const RULE_PAGES: &str = "rule-pages";
pub const RULES: &str = "rules";
pub const OVERRIDES: &str = "overrides";
pub const PATHS: &str = "paths";
/// Editors find the schema by it.
pub const SCHEMA: &str = "$schema";

/// The keys of the file.
pub const TOP: [Key; 9] = [
    key(FAIL_ON, "The lowest severity that makes `check` fail."),
    key(FORMAT, "How `check` shows findings."),
    key(
        HOSTS,
        "Recorded machines to check against, as paths or patterns relative to this file; without any, this machine.",
    ),
    key(
        EXCLUDE,
        "Patterns of profiles and directories that are passed over, relative to this file. A profile that is named is checked all the same.",
    ),
    key(BASELINE, "A file, relative to this one, with findings that are known and left out."),
    key(
        RULE_PAGES,
        "Where a rule is explained: the address of a page, with `{rule}` where its name stands. Reports link to it.",
    ),
    key(RULES, "The severity of a rule. What cannot be allowed in a profile is never lowered."),
    key(OVERRIDES, "The same for some files; a later one beats an earlier one."),
    key(SCHEMA, "Where an editor finds this schema; means nothing else."),
];

/// The keys of one of the overrides.
pub const OVERRIDE: [Key; 2] = [
    key(PATHS, "Patterns of files and directories, relative to this file."),
    key(RULES, "The severity of a rule in these files."),
];

/// What a severity can be set to, the mildest first.
pub const SETTINGS: [&str; 4] = ["off", "note", "warning", "error"];
