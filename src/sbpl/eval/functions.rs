//! Functions of the language: parameters, texts and comparisons.

use super::{Evaluator, MAX_TEXT, Refused, Truth, Value, is_taken};
use crate::sbpl::read::Datum;
use crate::sbpl::rule::Text;
use crate::sbpl::vocabulary::modifier_named;

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
                Value::Symbol(name) => {
                    let defined =
                        self.lookup(&name).is_some() || is_taken(&name) || modifier_named(&name).is_some();
                    Ok(Value::Boolean(defined))
                }
                other => self.refuse(arg.span, format!("expected a quoted word, found {}", other.describe())),
            },
            _ => self.refuse(form.span, format!("wrong number of arguments for `{name}`")),
        }
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

    fn connective(&mut self, is_and: bool, args: &[Datum]) -> Result<Value, Refused> {
        let mut last = Value::Boolean(is_and);
        let mut unknown = None;
        for arg in args {
            last = self.eval(arg)?;
            match last.truth() {
                Truth::Known(value) if value != is_and => return Ok(last),
                Truth::Known(_) => {}
                Truth::Unknown(parameter) => unknown = Some(parameter),
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
                if text.is_bare_parameter() =>
            {
                return Ok(text.unknown().map_or(Value::Boolean(false), |name| Value::Unknown(name.clone())));
            }
            (Value::Symbol(x), Value::Symbol(y)) => x == y,
            (Value::Number(x), Value::Number(y)) => x == y,
            (Value::Boolean(x), Value::Boolean(y)) => x == y,
            (Value::Operation(x), Value::Operation(y)) => x == y,
            _ => false,
        }))
    }
}
