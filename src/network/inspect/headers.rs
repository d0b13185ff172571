//! In: the fields of a message. Out: those that concern more than one connection (RFC 9110, 7.6.1), and what else is asked of a request.

use hyper::http::HeaderMap;
use hyper::http::header::{self, HeaderName, HeaderValue};
use hyper::http::request::Parts;
use hyper::{Method, Version};
use std::collections::HashSet;

/// What concerns one connection, beside what `Connection` names; and what is written anew.
const OWN: [&str; 8] =
    ["connection", "expect", "http2-settings", "keep-alive", "te", "transfer-encoding", "upgrade", "host"];

/// Fields by which servers take a request for one of another method.
pub(super) const OVERRIDES: [&str; 3] = ["x-http-method-override", "x-http-method", "x-method-override"];

/// The fields of a message that go on.
pub(super) fn lasting(fields: &HeaderMap) -> impl Iterator<Item = (&HeaderName, &HeaderValue)> {
    let named = options(fields);
    fields.iter().filter(move |(name, _)| {
        let name = name.as_str();
        !OWN.contains(&name) && !name.starts_with("proxy-") && !named.contains(name)
    })
}

/// The words of a field that is a list, in lower case.
pub(super) fn words<'f>(fields: &'f HeaderMap, name: &str) -> impl Iterator<Item = String> + use<'f> {
    let values = fields.get_all(name).iter();
    values
        .flat_map(|value| value.as_bytes().split(|byte| *byte == b','))
        .map(|word| String::from_utf8_lossy(word.trim_ascii()).to_ascii_lowercase())
        .filter(|word| !word.is_empty())
}

fn options(fields: &HeaderMap) -> HashSet<String> {
    words(fields, "connection").collect()
}

/// The protocol that is asked for instead of HTTP/1. None in which requests to other hosts could follow: a server that is not asked answers as
/// if it did not know it.
pub(super) fn upgrade(head: &Parts) -> Option<HeaderValue> {
    let mut asked = head.headers.get_all(header::UPGRADE).iter();
    let protocol = asked.next()?;
    let text = protocol.to_str().ok()?;
    let name = text.split('/').next().unwrap_or_default();
    let one = asked.next().is_none() && !name.is_empty() && !text.contains([',', ' ', '\t']);
    let another = ["h2c", "h2", "http", "tls"].iter().all(|known| !name.eq_ignore_ascii_case(known));
    let meant = head.version == Version::HTTP_11 && options(&head.headers).contains("upgrade");
    let bodiless = !head.headers.contains_key(header::TRANSFER_ENCODING)
        && head.headers.get(header::CONTENT_LENGTH).is_none_or(|length| length == "0");
    (one && another && meant && bodiless && head.method != Method::CONNECT).then(|| protocol.clone())
}

/// Whether a body is coded in a way that cannot be read on the way.
pub(super) fn is_coded(fields: &HeaderMap) -> bool {
    words(fields, "content-encoding").any(|coding| coding != "identity")
}

/// Whether the message itself is coded otherwise than in chunks.
pub(super) fn is_message_coded(fields: &HeaderMap) -> bool {
    words(fields, "transfer-encoding").any(|coding| coding != "chunked")
}
