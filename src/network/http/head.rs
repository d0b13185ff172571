//! In: the bytes of a request up to its empty line. Out: what it says, where it can be read in one way only (RFC 9112, strictly: what a recipient
//! may forgive is not forgiven, since the next one may forgive it differently).

use crate::network::Reason;
use crate::network::incoming::{CUT_SHORT, Halt, Incoming};
use crate::policy::requests::is_token;
use std::time::Instant;

/// What a head may take, in bytes.
pub(in crate::network) const LIMIT: usize = 64 * 1024;
pub(in crate::network) const TOO_LARGE: Reason = Reason::BadRequest("a head of more than 64 KiB");

/// HTTP/1.0 or 1.1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::network) enum Version {
    Zero,
    One,
}

/// How the body of a request is told from what follows it (RFC 9112, 6).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::network) enum Body {
    None,
    Length(u64),
    Chunked,
}

impl Body {
    pub fn is_none(self) -> bool {
        matches!(self, Self::None | Self::Length(0))
    }
}

/// A request without its body.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::network) struct Head {
    pub method: String,
    pub target: Vec<u8>,
    pub version: Version,
    /// Names as they are written, values without the space around them.
    pub fields: Vec<(String, Vec<u8>)>,
    pub body: Body,
}

/// Reads a head, and uses up its bytes.
///
/// # Errors
/// What is wrong with it: at the first byte that is, not only at its end.
pub(in crate::network) fn read(client: &mut Incoming<'_>, until: Instant) -> Result<Head, Reason> {
    let mut seen = 0;
    loop {
        let held = client.held();
        if let Some(length) = end(held, seen)? {
            let head = Head::parse(held.get(..length).unwrap_or_default())?;
            client.consume(length);
            return Ok(head);
        }
        if client.ended() {
            return Err(CUT_SHORT);
        }
        seen = held.len();
        client.more(Some(until)).map_err(Halt::reason)?;
    }
}

/// The length of a head with its empty line, once that is there. The first `seen` bytes were looked at before.
fn end(bytes: &[u8], seen: usize) -> Result<Option<usize>, Reason> {
    for (place, byte) in bytes.iter().enumerate().skip(seen) {
        let before = bytes.get(..place).unwrap_or_default();
        match byte {
            _ if place >= LIMIT => return Err(TOO_LARGE),
            b'\n' if before == b"\r" => return Err(Reason::BadRequest("an empty line before the request")),
            b'\n' if before.ends_with(b"\r\n\r") => return Ok(Some(place + 1)),
            b'\n' if before.ends_with(b"\r") => {}
            b'\n' => return Err(Reason::BadRequest("a line that ends without CR")),
            _ if before.ends_with(b"\r") => return Err(Reason::BadRequest("a CR within a line")),
            b'\r' | b'\t' | b' '..=b'~' | 0x80.. if place > 0 => {}
            b'\r' if place == 0 => {}
            _ if place == 0 && is_token(*byte) => {}
            _ => return Err(Reason::BadRequest("a character that no request has")),
        }
    }
    Ok(None)
}

impl Head {
    /// Reads a head that ends with its empty line.
    fn parse(bytes: &[u8]) -> Result<Self, Reason> {
        let text = bytes.strip_suffix(b"\r\n\r\n").ok_or(CUT_SHORT)?;
        let mut lines =
            text.split(|byte| *byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
        let (method, target, version) = request_line(lines.next().unwrap_or_default())?;
        let fields = lines.map(field).collect::<Result<Vec<_>, _>>()?;
        let body = framing(&fields, version)?;
        let head = Self { method, target, version, fields, body };
        if head.all("host").count() > 1 {
            return Err(Reason::BadRequest("more than one Host"));
        }
        if head.all("expect").any(|value| !value.eq_ignore_ascii_case(b"100-continue")) {
            return Err(Reason::BadRequest("an expectation other than 100-continue"));
        }
        Ok(head)
    }

    /// The values of a field, however its name is written.
    pub fn all<'h>(&'h self, name: &str) -> impl Iterator<Item = &'h [u8]> {
        all(&self.fields, name)
    }

    pub fn host(&self) -> Option<&[u8]> {
        self.all("host").next()
    }
}

