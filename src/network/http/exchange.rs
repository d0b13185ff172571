//! In: a request, and a connection to the host that was admitted. Out: the request there, its response back, and nothing after it: a second request
//! might name another host.

use super::answer::{part, say};
use super::body::{self, Sent};
use super::head::{Body, Head, LIMIT};
use super::rebuild::rebuild;
use crate::network::Reason;
use crate::network::connection::{Passed, Times};
use crate::network::incoming::{Halt, Incoming, wait};
use crate::network::relay::{both, one_way, reset, while_down, write_all};
use crate::policy::host::Target;
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};

/// Passes on one request, and its response as it comes.
pub(in crate::network) fn carry(
    client: &mut Incoming<'_>,
    head: &Head,
    (target, path): (&Target, &[u8]),
    server: &TcpStream,
    times: &Times,
    passed: &mut Passed,
) {
    let rebuilt = rebuild(head, target, path);
    if write_all(server, &rebuilt.bytes, &mut passed.up).is_err() {
        return;
    }
    if !rebuilt.upgrade {
        return request(client, head.body, server, times, passed);
    }
    match switched(client, server, passed) {
        Some(true) => match both(client, server) {
            Ok((up, down)) => {
                passed.up += up;
                passed.down += down;
            }
            Err(_) => passed.why = Some(Reason::TooMany),
        },
        Some(false) => request(client, Body::None, server, times, passed),
        None => {}
    }
}

/// Passes on the body upwards while the response comes down.
fn request(client: &mut Incoming<'_>, body: Body, server: &TcpStream, times: &Times, passed: &mut Passed) {
    let stream = client.stream();
    let answered = AtomicBool::new(false);
    let mut sent = Sent::Whole;
    let down = while_down(
        || {
            let down = server.set_read_timeout(None).map_or(0, |()| one_way(&[], server, stream));
            answered.store(true, Ordering::Release);
            // Wakes the reader above. A client that is gone needs no waking.
            let _ = stream.shutdown(Shutdown::Read);
            down
        },
        || {
            sent = body::send(client, body, server, &mut passed.up);
            upwards(client, sent, server, times, &answered);
        },
    );
    match down {
        Ok(down) => passed.down += down,
        Err(_) => passed.why = Some(Reason::TooMany),
    }
    if let Sent::Malformed(why) = sent {
        passed.why = Some(Reason::BadRequest(why));
    }
}

/// What becomes of the way up once the body is sent, or cannot be: what the client sends now goes nowhere.
fn upwards(client: &mut Incoming<'_>, sent: Sent, server: &TcpStream, times: &Times, answered: &AtomicBool) {
    match sent {
        Sent::Whole | Sent::Short => {}
        // It may have answered before it went.
        Sent::Unwritten => end_reading(server),
        Sent::Unread | Sent::Malformed(_) => return abandon(server),
    }
    client.consume(client.held().len());
    while !client.ended() {
        if answered.load(Ordering::Acquire) {
            return part(client, times);
        }
        if client.more(None) == Err(Halt::Lost) {
            return abandon(server);
        }
        client.consume(client.held().len());
    }
    // A server that is gone already need not be told.
    let _ = server.shutdown(Shutdown::Write);
}

/// Lets the server know that the request is not whole, and the response go.
fn abandon(server: &TcpStream) {
    reset(server);
    end_reading(server);
}

/// Ends the way down after what has arrived.
fn end_reading(server: &TcpStream) {
    // A server that is gone already sends no more.
    let _ = server.shutdown(Shutdown::Read);
}

