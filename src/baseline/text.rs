//! The text of a baseline: TOML, sorted, to be read in a pull request.

use super::entry::Entry;
use super::key::OWN_WORKSPACE;
use crate::finding::{Finding, Severity};
use crate::source::{FileId, Sources, Span};
use serde::Serialize;
use std::collections::BTreeSet;
use std::ops::Range;
use toml::de::{DeTable, DeValue};

/// The version that is written and read.
pub const VERSION: i64 = 1;

/// The key that tells a baseline from other files, and its version.
const MARK: &str = "palisade-baseline";

const HEADER: &str = "\
# What `palisade check` found when this was written, and leaves out since. Written by `palisade check --write-baseline`;
# an entry may be removed by hand, and is best never added.

";

#[derive(Serialize)]
struct Document {
    #[serde(rename = "palisade-baseline")]
    version: i64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    finding: Vec<Written>,
}

#[derive(Serialize)]
struct Written {
    rule: String,
    profiles: BTreeSet<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    machines: BTreeSet<String>,
    /// Left out where it is the baseline's own directory alone.
    #[serde(skip_serializing_if = "is_own")]
    workspaces: BTreeSet<String>,
    message: String,
    count: usize,
    fingerprint: String,
}

fn is_own(workspaces: &BTreeSet<String>) -> bool {
    workspaces.iter().eq([OWN_WORKSPACE])
}

/// The text of a baseline with these entries.
///
/// # Errors
/// Only where it cannot be written to memory.
pub fn write(entries: &[Entry]) -> std::io::Result<String> {
    let finding = entries.iter().cloned().map(|entry| {
        let Entry { rule, profiles, file, machines, workspaces, message, count, fingerprint, span: _ } =
            entry;
        Written { rule, profiles, file, machines, workspaces, message, count, fingerprint }
    });
    let document = Document { version: VERSION, finding: finding.collect() };
    let text = toml::to_string(&document).map_err(std::io::Error::other)?;
    Ok(format!("{HEADER}{text}"))
}

/// Whether a text is a baseline, of whatever version.
pub fn is_one(text: &str) -> bool {
    DeTable::parse(text).is_ok_and(|table| table.get_ref().contains_key(MARK))
}

/// The entries of a baseline.
///
/// # Errors
/// What is wrong with the text, as a finding of `baseline` at its place.
pub fn read(sources: &Sources, file: FileId) -> Result<Vec<Entry>, Box<Finding>> {
    let reader = Reader { file };
    let text = &sources.file(file).text;
    let table = DeTable::parse(text).map_err(|error| {
        let place = error.span().unwrap_or(0..0);
        let help = "write it anew with `palisade check --write-baseline FILE`";
        reader.wrong(place, format!("this is not TOML: {}", error.message()), help)
    })?;
    reader.entries(table.get_ref(), text)
}

type Value<'a> = toml::Spanned<DeValue<'a>>;

struct Reader {
    file: FileId,
}

impl Reader {
    fn entries(&self, table: &DeTable<'_>, text: &str) -> Result<Vec<Entry>, Box<Finding>> {
        let Some(version) = table.get(MARK) else {
            let first_line = 0..text.find('\n').unwrap_or(text.len());
            let help = "name a file that `palisade check --write-baseline FILE` wrote";
            return Err(self.wrong(first_line, format!("this is no baseline: there is no `{MARK}`"), help));
        };
        match number(version) {
            Some(VERSION) => {}
            Some(other) if other > VERSION => {
                let message = format!("this is a baseline of version {other}; {VERSION} is known here");
                let help = "use a later version of palisade, or write the baseline anew with this one";
                return Err(self.wrong(version.span(), message, help));
            }
            _ => {
                let help = format!("write `{MARK} = {VERSION}`");
                return Err(self.wrong(version.span(), "this is no version of a baseline".to_owned(), &help));
            }
        }
        if let Some((name, _)) =
            table.iter().find(|(name, _)| !matches!(name.get_ref().as_ref(), MARK | "finding"))
        {
            return Err(self.unknown(name));
        }
        let Some(findings) = table.get("finding") else { return Ok(Vec::new()) };
        let DeValue::Array(items) = findings.get_ref() else {
            return Err(self.mistyped(findings, "a list of tables"));
        };
        items.iter().map(|item| self.entry(item)).collect()
    }

    fn entry(&self, item: &Value<'_>) -> Result<Entry, Box<Finding>> {
        let DeValue::Table(table) = item.get_ref() else { return Err(self.mistyped(item, "a table")) };
        const KEYS: [&str; 8] =
            ["rule", "profiles", "file", "machines", "workspaces", "message", "count", "fingerprint"];
        if let Some((name, _)) = table.iter().find(|(name, _)| !KEYS.contains(&name.get_ref().as_ref())) {
            return Err(self.unknown(name));
        }
        let get = |key: &str| {
            table.get(key).ok_or_else(|| {
                let help = "write the baseline anew with `palisade check --write-baseline FILE`";
                self.wrong(item.span(), format!("an entry without `{key}`"), help)
            })
        };
        let rule = get("rule")?;
        let count = get("count")?;
        let count = number(count)
            .and_then(|count| usize::try_from(count).ok())
            .filter(|count| *count > 0)
            .ok_or_else(|| self.mistyped(count, "a number from 1"))?;
        Ok(Entry {
            rule: self.text(rule)?,
            profiles: self.texts(get("profiles")?)?,
            file: table.get("file").map(|file| self.text(file)).transpose()?,
            machines: self.texts(get("machines")?)?,
            workspaces: match table.get("workspaces") {
                Some(workspaces) => self.texts(workspaces)?,
                None => BTreeSet::from([OWN_WORKSPACE.to_owned()]),
            },
            message: self.text(get("message")?)?,
            count,
            fingerprint: self.text(get("fingerprint")?)?,
            span: Some(Span::new(self.file, rule.span())),
        })
    }

    fn text(&self, value: &Value<'_>) -> Result<String, Box<Finding>> {
        value.get_ref().as_str().map(str::to_owned).ok_or_else(|| self.mistyped(value, "a text"))
    }

    fn texts(&self, value: &Value<'_>) -> Result<BTreeSet<String>, Box<Finding>> {
        match value.get_ref() {
            DeValue::Array(items) => items.iter().map(|item| self.text(item)).collect(),
            _ => Err(self.mistyped(value, "a list of texts")),
        }
    }

    fn unknown(&self, name: &toml::Spanned<std::borrow::Cow<'_, str>>) -> Box<Finding> {
        let message = format!("there is no key `{}` in a baseline", crate::syntax::shown(name.get_ref()));
        self.wrong(name.span(), message, "remove it")
    }

    fn mistyped(&self, value: &Value<'_>, expected: &str) -> Box<Finding> {
        let help = "write the baseline anew with `palisade check --write-baseline FILE`";
        self.wrong(value.span(), format!("this is not {expected}"), help)
    }

    fn wrong(&self, place: Range<usize>, message: String, help: &str) -> Box<Finding> {
        let finding = Finding::new("baseline", Severity::Error, message);
        Box::new(finding.at(Span::new(self.file, place), "here").help(help))
    }
}

fn number(value: &Value<'_>) -> Option<i64> {
    let number = value.get_ref().as_integer()?;
    i64::from_str_radix(number.as_str(), number.radix()).ok()
}
