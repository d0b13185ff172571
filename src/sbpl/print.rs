//! Data and evaluated rules as text. What is printed reads back as the same.

use super::read::{Datum, Kind};
use super::rule::{Filter, Part, Rule, Test, Text, Unknown, Value};
use super::vocabulary::Form;
use super::{OpaqueImport, Profile};
use std::fmt::Write as _;

/// One datum on one line.
pub fn datum(datum: &Datum) -> String {
    let mut out = String::new();
    write_datum(&mut out, datum);
    out
}

fn write_datum(out: &mut String, datum: &Datum) {
    match &datum.kind {
        Kind::List(items) => {
            out.push('(');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    out.push(' ');
                }
                write_datum(out, item);
            }
            out.push(')');
        }
        Kind::Symbol(name) => out.push_str(name),
        Kind::Cooked(bytes) => out.push_str(&quoted(bytes)),
        Kind::Raw(bytes) | Kind::Torn(bytes) => {
            let _ = write!(out, "#\"{}\"", String::from_utf8_lossy(bytes));
        }
        Kind::Number(number) => {
            let _ = write!(out, "{number}");
        }
        Kind::Boolean(value) => out.push_str(if *value { "#t" } else { "#f" }),
        Kind::Broken => {}
        Kind::Quote(inner) => {
            out.push('\'');
            write_datum(out, inner);
        }
    }
}

/// A text in plain quotes. Everything that is not printable, and every byte that is no part of UTF-8, is escaped.
pub fn quoted(bytes: &[u8]) -> String {
    let mut out = String::from("\"");
    for chunk in bytes.utf8_chunks() {
        for character in chunk.valid().chars() {
            match character {
                '"' => out.push_str("\\\""),
                '\\' => out.push_str("\\\\"),
                '\n' => out.push_str("\\n"),
                '\t' => out.push_str("\\t"),
                '\r' => out.push_str("\\r"),
                other if other.is_control() => {
                    let mut buffer = [0; 4];
                    for byte in other.encode_utf8(&mut buffer).bytes() {
                        let _ = write!(out, "\\x{byte:02x}");
                    }
                }
                other => out.push(other),
            }
        }
        for byte in chunk.invalid() {
            let _ = write!(out, "\\x{byte:02x}");
        }
    }
    out.push('"');
    out
}

/// A whole profile: its version, and every rule and unread import in order, one a line.
pub fn profile(profile: &Profile) -> String {
    let mut out = String::from("(version 1)\n");
    let mut imports = profile.opaque.iter().peekable();
    for (at, rule) in profile.rules.iter().enumerate() {
        while let Some(import) = imports.next_if(|import| import.before <= at) {
            write_import(&mut out, import);
        }
        out.push_str(&self::rule(rule));
        out.push('\n');
    }
    imports.for_each(|import| write_import(&mut out, import));
    out
}

/// An import, or the call of what one may define: any rule may come of either.
fn write_import(out: &mut String, import: &OpaqueImport) {
    let _ = match &import.call {
        Some(name) => writeln!(out, "({name})"),
        None => writeln!(out, "(import {})", quoted(import.name.as_bytes())),
    };
}

/// One rule on one line.
pub fn rule(rule: &Rule) -> String {
    let mut out = format!("({}", rule.effect.name());
    for operation in rule.operations.iter() {
        let _ = write!(out, " {}", operation.name());
    }
    for filter in rule.filters.iter() {
        out.push(' ');
        write_filter(&mut out, filter);
    }
    for modifier in rule.modifiers.iter() {
        let _ = write!(out, " (with {}", modifier.info.name);
        match &modifier.argument {
            Some(Value::Text(value)) => {
                let _ = write!(out, " {}", text(value));
            }
            Some(Value::Word(word)) => {
                let _ = write!(out, " {word}");
            }
            Some(Value::Number(number)) => {
                let _ = write!(out, " {number}");
            }
            None => {}
        }
        out.push(')');
    }
    out.push(')');
    match &rule.condition {
        Some(Unknown::Parameter(name)) => format!("(if (param {}) {out})", quoted(name.as_bytes())),
        Some(Unknown::Defined(name) | Unknown::Call(name)) => format!("(if (defined? '{name}) {out})"),
        None => out,
    }
}

/// One filter on one line.
pub fn filter(filter: &Filter) -> String {
    let mut out = String::new();
    write_filter(&mut out, filter);
    out
}

fn write_filter(out: &mut String, filter: &Filter) {
    let mut several = |name: &str, filters: &[Filter]| {
        let _ = write!(out, "({name}");
        for filter in filters {
            out.push(' ');
            write_filter(out, filter);
        }
        out.push(')');
    };
    match &filter.test {
        Test::All(filters) => several("require-all", filters),
        Test::Any(filters) => several("require-any", filters),
        Test::Not(inner) => several("require-not", std::slice::from_ref(inner)),
        Test::Text { attribute, form, value } => {
            let _ = write!(out, "({} {})", attribute.filter_name(*form), text(value));
        }
        Test::Regex { attribute, pattern } => {
            let _ = write!(out, "({} {})", attribute.filter_name(Form::Regex), text(&pattern.text));
        }
        Test::Opaque { name } => {
            // As a call it would be one more.
            out.push_str(name);
        }
        Test::Word { attribute, value } => {
            let _ = write!(out, "({} {value})", attribute.name);
        }
        Test::Number { attribute, value } => {
            let _ = write!(out, "({} {value})", attribute.name);
        }
        Test::Network { attribute, protocol, address } => {
            let _ = write!(out, "({} {protocol}", attribute.name);
            if let Some(address) = address {
                let _ = write!(out, " {}", text(address));
            }
            out.push(')');
        }
    }
}

fn text(value: &Text) -> String {
    let part = |part: &Part| match part {
        Part::Bytes(bytes) => quoted(bytes),
        Part::Torn(bytes) => format!("#\"{}\"", String::from_utf8_lossy(bytes)),
        Part::Unknown { what, quoted } => {
            let said = match what {
                Unknown::Parameter(name) => format!("(param {})", self::quoted(name.as_bytes())),
                Unknown::Defined(name) | Unknown::Call(name) => name.to_string(),
            };
            if *quoted { format!("(regex-quote {said})") } else { said }
        }
    };
    match value.parts() {
        [one] => part(one),
        several => format!("(string-append {})", several.iter().map(part).collect::<Vec<_>>().join(" ")),
    }
}
