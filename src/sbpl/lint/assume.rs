//! A profile in which every text that shows at run time only is one that stands for any: what is decided of it then holds for most values.

use crate::sbpl::rule::{Filter, Part, Rule, Test, Text, Unknown};
use crate::sbpl::vocabulary::{Attribute, Values};
use crate::sbpl::{Profile, decide::regex::Pattern};
use crate::syntax::shown;
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

/// The stand-ins of a profile: the place of each in the list is in its text.
#[derive(Debug, Default)]
pub struct Assumed {
    unknowns: Vec<Unknown>,
    places: HashMap<Unknown, usize>,
}

/// The profile with stand-ins, and what they stand for. Where everything is known it is the profile itself.
pub fn of(profile: &Profile) -> (Cow<'_, Profile>, Assumed) {
    let mut assumed = Assumed::default();
    let mut rules: Option<Vec<Rule>> = None;
    for (at, rule) in profile.rules.iter().enumerate() {
        if rule.filters.iter().any(has_unknown) {
            let filters = rule.filters.iter().map(|filter| assumed.filter(filter)).collect();
            let rules = rules.get_or_insert_with(|| profile.rules.clone());
            if let Some(rule) = rules.get_mut(at) {
                rule.filters = filters;
            }
        }
    }
    match rules {
        Some(rules) => (Cow::Owned(Profile { rules, ..profile.clone() }), assumed),
        None => (Cow::Borrowed(profile), assumed),
    }
}

fn has_unknown(filter: &Filter) -> bool {
    let mut found = false;
    filter.walk(false, &mut |filter, _| {
        found |= match &filter.test {
            Test::Text { value, .. } => value.unknown().is_some(),
            Test::Regex { pattern, .. } => pattern.text.unknown().is_some(),
            _ => false,
        }
    });
    found
}

impl Assumed {
    fn filter(&mut self, filter: &Filter) -> Filter {
        let all = |this: &mut Self, filters: &Arc<[Filter]>| {
            filters.iter().map(|filter| this.filter(filter)).collect()
        };
        let test = match &filter.test {
            Test::Text { attribute, form, value } => {
                Test::Text { attribute, form: *form, value: self.text(attribute, value) }
            }
            Test::Regex { attribute, pattern } if pattern.text.unknown().is_some() => Test::Regex {
                attribute,
                pattern: Arc::new(Pattern::new(self.text(attribute, &pattern.text))),
            },
            Test::All(filters) => Test::All(all(self, filters)),
            Test::Any(filters) => Test::Any(all(self, filters)),
            Test::Not(inner) => Test::Not(Arc::new(self.filter(inner))),
            other => other.clone(),
        };
        Filter { test, ..filter.clone() }
    }

    /// Where a path begins with what is not known, that is taken for an absolute one.
    fn text(&mut self, attribute: &Attribute, text: &Text) -> Text {
        let mut known: Vec<Text> = Vec::new();
        for part in text.parts() {
            known.push(match part {
                Part::Bytes(bytes) => Text::known(bytes.clone()),
                Part::Torn(bytes) => Text::torn(bytes.clone()),
                Part::Unknown { what, .. } => {
                    let begins = known.iter().all(|text| matches!(text.bytes(), Some(b"^" | b"")));
                    let slash = if begins && attribute.values == Values::Path { "/" } else { "" };
                    Text::known(format!("{slash}{}", self.stand_in(what)).into_bytes())
                }
            });
        }
        Text::concat(known.iter())
    }

    fn stand_in(&mut self, what: &Unknown) -> String {
        let next = self.unknowns.len();
        let at = *self.places.entry(what.clone()).or_insert(next);
        if at == next {
            self.unknowns.push(what.clone());
        }
        // No character of it means anything in an expression.
        format!("@{at}@")
    }

    /// A text for a message, stand-ins written as what they stand for.
    pub fn shown(&self, text: &[u8]) -> String {
        let pieces = self.pieces(text).into_iter();
        shown(&pieces.map(|piece| piece.unwrap_or_else(said)).collect::<String>())
    }

