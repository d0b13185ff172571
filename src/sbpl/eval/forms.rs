//! Forms that steer: definitions, conditions, blocks and calls.

use super::value::Function;
use super::{Evaluator, NameKind, Refused, Truth, Value, is_taken, quote};
use crate::finding::{Finding, Severity};
use crate::sbpl::read::{Datum, Kind};
use crate::sbpl::rule::Unknown;
use crate::sbpl::vocabulary::filter_named;
use std::sync::Arc;

/// Every form that is understood, beside filters.
pub(super) const FORMS: [&str; 32] = [
    "allow",
    "and",
    "begin",
    "cond",
    "debug",
    "define",
    "defined?",
    "deny",
    "eq?",
    "equal?",
    "getenv",
    "if",
    "import",
    "lambda",
    "let",
    "let*",
    "not",
    "or",
    "param",
    "path-ancestors",
    "quote",
    "regex-quote",
    "require-all",
    "require-any",
    "require-not",
    "string-append",
    "string=?",
    "unless",
    "version",
    "when",
    "with",
    "with-filter",
];

/// Words of Scheme and of Apple's own libraries that profiles use and that are not evaluated here.
const UNSUPPORTED: [&str; 74] = [
    "*",
    "+",
    "-",
    "/",
    "<",
    "<=",
    "=",
    ">",
    ">=",
    "append",
    "apply",
    "assoc",
    "assq",
    "assv",
    "boolean?",
    "caar",
    "cadr",
    "call-with-current-continuation",
    "car",
    "case",
    "cddr",
    "cdr",
    "cons",
    "define-macro",
    "display",
    "do",
    "eqv?",
    "error",
    "eval",
    "for-each",
    "integer?",
    "length",
    "let-syntax",
    "letrec",
    "list",
    "list-ref",
    "list-tail",
    "list?",
    "load",
    "macro",
    "map",
    "member",
    "memq",
    "memv",
    "modulo",
    "named-lambda",
    "newline",
    "null?",
    "number->string",
    "number?",
    "pair?",
    "print",
    "procedure?",
    "quasiquote",
    "quotient",
    "remainder",
    "reverse",
    "set!",
    "string->number",
    "string->symbol",
    "string-length",
    "string-ref",
    "string<?",
    "string?",
    "substring",
    "symbol->string",
    "symbol?",
    "trace",
    "vector",
    "vector-ref",
    "with-modifier",
    "with-modifiers",
    "write",
    "zero?",
];

