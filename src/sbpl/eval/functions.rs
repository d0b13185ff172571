//! Functions of the language: parameters, texts and comparisons.

use super::{Evaluator, MAX_TEXT, Refused, Truth, Value, is_taken};
use crate::sbpl::read::Datum;
use crate::sbpl::rule::{Text, Unknown};
use crate::sbpl::vocabulary::{DEAD, modifier_named};
use std::sync::Arc;

/// Functions that every Scheme of this kind has and that are not evaluated here.
const BUILT_IN: [&str; 13] = [
    "apply", "append", "assoc", "car", "cdr", "cons", "eval", "for-each", "length", "list", "load", "map",
    "null?",
];

impl Evaluator<'_> {
    pub(super) fn function(&mut self, form: &Datum, name: &str, args: &[Datum]) -> Result<Value, Refused> {
        match (name, args) {
            // `getenv` asks for parameters too, not for the environment.
            ("param" | "getenv", [arg]) => self.param(arg),
            ("string-append", _) => self.string_append(form, args),
            ("regex-quote", [arg]) => {
                let text = self.text(arg)?;
                self.sized(form, text.regex_quoted())
            }
            ("not", [arg]) => Ok(match self.eval(arg)?.truth() {
                Truth::Known(value) => Value::Boolean(!value),
                Truth::Unknown(parameter) => Value::Unknown(parameter),
            }),
            ("and" | "or", _) => self.connective(name == "and", args),
            ("equal?" | "eq?" | "string=?", [a, b]) => self.equal(a, b),
            ("defined?", [arg]) => match self.eval(arg)? {
                Value::Symbol(name) => Ok(self.defined(&name)),
                other => self.refuse(arg.span, format!("expected a quoted word, found {}", other.describe())),
            },
            _ => self.refuse(form.span, format!("wrong number of arguments for `{name}`")),
        }
    }

    /// A name that is not known here may still be one that an unread import defines, or a newer system.
    fn defined(&self, name: &Arc<str>) -> Value {
        let is_known = self.lookup(name).is_some()
            || is_taken(name)
            || modifier_named(name).is_some()
            || DEAD.contains(&&**name)
            || BUILT_IN.contains(&&**name);
        if is_known { Value::Boolean(true) } else { Value::Unknown(Unknown::Defined(name.clone())) }
    }

    fn param(&mut self, arg: &Datum) -> Result<Value, Refused> {
        let text = self.text(arg)?;
        let Some(Ok(name)) = text.bytes().map(std::str::from_utf8) else {
            return self.refuse(arg.span, "the name of this parameter is not known");
        };
        self.profile.params.insert(name.into());
        Ok(match self.params.given.get(name) {
            Some(value) => Value::Text(Text::known(value.as_bytes())),
            None if self.params.complete => Value::Boolean(false),
            None => Value::Text(Text::parameter(name)),
        })
    }

    fn string_append(&mut self, form: &Datum, args: &[Datum]) -> Result<Value, Refused> {
        let mut texts = Vec::new();
        for arg in args {
            texts.push(self.text(arg)?);
        }
        if texts.iter().map(Text::len).sum::<usize>() > MAX_TEXT {
            return self.refuse(form.span, format!("this text is longer than {MAX_TEXT} bytes"));
        }
        self.sized(form, Text::concat(texts.iter()))
    }

    fn sized(&mut self, form: &Datum, text: Text) -> Result<Value, Refused> {
        if text.len() > MAX_TEXT || text.parts().len() > MAX_TEXT / 256 {
            return self.refuse(form.span, format!("this text is longer than {MAX_TEXT} bytes"));
        }
        Ok(Value::Text(text))
    }

    /// What comes behind an argument that is not known is evaluated only perhaps, and what all give is not known either, unless it is `#f`
    /// whatever that one is.
    fn connective(&mut self, is_and: bool, args: &[Datum]) -> Result<Value, Refused> {
        let before = self.condition.clone();
        let value = self.arguments(is_and, args);
        self.condition = before;
        value
    }

    fn arguments(&mut self, is_and: bool, args: &[Datum]) -> Result<Value, Refused> {
        let mut last = Value::Boolean(is_and);
        let mut unknown: Option<Unknown> = None;
        for arg in args {
            last = self.eval(arg)?;
            match last.truth() {
                Truth::Known(false) if is_and => return Ok(last),
                Truth::Known(true) if !is_and => return Ok(unknown.map_or(last, Value::Unknown)),
                Truth::Known(_) => {}
                Truth::Unknown(what) => {
                    self.condition.get_or_insert_with(|| what.clone());
                    unknown.get_or_insert(what);
                }
            }
        }
        Ok(unknown.map_or(last, Value::Unknown))
    }

    fn equal(&mut self, a: &Datum, b: &Datum) -> Result<Value, Refused> {
        let (left, right) = (self.eval(a)?, self.eval(b)?);
        for value in [&left, &right] {
            if let Value::Unknown(parameter) = value {
                return Ok(Value::Unknown(parameter.clone()));
            }
        }
        Ok(Value::Boolean(match (&left, &right) {
            (Value::Text(x), Value::Text(y)) => {
                if let Some(parameter) = x.unknown().or(y.unknown()) {
                    return Ok(Value::Unknown(parameter.clone()));
                }
                x == y
            }
            // A parameter that nobody gave may be `#f` too.
            (Value::Text(text), Value::Boolean(false)) | (Value::Boolean(false), Value::Text(text))
                if text.bare_unknown().is_some() =>
            {
                return Ok(text.unknown().map_or(Value::Boolean(false), |what| Value::Unknown(what.clone())));
            }
            (Value::Symbol(x), Value::Symbol(y)) => x == y,
            (Value::Number(x), Value::Number(y)) => x == y,
            (Value::Boolean(x), Value::Boolean(y)) => x == y,
            (Value::Operation(x), Value::Operation(y)) => x == y,
            _ => false,
        }))
    }
}
