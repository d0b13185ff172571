//! What answers beyond: a name server that knows two hosts, and at their address servers of TLS, of plain HTTP and of something like ssh.

use crate::book::Book;
use crate::{authority, names};
use rustls::{ServerConnection, StreamOwned};
use std::io::{Read, Write};
use std::net::{IpAddr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;

/// The one that is allowed.
pub const GOOD: &str = "good.com";
/// The one that is not.
pub const EVIL: &str = "evil.com";
/// The directory, beside the book, with the certificate of the authority, and what makes wget take it.
pub const TRUST: &str = "trust";
pub const AUTHORITY: &str = "authority.pem";
pub const WGET: &str = "wgetrc";

fn addresses(name: &str, _: usize) -> Vec<IpAddr> {
    if [GOOD, EVIL].contains(&name) { vec![IpAddr::from([93, 184, 216, 34])] } else { Vec::new() }
}

/// Serves until it is killed. `ready` is made when it does.
pub fn serve(book: &Path, ready: &Path) -> ! {
    let names = names::socket();
    let (authority, config) = authority::server(&[GOOD, EVIL]);
    let trust = book.with_file_name(TRUST);
    std::fs::create_dir(&trust).unwrap();
    std::fs::write(trust.join(AUTHORITY), authority).unwrap();
    let setting = format!("ca_certificate = {}\n", trust.join(AUTHORITY).display());
    std::fs::write(trust.join(WGET), setting).unwrap();
    let book = Book::open(book);
    for port in [443, 80, 22] {
        let listener = TcpListener::bind(("0.0.0.0", port)).unwrap();
        let (book, config) = (book.clone(), Arc::clone(&config));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (book, config) = (book.clone(), Arc::clone(&config));
                std::thread::spawn(move || match port {
                    443 => {
                        answer(StreamOwned::new(ServerConnection::new(config).unwrap(), stream), port, &book)
                    }
                    80 => answer(stream, port, &book),
                    _ => greet(stream, port, &book),
                });
            }
        });
    }
    std::fs::write(ready, "").unwrap();
    names::answer(&names, &book, addresses)
}

/// Writes down the head of one request, and answers it.
fn answer(mut stream: impl Read + Write, port: u16, book: &Book) {
    let mut bytes = [0; 8192];
    match stream.read(&mut bytes) {
        Ok(length) if length > 0 => {
            let head = String::from_utf8_lossy(&bytes[..length]).replace("\r\n", "|");
            book.note(&format!("request {port} {head}"));
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok");
            let _ = stream.flush();
        }
        Ok(_) => {}
        Err(error) => book.note(&format!("failed {port} {error}")),
    }
}

/// Says what a server of ssh says first, and writes down what a client says to that.
fn greet(mut stream: TcpStream, port: u16, book: &Book) {
    let mut bytes = [0; 8192];
    if stream.write_all(b"SSH-2.0-here\r\n").is_ok()
        && let Ok(length) = stream.read(&mut bytes)
        && length > 0
    {
        book.note(&format!("request {port} {}", bytes[..length.min(200)].escape_ascii()));
    }
}
