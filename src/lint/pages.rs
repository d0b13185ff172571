//! The pages of `docs/rules/`: what `palisade explain` prints, one file each, and an index.

use super::{RuleInfo, explain, infos, language, of_runs, rules};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Every page by its file's name, the index (`README.md`) among them.
pub fn pages() -> BTreeMap<String, String> {
    let names = infos().map(|info| info.name).chain(language::ENTRIES.iter().map(|entry| entry.name));
    let mut pages: BTreeMap<String, String> =
        names.filter_map(|name| Some((format!("{name}.md"), explain(name)?))).collect();
    pages.insert("README.md".to_owned(), index());
    pages
}

fn index() -> String {
    let mut text = String::from(
        "# Rules\n\nWhat `palisade check` and `palisade sb check` find. `palisade explain NAME` prints the same pages; they are written from the \
         rules' own documentation.\n\n- **Severity**: an `error` says that the profile does not hold what it says, cannot be compiled, or opens \
         what nobody should; a `warning` that it is probably not meant; a `note` needs no answer.\n- **Confidence**: `certain` follows from \
         the statements and the machine; `likely` is told by a name, a custom or a catalogue, and seldom wrong; `possible` only the author can \
         tell.\n- **Fix**: `safe` keeps what the profile means, and `palisade check --fix` makes it; `unsafe` changes it, and is made with \
         `--unsafe-fixes` too ([fixes](../fixes.md)).\n- A name with `*` can be allowed at a statement, with a reason: `# palisade: allow(NAME) REASON`. \
         Its severity can be set to any in [`palisade.toml`](../check.md); that of another rule can only be raised.\n",
    );
    section(&mut text, "Profiles", rules::ALL.iter().map(|rule| rule.info()));
    section(&mut text, "Runs", of_runs::ALL.into_iter());
    section(&mut text, "Seatbelt profiles", crate::sbpl::lint::ALL.iter().map(|rule| rule.info()));
    text.push_str(
        "\n## The language itself\n\nFound when a text is read, resolved and compiled. None can be allowed.\n\n| name | fix | finds |\n|---|---|---|\n",
    );
    for entry in language::ENTRIES {
        let _ = writeln!(
            text,
            "| [{0}]({0}.md) | {1} | {2} |",
            entry.name,
            entry.fix.name(),
            cell(entry.summary())
        );
    }
    text
}

fn section(text: &mut String, title: &str, infos: impl Iterator<Item = &'static RuleInfo>) {
    let _ = write!(
        text,
        "\n## {title}\n\n| name | severity | confidence | fix | finds |\n|---|---|---|---|---|\n"
    );
    for info in infos {
        let mark = if info.allowable { " *" } else { "" };
        let _ = writeln!(
            text,
            "| [{0}]({0}.md){mark} | {1} | {2} | {3} | {4} |",
            info.name,
            info.severity.name(),
            info.confidence.name(),
            info.fix.name(),
            cell(info.summary())
        );
    }
}

fn cell(summary: &str) -> String {
    summary.trim_end_matches('.').replace('|', "\\|")
}
