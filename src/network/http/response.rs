//! In: what a server answers to the one request. Out: the same, said to be the last on its connection, up to the end of the message and no further,
//! whether or not the server ends there as well.

use super::body::Chunks;
use super::head::{LIMIT, trim};
use crate::network::incoming::Incoming;
use crate::network::relay::{Over, end, pump, write_all};
use std::net::{Shutdown, TcpStream};

/// The first of a server's bytes.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Reply {
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

const NAME: &[u8] = b"HTTP/1.";

pub(super) fn reply_head(bytes: &[u8]) -> Reply {
    if !bytes.starts_with(NAME) && !NAME.starts_with(bytes) {
        return Reply::Unknown;
    }
    let Some(length) = head_length(bytes) else {
        return if bytes.len() > LIMIT { Reply::Unknown } else { Reply::Undecided };
    };
    match bytes.get(NAME.len()..13) {
        Some([b'0' | b'1', b' ', status @ ..]) => match status {
            b"101 " | b"101\r" => Reply::Switched,
            [b'1', _, _, b' ' | b'\r'] => Reply::Interim(length),
            _ => Reply::Final(length),
        },
        _ => Reply::Unknown,
    }
}

/// The length of a head with its empty line. A client may forgive a line that ends without CR (RFC 9112, 2.2), so that it is one here too.
fn head_length(bytes: &[u8]) -> Option<usize> {
    let mut line = 0;
    for (place, _) in bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n') {
        if matches!(bytes.get(line..place), Some(b"" | b"\r")) {
            return Some(place + 1);
        }
        line = place + 1;
    }
    None
}

/// How the body of a response is told from what follows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Framing {
    Length(u64),
    Chunked,
    /// It goes on until the server ends.
    UntilEnd,
}

/// A head that is to be passed on.
#[derive(Debug, PartialEq, Eq)]
struct Rewritten {
    head: Vec<u8>,
    framing: Framing,
}

/// The head of a response without what it says of the server's connection, and that no other request may follow; and how its body ends
/// (RFC 9112, 6.3), which for `bodiless` is at once.
fn rewrite(head: &[u8], bodiless: bool) -> Rewritten {
    let fields = || {
        head.split_inclusive(|byte| *byte == b'\n').skip(1).map(|line| {
            let colon = line.iter().position(|byte| *byte == b':').unwrap_or(line.len());
            let (name, value) = line.split_at(colon);
            let value = value.get(1..).unwrap_or_default();
            (line, trim(name).to_ascii_lowercase(), trim(value.trim_ascii_end()).to_ascii_lowercase())
        })
    };
    let coded = fields().filter(|(_, name, _)| name == b"transfer-encoding").last();
    let mut lengths = fields().filter(|(_, name, _)| name == b"content-length").map(|(_, _, value)| value);
    let length = lengths.next().map(|first| {
        let same = lengths.all(|other| other == first) && first.iter().all(u8::is_ascii_digit);
        std::str::from_utf8(&first).ok().filter(|_| same).and_then(|first| first.parse().ok())
    });
    let framing = match (&coded, length) {
        _ if bodiless || matches!(head.get(9..12), Some(b"204" | b"304")) => Framing::Length(0),
        (Some((_, _, value)), _) => match value.rsplit(|byte| *byte == b',').next().map(trim) {
            Some(b"chunked") => Framing::Chunked,
            _ => Framing::UntilEnd,
        },
        (None, Some(Some(length))) => Framing::Length(length),
        (None, _) => Framing::UntilEnd,
    };
    let mut said = Vec::with_capacity(head.len() + 32);
    said.extend(head.split_inclusive(|byte| *byte == b'\n').next().unwrap_or_default());
    let mut dropped = false;
    for (line, name, _) in fields() {
        match line.first() {
            Some(b'\r' | b'\n') => said.extend_from_slice(b"Connection: close\r\n"),
            // It goes on with the one before.
            Some(b' ' | b'\t') if dropped => continue,
            _ => {}
        }
        // Where the body is coded, a length is no length of it.
        dropped = matches!(name.as_slice(), b"connection" | b"keep-alive" | b"proxy-connection")
            || name == b"content-length" && coded.is_some();
        if !dropped {
            said.extend_from_slice(line);
        }
    }
    Rewritten { head: said, framing }
}

/// Passes on a response, and ends both sides with it; what is held of `reply` is its beginning. Gives the number of bytes.
pub(super) fn carry(reply: &mut Incoming<'_>, client: &TcpStream, bodiless: bool) -> u64 {
    let mut count = 0;
    match message(reply, client, bodiless, &mut count) {
        Ok(()) => {
            // A peer that is gone already need not be told.
            let _ = client.shutdown(Shutdown::Write);
            // It may wait for another request, or not read the rest of this one.
            let _ = reply.stream().shutdown(Shutdown::Both);
        }
        Err(over) => end(over, client),
    }
    count
}

