//! Connections from end to end, over loopback: a client, what is tested, and a server; with a gate that records what it was asked.

mod bodies;
mod greetings;
mod hosts;
mod laws;
mod relays;
mod requests;
mod responses;
mod tunnels;
mod words;

use super::connection::{Arrival, Times, serve_within};
use super::{Closed, Gate, Opened, Reason, Refused, Via};
use crate::policy::host::Target;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Nothing in these tests takes this long unless it hangs.
const PATIENCE: Duration = Duration::from_secs(20);
const TIMES: Times = Times { opening: PATIENCE, parting: Duration::from_millis(300) };

/// What the gate was told.
#[derive(Debug, Default)]
struct Record {
    asked: Vec<(Via, String)>,
    refused: Vec<(Via, Reason)>,
    closed: Vec<Closed>,
}

/// Admits some targets, all of which are at one address.
struct RecordingGate {
    admits: Vec<Target>,
    origin: SocketAddr,
    record: Mutex<Record>,
}

impl Gate for RecordingGate {
    fn open(&self, via: Via, target: &Target) -> Result<Opened, Refused> {
        self.record.lock().unwrap().asked.push((via, target.to_string()));
        if self.admits.contains(target) {
            let stream = TcpStream::connect(self.origin).unwrap();
            return Ok(Opened { stream, address: self.origin.ip() });
        }
        let line = Some(format!("allow \"{target}\""));
        Err(Refused { reason: Reason::NotAllowed, target: Some(target.clone()), line })
    }

    fn refused(&self, via: Via, refused: &Refused) {
        self.record.lock().unwrap().refused.push((via, refused.reason));
    }

    fn closed(&self, closed: &Closed) {
        self.record.lock().unwrap().closed.push(closed.clone());
    }
}

/// A way to ask for a tunnel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Door {
    Connect,
    Socks,
    Capture,
}

const DOORS: [Door; 3] = [Door::Connect, Door::Socks, Door::Capture];

impl Door {
    fn via(self) -> Via {
        match self {
            Self::Connect => Via::Connect,
            Self::Socks => Via::Socks,
            Self::Capture => Via::Capture,
        }
    }
}

/// A client that is being served, and the server behind.
struct Stage {
    client: TcpStream,
    origin: TcpListener,
    gate: Arc<RecordingGate>,
    worker: JoinHandle<()>,
}

fn target(text: &str) -> Target {
    Target::parse(text, None).unwrap()
}

/// Two ends of one connection.
fn pair() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let one = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (other, _) = listener.accept().unwrap();
    one.set_read_timeout(Some(PATIENCE)).unwrap();
    one.set_write_timeout(Some(PATIENCE)).unwrap();
    (one, other)
}

impl Stage {
    fn within(arrival: Arrival, times: Times) -> Self {
        let origin = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let admits = ["ok.com:443", "ok.com:80", "ok.com:8080", "192.0.2.7:443", "[2001:db8::7]:443"];
        let gate = Arc::new(RecordingGate {
            admits: admits.map(target).to_vec(),
            origin: origin.local_addr().unwrap(),
            record: Mutex::default(),
        });
        let (client, served) = pair();
        let theirs = Arc::clone(&gate);
        let worker = thread::spawn(move || serve_within(served, arrival, &*theirs, &times));
        Self { client, origin, gate, worker }
    }

    /// A proxy that was sent `bytes`.
    fn asking(bytes: impl AsRef<[u8]>) -> Self {
        let mut stage = Self::within(Arrival::Proxy, TIMES);
        stage.say(bytes);
        stage
    }

    /// A tunnel to an admitted target.
    fn tunnel(door: Door, to: &str) -> Self {
        Self::tunnel_within(door, to, TIMES)
    }

    fn tunnel_within(door: Door, to: &str, times: Times) -> Self {
        let to = target(to);
        if door == Door::Capture {
            return Self::within(Arrival::Captured(to), times);
        }
        let mut stage = Self::within(Arrival::Proxy, times);
        if door == Door::Connect {
            stage.say(format!("CONNECT {to} HTTP/1.1\r\nHost: {to}\r\n\r\n"));
            assert_eq!(stage.hear(39), b"HTTP/1.1 200 Connection established\r\n\r\n");
        } else {
            stage.say([5, 1, 0]);
            assert_eq!(stage.hear(2), [5, 0]);
            stage.say(socks_request(to.host.to_string().as_bytes(), to.port));
            assert_eq!(stage.hear(10), [5, 0, 0, 1, 0, 0, 0, 0, 0, 0]);
        }
        stage
    }

