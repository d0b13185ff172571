//! A name server (RFC 1035) of the least that a resolver needs.

use crate::book::Book;
use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr, UdpSocket};

/// The address of the name server: the resolver of the machine is told of it.
pub const ADDRESS: Ipv4Addr = Ipv4Addr::new(9, 9, 9, 9);

/// At its own address: an answer from another one is none.
pub fn socket() -> UdpSocket {
    UdpSocket::bind((ADDRESS, 53)).unwrap()
}

/// Answers with the addresses of a name; they may hang on how often it was asked for before.
pub fn answer(socket: &UdpSocket, book: &Book, addresses: fn(&str, usize) -> Vec<IpAddr>) -> ! {
    let mut asked: HashMap<String, usize> = HashMap::new();
    let mut message = [0; 1500];
    loop {
        let Ok((length, from)) = socket.recv_from(&mut message) else { continue };
        let message = &message[..length];
        // Whatever else arrives here is worth a line, and no answer.
        book.note("udp 53");
        if length < 17 || message[4..6] != [0, 1] {
            continue;
        }
        let mut at = 12;
        let mut name = String::new();
        while message[at] != 0 {
            let label = &message[at + 1..at + 1 + usize::from(message[at])];
            name.push_str(&String::from_utf8_lossy(label));
            name.push('.');
            at += 1 + label.len();
        }
        let name = name.trim_end_matches('.').to_lowercase();
        let kind = u16::from_be_bytes([message[at + 1], message[at + 2]]);
        book.note(&format!("dns {name}"));
        let before = asked.entry(name.clone()).or_default();
        let found = addresses(&name, *before);
        *before += usize::from(kind == 1);
        let answers: Vec<Ipv4Addr> = found
            .iter()
            .filter_map(|address| match address {
                IpAddr::V4(address) if kind == 1 => Some(*address),
                _ => None,
            })
            .collect();
        let mut reply = message[..2].to_vec();
        reply.extend([0x81, if found.is_empty() { 0x83 } else { 0x80 }, 0, 1, 0]);
        reply.push(u8::try_from(answers.len()).unwrap());
        reply.extend([0; 4]);
        reply.extend(&message[12..at + 5]);
        for address in answers {
            reply.extend([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4]);
            reply.extend(address.octets());
        }
        let _ = socket.send_to(&reply, from);
    }
}