fn all<'f>(fields: &'f [(String, Vec<u8>)], name: &str) -> impl Iterator<Item = &'f [u8]> {
    fields.iter().filter(move |(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_slice())
}

fn request_line(line: &[u8]) -> Result<(String, Vec<u8>, Version), Reason> {
    let mut words = line.split(|byte| *byte == b' ');
    let (Some(method), Some(target), Some(version), None) =
        (words.next(), words.next(), words.next(), words.next())
    else {
        return Err(Reason::BadRequest("a first line that is not a method, a target and a version"));
    };
    if method.is_empty() || !method.iter().copied().all(is_token) {
        return Err(Reason::BadRequest("a method with other characters than a method has"));
    }
    if target.is_empty() || !target.iter().all(|byte| matches!(byte, b'!'..=b'~' | 0x80..) && *byte != b'#') {
        return Err(Reason::BadRequest("a target with other characters than a target has"));
    }
    let version = match version {
        b"HTTP/1.1" => Version::One,
        b"HTTP/1.0" => Version::Zero,
        _ => return Err(Reason::BadRequest("neither HTTP/1.1 nor HTTP/1.0")),
    };
    Ok((String::from_utf8_lossy(method).into_owned(), target.to_vec(), version))
}

/// A line of the head or of the trailer: the name and the value.
pub(super) fn field(line: &[u8]) -> Result<(String, Vec<u8>), Reason> {
    if line.first().is_some_and(|byte| matches!(byte, b' ' | b'\t')) {
        return Err(Reason::BadRequest("a line that goes on with the one before"));
    }
    let Some(colon) = line.iter().position(|byte| *byte == b':') else {
        return Err(Reason::BadRequest("a line without a colon"));
    };
    let (name, value) = line.split_at(colon);
    if name.is_empty() || !name.iter().copied().all(is_token) {
        return Err(Reason::BadRequest("a field with other characters than a name has"));
    }
    let value = value.get(1..).unwrap_or_default();
    if !value.iter().all(|byte| matches!(byte, b'\t' | b' '..=b'~' | 0x80..)) {
        return Err(Reason::BadRequest("a field with other characters than a value has"));
    }
    Ok((String::from_utf8_lossy(name).into_owned(), trim(value).to_vec()))
}

/// Without spaces and tabs around it, and nothing else (RFC 9110, 5.6.3).
pub(super) fn trim(mut value: &[u8]) -> &[u8] {
    while let [b' ' | b'\t', rest @ ..] | [rest @ .., b' ' | b'\t'] = value {
        value = rest;
    }
    value
}

/// How long the body is. A length that is told twice, or in two ways, is how one request is made of two.
fn framing(fields: &[(String, Vec<u8>)], version: Version) -> Result<Body, Reason> {
    let mut codings = all(fields, "transfer-encoding");
    let mut lengths = all(fields, "content-length");
    match (codings.next(), lengths.next()) {
        (None, None) => Ok(Body::None),
        (Some(_), Some(_)) => Err(Reason::BadRequest("both a length and a transfer coding")),
        (Some(_), None) if version == Version::Zero => {
            Err(Reason::BadRequest("a transfer coding in HTTP/1.0"))
        }
        (Some(coding), None) if coding.eq_ignore_ascii_case(b"chunked") && codings.next().is_none() => {
            Ok(Body::Chunked)
        }
        (Some(_), None) => Err(Reason::BadRequest("a transfer coding other than chunked")),
        (None, Some(first)) => {
            let digits = |text: &[u8]| {
                let plain = (1..=19).contains(&text.len()) && text.iter().all(u8::is_ascii_digit);
                std::str::from_utf8(text).ok().filter(|_| plain).and_then(|text| text.parse::<u64>().ok())
            };
            let length = digits(first).ok_or(Reason::BadRequest("a length that is no number"))?;
            if lengths.any(|other| digits(other) != Some(length)) {
                return Err(Reason::BadRequest("two lengths"));
            }
            Ok(Body::Length(length))
        }
    }
}
