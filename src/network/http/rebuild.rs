//! In: a request that was understood, and the host that was admitted. Out: the request that the server is sent, made from these alone.

use super::head::{Body, Head, Version, trim};
use crate::policy::host::Target;
use std::collections::HashSet;

/// What concerns one connection and not the next (RFC 9110, 7.6.1), and what is written anew.
const OURS: [&str; 9] = [
    "connection",
    "content-length",
    "expect",
    "host",
    "http2-settings",
    "keep-alive",
    "te",
    "transfer-encoding",
    "upgrade",
];

/// A request as the server is sent it.
pub(super) struct Rebuilt {
    pub bytes: Vec<u8>,
    /// Whether it asks for another protocol on the same connection.
    pub upgrade: bool,
}

pub(super) fn rebuild(head: &Head, target: &Target, path: &[u8]) -> Rebuilt {
    let upgrade = upgrade(head);
    let version = match head.version {
        Version::Zero => "HTTP/1.0",
        Version::One => "HTTP/1.1",
    };
    let host = if target.port == 80 { target.host.to_string() } else { target.to_string() };
    let mut bytes = head.method.clone().into_bytes();
    let mut add = |pieces: &[&[u8]]| pieces.iter().for_each(|piece| bytes.extend_from_slice(piece));
    add(&[b" ", path, b" ", version.as_bytes(), b"\r\nHost: ", host.as_bytes(), b"\r\n"]);

    let named = connection_options(head);
    for (name, value) in &head.fields {
        let lower = name.to_ascii_lowercase();
        if !OURS.contains(&lower.as_str()) && !lower.starts_with("proxy-") && !named.contains(&lower) {
            add(&[name.as_bytes(), b": ", value, b"\r\n"]);
        }
    }
    match head.body {
        Body::None => {}
        Body::Length(length) => add(&[b"Content-Length: ", length.to_string().as_bytes(), b"\r\n"]),
        Body::Chunked => add(&[b"Transfer-Encoding: chunked\r\n"]),
    }
    // A client of HTTP/1.0 expects nothing (RFC 9110, 10.1.1).
    if head.version == Version::One && head.all("expect").next().is_some() {
        add(&[b"Expect: 100-continue\r\n"]);
    }
    match upgrade {
        Some(protocol) => add(&[b"Connection: Upgrade\r\nUpgrade: ", protocol, b"\r\n\r\n"]),
        None => add(&[b"Connection: close\r\n\r\n"]),
    }
    Rebuilt { bytes, upgrade: upgrade.is_some() }
}

/// The names in `Connection`, in lower case.
fn connection_options(head: &Head) -> HashSet<String> {
    head.all("connection")
        .flat_map(|value| value.split(|byte| *byte == b','))
        .map(|option| String::from_utf8_lossy(trim(option)).to_ascii_lowercase())
        .collect()
}

/// The protocol that is asked for instead of HTTP/1. None in which requests to other hosts, or another name, could follow: a server that is
/// not asked answers as if it did not know it.
fn upgrade(head: &Head) -> Option<&[u8]> {
    let mut asked = head.all("upgrade");
    let protocol = asked.next()?;
    let name = protocol.split(|byte| *byte == b'/').next().unwrap_or_default();
    let one =
        asked.next().is_none() && !name.is_empty() && !protocol.iter().any(|byte| b", \t".contains(byte));
    let another =
        ["h2c", "h2", "http", "tls"].iter().all(|known| !name.eq_ignore_ascii_case(known.as_bytes()));
    let meant = connection_options(head).contains("upgrade");
    (head.version == Version::One && head.body.is_none() && one && another && meant).then_some(protocol)
}