    /// Sends as the client. What is tested may have had enough already.
    fn say(&mut self, bytes: impl AsRef<[u8]>) {
        let _ = self.client.write_all(bytes.as_ref());
    }

    /// Reads so many bytes as the client.
    fn hear(&mut self, count: usize) -> Vec<u8> {
        hear(&mut self.client, count)
    }

    /// The server's side.
    fn server(&self) -> TcpStream {
        let (server, _) = self.origin.accept().unwrap();
        server.set_read_timeout(Some(PATIENCE)).unwrap();
        server.set_write_timeout(Some(PATIENCE)).unwrap();
        server
    }

    /// Reads as the client until it ends, and gives the text, what the server got that nobody accepted so far, and the record. Such a server
    /// says nothing and ends when the client does.
    fn end(mut self) -> (String, Option<Vec<u8>>, Record) {
        let _ = self.client.shutdown(Shutdown::Write);
        self.origin.set_nonblocking(true).unwrap();
        let mut got = None;
        let heard = thread::scope(|scope| {
            let heard = scope.spawn(|| hear_all(&mut self.client));
            while !self.worker.is_finished() {
                if let Ok((mut server, _)) = self.origin.accept() {
                    server.set_nonblocking(false).unwrap();
                    server.set_read_timeout(Some(PATIENCE)).unwrap();
                    got = Some(hear_all(&mut server));
                }
                thread::sleep(Duration::from_millis(1));
            }
            heard.join().unwrap()
        });
        self.worker.join().unwrap();
        if let Ok((mut server, _)) = self.origin.accept() {
            server.set_nonblocking(false).unwrap();
            got = Some(hear_all(&mut server));
        }
        let record = std::mem::take(&mut *self.gate.record.lock().unwrap());
        (String::from_utf8_lossy(&heard).into_owned(), got, record)
    }
}

fn hear(stream: &mut TcpStream, count: usize) -> Vec<u8> {
    let mut bytes = vec![0; count];
    stream.read_exact(&mut bytes).unwrap();
    bytes
}

/// All that comes until an end or a reset; not to end at all is a failure.
fn hear_all(stream: &mut TcpStream) -> Vec<u8> {
    let mut bytes = Vec::new();
    if let Err(error) = stream.read_to_end(&mut bytes) {
        assert_ne!(error.kind(), std::io::ErrorKind::WouldBlock, "no end after {bytes:?}");
    }
    bytes
}

/// Reads up to and with the empty line.
fn hear_head(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    while !bytes.ends_with(b"\r\n\r\n") {
        bytes.extend(hear(stream, 1));
    }
    String::from_utf8(bytes).unwrap()
}

/// A request to connect to a host by its name, without the greeting before it.
fn socks_request(host: &[u8], port: u16) -> Vec<u8> {
    let length = u8::try_from(host.len()).unwrap();
    [&[5, 1, 0, 3, length], host, &port.to_be_bytes()].concat()
}

/// The first message of a TLS client, in one record (RFC 8446, 4.1.2), and the name that it asks for, if any.
fn client_hello(name: Option<&[u8]>) -> Vec<u8> {
    let server_name = name.map(|name| {
        let entry = [&[0][..], &vector16(name)].concat();
        [&[0, 0][..], &vector16(&vector16(&entry))].concat()
    });
    let versions = [0, 43, 0, 3, 2, 3, 4];
    client_hello_with(&[&versions[..], &server_name.unwrap_or_default()].concat())
}

fn client_hello_with(extensions: &[u8]) -> Vec<u8> {
    let body = [&[3, 3][..], &[7; 32], &[32], &[9; 32], &[0, 2, 0x13, 0x01], &[1, 0], &vector16(extensions)];
    record(&handshake(&body.concat()))
}

fn handshake(body: &[u8]) -> Vec<u8> {
    let [_, a, b, c] = u32::try_from(body.len()).unwrap().to_be_bytes();
    [&[1, a, b, c][..], body].concat()
}

fn record(fragment: &[u8]) -> Vec<u8> {
    [&[0x16, 3, 1][..], &vector16(fragment)].concat()
}

fn vector16(bytes: &[u8]) -> Vec<u8> {
    [&u16::try_from(bytes.len()).unwrap().to_be_bytes()[..], bytes].concat()
}
