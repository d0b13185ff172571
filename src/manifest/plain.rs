//! Reads the plain part of YAML that manifests are written in, several times as fast as a reader of all of YAML.
//!
//! It gives up on everything else, and the caller reads the text again as YAML: so what it takes, it must take as YAML does, and it may
//! give up on anything. It knows block mappings and sequences, `[]` and `{}`, and scalars of printable ASCII on one line, plain or in
//! single quotes. The tests hold it against the other reader, on manifests and on damaged ones.

use serde::de::value::BorrowedStrDeserializer;
use serde::de::{self, DeserializeOwned, DeserializeSeed, Visitor};
use std::fmt;

/// Reads a text, or gives up.
pub fn read<T: DeserializeOwned>(text: &str) -> Option<T> {
    let lines = text
        .strip_suffix('\n')?
        .split('\n')
        .map(Line::new)
        .skip_while(|line| line.is_some_and(Line::is_comment));
    let mut reader = Reader { lines: lines.collect::<Option<_>>()?, at: 0 };
    let value = T::deserialize(Value::Block { reader: &mut reader, of: None }).ok()?;
    (reader.at == reader.lines.len()).then_some(value)
}

/// What is not plain, or makes no sense: the other reader says which.
#[derive(Debug)]
struct GivenUp;

impl fmt::Display for GivenUp {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("not plain")
    }
}

impl std::error::Error for GivenUp {}

impl de::Error for GivenUp {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Self
    }
}

#[derive(Debug, Clone, Copy)]
struct Line<'de> {
    indent: usize,
    text: &'de str,
}

impl<'de> Line<'de> {
    fn new(line: &'de str) -> Option<Self> {
        let text = line.trim_start_matches(' ');
        let plain = !text.is_empty() && text.bytes().all(|byte| matches!(byte, b' '..=b'~'));
        plain.then_some(Self { indent: line.len() - text.len(), text })
    }

    fn is_comment(self) -> bool {
        self.indent == 0 && self.text.starts_with('#')
    }
}

struct Reader<'de> {
    lines: Vec<Line<'de>>,
    /// The line that is read next.
    at: usize,
}

impl<'de> Reader<'de> {
    fn next(&self) -> Option<Line<'de>> {
        self.lines.get(self.at).copied()
    }
}

/// YAML takes no longer ones without a mark of their own; names in manifests are far shorter.
const LONGEST_KEY: usize = 128;

/// A line of a mapping: its key, and what stands behind the colon.
fn key(text: &str) -> Result<(&str, &str), GivenUp> {
    let (key, value) = text.split_once(':').ok_or(GivenUp)?;
    let begins = key.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
    let plain = key.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'));
    if begins && plain && key.len() <= LONGEST_KEY { Ok((key, value)) } else { Err(GivenUp) }
}

/// A value that is about to be read.
enum Value<'a, 'de> {
    /// The rest of a line.
    Inline(&'de str),
    /// The lines that follow, which belong to a key that is indented `of` spaces. `None` is the whole text.
    Block { reader: &'a mut Reader<'de>, of: Option<usize> },
    /// An entry of a sequence: the rest of its line, and lines that follow with this indentation.
    Entry { reader: &'a mut Reader<'de>, indent: usize },
}

/// A scalar, and whether it was quoted.
enum Scalar<'de> {
    Plain(&'de str),
    Quoted(&'de str),
    /// In quotes, with quotes in it.
    Doubled(String),
}

fn scalar(text: &str) -> Result<Scalar<'_>, GivenUp> {
    if let Some(quoted) = text.strip_prefix('\'') {
        let quoted = quoted.strip_suffix('\'').ok_or(GivenUp)?;
        if !quoted.contains('\'') {
            return Ok(Scalar::Quoted(quoted));
        }
        let single = quoted.replace("''", "");
        return if single.contains('\'') {
            Err(GivenUp)
        } else {
            Ok(Scalar::Doubled(quoted.replace("''", "'")))
        };
    }
    let begins = text
        .starts_with(|first: char| first.is_ascii_alphanumeric() || matches!(first, '/' | '_' | '.' | '$'));
    let ends = !text.ends_with([' ', ':']);
    if begins && ends && !text.contains(": ") && !text.contains(" #") {
        Ok(Scalar::Plain(text))
    } else {
        Err(GivenUp)
    }
}

impl<'de> Value<'_, 'de> {
    fn scalar(self) -> Result<Scalar<'de>, GivenUp> {
        match self {
            Self::Inline(text) => scalar(text),
            Self::Block { .. } => Err(GivenUp),
            Self::Entry { reader, .. } => {
                let line = reader.next().ok_or(GivenUp)?;
                reader.at += 1;
                scalar(line.text)
            }
        }
    }

    /// A number without a sign, in the one way that it is written.
    fn number(self) -> Result<u64, GivenUp> {
        let Scalar::Plain(text) = self.scalar()? else { return Err(GivenUp) };
        let canonical = text == "0" || !text.starts_with('0');
        let digits = text.bytes().all(|byte| byte.is_ascii_digit());
        if canonical && digits { text.parse().map_err(|_| GivenUp) } else { Err(GivenUp) }
    }
}

