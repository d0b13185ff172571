//! One connection from inside: what it asks for, and the bytes both ways.

use super::{Closed, Gate, Via};
use crate::policy::host::Target;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::Instant;

/// How a connection arrived.
#[derive(Debug)]
pub enum Arrival {
    /// At the proxy, which it tells what it is for.
    Proxy,
    /// At an address that stands for this.
    Captured(Target),
}

/// The longest head of a request that is read, in bytes.
const LONGEST: u64 = 64 << 10;

/// Serves a connection to its end.
pub fn serve(mut stream: TcpStream, arrival: Arrival, gate: &dyn Gate) {
    let began = Instant::now();
    let (via, target) = match arrival {
        Arrival::Captured(target) => (Via::Capture, target),
        Arrival::Proxy => match asked(&mut stream) {
            Some(target) => (Via::Connect, target),
            None => return,
        },
    };
    let Ok(opened) = gate.open(via, &target) else { return };
    if via == Via::Connect && stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").is_err() {
        return;
    }
    let Ok((up, down)) = relay(&stream, &opened.stream) else { return };
    let address = opened.address;
    gate.closed(&Closed { via, target, address, sni: None, up, down, lasted: began.elapsed(), why: None });
}

/// The target of a `CONNECT`.
fn asked(stream: &mut TcpStream) -> Option<Target> {
    let mut head = Vec::new();
    let mut bytes = stream.take(LONGEST).bytes();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(bytes.next()?.ok()?);
    }
    let line = std::str::from_utf8(&head).ok()?.lines().next()?;
    let target = line.strip_prefix("CONNECT ")?.strip_suffix(" HTTP/1.1")?;
    Target::parse(target, None).ok()
}

fn relay(inside: &TcpStream, outside: &TcpStream) -> io::Result<(u64, u64)> {
    let copy = |mut from: &TcpStream, mut to: &TcpStream| {
        let copied = io::copy(&mut from, &mut to);
        to.shutdown(Shutdown::Write).and(copied)
    };
    std::thread::scope(|scope| {
        let up = scope.spawn(|| copy(inside, outside));
        let down = copy(outside, inside)?;
        Ok((up.join().map_err(|_| io::ErrorKind::Other)??, down))
    })
}
