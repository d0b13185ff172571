//! From TOML to a [`Config`]: everything that is wrong is told of, each at its place.

use super::globs::Globs;
use super::keys::{self, Key, OVERRIDE, SETTINGS, TOP};
use super::severities::{Override, Rules, setting_of};
use super::{Config, Setting};
use crate::finding::{Finding, Severity};
use crate::report::{FORMATS, pages};
use crate::source::{FileId, Sources, Span, Spanned};
use crate::syntax::{nearest, shown, words::either_word};
use std::borrow::Cow;
use toml::de::{DeTable, DeValue};

/// The most that is said of one file.
const MOST: usize = 20;

type Value<'a> = toml::Spanned<DeValue<'a>>;
type Name<'a> = toml::Spanned<Cow<'a, str>>;

/// What the text of `file` says.
///
/// # Errors
/// A finding of `settings` for everything in it that cannot be meant, by place.
pub fn read(sources: &Sources, file: FileId) -> Result<Config, Vec<Finding>> {
    let text = &sources.file(file).text;
    let (table, errors) = DeTable::parse_recoverable(text);
    let mut reader = Reader { file, findings: Vec::new() };
    for error in errors {
        let end = text.len();
        let place = error.span().unwrap_or(end..end);
        reader.say(place, format!("this is not TOML: {}", error.message()), "here");
    }
    // Of a text that was half understood, the rest would mislead.
    let config = if reader.findings.is_empty() { reader.config(table.get_ref()) } else { Config::default() };
    if reader.findings.is_empty() {
        return Ok(Config { file: Some(file), ..config });
    }
    reader.findings.sort_by_key(Finding::span);
    reader.findings.truncate(MOST);
    Err(reader.findings)
}

struct Reader {
    file: FileId,
    findings: Vec<Finding>,
}

impl Reader {
    fn config(&mut self, table: &DeTable<'_>) -> Config {
        let mut config = Config::default();
        for (name, value) in table {
            match name.get_ref().as_ref() {
                keys::FAIL_ON => {
                    let severity = self.one_of(value, &SETTINGS[1..]).and_then(Setting::of);
                    if let Some(Setting::At(severity)) = severity {
                        config.fail_on = Some(severity);
                    }
                }
                keys::FORMAT => config.format = self.one_of(value, &FORMATS),
                keys::HOSTS => config.hosts = self.texts(value),
                keys::EXCLUDE => config.exclude = self.globs(value),
                keys::BASELINE => config.baseline = self.text(value).filter(|it| self.is_path(it)),
                keys::RULE_PAGES => config.rule_pages = self.pages(value),
                keys::RULES => config.severities.rules = self.rules(value),
                keys::OVERRIDES => config.severities.overrides = self.overrides(value),
                keys::SCHEMA => drop(self.text(value)),
                _ => self.unknown(name, &TOP),
            }
        }
        let hosts = std::mem::take(&mut config.hosts);
        config.hosts = hosts.into_iter().filter(|host| self.is_path(host)).collect();
        config
    }

    fn overrides(&mut self, value: &Value<'_>) -> Vec<Override> {
        let DeValue::Array(items) = value.get_ref() else {
            self.wrong_type(value, "a list of tables", "write `[[overrides]]` above its keys");
            return Vec::new();
        };
        items.iter().filter_map(|item| self.one_override(item)).collect()
    }

    fn one_override(&mut self, item: &Value<'_>) -> Option<Override> {
        let DeValue::Table(table) = item.get_ref() else {
            self.wrong_type(item, "a list of tables", "write `[[overrides]]` above its keys");
            return None;
        };
        let (mut paths, mut rules) = (None, None);
        for (name, value) in table {
            match name.get_ref().as_ref() {
                keys::PATHS => {
                    let before = self.findings.len();
                    let globs = self.globs(value);
                    if matches!(value.get_ref(), DeValue::Array(items) if items.is_empty())
                        && self.findings.len() == before
                    {
                        let say =
                            self.say(value.span(), "no path is named, so nothing is overridden", "here");
                        say.help = Some("name some, or remove the table".to_owned());
                    }
                    paths = Some(globs);
                }
                keys::RULES => rules = Some(self.rules(value)),
                _ => self.unknown(name, &OVERRIDE),
            }
        }
        for (key, is_there) in [(keys::PATHS, paths.is_some()), (keys::RULES, rules.is_some())] {
            if !is_there {
                let say = self.say(item.span(), format!("an override without `{key}`"), "here");
                say.help = Some("say which `paths` are meant, and which `rules` are set there".to_owned());
            }
        }
        Some(Override { paths: paths?, rules: rules? })
    }

