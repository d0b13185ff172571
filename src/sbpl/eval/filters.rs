//! Filters: what stands in their brackets, and whether it fits.

use super::{Evaluator, MAX_FILTER_DEPTH, MAX_NODES, NameKind, Refused, Value, is_torn, quote, unknown_name};
use crate::finding::{Finding, Severity};
use crate::sbpl::decide::regex::Pattern;
use crate::sbpl::read::{Datum, Kind};
use crate::sbpl::rule::{Filter, Test, Text, Unknown};
use crate::sbpl::vocabulary::{Attribute, Form, Values, filter_named, words};
use crate::source::Span;
use crate::syntax::nearest;
use std::sync::Arc;

const PROTOCOLS: [&str; 10] =
    ["ip", "ip4", "ip6", "tcp", "tcp4", "tcp6", "udp", "udp4", "udp6", "unix-socket"];

/// Macros that make a number of a command's parts.
const COMMANDS: [&str; 4] = ["_IO", "_IOR", "_IOW", "_IOWR"];

impl Evaluator<'_> {
    /// A filter, its size bounded.
    pub(super) fn built(&mut self, span: Span, test: Test) -> Result<Filter, Refused> {
        let filter = Filter::new(span, test);
        if filter.depth > MAX_FILTER_DEPTH {
            return self.refuse(span, format!("filters nest more than {MAX_FILTER_DEPTH} deep"));
        }
        if filter.nodes > MAX_NODES {
            return self.refuse(span, format!("this filter is made of more than {MAX_NODES}"));
        }
        Ok(filter)
    }

    pub(super) fn inner_filter(&mut self, datum: &Datum) -> Result<Filter, Refused> {
        match self.eval(datum)? {
            Value::Filter(filter) => Ok(filter),
            Value::Unknown(Unknown::Call(name)) => self.built(datum.span, Test::Opaque { name }),
            other => self.refuse(datum.span, format!("expected a filter, found {}", other.describe())),
        }
    }

    pub(super) fn filter(
        &mut self,
        form: &Datum,
        head: &Datum,
        name: &str,
        args: &[Datum],
    ) -> Result<Value, Refused> {
        let span = form.span;
        let test = match name {
            "require-all" | "require-any" => {
                if args.is_empty() {
                    return self.refuse(span, format!("`{name}` needs a filter"));
                }
                let mut inner = Vec::new();
                for arg in args {
                    inner.push(self.inner_filter(arg)?);
                }
                if name == "require-all" { Test::All(inner.into()) } else { Test::Any(inner.into()) }
            }
            "require-not" => match args {
                [arg] => Test::Not(Arc::new(self.inner_filter(arg)?)),
                _ => return self.refuse(span, "`require-not` takes one filter"),
            },
            "path-ancestors" => return self.ancestors(form, args),
            _ => {
                let Some((attribute, comparison)) = filter_named(name) else {
                    return self.unknown_name(NameKind::Form, name, head.span);
                };
                return self.attribute(form, name, attribute, comparison, args);
            }
        };
        Ok(Value::Filter(self.built(span, test)?))
    }

    fn attribute(
        &mut self,
        form: &Datum,
        name: &str,
        attribute: &'static Attribute,
        comparison: Form,
        args: &[Datum],
    ) -> Result<Value, Refused> {
        if attribute.values == Values::Network {
            return self.network(form, attribute, args);
        }
        if args.is_empty() {
            return self.refuse(form.span, format!("{} needs a value", quote(name)));
        }
        let mut filters = Vec::new();
        for arg in args {
            let test = match attribute.values {
                Values::Path | Values::Name => {
                    let value = self.text(arg)?;
                    if comparison == Form::Regex {
                        Test::Regex { attribute, pattern: Arc::new(Pattern::new(value)) }
                    } else {
                        Test::Text { attribute, form: comparison, value }
                    }
                }
                Values::Exact => match &arg.kind {
                    Kind::Symbol(word) if self.lookup(word).is_none() => {
                        Test::Word { attribute, value: word.clone() }
                    }
                    _ => Test::Text { attribute, form: comparison, value: self.text(arg)? },
                },
                Values::Words(words) => self.word(attribute, words, arg)?,
                Values::Number => self.number(attribute, arg)?,
                Values::Network => continue,
            };
            filters.push(self.built(arg.span, test)?);
        }
        match <[Filter; 1]>::try_from(filters) {
            Ok([one]) => Ok(Value::Filter(Filter { span: form.span, ..one })),
            Err(several) => Ok(Value::Filter(self.built(form.span, Test::Any(several.into()))?)),
        }
    }

    fn word(
        &mut self,
        attribute: &'static Attribute,
        words: &[&'static str],
        arg: &Datum,
    ) -> Result<Test, Refused> {
        let value = match &arg.kind {
            Kind::Symbol(word) => match self.lookup(word) {
                None => word.clone(),
                Some(Value::Symbol(word)) => word,
                Some(other) => return self.no_word(attribute, arg, other.describe()),
            },
            Kind::Number(_) if words.is_empty() => return self.number(attribute, arg),
            _ => match self.eval(arg)? {
                Value::Symbol(word) => word,
                other => return self.no_word(attribute, arg, other.describe()),
            },
        };
        if words.is_empty() || words.contains(&&*value) {
            return Ok(Test::Word { attribute, value });
        }
        self.report(unknown_name::no_value(attribute.name, &value, arg.span, words))
    }

    fn no_word(&mut self, attribute: &Attribute, arg: &Datum, found: &str) -> Result<Test, Refused> {
        self.refuse(arg.span, format!("{} takes a word, not {found}", quote(attribute.name)))
    }

    /// A number, or the system's name for one.
    fn number(&mut self, attribute: &'static Attribute, arg: &Datum) -> Result<Test, Refused> {
        let known = words::of_attribute(attribute.name);
        match &arg.kind {
            Kind::Symbol(word) if self.lookup(word).is_none() => {
                if let Some(words) = known {
                    self.listed(words, attribute.name, word, arg.span)?;
                }
                Ok(Test::Word { attribute, value: word.clone() })
            }
            Kind::List(_) if arg.head().is_some_and(|head| COMMANDS.contains(&head)) => {
                Ok(Test::Word { attribute, value: crate::sbpl::print::datum(arg).into() })
            }
            _ => match self.eval(arg)? {
                Value::Number(value)
                    if attribute.name == "signal-number" && words::out_of_range(words::SIGNALS, value) =>
                {
                    self.refuse(arg.span, format!("{value} is no value of {}", quote(attribute.name)))
                }
                Value::Number(value) => Ok(Test::Number { attribute, value }),
                Value::Symbol(value) => Ok(Test::Word { attribute, value }),
                other => self.refuse(
                    arg.span,
                    format!("{} takes a number, not {}", quote(attribute.name), other.describe()),
                ),
            },
        }
    }

    /// `(remote ip "*:443")`; `(remote unix-socket FILTER)` is the filter itself.
    fn network(
        &mut self,
        form: &Datum,
        attribute: &'static Attribute,
        args: &[Datum],
    ) -> Result<Value, Refused> {
        let Some((first, rest)) = args.split_first() else {
            return self.refuse(form.span, format!("{} needs a protocol", quote(attribute.name)));
        };
        let word = first.symbol().unwrap_or_default();
        let Some(protocol) = PROTOCOLS.into_iter().find(|protocol| *protocol == word) else {
            let help = match nearest(word, PROTOCOLS) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("one of: {}", PROTOCOLS.join(", ")),
            };
            let message = format!(
                "expected a protocol, found {}",
                if word.is_empty() { first.describe().to_owned() } else { quote(word) }
            );
            return self.report(
                Finding::new("unknown-name", Severity::Error, message).at(first.span, "not known").help(help),
            );
        };
        if protocol == "unix-socket" && !rest.is_empty() {
            let mut filters = Vec::new();
            for arg in rest {
                filters.push(self.inner_filter(arg)?);
            }
            return match <[Filter; 1]>::try_from(filters) {
                Ok([one]) => Ok(Value::Filter(one)),
                Err(several) => Ok(Value::Filter(self.built(form.span, Test::Any(several.into()))?)),
            };
        }
        let mut filters = Vec::new();
        for arg in rest {
            let address = self.text(arg)?;
            let test = Test::Network { attribute, protocol, address: Some(address) };
            filters.push(self.built(arg.span, test)?);
        }
        if filters.is_empty() {
            let test = Test::Network { attribute, protocol, address: None };
            return Ok(Value::Filter(self.built(form.span, test)?));
        }
        match <[Filter; 1]>::try_from(filters) {
            Ok([one]) => Ok(Value::Filter(Filter { span: form.span, ..one })),
            Err(several) => Ok(Value::Filter(self.built(form.span, Test::Any(several.into()))?)),
        }
    }

    /// `(path-ancestors "/a/b")`: the directories above, `/` among them, and not the path itself.
    fn ancestors(&mut self, form: &Datum, args: &[Datum]) -> Result<Value, Refused> {
        let Some((attribute, _)) = filter_named("literal") else {
            return self.refuse(form.span, "`literal` is not known");
        };
        let mut filters = Vec::new();
        for arg in args {
            let text = self.text(arg)?;
            if self.profile.ancestors.len() < MAX_NODES {
                self.profile.ancestors.push((text.clone(), arg.span));
            }
            let Some(bytes) = text.bytes().filter(|_| !is_torn(&text)) else {
                // Which directories these are is not known; any of them is matched perhaps.
                let test = Test::Text { attribute, form: Form::Whole, value: text };
                filters.push(self.built(arg.span, test)?);
                continue;
            };
            let slashes = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at);
            let ends: Vec<usize> = slashes.map(|at| at.max(1)).collect();
            if ends.len() > 256 {
                return self.refuse(arg.span, "a path with more than 256 directories above it");
            }
            for end in ends {
                let value = Text::known(bytes.get(..end).unwrap_or_default());
                let test = Test::Text { attribute, form: Form::Whole, value };
                filters.push(self.built(arg.span, test)?);
            }
        }
        if filters.is_empty() {
            return self.refuse(form.span, "`path-ancestors` needs an absolute path");
        }
        Ok(Value::Filter(self.built(form.span, Test::Any(filters.into()))?))
    }
}
