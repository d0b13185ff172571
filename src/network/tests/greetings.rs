//! First messages of TLS clients: which name is read from them, and what is none.

use super::*;
use crate::network::opening::{Opener, Opening};

fn look(bytes: &[u8]) -> Opening {
    Opener::default().look(bytes, false)
}

fn named(name: &str) -> Opening {
    Opening::Tls(Some(name.as_bytes().to_vec()))
}

/// A server name extension with these entries, each a kind and a name.
fn server_name(entries: &[(u8, &[u8])]) -> Vec<u8> {
    let list: Vec<u8> =
        entries.iter().flat_map(|(kind, name)| [&[*kind][..], &vector16(name)].concat()).collect();
    [&[0, 0][..], &vector16(&vector16(&list))].concat()
}

/// The same message in records of `size` bytes each.
fn in_records(hello: &[u8], size: usize) -> Vec<u8> {
    hello[5..].chunks(size).flat_map(record).collect()
}

#[test]
fn the_name_is_read_wherever_the_message_is_split() {
    let hello = client_hello(Some(b"ok.com"));
    for bytes in [hello.clone(), in_records(&hello, 1), in_records(&hello, 7), in_records(&hello, 100)] {
        for split in 1..bytes.len() {
            let mut opener = Opener::default();
            assert_eq!(opener.look(&bytes[..split], false), Opening::Undecided, "{split}");
            assert_eq!(opener.look(&bytes, false), named("ok.com"), "{split}");
        }
        let mut opener = Opener::default();
        let looks = (1..=bytes.len()).map(|end| opener.look(&bytes[..end], false));
        assert_eq!(looks.filter(|look| *look != Opening::Undecided).collect::<Vec<_>>(), [named("ok.com")]);
    }
}

#[test]
fn a_message_may_have_no_name() {
    let bare = record(&handshake(&[&[3, 1][..], &[7; 32], &[0], &[0, 2, 0, 47], &[1, 0]].concat()));
    for hello in [client_hello(None), client_hello_with(&[]), bare] {
        assert_eq!(look(&hello), Opening::Tls(None));
    }
    // What follows in further records is not looked at.
    let early_data = [client_hello(Some(b"ok.com")), vec![0x17, 3, 3, 0, 1, 0]].concat();
    assert_eq!(look(&early_data), named("ok.com"));
}

#[test]
fn what_two_readers_could_take_for_two_names_is_none() {
    let ok = server_name(&[(0, b"ok.com")]);
    let hello = client_hello(Some(b"ok.com"));
    let with = |at: usize, byte: u8| {
        let mut bytes = hello.clone();
        bytes[at] = byte;
        bytes
    };
    let body = |body: &[&[u8]]| record(&handshake(&body.concat()));
    let long = record(&[&[1, 1, 0, 1][..], &[0; 16000]].concat());
    for (case, bytes) in [
        ("two extensions", client_hello_with(&[&ok[..], &ok].concat())),
        ("two names", client_hello_with(&server_name(&[(0, b"ok.com"), (0, b"evil.net")]))),
        ("another kind of name", client_hello_with(&server_name(&[(1, b"ok.com")]))),
        ("an empty name", client_hello_with(&server_name(&[(0, b"")]))),
        ("an empty list", client_hello_with(&server_name(&[]))),
        ("no list", client_hello_with(&[0, 0, 0, 0])),
        ("a list that is too long", client_hello_with(&[0, 0, 0, 2, 0, 9])),
        (
            "bytes behind the list",
            client_hello_with(&[&[0, 0][..], &vector16(&[0, 4, 0, 0, 1, b'a', 0])].concat()),
        ),
        ("an extension that is cut short", client_hello_with(&[0, 0, 0])),
        ("another message", with(5, 2)),
        ("a record of another kind", [&record(&hello[5..8])[..], &[0x17, 3, 3, 0, 1, 0]].concat()),
        ("an empty record", vec![0x16, 3, 1, 0, 0]),
        ("a record that is too long", vec![0x16, 3, 1, 0x40, 1]),
        ("a message that is too long", long),
        ("a message that ends early", body(&[&[3, 3], &[7; 20]])),
        ("a session that is too long", body(&[&[3, 3], &[7; 32], &[33], &[0; 33], &[0, 2, 0, 47], &[1, 0]])),
        ("no cipher suite", body(&[&[3, 3], &[7; 32], &[0], &[0, 0], &[1, 0]])),
        ("half a cipher suite", body(&[&[3, 3], &[7; 32], &[0], &[0, 1, 0], &[1, 0]])),
        ("no compression", body(&[&[3, 3], &[7; 32], &[0], &[0, 2, 0, 47], &[0]])),
        (
            "bytes behind the extensions",
            body(&[&[3, 3], &[7; 32], &[0], &[0, 2, 0, 47], &[1, 0], &[0, 0, 9]]),
        ),
        ("another message behind it", record(&[&hello[5..], &[20, 0, 0, 0]].concat())),
    ] {
        assert!(matches!(look(&bytes), Opening::Malformed(_)), "{case}: {:?}", look(&bytes));
    }
    let cut = Opener::default().look(&hello[..60], true);
    assert!(matches!(cut, Opening::Malformed(_)), "{cut:?}");
}

#[test]
fn other_protocols_are_known_at_once() {
    for first in [
        "SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n",
        "EHLO me\r\n",
        "OPTIONS rtsp://ok.com/ RTSP/1.0\r\n",
        "USER anonymous\r\n",
        "get key\r\n",
        "*1\r\n$4\r\nPING\r\n",
        "0032git-upload-pack /project.git\0host=ok.com\0",
        "\u{16}\u{1}",
        "\0\0\0\u{8}",
        "GET\r\n",
    ] {
        assert_eq!(look(first.as_bytes()), Opening::Other, "{first:?}");
    }
}

#[test]
fn what_a_server_may_take_for_a_request_is_one() {
    for first in [
        "GET / HTTP/1.1\r\n",
        "get / http/1.0\n",
        "\r\n\n \tGET / HTTP/1.1",
        "GET\t/\tHTTP/1.1",
        "GET\u{b}/\u{c}HTTP/1.1",
        "ANY-THING * HTTP/2.0",
        "GET /\r\n",
        "GET  /a\n",
        "GET \0/ HTTP/1.1\r\n",
    ] {
        assert_eq!(look(first.as_bytes()), Opening::Http, "{first:?}");
        for end in 0..first.len() {
            let look = look(&first.as_bytes()[..end]);
            assert!(
                matches!(look, Opening::Undecided | Opening::Http) || first.contains('\0'),
                "{first:?} {end}"
            );
        }
    }
}
