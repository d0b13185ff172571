//! In: the body of a request, as it comes. Out: the same body and not a byte of what follows it.

use super::head::{Body, LIMIT, field};
use crate::network::incoming::Incoming;
use crate::network::inspect::Search;
use crate::network::relay::write_all;
use std::net::TcpStream;

/// How the passing on of a body ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::network) enum Sent {
    Whole,
    /// The client ended in the midst of it.
    Short,
    /// The client is lost.
    Unread,
    /// The server is lost, or wants no more of it.
    Unwritten,
    /// It is not what it was said to be; why, in a few words.
    Malformed(&'static str),
}

/// Passes on a body, and counts its bytes as they are written.
pub(in crate::network) fn send(
    client: &mut Incoming<'_>,
    body: Body,
    mut search: Option<&mut Search>,
    server: &TcpStream,
    count: &mut u64,
) -> Sent {
    let mut left = match body {
        Body::None => 0,
        Body::Length(length) => length,
        Body::Chunked => return send_chunks(client, search, server, count),
    };
    while left > 0 {
        let length = usize::try_from(left).unwrap_or(usize::MAX).min(client.held().len());
        let piece = client.held().get(..length).unwrap_or_default();
        if strays(&mut search, piece) {
            return Sent::Malformed(STRAY);
        }
        if write_all(server, piece, count).is_err() {
            return Sent::Unwritten;
        }
        client.consume(length);
        left -= length as u64;
        if left > 0
            && let Some(end) = more(client)
        {
            return end;
        }
    }
    Sent::Whole
}

/// Whether the next piece of a body has the placeholder of a masked variable in it.
fn strays(search: &mut Option<&mut Search>, piece: &[u8]) -> bool {
    search.as_mut().is_some_and(|search| {
        search.piece(piece);
        search.found().is_some()
    })
}

fn send_chunks(
    client: &mut Incoming<'_>,
    search: Option<&mut Search>,
    server: &TcpStream,
    count: &mut u64,
) -> Sent {
    let mut chunks = Chunks { search, ..Chunks::default() };
    let mut out = Vec::new();
    loop {
        out.clear();
        let fed = chunks.feed(client.held(), &mut out);
        // What was in order before a fault is of no use to the server.
        let used = match fed {
            Ok(used) => used,
            Err(why) => return Sent::Malformed(why),
        };
        client.consume(used);
        if write_all(server, &out, count).is_err() {
            return Sent::Unwritten;
        }
        if chunks.done() {
            return Sent::Whole;
        }
        if let Some(end) = more(client) {
            return end;
        }
    }
}

/// Reads on; gives how it ended where there is nothing more.
fn more(client: &mut Incoming<'_>) -> Option<Sent> {
    match client.more(None) {
        Err(_) => Some(Sent::Unread),
        Ok(()) if client.ended() => Some(Sent::Short),
        Ok(()) => None,
    }
}

/// Where in a chunked body one is (RFC 9112, 7.1).
#[derive(Debug, Default)]
enum Place {
    #[default]
    Size,
    Data(u64),
    /// The CR or the LF behind a chunk.
    Cr,
    Lf,
    Trailer,
    Done,
}

/// Reads a chunked body and writes it anew: the chunks and the trailer, without extensions.
#[derive(Debug, Default)]
pub(in crate::network) struct Chunks<'s> {
    place: Place,
    line: Vec<u8>,
    /// Bytes of the trailer.
    trailer: usize,
    /// Looks at what is in the chunks.
    search: Option<&'s mut Search>,
}

const STRAY: &str = "the placeholder of a masked variable";

/// What a line with the size of a chunk may take.
const SIZE_LINE: usize = 4096;