impl<'de> de::Deserializer<'de> for Value<'_, 'de> {
    type Error = GivenUp;

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, GivenUp> {
        match self.scalar()? {
            Scalar::Plain(text) | Scalar::Quoted(text) => visitor.visit_borrowed_str(text),
            Scalar::Doubled(text) => visitor.visit_string(text),
        }
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, GivenUp> {
        self.deserialize_str(visitor)
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, GivenUp> {
        match self.scalar()? {
            Scalar::Plain("true") => visitor.visit_bool(true),
            Scalar::Plain("false") => visitor.visit_bool(false),
            _ => Err(GivenUp),
        }
    }

    fn deserialize_u32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, GivenUp> {
        self.deserialize_u64(visitor)
    }

    fn deserialize_u64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, GivenUp> {
        visitor.visit_u64(self.number()?)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, GivenUp> {
        let text = match &self {
            Self::Inline(text) => text,
            Self::Block { .. } => return visitor.visit_some(self),
            Self::Entry { reader, .. } => reader.next().ok_or(GivenUp)?.text,
        };
        // What YAML takes for nothing.
        if matches!(text, "null" | "Null" | "NULL") { Err(GivenUp) } else { visitor.visit_some(self) }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, GivenUp> {
        let Scalar::Plain(text) = self.scalar()? else { return Err(GivenUp) };
        BorrowedStrDeserializer::new(text).deserialize_enum(name, variants, visitor)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, GivenUp> {
        let (reader, of) = match self {
            Self::Inline("[]") => return visitor.visit_seq(Nothing),
            Self::Block { reader, of: Some(of) } => (reader, of),
            Self::Inline(_) | Self::Block { .. } | Self::Entry { .. } => return Err(GivenUp),
        };
        let begins = reader.next().is_some_and(|line| line.indent == of && line.text.starts_with("- "));
        if begins { visitor.visit_seq(Sequence { reader, indent: of }) } else { Err(GivenUp) }
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, GivenUp> {
        let (reader, indent) = match self {
            Self::Inline("{}") => return visitor.visit_map(Nothing),
            Self::Inline(_) => return Err(GivenUp),
            Self::Block { reader, of } => (reader, of.map_or(0, |of| of + 2)),
            Self::Entry { reader, indent } => (reader, indent),
        };
        let begins = reader.next().is_some_and(|line| line.indent == indent);
        if begins { visitor.visit_map(Mapping { reader, indent, value: "" }) } else { Err(GivenUp) }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, GivenUp> {
        self.deserialize_map(visitor)
    }

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, GivenUp> {
        Err(GivenUp)
    }

    serde::forward_to_deserialize_any! {
        i8 i16 i32 i64 i128 u8 u16 u128 f32 f64 char bytes byte_buf unit unit_struct newtype_struct tuple tuple_struct identifier ignored_any
    }
}

/// `[]` or `{}`.
struct Nothing;

impl<'de> de::SeqAccess<'de> for Nothing {
    type Error = GivenUp;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, _: T) -> Result<Option<T::Value>, GivenUp> {
        Ok(None)
    }
}

impl<'de> de::MapAccess<'de> for Nothing {
    type Error = GivenUp;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, _: K) -> Result<Option<K::Value>, GivenUp> {
        Ok(None)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, _: V) -> Result<V::Value, GivenUp> {
        Err(GivenUp)
    }
}

struct Sequence<'a, 'de> {
    reader: &'a mut Reader<'de>,
    indent: usize,
}

impl<'de> de::SeqAccess<'de> for Sequence<'_, 'de> {
    type Error = GivenUp;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, GivenUp> {
        let Some(line) = self.reader.lines.get_mut(self.reader.at) else { return Ok(None) };
        let entry = line.text.strip_prefix("- ");
        let (indent, text) = match entry {
            Some(text) if line.indent == self.indent => (self.indent + 2, text),
            None if line.indent <= self.indent => return Ok(None),
            _ if line.indent < self.indent => return Ok(None),
            _ => return Err(GivenUp),
        };
        *line = Line { indent, text };
        seed.deserialize(Value::Entry { reader: &mut *self.reader, indent }).map(Some)
    }
}

struct Mapping<'a, 'de> {
    reader: &'a mut Reader<'de>,
    indent: usize,
    /// What stands behind the colon of the key that was read.
    value: &'de str,
}

impl<'de> de::MapAccess<'de> for Mapping<'_, 'de> {
    type Error = GivenUp;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, GivenUp> {
        let Some(line) = self.reader.next().filter(|line| line.indent >= self.indent) else {
            return Ok(None);
        };
        if line.indent > self.indent {
            return Err(GivenUp);
        }
        let (key, value) = key(line.text)?;
        self.value = value;
        self.reader.at += 1;
        seed.deserialize(BorrowedStrDeserializer::new(key)).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, GivenUp> {
        match self.value.strip_prefix(' ') {
            Some(value) => seed.deserialize(Value::Inline(value)),
            None if self.value.is_empty() => {
                seed.deserialize(Value::Block { reader: &mut *self.reader, of: Some(self.indent) })
            }
            None => Err(GivenUp),
        }
    }
}

#[cfg(test)]
mod tests;
