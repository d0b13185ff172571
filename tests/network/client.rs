//! What is asked from behind the walls: each way by which a program reaches a host, with the simplest client there can be.

use crate::hello::client_hello;
use crate::{raw, tls};
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream, ToSocketAddrs, UdpSocket};
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(8);

/// `--ask WAY HOST PORT MESSAGE`: prints what came back, or `failed: …`.
pub fn ask(words: &[&str]) {
    let answer = match *words {
        ["connect", host, port, message] => connect(host, port).and_then(|stream| talk(stream, message)),
        ["socks", host, port, message] => socks(host, port).and_then(|stream| talk(stream, message)),
        ["http", host, port, _] => http(host, port),
        ["capture", host, port, message] => direct(host, port).and_then(|stream| talk(stream, message)),
        ["hello", way, host, port, name] => {
            let stream = match way {
                "connect" => connect(host, port),
                "socks" => socks(host, port),
                _ => direct(host, port),
            };
            stream.and_then(|stream| exchange(stream, &client_hello(name)))
        }
        ["tls", way, host, port, message] => {
            let stream = match way {
                "connect" => connect(host, port),
                "socks" => socks(host, port),
                _ => direct(host, port),
            };
            stream.and_then(|stream| request(tls::client(stream, host)?, message))
        }
        ["tls-many", count, host, port] => tls_many(count.parse().unwrap(), host, port),
        ["resolve", name] => {
            let found = (name, 1).to_socket_addrs();
            found.map(|found| found.map(|address| address.ip().to_string()).collect::<Vec<_>>().join(" "))
        }
        ["udp", to, message] => udp(to, message),
        ["listen"] => listen(),
        ["socket", family, kind, protocol] => {
            let number = |text: &str| text.parse().unwrap();
            raw::socket(number(family), number(kind), number(protocol)).map(|()| "opened".to_owned())
        }
        ["many", count, host, port] => Ok(many(count.parse().unwrap(), host, port)),
        ["source", bytes, host, port] => source(bytes, host, port),
        ["first", host, port] => connect(host, port).and_then(|mut stream| {
            let mut bytes = [0; 64];
            let length = stream.read(&mut bytes)?;
            Ok(bytes[..length].escape_ascii().to_string())
        }),
        ["env", name] => Ok(std::env::var(name).unwrap_or_else(|_| "unset".to_owned())),
        ["read", path] => std::fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()),
        ["write", path] => std::fs::write(path, "x").map(|()| "written".to_owned()),
        ["head", head] => {
            // What a command has of a secret it only knows inside.
            let head = head.replace("{TOKEN}", &std::env::var("TOKEN").unwrap_or_default());
            proxy().and_then(|stream| exchange(stream, &unescaped(&head)))
        }
        _ => panic!("{words:?}"),
    };
    match answer {
        Ok(answer) => println!("{answer}"),
        Err(error) => println!("failed: {error}"),
    }
}

/// `\r`, `\n`, `\0`, `\t` and `\xNN` of a command line, which cannot hold what they stand for.
pub fn unescaped(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match (byte, byte == b'\\') {
            (_, true) => match rest.next().unwrap() {
                b'r' => b'\r',
                b'n' => b'\n',
                b't' => b'\t',
                b'0' => 0,
                b'x' => {
                    let digits = [rest.next().unwrap(), rest.next().unwrap()];
                    u8::from_str_radix(std::str::from_utf8(&digits).unwrap(), 16).unwrap()
                }
                other => other,
            },
            (byte, false) => byte,
        });
    }
    bytes
}

fn proxy() -> io::Result<TcpStream> {
    let url = std::env::var("HTTP_PROXY").map_err(|_| io::Error::other("no proxy is named"))?;
    let stream = TcpStream::connect(url.trim_start_matches("http://"))?;
    stream.set_read_timeout(Some(PATIENCE))?;
    Ok(stream)
}

fn connect(host: &str, port: &str) -> io::Result<TcpStream> {
    let mut stream = proxy()?;
    let host = String::from_utf8_lossy(&unescaped(host)).into_owned();
    write!(stream, "CONNECT {host}:{port} HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n")?;
    let head = head(&mut stream)?;
    if head.starts_with("HTTP/1.1 200") {
        return Ok(stream);
    }
    let reason = head.lines().find_map(|line| line.strip_prefix("X-Proxy-Error: ")).unwrap_or("none");
    let code = head.split(' ').nth(1).unwrap_or("none");
    Err(io::Error::other(format!("{code} {reason}")))
}

fn head(stream: &mut TcpStream) -> io::Result<String> {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        if stream.read(&mut byte)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        head.push(byte[0]);
    }
    Ok(String::from_utf8_lossy(&head).into_owned())
}

