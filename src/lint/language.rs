//! Findings that come from no check: what reading, resolving and compiling say of a text. None can be allowed, since nothing
//! can be compiled with one.

use crate::finding::Offers;

/// A name that stands in brackets beside such a finding, and what it is about.
pub struct Entry {
    pub name: &'static str,
    /// What fixes such findings offer.
    pub fix: Offers,
    /// The first sentence is the summary.
    pub text: &'static str,
}

const fn entry(name: &'static str, fix: Offers, text: &'static str) -> Entry {
    Entry { name, fix, text }
}

/// Every such name, sorted.
pub const ENTRIES: &[Entry] = &[
    entry(
        "baseline",
        Offers::None,
        "A baseline that cannot be used.\n\nIt is no baseline, is one of a later version, or was changed into something that cannot be \
         read. `palisade check --write-baseline FILE` writes it anew; `docs/check.md` says what it holds.",
    ),
    entry(
        "conflicting-fragments",
        Offers::None,
        "Two fragments state one thing differently.\n\nWhat can be said once (`network`, `ipc`, a limit, a variable, a parameter's default, \
         `working-directory`) must be said alike by every fragment that a profile uses. State it in the profile, which stands over \
         them. The lines of `network only` add up, and never differ.",
    ),
    entry(
        "edition",
        Offers::Safe,
        "The file does not say its edition, or says one that this program does not know.\n\nThe first statement of every file is \
         `edition 1`: it says what the words after it mean, today and in later versions.",
    ),
    entry(
        "glob",
        Offers::Unsafe,
        "A pattern that cannot be read, or that hangs on no directory.\n\nA pattern begins where it is to hold, as in \
         `deny glob \"$workspace/**/*.pem\"`, holds no `..`, and is written with `*`, `**`, `?`, `[…]` and `{a,b}`.",
    ),
    entry(
        "group",
        Offers::None,
        "A group of tools that is defined twice, is called like one that ships with the program, or holds another group.\n\n\
         Write the names of the tools out: `group NAME [ git rg ]`.",
    ),
    entry(
        "hidden-character",
        Offers::Safe,
        "A character that cannot be seen, or that changes how the text around it is shown.\n\nA reviewer would read something else \
         than the program does. Remove it, or write it as an escape, `\\u{…}`, inside a quoted text.",
    ),
    entry(
        "host",
        Offers::Unsafe,
        "A host pattern that cannot be meant.\n\nWrite a name or an address, `*.` before a name for every name below it, and `:PORT` after it \
         where that is not 443. An address is written out in full, and one that hands out credentials can never be allowed.",
    ),
    entry(
        "limit-amount",
        Offers::Unsafe,
        "An amount that no limit can have.\n\nWrite a whole number and a unit that belongs to the limit: `time 60s`, `output 4MiB`, \
         `processes 256`.",
    ),
    entry(
        "malformed-allowance",
        Offers::Unsafe,
        "A comment that begins as an allowance does and is none.\n\nWrite `# palisade: allow(RULE) REASON` at the end of the statement, or \
         on the line directly above it.",
    ),
    entry(
        "mask",
        Offers::None,
        "A masked variable whose value could be put in nowhere, or that the command is handed all the same.\n\n`network only` must allow each host of \
         `mask NAME for \"HOST\"`: with `network off` there is none, and with `network all` nobody reads what is sent.",
    ),
    entry(
        "method",
        Offers::None,
        "A method that no line can allow, or that a line names twice.\n\n`methods GET HEAD` has the methods as they are sent. `CONNECT` is none of \
         them: it opens a tunnel.",
    ),
    entry(
        "param",
        Offers::None,
        "A parameter that is declared twice or has a name that is taken, one without a value, or a `--set` for none.\n\nDeclare it \
         with `param NAME \"default\"`, or give it a value with `--set NAME=VALUE`.",
    ),
    entry(
        "path",
        Offers::None,
        "A path that can lead nowhere: an empty one, one with a NUL in it, another user's `~name`, an exception outside its \
         statement.\n\nThe workspace itself is `$workspace`, the home is `~/` or `$home`.",
    ),
    entry(
        "reason",
        Offers::None,
        "A reason that is empty.\n\n`because` is for whoever reads the profile next: say why it must be so.",
    ),
    entry(
        "repeated-statement",
        Offers::None,
        "A statement or entry that can be said once, and is said twice in one file.\n\nStatements are a set: no order says which \
         of two holds. Keep one.",
    ),
    entry(
        "request",
        Offers::None,
        "A question about a request that names none.\n\nWrite the method and the URL, as in `request \"GET https://api.example.com/status\"`.",
    ),
    entry(
        "request-path",
        Offers::Unsafe,
        "A path of requests that cannot be compared.\n\nA path begins with `/`; `*` is one whole segment, `**` stands last and is one or more. What \
         servers read in more than one way (`..`, `//`, `%2F`) is in none, and queries are not compared.",
    ),
    entry(
        "sb-evaluation",
        Offers::None,
        "A part of a Seatbelt profile that is not evaluated here.\n\nWhat it allows cannot be told, so no answer rests on it. Write \
         the rule out, or leave it out.",
    ),
    entry(
        "sb-syntax",
        Offers::None,
        "A Seatbelt profile that cannot be read.\n\nA parenthesis, a text or a character is not closed, or is not one of the language.",
    ),
    entry(
        "sb-version",
        Offers::None,
        "A Seatbelt profile that does not state its version before its first rule.\n\nBegin it with `(version 1)`.",
    ),
    entry(
        "settings",
        Offers::None,
        "Something in `palisade.toml` that cannot be meant.\n\nA key, a rule or a severity that is not known would be ignored \
         otherwise, and nothing is ever ignored. `docs/check.md` lists the keys.",
    ),
    entry(
        "syntax",
        Offers::Either,
        "A text that is no statement of the language.\n\nThe finding says what was expected at the place, and what was found; `docs/language.md` \
         lists the statements.",
    ),
    entry(
        "target",
        Offers::None,
        "A profile compiled for one system with a machine of another to look at.\n\nGive `--host FILE` with a recording of a machine \
         of that system, made there by `palisade host record`, or `--target` with the system of the machine.",
    ),
    entry(
        "too-many",
        Offers::None,
        "More mistakes in one file than are shown.\n\nMost of them are likely to have one cause: begin with the first.",
    ),
    entry(
        "tool-name",
        Offers::None,
        "A word under `tools` that cannot be the name of a program.\n\nTools are asked for by name, never by path; one program elsewhere is \
         `tool \"PATH\"`.",
    ),
    entry(
        "unknown-group",
        Offers::Unsafe,
        "An `@group` that nobody defines.\n\nCorrect its name, or define it with `group NAME [ … ]`.",
    ),
    entry(
        "unknown-need",
        Offers::Unsafe,
        "A word under `needs` that is not in the list of capabilities.\n\nThe list is closed, since each is documented for each \
         system; the help of the finding has the nearest, or all.",
    ),
    entry(
        "unknown-variable",
        Offers::Unsafe,
        "A `$name` that stands for nothing.\n\n`$workspace` and `$home` are always there; declare others with `param`. A dollar sign that \
         means itself is written `\\$`.",
    ),
    entry(
        "unknown-word",
        Offers::Unsafe,
        "A word that is none of those that can stand at its place.\n\nNothing is ever ignored: correct it. The help of the finding \
         has the word that was perhaps meant.",
    ),
    entry(
        "unspeakable-path",
        Offers::None,
        "A path that has no safe spelling in a Seatbelt profile.\n\nRename it, or leave it out of the profile.",
    ),
    entry(
        "use",
        Offers::Unsafe,
        "A fragment that cannot be used: it is missing, cannot be read, is no fragment, or uses itself.\n\n`use \"std/…\"` names one that \
         ships with the program; any other path is relative to the file that says it.",
    ),
    entry(
        "variable-name",
        Offers::None,
        "A name that no variable of an environment can have.\n\nIt is not empty, and holds no `=` and no NUL.",
    ),
    entry(
        "variable-value",
        Offers::None,
        "A value that no variable of an environment can have.\n\nIt holds no NUL.",
    ),
    entry(
        "why",
        Offers::None,
        "The statement that decided a question, as `palisade why` and `palisade sb why` show it.\n\nIt is an answer, not a fault.",
    ),
];