    fn rules(&mut self, value: &Value<'_>) -> Rules {
        let DeValue::Table(table) = value.get_ref() else {
            self.wrong_type(value, "a table", "write `[rules]`, and below it `broad-root = \"error\"`");
            return Rules::new();
        };
        let mut rules = Rules::new();
        for (name, value) in table {
            let rule = name.get_ref().as_ref();
            // The name is looked at even where the value is of no use.
            let setting = value.get_ref().as_str();
            match setting_of(rule, setting.unwrap_or("error")) {
                Ok(_) if setting.is_none() => {
                    let help = format!("a rule is set to {}", either_word(SETTINGS));
                    self.wrong_type(value, "a text", &help);
                }
                Ok((rule, setting)) => drop(rules.insert(rule, setting)),
                Err(refusal) => {
                    let place = if refusal.of_rule { name.span() } else { value.span() };
                    let finding = self.say(place, refusal.message, "here");
                    finding.help = Some(refusal.help);
                }
            }
        }
        rules
    }

    fn globs(&mut self, value: &Value<'_>) -> Globs {
        let texts = self.texts(value);
        match Globs::new(texts.iter().map(|text| text.value.as_str())) {
            Ok(globs) => globs,
            Err((at, message)) => {
                let place = texts.get(at).map_or(value.span(), |text| text.span.range());
                let finding = self.say(place, shown(&message), "here");
                finding.help = Some("patterns are relative to this file, and below its directory".to_owned());
                Globs::default()
            }
        }
    }

    /// The texts of a list.
    fn texts(&mut self, value: &Value<'_>) -> Vec<Spanned<String>> {
        let DeValue::Array(items) = value.get_ref() else {
            self.wrong_type(value, "a list of texts", "write it in brackets: `[\"…\"]`");
            return Vec::new();
        };
        items.iter().filter_map(|item| self.text(item)).collect()
    }

    fn text(&mut self, value: &Value<'_>) -> Option<Spanned<String>> {
        match value.get_ref().as_str() {
            Some(text) => Some(Spanned::new(text.to_owned(), self.span(value.span()))),
            None => {
                self.wrong_type(value, "a text", "write it in quotes");
                None
            }
        }
    }

    fn is_path(&mut self, text: &Spanned<String>) -> bool {
        let is_path = !text.value.is_empty() && !text.value.contains('\0');
        if !is_path {
            self.say(text.span.range(), "this names no file", "here").help =
                Some("name one, relative to this file".to_owned());
        }
        is_path
    }

    /// The address of a page for each rule. It comes into the output of terminals: nothing stands in it that these would take for more.
    fn pages(&mut self, value: &Value<'_>) -> Option<String> {
        let text = self.text(value)?.value;
        let is_address = ["https://", "http://"].iter().any(|scheme| text.starts_with(scheme));
        // Nor what no address holds (RFC 3986, 2), and what would end it where it is quoted.
        let holds =
            |rest: &str| rest.bytes().all(|byte| byte.is_ascii_graphic() && !b"{}<>\"\\".contains(&byte));
        if is_address && text.contains(pages::RULE) && holds(&text.replacen(pages::RULE, "", 1)) {
            return Some(text);
        }
        let finding = self.say(value.span(), format!("`{}` is no address of pages", shown(&text)), "here");
        finding.help = Some("write `https://…/{rule}.html`, with `{rule}` once for a rule's name".to_owned());
        None
    }

