//! `allow`, `deny`, and what stands around them.

use super::{Evaluator, MAX_NODES, NameKind, Refused, Value, quote, unknown_name};
use crate::finding::{Finding, Severity};
use crate::sbpl::lint::dead_operation;
use crate::sbpl::read::{Datum, Kind};
use crate::sbpl::rule::{Effect, Filter, Modifier, Rule, Test, Unknown, Value as Argument};
use crate::sbpl::vocabulary::words::{self, Words};
use crate::sbpl::vocabulary::{Argument as Takes, DEAD, ModifierInfo, Operation, modifier_named};
use crate::source::Span;

/// What the arguments of a rule come to.
#[derive(Default)]
struct Parts {
    operations: Vec<Operation>,
    filters: Vec<Filter>,
    modifiers: Vec<Modifier>,
    /// Whether an operation was named that is none any more.
    dead: bool,
}

impl Evaluator<'_> {
    pub(super) fn rule(&mut self, form: &Datum, name: &str, args: &[Datum]) -> Result<Value, Refused> {
        let effect = if name == "allow" { Effect::Allow } else { Effect::Deny };
        let mut parts = Parts::default();
        let mut refused = false;
        for arg in args {
            // One wrong name does not hide the next.
            refused |= self.part(arg, &mut parts).is_err();
        }
        if refused {
            return Err(Refused);
        }
        for modifier in &parts.modifiers {
            let (fits, on) = match effect {
                Effect::Allow => (modifier.info.fits_allow(), "a denial"),
                Effect::Deny => (modifier.info.fits_deny(), "an allowance"),
            };
            if !fits {
                let message = format!("{} stands on {on} only", quote(modifier.info.name));
                return self.report(
                    Finding::new("sb-evaluation", Severity::Error, message).at(modifier.span, "not here"),
                );
            }
        }
        if parts.operations.is_empty() {
            if parts.dead {
                return Ok(Value::Nothing);
            }
            return self.refuse(form.span, format!("`{name}` needs an operation"));
        }
        let mut filters = parts.filters;
        for outer in self.around.clone().into_iter().rev() {
            filters = self.enclosed(outer, filters)?;
        }
        let size =
            filters.iter().fold(parts.operations.len(), |sum, filter| sum.saturating_add(filter.nodes));
        self.nodes = self.nodes.saturating_add(size);
        if self.nodes > MAX_NODES {
            return self.refuse(form.span, format!("all rules together have more than {MAX_NODES} filters"));
        }
        self.profile.rules.push(Rule {
            effect,
            operations: parts.operations.into(),
            filters: filters.into(),
            modifiers: parts.modifiers.into(),
            span: form.span,
            condition: self.condition.clone(),
        });
        Ok(Value::Nothing)
    }

    fn part(&mut self, arg: &Datum, parts: &mut Parts) -> Result<(), Refused> {
        if let Kind::Symbol(name) = &arg.kind
            && self.lookup(name).is_none()
            && Operation::named(name).is_none()
            && (DEAD.contains(&&**name) || self.may_be_imported(name).is_none())
        {
            if DEAD.contains(&&**name) {
                parts.dead = true;
                self.findings.push(dead_operation::finding(name, arg.span));
                return Ok(());
            }
            return self.unknown_name(NameKind::Operation, name, arg.span);
        }
        match self.eval(arg)? {
            Value::Operation(operation) if parts.operations.contains(&operation) => {}
            Value::Operation(operation) => parts.operations.push(operation),
            Value::Filter(filter) => parts.filters.push(filter),
            Value::Modifiers(modifiers) => parts.modifiers.extend(modifiers.iter().cloned()),
            Value::Text(text) => {
                let finding = Finding::new("sb-evaluation", Severity::Error, "a text by itself is no filter")
                    .at(arg.span, "refused when the profile is loaded")
                    .help(format!(
                        "say how it is compared: `(literal \"{0}\")` or `(subpath \"{0}\")`",
                        text.shown()
                    ));
                return self.report(finding);
            }
            Value::Unknown(Unknown::Call(name)) => {
                parts.filters.push(self.built(arg.span, Test::Opaque { name })?);
            }
            Value::Unknown(what) => {
                return self.refuse(arg.span, format!("what stands here hangs on {what}"));
            }
            other => {
                let message =
                    format!("expected an operation, a filter or a modifier, found {}", other.describe());
                return self.refuse(arg.span, message);
            }
        }
        Ok(())
    }

    /// `(with MODIFIER ARGUMENT …)`.
    pub(super) fn modifiers(&mut self, form: &Datum, args: &[Datum]) -> Result<Value, Refused> {
        let mut modifiers = Vec::new();
        let mut rest = args;
        while let Some((arg, after)) = rest.split_first() {
            rest = after;
            let Some(name) = arg.symbol() else {
                return self
                    .refuse(arg.span, format!("expected a modifier's name, found {}", arg.describe()));
            };
            let Some(info) = modifier_named(name) else {
                return self.unknown_name(NameKind::Modifier, name, arg.span);
            };
            let takes = match (info.argument, rest.first()) {
                (Takes::Nothing, _) | (Takes::Optional, None) => None,
                (Takes::Optional, Some(next))
                    if next.symbol().is_some_and(|name| modifier_named(name).is_some()) =>
                {
                    None
                }
                (_, next) => next,
            };
            let argument = match takes {
                Some(datum) => {
                    rest = rest.get(1..).unwrap_or_default();
                    Some(self.modifier_argument(info, datum)?)
                }
                None if matches!(info.argument, Takes::Text | Takes::Word) => {
                    return self.refuse(arg.span, format!("{} needs an argument", quote(name)));
                }
                None => None,
            };
            modifiers.push(Modifier { info, argument, span: arg.span });
        }
        if modifiers.is_empty() {
            return self.refuse(form.span, "`with` needs a modifier");
        }
        Ok(Value::Modifiers(modifiers.into()))
    }

    fn modifier_argument(&mut self, info: &ModifierInfo, datum: &Datum) -> Result<Argument, Refused> {
        let value = match &datum.kind {
            Kind::Symbol(name) if self.lookup(name).is_none() => Argument::Word(name.clone()),
            _ => match self.eval(datum)? {
                Value::Text(text) => Argument::Text(text),
                Value::Number(number) => Argument::Number(number),
                Value::Symbol(name) => Argument::Word(name),
                other => return self.unfit(info, datum.span, other.describe()),
            },
        };
        if let Some(words) = words::of_modifier(info.name) {
            self.known_word(words, info.name, &value, datum.span)?;
        }
        match (info.argument, &value) {
            (Takes::Text, Argument::Text(_)) | (Takes::Optional, _) => Ok(value),
            (Takes::Word, Argument::Word(_) | Argument::Number(_)) => Ok(value),
            (_, Argument::Text(_)) => self.unfit(info, datum.span, "a text"),
            (_, Argument::Word(_)) => self.unfit(info, datum.span, "a word"),
            (_, Argument::Number(_)) => self.unfit(info, datum.span, "a number"),
        }
    }

    /// Refuses a word that a public list does not have, and a number beyond it.
    fn known_word(&mut self, words: Words, of: &str, value: &Argument, span: Span) -> Result<(), Refused> {
        match value {
            Argument::Word(word) => self.listed(words, of, word, span),
            Argument::Number(number) if words::out_of_range(words, *number) => {
                self.refuse(span, format!("{number} is no value of {}", quote(of)))
            }
            _ => Ok(()),
        }
    }

    pub(super) fn listed(&mut self, words: Words, of: &str, word: &str, span: Span) -> Result<(), Refused> {
        let names = || words.iter().map(|(name, _)| *name);
        if names().any(|name| name == word) {
            return Ok(());
        }
        let finding = unknown_name::no_value(of, word, span, &names().collect::<Vec<_>>());
        self.report(finding)
    }

    fn unfit(&mut self, info: &ModifierInfo, span: Span, found: &str) -> Result<Argument, Refused> {
        let wanted = if info.argument == Takes::Text { "a text" } else { "a word or a number" };
        self.refuse(span, format!("{} takes {wanted}, not {found}", quote(info.name)))
    }

    /// `(with-filter FILTER RULE …)`: every rule inside holds only where the filter matches too.
    pub(super) fn with_filter(&mut self, form: &Datum, args: &[Datum]) -> Result<Value, Refused> {
        let Some((filter, body)) = args.split_first() else {
            return self.refuse(form.span, "`with-filter` takes a filter and rules");
        };
        let filter = self.inner_filter(filter)?;
        self.around.push(filter);
        let result = self.sequence(body);
        self.around.pop();
        result.map(|_| Value::Nothing)
    }

    fn enclosed(&mut self, outer: Filter, filters: Vec<Filter>) -> Result<Vec<Filter>, Refused> {
        if filters.is_empty() {
            return Ok(vec![outer]);
        }
        let span = outer.span;
        let inner = match <[Filter; 1]>::try_from(filters) {
            Ok([one]) => one,
            Err(several) => self.built(span, Test::Any(several.into()))?,
        };
        Ok(vec![self.built(span, Test::All([outer, inner].into()))?])
    }
}