    /// A text as a profile writes it: in quotes, or put together.
    pub fn written(&self, text: &[u8]) -> String {
        let pieces = self.pieces(text);
        let mut parts: Vec<String> = pieces
            .into_iter()
            .map(|piece| match piece {
                Ok(known) => crate::sbpl::print::quoted(known.as_bytes()),
                Err(what) => said(what),
            })
            .collect();
        match parts.len() {
            1 => parts.remove(0),
            _ => format!("(string-append {})", parts.join(" ")),
        }
    }

    fn pieces(&self, text: &[u8]) -> Vec<Result<String, &Unknown>> {
        let text = String::from_utf8_lossy(text);
        let mut pieces = Vec::new();
        let mut known = String::new();
        let mut rest = &*text;
        while let Some(at) = rest.find('@') {
            let (head, tail) = rest.split_at(at);
            let end = tail.get(1..).and_then(|tail| tail.find('@')).map(|end| end + 1);
            let number = end.and_then(|end| tail.get(1..end)).and_then(|digits| digits.parse::<usize>().ok());
            let (what, length) = match (number.and_then(|number| self.unknowns.get(number)), end) {
                (Some(what), Some(end)) => (Some(what), end + 1),
                _ => (None, 1),
            };
            known.push_str(head);
            match what {
                Some(what) => {
                    // The slash before it is its own.
                    if known == "/" && pieces.is_empty() {
                        known.clear();
                    }
                    if !known.is_empty() {
                        pieces.push(Ok(std::mem::take(&mut known)));
                    }
                    pieces.push(Err(what));
                }
                None => known.push('@'),
            }
            rest = tail.get(length..).unwrap_or_default();
        }
        known.push_str(rest);
        if !known.is_empty() || pieces.is_empty() {
            pieces.push(Ok(known));
        }
        pieces
    }
}

fn said(what: &Unknown) -> String {
    match what {
        Unknown::Parameter(name) => format!("(param {})", crate::sbpl::print::quoted(name.as_bytes())),
        Unknown::Defined(name) | Unknown::Call(name) => format!("({name})"),
    }
}

#[cfg(test)]
mod tests {
    use crate::sbpl::{NoImports, Params, Profile, print};

    #[test]
    fn a_stand_in_is_consistent_and_shown_as_what_it_stands_for() {
        let text = r#"(version 1)
            (allow file-read* (subpath (param "HOME")) (literal (string-append (param "HOME") "/.x")))
            (deny file-read* (literal (string-append "/Users/" (param "USER") "/y")))
            (deny file-read* (regex (string-append "^" (regex-quote (param "HOME")) "/z")))
            (allow mach-lookup (global-name (param "NAME")))"#;
        let profile = Profile::parse(text, &Params::default(), &NoImports).unwrap();
        let (assumed, stand_ins) = super::of(&profile);
        let rules: Vec<String> = assumed.rules.iter().map(print::rule).collect();
        assert_eq!(
            rules,
            [
                r#"(allow file-read* (subpath "/@0@") (literal "/@0@/.x"))"#,
                r#"(deny file-read* (literal "/Users/@1@/y"))"#,
                r#"(deny file-read* (regex "^/@0@/z"))"#,
                r#"(allow mach-lookup (global-name "@2@"))"#,
            ]
        );
        for (path, shown, written) in [
            ("/@0@/.x", r#"(param "HOME")/.x"#, r#"(string-append (param "HOME") "/.x")"#),
            ("/@0@", r#"(param "HOME")"#, r#"(param "HOME")"#),
            (
                "/Users/@1@/y",
                r#"/Users/(param "USER")/y"#,
                r#"(string-append "/Users/" (param "USER") "/y")"#,
            ),
            ("/a@9@b@", "/a@9@b@", r#""/a@9@b@""#),
        ] {
            assert_eq!(stand_ins.shown(path.as_bytes()), shown);
            assert_eq!(stand_ins.written(path.as_bytes()), written);
        }
    }
}