impl Chunks<'_> {
    /// Whether the body is complete.
    pub fn done(&self) -> bool {
        matches!(self.place, Place::Done)
    }

    /// Reads on, adds what is to be sent to `out`, and gives how much was used up: all, but for what lies behind the body.
    pub fn feed(&mut self, input: &[u8], out: &mut Vec<u8>) -> Result<usize, &'static str> {
        let mut rest = input;
        while !self.done()
            && let Some((&byte, after)) = rest.split_first()
        {
            if let Place::Data(left) = self.place {
                let length = usize::try_from(left).unwrap_or(usize::MAX).min(rest.len());
                let (data, after) = rest.split_at(length);
                if strays(&mut self.search, data) {
                    return Err(STRAY);
                }
                out.extend_from_slice(data);
                rest = after;
                let left = left - length as u64;
                self.place = if left == 0 { Place::Cr } else { Place::Data(left) };
                continue;
            }
            rest = after;
            self.byte(byte, out)?;
        }
        Ok(input.len() - rest.len())
    }

    fn byte(&mut self, byte: u8, out: &mut Vec<u8>) -> Result<(), &'static str> {
        match self.place {
            Place::Cr if byte == b'\r' => self.place = Place::Lf,
            Place::Lf if byte == b'\n' => {
                out.extend_from_slice(b"\r\n");
                self.place = Place::Size;
            }
            Place::Cr | Place::Lf => return Err("a chunk that is longer than it said"),
            Place::Size | Place::Trailer => {
                let trailer = matches!(self.place, Place::Trailer);
                let ended = self.line.last() == Some(&b'\r');
                if ended != (byte == b'\n') {
                    return Err("a line of a chunked body that does not end with CR and LF");
                }
                if ended {
                    self.line.pop();
                    let line = std::mem::take(&mut self.line);
                    return if trailer { self.trailer_line(&line, out) } else { self.size_line(&line, out) };
                }
                self.line.push(byte);
                self.trailer += usize::from(trailer);
                if self.line.len() > SIZE_LINE && !trailer || self.trailer > LIMIT {
                    return Err("a line of a chunked body that is too long");
                }
            }
            Place::Data(_) | Place::Done => {}
        }
        Ok(())
    }

    fn size_line(&mut self, line: &[u8], out: &mut Vec<u8>) -> Result<(), &'static str> {
        let end = line.iter().position(|byte| *byte == b';').unwrap_or(line.len());
        let (digits, extension) = line.split_at(end);
        if !extension.iter().all(|byte| matches!(byte, b'\t' | b' '..=b'~' | 0x80..)) {
            return Err("a chunk with other characters than an extension has");
        }
        let plain = (1..=15).contains(&digits.len()) && digits.iter().all(u8::is_ascii_hexdigit);
        let size = std::str::from_utf8(digits).ok().filter(|_| plain);
        let size = size.and_then(|digits| u64::from_str_radix(digits, 16).ok());
        let size = size.ok_or("a chunk whose size is no number")?;
        out.extend_from_slice(format!("{size:x}\r\n").as_bytes());
        self.place = if size == 0 { Place::Trailer } else { Place::Data(size) };
        Ok(())
    }

    fn trailer_line(&mut self, line: &[u8], out: &mut Vec<u8>) -> Result<(), &'static str> {
        if line.is_empty() {
            out.extend_from_slice(b"\r\n");
            self.place = Place::Done;
            return Ok(());
        }
        let (name, value) = field(line).map_err(|_| "a trailer that cannot be read")?;
        // What frames or routes a message stands in its head (RFC 9110, 6.5.1).
        const HEAD: [&str; 5] = ["connection", "content-length", "host", "transfer-encoding", "upgrade"];
        let lower = name.to_ascii_lowercase();
        if HEAD.contains(&lower.as_str()) || lower.starts_with("proxy-") {
            return Err("a trailer that belongs in the head");
        }
        if let Some(search) = &mut self.search {
            search.field(name.as_bytes(), &value);
            if search.found().is_some() {
                return Err(STRAY);
            }
        }
        for piece in [name.as_bytes(), b": ", &value, b"\r\n"] {
            out.extend_from_slice(piece);
        }
        Ok(())
    }
}