fn socks(host: &str, port: &str) -> io::Result<TcpStream> {
    let mut stream = proxy()?;
    stream.write_all(&[5, 1, 0])?;
    let mut answer = [0; 2];
    stream.read_exact(&mut answer)?;
    assert_eq!(answer, [5, 0]);
    let host = unescaped(host);
    let mut request = vec![5, 1, 0, 3, u8::try_from(host.len()).unwrap()];
    request.extend(host);
    request.extend(port.parse::<u16>().map_err(io::Error::other)?.to_be_bytes());
    stream.write_all(&request)?;
    let mut answer = [0; 10];
    stream.read_exact(&mut answer)?;
    if answer[1] == 0 { Ok(stream) } else { Err(io::Error::other(format!("socks {}", answer[1]))) }
}

fn http(host: &str, port: &str) -> io::Result<String> {
    let host = String::from_utf8_lossy(&unescaped(host)).into_owned();
    let request = format!("GET http://{host}:{port}/path HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n");
    exchange(proxy()?, request.as_bytes())
}

fn direct(host: &str, port: &str) -> io::Result<TcpStream> {
    let host = String::from_utf8_lossy(&unescaped(host)).into_owned();
    let port = port.parse::<u16>().map_err(io::Error::other)?;
    let mut last = io::Error::other("no address");
    for address in (host.trim_matches(['[', ']']), port).to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, PATIENCE) {
            Ok(stream) => {
                stream.set_read_timeout(Some(PATIENCE))?;
                return Ok(stream);
            }
            Err(error) => last = error,
        }
    }
    Err(last)
}

fn talk(stream: TcpStream, message: &str) -> io::Result<String> {
    exchange(stream, message.as_bytes())
}

/// Sends, says that this was all, and reads to the end.
fn exchange(mut stream: TcpStream, message: &[u8]) -> io::Result<String> {
    stream.write_all(message)?;
    stream.shutdown(Shutdown::Write)?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer)?;
    if answer.is_empty() {
        return Err(io::Error::other("nothing came"));
    }
    Ok(answer.escape_ascii().to_string())
}

/// Asks within TLS, with the variable `TOKEN` for `$TOKEN`, and reads to the end, whatever kind of end that is.
fn request(mut stream: impl Read + Write, message: &str) -> io::Result<String> {
    let token = std::env::var("TOKEN").unwrap_or_default();
    stream.write_all(&unescaped(&message.replace("$TOKEN", &token)))?;
    let mut answer = Vec::new();
    if let Err(error) = stream.read_to_end(&mut answer)
        && answer.is_empty()
    {
        return Err(error);
    }
    Ok(answer.escape_ascii().to_string())
}

/// Opens many connections and asks on each, while all are open; says how many were answered.
fn tls_many(count: usize, host: &str, port: &str) -> io::Result<String> {
    let mut answered = 0;
    let mut open = Vec::new();
    for _ in 0..count {
        let mut stream = tls::client(connect(host, port)?, host)?;
        write!(stream, "GET / HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n")?;
        let mut status = [0; 12];
        stream.read_exact(&mut status)?;
        answered += usize::from(&status == b"HTTP/1.1 200");
        open.push(stream);
    }
    Ok(answered.to_string())
}

fn udp(to: &str, message: &str) -> io::Result<String> {
    let socket = UdpSocket::bind("0.0.0.0:0")?;
    socket.set_read_timeout(Some(Duration::from_millis(300)))?;
    socket.connect(to)?;
    socket.send(message.as_bytes())?;
    let mut bytes = [0; 100];
    let length = socket.recv(&mut bytes)?;
    Ok(bytes[..length].escape_ascii().to_string())
}

/// A server of its own, as a test would start one.
fn listen() -> io::Result<String> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    let client = std::thread::spawn(move || TcpStream::connect(address)?.write_all(b"own"));
    let mut text = String::new();
    listener.accept()?.0.read_to_string(&mut text)?;
    client.join().unwrap()?;
    Ok(text)
}

/// Opens many connections and leaves them open; says how many were made, and then whether the last one works still.
fn many(count: usize, host: &str, port: &str) -> String {
    let streams: Vec<io::Result<TcpStream>> = (0..count).map(|_| connect(host, port)).collect();
    let made = streams.iter().filter(|stream| stream.is_ok()).count();
    let refused = streams.iter().find_map(|stream| stream.as_ref().err().map(ToString::to_string));
    let last = streams.into_iter().flatten().next_back().map(|stream| talk(stream, "still"));
    format!("{made} {} {}", refused.unwrap_or_default(), last.map_or_else(String::new, |last| last.unwrap()))
}

fn source(bytes: &str, host: &str, port: &str) -> io::Result<String> {
    let mut stream = connect(host, port)?;
    writeln!(stream, "{bytes}")?;
    io::copy(&mut stream, &mut io::sink()).map(|copied| copied.to_string())
}
