//! The rest of the world: a name server for a small zone, and a server at every public address, for several ports. Everything that arrives
//! is written down.

use crate::book::Book;
use crate::{authority, names};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use std::io::{Read, Write};
use std::net::{IpAddr, Shutdown, TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;

/// Answers with what was sent to it, until there is no more.
pub const ECHO: [u16; 3] = [443, 22, 7777];
/// Answers a request of HTTP with the lines of its head.
pub const HTTP: [u16; 2] = [80, 8080];
/// Says something first, and then nothing.
pub const BANNER: u16 = 2222;
/// Takes the connection, and says nothing at all.
pub const SILENT: u16 = 9;
/// Sends as many bytes as were asked for in the first line.
pub const SOURCE: u16 = 9999;

/// Answers requests of HTTP within TLS with the lines of their heads.
pub const TLS: u16 = 8443;
/// The certificate of the authority that vouches for it, beside the book.
pub const AUTHORITY: &str = "authority.pem";

/// What stands behind a name.
fn addresses(name: &str, asked_before: usize) -> Vec<IpAddr> {
    let public = IpAddr::from([93, 184, 216, 34]);
    let list: &[&str] = match name {
        "private.com" => &["10.0.0.5"],
        "mixed.com" => &["10.0.0.5", "192.168.1.1", "93.184.216.35"],
        "loop.com" => &["127.0.0.1"],
        "metadata.com" => &["169.254.169.254"],
        "near.com" => &["11.0.0.1"],
        "zero.com" => &["0.0.0.0"],
        // Whoever looks a second time finds the machine itself.
        "rebind.com" => return vec![if asked_before == 0 { public } else { IpAddr::from([127, 0, 0, 1]) }],
        "good.com" | "evil.com" | "www.good.com" | "other.com" | "slow.com" => return vec![public],
        _ => return Vec::new(),
    };
    list.iter().map(|text| text.parse().unwrap()).collect()
}

/// Serves until it is killed. `ready` is made when it does.
pub fn serve(book: &Path, ready: &Path) -> ! {
    let (vouching, config) = authority::server(&["good.com", "other.com"]);
    std::fs::write(book.with_file_name(AUTHORITY), vouching).unwrap();
    let book = Book::open(book);
    let names = names::socket();
    for port in ECHO.into_iter().chain(HTTP).chain([BANNER, SILENT, SOURCE]) {
        let listener = TcpListener::bind(("0.0.0.0", port)).unwrap();
        let book = book.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let book = book.clone();
                std::thread::spawn(move || speak(stream, &book));
            }
        });
    }
    let listener = TcpListener::bind(("0.0.0.0", TLS)).unwrap();
    let noted = book.clone();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let (book, config) = (noted.clone(), Arc::clone(&config));
            std::thread::spawn(move || answer_requests(stream, config, &book));
        }
    });
    std::fs::write(ready, "").unwrap();
    names::answer(&names, &book, addresses)
}

fn speak(mut stream: TcpStream, book: &Book) {
    let here = stream.local_addr().unwrap();
    book.note(&format!("tcp {here}"));
    let port = here.port();
    let mut bytes = vec![0; 1 << 16];
    if port == BANNER {
        let _ = stream.write_all(b"SSH-2.0-here\r\n");
    }
    if port == SILENT {
        std::thread::sleep(std::time::Duration::from_secs(600));
    }
    let mut held: Vec<u8> = Vec::new();
    while let Ok(length) = stream.read(&mut bytes) {
        if length == 0 {
            break;
        }
        let text: String = bytes[..length.min(2000)].escape_ascii().to_string();
        book.note(&format!("bytes {port} {text}"));
        held.extend(&bytes[..length]);
        if ECHO.contains(&port) && stream.write_all(&bytes[..length]).is_err() {
            break;
        }
        if HTTP.contains(&port) && held.windows(4).any(|four| four == b"\r\n\r\n") {
            let said = String::from_utf8_lossy(&held).replace("\r\n", "|");
            let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", said.len());
            let _ = stream.write_all(format!("{head}{said}").as_bytes());
            held.clear();
        }
        if port == SOURCE && held.ends_with(b"\n") {
            let mut left: usize = String::from_utf8_lossy(&held).trim().parse().unwrap();
            while left > 0 {
                let part = left.min(bytes.len());
                if stream.write_all(&bytes[..part]).is_err() {
                    return;
                }
                left -= part;
            }
            break;
        }
    }
    if ECHO.contains(&port) {
        let _ = stream.write_all(b"<end>");
    }
    let _ = stream.shutdown(Shutdown::Write);
}

fn answer_requests(stream: TcpStream, config: Arc<ServerConfig>, book: &Book) {
    let mut stream = StreamOwned::new(ServerConnection::new(config).unwrap(), stream);
    let mut held = Vec::new();
    let mut byte = [0];
    while let Ok(1) = stream.read(&mut byte) {
        held.push(byte[0]);
        if held.ends_with(b"\r\n\r\n") {
            let said = String::from_utf8_lossy(&held).replace("\r\n", "|");
            book.note(&format!("tls {TLS} {said}"));
            let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", said.len());
            if stream.write_all(format!("{head}{said}").as_bytes()).is_err() {
                return;
            }
            held.clear();
        }
    }
}