/// Passes on one message.
///
/// # Errors
/// The server ended, which may well be the end of the message, or a side is lost.
fn message(
    reply: &mut Incoming<'_>,
    client: &TcpStream,
    bodiless: bool,
    count: &mut u64,
) -> Result<(), Over> {
    let framing = loop {
        match reply_head(reply.held()) {
            Reply::Undecided if !reply.ended() => read(reply)?,
            Reply::Interim(length) => pass(reply, length, client, count)?,
            Reply::Final(length) => {
                let rewritten = rewrite(reply.held().get(..length).unwrap_or_default(), bodiless);
                reply.consume(length);
                write_all(client, &rewritten.head, count).map_err(|_| Over::Unwritten)?;
                break rewritten.framing;
            }
            Reply::Undecided | Reply::Switched | Reply::Unknown => break Framing::UntilEnd,
        }
    };
    match framing {
        Framing::Length(mut left) => loop {
            let length = usize::try_from(left).unwrap_or(usize::MAX).min(reply.held().len());
            pass(reply, length, client, count)?;
            left -= length as u64;
            if left == 0 {
                return Ok(());
            }
            more(reply)?;
        },
        Framing::Chunked => {
            let mut chunks = Chunks::default();
            // Only the end is looked for: the client gets what the server wrote.
            let mut unused = Vec::new();
            while let Ok(used) = chunks.feed(reply.held(), &mut unused) {
                pass(reply, used, client, count)?;
                if chunks.done() {
                    return Ok(());
                }
                unused.clear();
                more(reply)?;
            }
            until_end(reply, client, count)
        }
        Framing::UntilEnd => until_end(reply, client, count),
    }
}

fn until_end(reply: &mut Incoming<'_>, client: &TcpStream, count: &mut u64) -> Result<(), Over> {
    pass(reply, reply.held().len(), client, count)?;
    if reply.ended() {
        return Err(Over::Ended);
    }
    reply.stream().set_read_timeout(None).map_err(|_| Over::Unread)?;
    Err(pump(reply.stream(), client, count))
}

/// Passes on the first `length` bytes of what is held.
fn pass(reply: &mut Incoming<'_>, length: usize, client: &TcpStream, count: &mut u64) -> Result<(), Over> {
    let piece = reply.held().get(..length).unwrap_or_default();
    write_all(client, piece, count).map_err(|_| Over::Unwritten)?;
    reply.consume(length);
    Ok(())
}

fn read(reply: &mut Incoming<'_>) -> Result<(), Over> {
    reply.more(None).map_err(|_| Over::Unread)
}

/// Reads on in the midst of a message.
fn more(reply: &mut Incoming<'_>) -> Result<(), Over> {
    read(reply)?;
    if reply.ended() { Err(Over::Ended) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_101_goes_over_to_another_protocol() {
        for (text, reply) in [
            ("", Reply::Undecided),
            ("HTT", Reply::Undecided),
            ("HTTP/1.1 101 Switching Protocols\r\n", Reply::Undecided),
            ("HTTP/1.1 101 Switching Protocols\r\n\r\nmore", Reply::Switched),
            ("HTTP/1.1 101\r\n\r\n", Reply::Switched),
            ("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 101 ", Reply::Interim(25)),
            ("HTTP/1.1 1011 \r\n\r\n", Reply::Final(18)),
            ("HTTP/1.1 200 OK\r\n\r\n101", Reply::Final(19)),
            ("HTTP/1.0 200 OK\nA: b\n\n101", Reply::Final(22)),
            ("SSH-2.0", Reply::Unknown),
            ("HTTP/1.7 200 OK\r\n\r\n", Reply::Unknown),
        ] {
            assert_eq!(reply_head(text.as_bytes()), reply, "{text:?}");
        }
    }

    #[test]
    fn a_response_says_that_it_is_the_last() {
        let head = b"HTTP/1.1 200 OK\r\nConnection: keep-alive,\r\n A\r\nKeep-Alive: timeout=5\r\nproxy-connection: x\r\nA: b\r\n c\r\n\r\n";
        let said: &[u8] = b"HTTP/1.1 200 OK\r\nA: b\r\n c\r\nConnection: close\r\n\r\n";
        assert_eq!(rewrite(head, false), Rewritten { head: said.into(), framing: Framing::UntilEnd });
        let both = b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n";
        let said: &[u8] = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n";
        assert_eq!(rewrite(both, false), Rewritten { head: said.into(), framing: Framing::Chunked });
    }

    #[test]
    fn a_body_ends_where_its_head_says() {
        for (status, fields, bodiless, framing) in [
            ("200", "Content-Length: 5", false, Framing::Length(5)),
            ("200", "content-length : 5\r\nContent-Length: 5", false, Framing::Length(5)),
            ("200", "Content-Length: 5\r\nContent-Length: 6", false, Framing::UntilEnd),
            ("200", "Content-Length: +5", false, Framing::UntilEnd),
            ("200", "Content-Length:", false, Framing::UntilEnd),
            ("200", "Transfer-Encoding: gzip, Chunked", false, Framing::Chunked),
            ("200", "Transfer-Encoding: gzip", false, Framing::UntilEnd),
            ("200", "A: b", false, Framing::UntilEnd),
            ("200", "Content-Length: 5", true, Framing::Length(0)),
            ("204", "A: b", false, Framing::Length(0)),
            ("304", "Content-Length: 5", false, Framing::Length(0)),
        ] {
            let head = format!("HTTP/1.1 {status} x\r\n{fields}\r\n\r\n");
            assert_eq!(rewrite(head.as_bytes(), bodiless).framing, framing, "{head:?}");
        }
    }
}