impl Evaluator<'_> {
    pub(super) fn form(&mut self, form: &Datum, items: &[Datum]) -> Result<Value, Refused> {
        let Some((head, args)) = items.split_first() else {
            return self.refuse(form.span, "an empty list does nothing");
        };
        if args.iter().any(Datum::is_broken) && !matches!(head.symbol(), Some("allow" | "deny" | "begin")) {
            return Err(Refused);
        }
        let Some(name) = head.symbol() else {
            return match self.eval(head)? {
                Value::Function(function) => self.call(form, &function, args),
                other => self.refuse(head.span, format!("{} cannot be called", other.describe())),
            };
        };
        if let Some(value) = self.lookup(name) {
            return match value {
                Value::Function(function) => self.call(form, &function, args),
                other => self.refuse(
                    head.span,
                    format!("{} is {}, and cannot be called", quote(name), other.describe()),
                ),
            };
        }
        match name {
            "version" => self.version(form, args),
            "allow" | "deny" => self.rule(form, name, args),
            "with" => self.modifiers(form, args),
            "with-filter" => self.with_filter(form, args),
            "import" => self.import(form, args),
            "define" => self.define(form, args),
            "lambda" => self.lambda(form, args),
            "begin" => self.sequence(args),
            "quote" => match args {
                [one] => self.quoted(one),
                _ => self.refuse(form.span, "`quote` takes one form"),
            },
            "let" | "let*" => self.bindings(form, args, name == "let*"),
            "if" => match args {
                [test, then] => self.branch(test, std::slice::from_ref(then), &[]),
                [test, then, otherwise] => {
                    self.branch(test, std::slice::from_ref(then), std::slice::from_ref(otherwise))
                }
                _ => self.refuse(form.span, "`if` takes a condition and one or two forms"),
            },
            "when" | "unless" => match args {
                [test, body @ ..] if name == "when" => self.branch(test, body, &[]),
                [test, body @ ..] => self.branch(test, &[], body),
                [] => self.refuse(form.span, format!("`{name}` takes a condition")),
            },
            "cond" => self.cond(form, args),
            // A do-nothing macro in Apple's library since 10.12.
            "debug" => Ok(Value::Nothing),
            _ if filter_named(name).is_some() || name.starts_with("require-") || name == "path-ancestors" => {
                self.filter(form, head, name, args)
            }
            _ if FORMS.contains(&name) => self.function(form, name, args),
            _ if UNSUPPORTED.contains(&name) => self.unsupported(head, name),
            _ => match self.may_be_imported(name) {
                Some(import) => Ok(self.opaque_call(import, name, form.span)),
                None => self.unknown_name(NameKind::Form, name, head.span),
            },
        }
    }

    fn unsupported(&mut self, head: &Datum, name: &str) -> Result<Value, Refused> {
        self.report(
            Finding::new("sb-evaluation", Severity::Error, format!("`{name}` is not evaluated here"))
                .at(head.span, "not understood")
                .help("write the rules out: what this form makes of them cannot be checked"),
        )
    }

    fn version(&mut self, form: &Datum, args: &[Datum]) -> Result<Value, Refused> {
        let stated = match args {
            [Datum { kind: Kind::Number(number), .. }] => *number,
            _ => return self.refuse(form.span, "`version` takes a number"),
        };
        let before = self.version.replace(stated);
        match (stated, before) {
            (1, None | Some(1)) => Ok(Value::Nothing),
            (1, Some(_)) => self.refuse(form.span, "another version was stated before"),
            _ => self.refuse(form.span, format!("version {stated} is not understood, only version 1")),
        }
    }

    fn define(&mut self, form: &Datum, args: &[Datum]) -> Result<Value, Refused> {
        if let Some(what) = self.condition.clone() {
            return self.refuse(form.span, format!("what is defined here hangs on {what}"));
        }
        let (name, value) = match args {
            [name @ Datum { kind: Kind::Symbol(symbol), .. }, value] => {
                self.definable(name)?;
                (symbol.clone(), self.eval(value)?)
            }
            [Datum { kind: Kind::List(signature), .. }, body @ ..] if !body.is_empty() => {
                let Some((name, params)) = signature.split_first() else {
                    return self.refuse(form.span, "a function needs a name");
                };
                let Some(symbol) = self.definable(name)? else {
                    return self.refuse(name.span, "a function needs a name");
                };
                (symbol, self.closure(params, body)?)
            }
            _ => {
                return self
                    .refuse(form.span, "`define` takes a name and a value, or a signature and a body");
            }
        };
        self.bind(name, value);
        Ok(Value::Nothing)
    }

    /// A name that may be bound.
    fn definable(&mut self, datum: &Datum) -> Result<Option<Arc<str>>, Refused> {
        match &datum.kind {
            Kind::Symbol(name) if self.frame == 0 && is_taken(name) => {
                let message =
                    format!("{} is a word of the language, and cannot be defined anew", quote(name));
                self.refuse(datum.span, message)
            }
            Kind::Symbol(name) if FORMS.contains(&&**name) => {
                self.refuse(datum.span, format!("{} is a word of the language", quote(name)))
            }
            Kind::Symbol(name) => Ok(Some(name.clone())),
            _ => Ok(None),
        }
    }

    fn lambda(&mut self, form: &Datum, args: &[Datum]) -> Result<Value, Refused> {
        match args {
            [Datum { kind: Kind::List(params), .. }, body @ ..] if !body.is_empty() => {
                let params = params.clone();
                self.closure(&params, body)
            }
            _ => self.refuse(form.span, "`lambda` takes a list of names and a body"),
        }
    }

    fn closure(&mut self, params: &[Datum], body: &[Datum]) -> Result<Value, Refused> {
        let mut names = Vec::new();
        for param in params {
            match &param.kind {
                Kind::Symbol(name) if !FORMS.contains(&&**name) => names.push(name.clone()),
                Kind::Broken => return Err(Refused),
                _ => return self.refuse(param.span, "a function's parameters are names"),
            }
        }
        Ok(Value::Function(Arc::new(Function { params: names, body: body.into(), frame: self.frame })))
    }

    fn call(&mut self, form: &Datum, function: &Function, args: &[Datum]) -> Result<Value, Refused> {
        if args.len() != function.params.len() {
            let message = format!("{} are needed here, and {} are given", function.params.len(), args.len());
            return self.refuse(form.span, format!("wrong number of arguments: {message}"));
        }
        let mut names = Vec::new();
        for (param, arg) in function.params.iter().zip(args) {
            names.push((param.clone(), self.eval(arg)?));
        }
        self.scoped(function.frame, names, &function.body)
    }

    fn bindings(&mut self, form: &Datum, args: &[Datum], one_by_one: bool) -> Result<Value, Refused> {
        let [Datum { kind: Kind::List(pairs), .. }, body @ ..] = args else {
            return self.refuse(form.span, "`let` takes a list of names with their values, and a body");
        };
        let before = self.frame;
        let mut bound = Vec::new();
        for pair in pairs.iter() {
            let Some([Datum { kind: Kind::Symbol(name), .. }, value]) = pair.list() else {
                self.frame = before;
                return self.refuse(pair.span, "expected a name and a value");
            };
            if FORMS.contains(&&**name) {
                self.frame = before;
                return self.refuse(pair.span, format!("{} is a word of the language", quote(name)));
            }
            let value = match self.eval(value) {
                Ok(value) => value,
                Err(refused) => {
                    self.frame = before;
                    return Err(refused);
                }
            };
            if one_by_one {
                self.frames.push(super::Frame { names: Default::default(), parent: Some(self.frame) });
                self.frame = self.frames.len() - 1;
                self.bind(name.clone(), value);
            } else {
                bound.push((name.clone(), value));
            }
        }
        let value = self.scoped(self.frame, bound, body);
        self.frame = before;
        value
    }

    /// One of two ways; both, marked as uncertain, where the condition hangs on a parameter that nobody gave.
    fn branch(&mut self, test: &Datum, then: &[Datum], otherwise: &[Datum]) -> Result<Value, Refused> {
        let value = self.eval(test)?;
        match value.truth() {
            Truth::Known(true) => self.sequence(then),
            Truth::Known(false) => self.sequence(otherwise),
            Truth::Unknown(parameter) => {
                self.under(&parameter, then)?;
                self.under(&parameter, otherwise)?;
                Ok(Value::Unknown(parameter))
            }
        }
    }

    fn under(&mut self, parameter: &Unknown, body: &[Datum]) -> Result<(), Refused> {
        let before = self.condition.clone();
        self.condition.get_or_insert_with(|| parameter.clone());
        let result = self.sequence(body);
        self.condition = before;
        result.map(|_| ())
    }

    fn cond(&mut self, form: &Datum, clauses: &[Datum]) -> Result<Value, Refused> {
        if clauses.is_empty() {
            return self.refuse(form.span, "`cond` needs a clause");
        }
        let before = self.condition.clone();
        let value = self.clauses(clauses);
        self.condition = before;
        value
    }

    /// Every clause up to the first whose condition holds. What comes behind a condition that is not known is uncertain too.
    fn clauses(&mut self, clauses: &[Datum]) -> Result<Value, Refused> {
        let mut unknown = None;
        for clause in clauses {
            let Some([test, body @ ..]) = clause.list() else {
                return self
                    .refuse(clause.span, "a clause of `cond` is a condition and what follows from it");
            };
            if body.first().is_some_and(|datum| datum.symbol() == Some("=>")) {
                return self.refuse(clause.span, "`=>` in `cond` is not evaluated here");
            }
            let value = if test.symbol() == Some("else") { Value::Boolean(true) } else { self.eval(test)? };
            match value.truth() {
                Truth::Known(false) => {}
                Truth::Known(true) => {
                    let last = if body.is_empty() { value } else { self.sequence(body)? };
                    return Ok(unknown.map_or(last, Value::Unknown));
                }
                Truth::Unknown(parameter) => {
                    self.under(&parameter, body)?;
                    self.condition.get_or_insert_with(|| parameter.clone());
                    unknown = Some(parameter);
                }
            }
        }
        Ok(unknown.map_or(Value::Nothing, Value::Unknown))
    }

    pub(super) fn quoted(&mut self, inner: &Datum) -> Result<Value, Refused> {
        match &inner.kind {
            Kind::Symbol(name) => Ok(Value::Symbol(name.clone())),
            Kind::List(_) => self.refuse(inner.span, "quoted lists are not evaluated here"),
            _ => self.eval(inner),
        }
    }
}