/// The entry of that name.
pub fn find(name: &str) -> Option<&'static Entry> {
    ENTRIES.iter().find(|entry| entry.name == name)
}

impl Entry {
    /// The first sentence.
    pub fn summary(&self) -> &'static str {
        self.text.lines().next().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// Helpers that take the name and hand it on to `Finding::new`, by the files they stand in.
    const HELPERS: [(&str, &str); 2] = [("resolve/files.rs", "error("), ("resolve/expand.rs", ".error(")];

    /// Where the name of a finding is that of a rule, or of a finding that was there before.
    const HANDED_ON: [&str; 2] = ["finding.rs", "lint/mod.rs"];

    /// The text literals that directly follow `call`, and whether something else did.
    fn names(source: &str, call: &str) -> (BTreeSet<String>, bool) {
        let mut names = BTreeSet::new();
        let mut other = false;
        for after in source.split(call).skip(1) {
            match after.trim_start().strip_prefix('"').and_then(|rest| rest.split_once('"')) {
                Some((name, _)) => {
                    names.insert(name.to_owned());
                }
                None => other = true,
            }
        }
        (names, other)
    }

    /// Every name in the sources of the program that a finding can have without being a rule's.
    fn names_in_the_sources() -> BTreeSet<String> {
        let top = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        let mut all = BTreeSet::new();
        for file in walkdir::WalkDir::new(&top) {
            let file = file.expect("a readable source tree");
            // What stands in `tests.rs` is a test module in a file of its own.
            let is_test = file.file_name() == "tests.rs";
            if is_test || file.path().extension().is_none_or(|end| end != "rs") {
                continue;
            }
            let place = file.path().strip_prefix(&top).expect("below the top").to_string_lossy().into_owned();
            let text = std::fs::read_to_string(file.path()).expect("a readable source");
            let code = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
            let (found, other) = names(code, "Finding::new(");
            all.extend(found);
            match HELPERS.iter().find(|(helped, _)| *helped == place) {
                Some((_, call)) => {
                    let (found, _) = names(code, call);
                    assert!(!found.is_empty(), "{place} no longer has its helper");
                    all.extend(found);
                }
                None => assert!(
                    !other || HANDED_ON.contains(&place.as_str()),
                    "{place} makes a finding whose name this test cannot read"
                ),
            }
        }
        all
    }

    #[test]
    fn every_name_in_the_sources_is_explained_and_no_entry_is_left_over() {
        let written = names_in_the_sources();
        assert!(written.len() > 20, "{written:?}");
        for name in &written {
            assert!(
                find(name).is_some() || crate::lint::find_rule(name).is_some(),
                "`{name}` stands beside findings and `palisade explain` does not know it"
            );
        }
        for entry in ENTRIES {
            assert!(written.contains(entry.name), "nothing is called `{}`", entry.name);
        }
    }

    #[test]
    fn entries_are_sorted_are_no_rules_and_begin_with_a_sentence() {
        assert!(ENTRIES.windows(2).all(|pair| pair[0].name < pair[1].name));
        for entry in ENTRIES {
            assert!(crate::lint::find_rule(entry.name).is_none(), "{}", entry.name);
            assert!(entry.summary().ends_with('.') && entry.text.contains("\n\n"), "{}", entry.name);
        }
    }
}