    /// The one of these words that is written.
    fn one_of(&mut self, value: &Value<'_>, words: &[&'static str]) -> Option<&'static str> {
        let written = self.text(value)?.value;
        if let Some(word) = words.iter().find(|word| **word == written) {
            return Some(word);
        }
        let near = nearest(&written, words.iter().copied());
        let finding = self.say(value.span(), format!("`{}` cannot stand here", shown(&written)), "here");
        finding.help = Some(match near {
            Some(near) => format!("the nearest is `{near}`"),
            None => format!("write {}", either_word(words.iter().copied())),
        });
        None
    }

    fn unknown(&mut self, name: &Name<'_>, keys: &[Key]) {
        let written = name.get_ref();
        let names = || keys.iter().map(|key| key.name).filter(|name| *name != keys::SCHEMA);
        let near = nearest(written, names());
        let is_rule = super::severities::rules().any(|info| info.name == *written);
        let finding = self.say(name.span(), format!("there is no key `{}`", shown(written)), "here");
        finding.help = Some(match near {
            _ if is_rule => "a rule is set below `[rules]`".to_owned(),
            Some(near) => format!("the nearest is `{near}`"),
            None => format!("there are {}", either_word(names()).replace(" or ", " and ")),
        });
    }

    fn wrong_type(&mut self, value: &Value<'_>, expected: &str, help: &str) {
        let kind = match value.get_ref() {
            DeValue::String(_) => "a text",
            DeValue::Integer(_) | DeValue::Float(_) => "a number",
            DeValue::Boolean(_) => "a yes or no",
            DeValue::Datetime(_) => "a date",
            DeValue::Array(_) => "a list",
            DeValue::Table(_) => "a table",
        };
        let finding = self.say(value.span(), format!("expected {expected}, found {kind}"), "here");
        finding.help = Some(help.to_owned());
    }

    fn say(
        &mut self,
        place: std::ops::Range<usize>,
        message: impl Into<String>,
        label: &str,
    ) -> &mut Finding {
        let finding = Finding::new("settings", Severity::Error, message).at(self.span(place), label);
        let at = self.findings.len();
        self.findings.push(finding);
        &mut self.findings[at]
    }

    fn span(&self, place: std::ops::Range<usize>) -> Span {
        Span::new(self.file, place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read_text(text: &str) -> (Sources, Result<Config, Vec<Finding>>) {
        let mut sources = Sources::new();
        let file = sources.add("palisade.toml", None, text);
        let result = read(&sources, file);
        (sources, result)
    }

    fn said(text: &str) -> Vec<String> {
        let (sources, result) = read_text(text);
        let line = |finding: &Finding| {
            let place = finding.span().map(|span| sources.text(span)).unwrap_or_default();
            format!("{place} -- {} -- {}", finding.message, finding.help.as_deref().unwrap_or_default())
        };
        result.err().unwrap_or_default().iter().map(line).collect()
    }

    #[test]
    fn everything_that_can_be_said() {
        let (_, config) = read_text(
            "\"$schema\" = \"x\"\nfail-on = \"error\"\nformat = 'sarif'\nhosts = [\"hosts/*.yaml\"]\nexclude = [\"vendor\"]\n\
             baseline = \"known.toml\"\n[rules]\nbroad-root = \"off\"\n[[overrides]]\npaths = [\"legacy/**\"]\n\
             rules.any-port = \"note\"\n",
        );
        let config = config.unwrap();
        assert_eq!((config.fail_on, config.format), (Some(Severity::Error), Some("sarif")));
        assert_eq!(config.hosts.iter().map(|it| it.value.as_str()).collect::<Vec<_>>(), ["hosts/*.yaml"]);
        assert!(config.exclude.matches("vendor/a.palisade".into()));
        assert_eq!(config.baseline.map(|it| it.value).as_deref(), Some("known.toml"));
        assert_eq!(config.severities.rules, Rules::from([("broad-root", Setting::Off)]));
        assert_eq!(config.severities.overrides.len(), 1);
        assert!(read_text("").1.is_ok());
    }

    #[test]
    fn all_that_is_wrong_is_said_by_place() {
        let said = said(
            "fail_on = \"error\"\nformat = 1\n[rules]\nbrod-root = \"off\"\nmissing-root = \"off\"\nany-port = true\n",
        );
        assert_eq!(
            said,
            [
                "fail_on -- there is no key `fail_on` -- the nearest is `fail-on`",
                "1 -- expected a text, found a number -- write it in quotes",
                "brod-root -- there is no rule `brod-root` -- the nearest is `broad-root`",
                "\"off\" -- `missing-root` cannot be turned off -- what it finds cannot be allowed, so it stays an error at \
                 least; `palisade explain missing-root` says why",
                "true -- expected a text, found a yes or no -- a rule is set to `off`, `note`, `warning` or `error`",
            ]
        );
    }

    #[test]
    fn every_key_is_known_and_no_other() {
        for key in &TOP {
            let said = said(&format!("\"{}\" = 1\n", key.name));
            assert!(said.len() == 1 && said[0].contains("expected a"), "{said:?}");
        }
        for key in &OVERRIDE {
            let said = said(&format!("[[overrides]]\n{} = 1\n", key.name));
            assert!(said.iter().any(|it| it.starts_with("1 -- expected a")), "{said:?}");
        }
        assert!(said("x = 1\n")[0].contains("there is no key `x`"));
        assert!(said("[[overrides]]\nx = 1\n").iter().any(|it| it.contains("there is no key `x`")));
    }

    proptest! {
        /// Whatever the text, every place lies in it.
        #[test]
        fn any_text_is_read(text in "(fail-on|rules|\\[|\\]|=|\"|\n|\\.|x|é|\\{|\\}|1|'){0,30}") {
            let (sources, result) = read_text(&text);
            for finding in result.err().unwrap_or_default() {
                let span = finding.span().unwrap();
                prop_assert!(sources.file(span.file).text.get(span.range()).is_some(), "{text:?} {span:?}");
            }
        }
    }
}
