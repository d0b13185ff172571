//! In: what an HTTP client says to its proxy. Out: a tunnel, or one request made anew from what was understood of it, and its response.

pub(super) mod answer;
pub(super) mod body;
pub(super) mod exchange;
pub(super) mod head;
mod rebuild;
mod response;

use super::connection::Conversation;
use super::incoming::Incoming;
use super::{Reason, Refused, Via, tunnel};
use crate::policy::host::Target;
use head::Head;
use std::time::Instant;

/// What a proxy is asked for.
#[derive(Debug, PartialEq, Eq)]
enum Asked {
    /// A tunnel (RFC 9110, 9.3.6).
    Tunnel(Target),
    /// What is at a path of a host (RFC 9112, 3.2.2).
    Page(Target, Vec<u8>),
}

/// Serves a client that speaks HTTP to its proxy.
pub(super) fn serve(client: &mut Incoming<'_>, until: Instant, talk: &Conversation<'_>) {
    let connect = client.held().starts_with(b"CONNECT ");
    let head = match head::read(client, until) {
        Ok(head) => head,
        Err(reason) => {
            let via = if connect { Via::Connect } else { Via::Http };
            return refuse(client, talk, via, false, reason);
        }
    };
    let via = if head.method == "CONNECT" { Via::Connect } else { Via::Http };
    let bodiless = head.method == "HEAD";
    let asked = match asked(&head) {
        // A program may have looked the name up inside before.
        Ok(Asked::Tunnel(target)) => Asked::Tunnel(talk.gate.meant(target)),
        Ok(asked) => asked,
        Err(reason) => return refuse(client, talk, via, bodiless, reason),
    };
    let (Asked::Tunnel(target) | Asked::Page(target, _)) = &asked;
    let opened = match talk.gate.open(via, target) {
        Ok(opened) => opened,
        Err(refused) => return answer::send(client, &refused, bodiless, talk.times),
    };
    talk.carry(client, via, target, &opened, |client, passed| match &asked {
        Asked::Tunnel(target) => {
            let said = b"HTTP/1.1 200 Connection established\r\n\r\n";
            if answer::say(client.stream(), said).is_ok() {
                tunnel::carry(client, (via, target), &opened.stream, talk, passed);
            }
        }
        Asked::Page(target, path) => {
            if talk.gate.reading(target).is_some() {
                // Nothing is to be read in plain text that is read for what it must not say.
                return tunnel::refuse(client, target, Reason::NotTls, talk, passed);
            }
            exchange::carry(client, &head, (via, target, path), &opened.stream, talk, passed);
        }
    });
}

fn refuse(client: &mut Incoming<'_>, talk: &Conversation<'_>, via: Via, bodiless: bool, reason: Reason) {
    let refused = Refused::unread(reason);
    talk.gate.refused(via, &refused);
    answer::send(client, &refused, bodiless, talk.times);
}

fn asked(head: &Head) -> Result<Asked, Reason> {
    if head.method == "CONNECT" {
        if !head.body.is_none() {
            return Err(Reason::BadRequest("a body with CONNECT"));
        }
        return Ok(Asked::Tunnel(authority(&head.target, None)?));
    }
    match absolute(&head.target) {
        Some((authority_text, path)) => {
            Ok(Asked::Page(authority(authority_text, Some(80))?, path_of(&head.method, path)))
        }
        None if head.target.starts_with(b"/") => Err(Reason::BadRequest("a path without a host")),
        None => Err(Reason::BadRequest("not an http:// URL; https:// goes through CONNECT")),
    }
}

/// Host and rest of an `http://` URL.
fn absolute(target: &[u8]) -> Option<(&[u8], &[u8])> {
    let (scheme, rest) = target.split_at_checked(b"http://".len())?;
    let end = rest.iter().position(|byte| matches!(byte, b'/' | b'?')).unwrap_or(rest.len());
    scheme.eq_ignore_ascii_case(b"http://").then(|| rest.split_at(end))
}

/// What goes on the request line to the server (RFC 9112, 3.2.1 and 3.2.4).
fn path_of(method: &str, path: &[u8]) -> Vec<u8> {
    match path.first() {
        None if method == "OPTIONS" => b"*".to_vec(),
        Some(b'/') => path.to_vec(),
        _ => [b"/", path].concat(),
    }
}

fn authority(text: &[u8], default: Option<u16>) -> Result<Target, Reason> {
    let text = std::str::from_utf8(text).map_err(|_| Reason::BadHost)?;
    Target::parse(text, default).map_err(|_| Reason::BadHost)
}

/// The path of a request that came on a connection to `admitted`, where it is meant for that host and no other.
///
/// # Errors
/// It names another host, by its URL or its `Host`, or is none that a server is sent.
pub(super) fn meant_for(head: &Head, admitted: &Target) -> Result<Vec<u8>, Reason> {
    let same = |text: &[u8]| {
        let named = std::str::from_utf8(text).ok().and_then(|t| Target::parse(t, Some(admitted.port)).ok());
        if named.as_ref() == Some(admitted) { Ok(()) } else { Err(Reason::HostMismatch) }
    };
    match head.host() {
        Some(host) => same(host)?,
        None if head.version == head::Version::One => {
            return Err(Reason::BadRequest("no Host in a request of HTTP/1.1"));
        }
        None => {}
    }
    match absolute(&head.target) {
        // A server follows the URL, not the `Host` beside it.
        Some((authority, path)) => same(authority).map(|()| path_of(&head.method, path)),
        None if head.method == "CONNECT" => Err(Reason::HostMismatch),
        None if head.target.starts_with(b"/") => Ok(head.target.clone()),
        None if head.target == b"*" && head.method == "OPTIONS" => Ok(head.target.clone()),
        None => Err(Reason::BadRequest("neither a path nor an http:// URL")),
    }
}