/// Waits for what the server says to another protocol, and passes that on. Whether it goes over to it; `None` where the connection is over.
///
/// What the client sends meanwhile is kept: it belongs to the new protocol, or to none.
fn switched(client: &mut Incoming<'_>, server: &TcpStream, passed: &mut Passed) -> Option<bool> {
    let mut reply = Incoming::new(server);
    loop {
        let (bytes, verdict) = match reply_head(reply.held()) {
            Reply::Undecided if !reply.ended() => {
                let more = (!client.ended() && client.held().len() < LIMIT).then(|| client.stream());
                let (from_client, from_server) = wait(more, Some(server), None).ok()?;
                if from_client {
                    if client.more(None).is_err() {
                        reset(server);
                        return None;
                    }
                    if client.ended() {
                        // A server that is gone is found out by reading from it.
                        let _ = server.shutdown(Shutdown::Write);
                    }
                }
                if from_server && reply.more(None).is_err() {
                    reset(client.stream());
                    return None;
                }
                continue;
            }
            Reply::Interim(length) => {
                let bytes = reply.held().get(..length).unwrap_or_default().to_vec();
                reply.consume(length);
                (bytes, None)
            }
            Reply::Switched => (reply.take_all(), Some(true)),
            Reply::Final(length) => {
                let mut bytes = closing(reply.held().get(..length).unwrap_or_default());
                reply.consume(length);
                bytes.extend(reply.take_all());
                (bytes, Some(false))
            }
            Reply::Undecided | Reply::Unknown => (reply.take_all(), Some(false)),
        };
        say(client.stream(), &bytes).ok()?;
        passed.down += bytes.len() as u64;
        if verdict.is_some() {
            return verdict;
        }
    }
}

/// The first of a server's bytes.
#[derive(Debug, PartialEq, Eq)]
enum Reply {
    Undecided,
    /// A head, of this length, that another one follows.
    Interim(usize),
    /// It goes over to the other protocol (RFC 9110, 15.2.2).
    Switched,
    /// A head of this length, and no other protocol.
    Final(usize),
    /// Not HTTP/1.
    Unknown,
}

fn reply_head(bytes: &[u8]) -> Reply {
    let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") else {
        return if bytes.len() > LIMIT { Reply::Unknown } else { Reply::Undecided };
    };
    let length = end + 4;
    match bytes.get(..13) {
        Some([b'H', b'T', b'T', b'P', b'/', b'1', b'.', b'0' | b'1', b' ', status @ ..]) => match status {
            b"101 " | b"101\r" => Reply::Switched,
            [b'1', _, _, b' ' | b'\r'] => Reply::Interim(length),
            _ => Reply::Final(length),
        },
        _ => Reply::Unknown,
    }
}

/// The head of a response, saying that no other request may follow: the server was not told, since it was asked for another protocol.
fn closing(head: &[u8]) -> Vec<u8> {
    let mut said = Vec::with_capacity(head.len() + 32);
    for line in head.split_inclusive(|byte| *byte == b'\n') {
        let name = line.split(|byte| *byte == b':').next().unwrap_or_default();
        if line == b"\r\n" {
            said.extend_from_slice(b"Connection: close\r\n");
        }
        if !name.eq_ignore_ascii_case(b"connection") && !name.eq_ignore_ascii_case(b"keep-alive") {
            said.extend_from_slice(line);
        }
    }
    said
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_101_goes_over_to_another_protocol() {
        for (text, reply) in [
            ("", Reply::Undecided),
            ("HTTP/1.1 101 Switching Protocols\r\n", Reply::Undecided),
            ("HTTP/1.1 101 Switching Protocols\r\n\r\nmore", Reply::Switched),
            ("HTTP/1.1 101\r\n\r\n", Reply::Switched),
            ("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 101 ", Reply::Interim(25)),
            ("HTTP/1.1 1011 \r\n\r\n", Reply::Final(18)),
            ("HTTP/1.1 200 OK\r\n\r\n101", Reply::Final(19)),
            ("SSH-2.0\r\n\r\n", Reply::Unknown),
        ] {
            assert_eq!(reply_head(text.as_bytes()), reply, "{text:?}");
        }
    }

    #[test]
    fn a_response_without_another_protocol_ends_its_connection() {
        let head = b"HTTP/1.1 200 OK\r\nConnection: keep-alive\r\nKeep-Alive: timeout=5\r\nA: b\r\n\r\n";
        assert_eq!(closing(head), b"HTTP/1.1 200 OK\r\nA: b\r\nConnection: close\r\n\r\n");
    }
}
