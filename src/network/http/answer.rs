//! In: a refusal. Out: the response that says so, with the line that would admit.

use super::head::TOO_LARGE;
use crate::network::connection::Times;
use crate::network::incoming::Incoming;
use crate::network::{Reason, Refused};
use crate::policy::host::Host;
use serde::Serialize;
use std::io::{self, Write};
use std::net::{Shutdown, TcpStream};
use std::time::Instant;

/// The body of a refusal.
#[derive(Serialize)]
struct Body<'r> {
    reason: &'r str,
    /// What is wrong with the request, where it is the request.
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<&'r str>,
    host: Option<String>,
    port: Option<u16>,
    line: Option<&'r str>,
}

fn status(reason: Reason) -> &'static str {
    match reason {
        TOO_LARGE => "431 Request Header Fields Too Large",
        Reason::BadHost | Reason::BadRequest(_) => "400 Bad Request",
        Reason::NotAllowed
        | Reason::Denied
        | Reason::Address(_)
        | Reason::OwnAddress
        | Reason::SniMismatch
        | Reason::NotTls
        | Reason::CannotInspect
        | Reason::RequestNotAllowed
        | Reason::SecretMisdirected => "403 Forbidden",
        Reason::HostMismatch => "421 Misdirected Request",
        Reason::Unresolved
        | Reason::Unreachable
        | Reason::Untrusted
        | Reason::TlsFailed
        | Reason::AuthorityRefused
        | Reason::Encoded
        | Reason::BadAnswer => "502 Bad Gateway",
        Reason::TooMany => "503 Service Unavailable",
        Reason::TooSlow => "408 Request Timeout",
    }
}

/// The status of a refusal.
pub(in crate::network) fn code(reason: Reason) -> u16 {
    status(reason).split(' ').next().and_then(|code| code.parse().ok()).unwrap_or(403)
}

/// The body of a refusal.
pub(in crate::network) fn text(refused: &Refused) -> String {
    let reason = refused.reason.name();
    let detail = match refused.reason {
        Reason::BadRequest(why) => Some(why),
        _ => None,
    };
    let host = refused.target.as_ref().map(|target| match &target.host {
        Host::Name(name) => name.clone(),
        Host::Address(address) => address.to_string(),
    });
    let port = refused.target.as_ref().map(|target| target.port);
    let body = Body { reason, detail, host, port, line: refused.line.as_deref() };
    // Texts and a number are always written.
    let mut body = serde_json::to_string(&body).unwrap_or_default();
    body.push('\n');
    body
}

fn response(refused: &Refused, bodiless: bool) -> Vec<u8> {
    let reason = refused.reason.name();
    let body = text(refused);
    let mut said = format!(
        "HTTP/1.1 {}\r\nX-Proxy-Error: {reason}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\
         Cache-Control: no-store\r\nConnection: close\r\n\r\n",
        status(refused.reason),
        body.len(),
    );
    // The response to HEAD ends with its head (RFC 9110, 9.3.2).
    if !bodiless {
        said.push_str(&body);
    }
    said.into_bytes()
}

/// Answers with a refusal and ends the connection, so that the answer is not lost to what the client still sends.
pub(in crate::network) fn send(client: &mut Incoming<'_>, refused: &Refused, bodiless: bool, times: &Times) {
    // A client that does not read its answer goes without.
    let stream = client.stream();
    let timed = stream.set_write_timeout(Some(times.parting));
    if timed.and_then(|()| say(stream, &response(refused, bodiless))).is_ok() {
        part(client, times);
    }
}

/// Writes to a client.
///
/// # Errors
/// It is gone.
pub(in crate::network) fn say(mut client: &TcpStream, bytes: &[u8]) -> io::Result<()> {
    client.write_all(bytes)
}

/// Ends a connection: reads what the client was about to send, since closing before would reset the connection, and with it what it has not read
/// yet (RFC 9112, 9.6).
pub(in crate::network) fn part(client: &mut Incoming<'_>, times: &Times) {
    // A client that is gone needs no parting.
    let _ = client.stream().shutdown(Shutdown::Write);
    let until = Instant::now() + times.parting;
    while !client.ended() && client.more(Some(until)).is_ok() {
        client.consume(client.held().len());
    }
}
