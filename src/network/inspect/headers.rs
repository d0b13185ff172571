//! In: the fields of a message. Out: those that concern more than one connection (RFC 9110, 7.6.1), and what else is asked of a request.

use hyper::http::HeaderMap;
use hyper::http::header::{self, HeaderName, HeaderValue};
use hyper::http::request::Parts;
use hyper::{Method, Version};
use std::collections::HashSet;

/// What concerns one connection, beside what `Connection` names; and what is written anew.
const OWN: [&str; 8] =
    ["connection", "expect", "http2-settings", "keep-alive", "te", "transfer-encoding", "upgrade", "host"];

/// Fields by which servers take a request for one of another method, as they stand in [`plain`] names.
const METHODS: [&str; 14] = [
    "-method",
    "http-method-override",
    "method-override",
    "x-forwarded-method",
    "x-http-method",
    "x-http-method-override",
    "x-http-verb",
    "x-httpmethodoverride",
    "x-method",
    "x-method-override",
    "x-original-method",
    "x-real-method",
    "x-request-method",
    "x-rewrite-method",
];

/// The same for one of another path.
const PATHS: [&str; 9] = [
    "request-uri",
    "x-envoy-original-path",
    "x-forwarded-path",
    "x-forwarded-uri",
    "x-original-uri",
    "x-original-url",
    "x-override-url",
    "x-replaced-path",
    "x-rewrite-url",
];

/// The name of a field as servers know it that hand it on as a variable (RFC 3875, 4.1.18): there `_`, `.` and `-` are one.
fn plain(name: &HeaderName) -> String {
    name.as_str().replace(['_', '.'], "-")
}

/// The methods that a request might be taken for besides its own.
pub(super) fn other_methods(fields: &HeaderMap) -> impl Iterator<Item = String> {
    let names = fields.keys().filter(|name| METHODS.contains(&plain(name).as_str()));
    names.flat_map(|name| words(fields, name.as_str())).map(|method| method.to_ascii_uppercase())
}

/// Whether a request might be taken for one of another path.
pub(super) fn names_other_path(fields: &HeaderMap) -> bool {
    fields.keys().any(|name| PATHS.contains(&plain(name).as_str()))
}

/// Whether a field behind a body might be taken for one before it that says what is asked.
pub(super) fn says_what_is_asked(name: &HeaderName) -> bool {
    METHODS.iter().chain(&PATHS).any(|known| *known == plain(name))
}

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

/// What is asked for in the place of HTTP/1: WebSocket (RFC 6455, 4.1), and nothing else, since in another protocol whatever follows could be another
/// request. A server that is not asked answers as if it did not know it.
pub(super) fn upgrade(head: &Parts) -> Option<HeaderValue> {
    let meant = head.version == Version::HTTP_11 && options(&head.headers).contains("upgrade");
    let bodiless = !head.headers.contains_key(header::TRANSFER_ENCODING)
        && head.headers.get(header::CONTENT_LENGTH).is_none_or(|length| length == "0");
    (meant && bodiless && head.method == Method::GET && is_websocket(&head.headers))
        .then(|| HeaderValue::from_static(WEBSOCKET))
}

const WEBSOCKET: &str = "websocket";

/// Whether `Upgrade` names the one protocol that is gone over to.
pub(super) fn is_websocket(fields: &HeaderMap) -> bool {
    let mut asked = fields.get_all(header::UPGRADE).iter();
    let one =
        asked.next().is_some_and(|protocol| protocol.as_bytes().eq_ignore_ascii_case(WEBSOCKET.as_bytes()));
    one && asked.next().is_none()
}

/// Whether a body is coded in a way that cannot be read on the way.
pub(super) fn is_coded(fields: &HeaderMap) -> bool {
    words(fields, "content-encoding").any(|coding| coding != "identity")
}

/// Whether the message itself is coded otherwise than in chunks.
pub(super) fn is_message_coded(fields: &HeaderMap) -> bool {
    words(fields, "transfer-encoding").any(|coding| coding != "chunked")
}
