//! Tunnels: whom the first bytes are meant for, and that all the others pass.

use super::*;

#[test]
fn tls_for_another_name_goes_nowhere() {
    for (to, name) in [
        ("ok.com:443", "evil.net"),
        ("ok.com:443", "ok.com.evil.net"),
        ("ok.com:443", "www.ok.com"),
        ("ok.com:443", "ok.com.."),
        ("ok.com:443", "ok.com\0"),
        ("ok.com:443", "192.0.2.7"),
        ("192.0.2.7:443", "ok.com"),
        ("192.0.2.7:443", "192.0.2.7"),
        ("[2001:db8::7]:443", "ok.com"),
    ] {
        for door in DOORS {
            let mut stage = Stage::tunnel(door, to);
            stage.say(client_hello(Some(name.as_bytes())));
            let (_, got, record) = stage.end();
            assert_eq!(got.as_deref(), Some(&b""[..]), "{door:?} {to} {name:?}");
            let closed = &record.closed[0];
            assert_eq!(closed.why, Some(Reason::SniMismatch), "{door:?} {to} {name:?}");
            assert_eq!((closed.sni.as_deref(), closed.up), (Some(name), 0));
            assert_eq!((record.closed.len(), record.refused.len()), (1, 0));
        }
    }
}

#[test]
fn tls_that_cannot_be_read_goes_nowhere() {
    for door in DOORS {
        for bytes in
            [&[0x16, 3, 1, 0, 0][..], &client_hello(Some(b"ok.com"))[..40], b"\x16\x03GET / HTTP/1.1\r\n"]
        {
            let mut stage = Stage::tunnel(door, "ok.com:443");
            stage.say(bytes);
            let (_, got, record) = stage.end();
            assert_eq!(got.as_deref(), Some(&b""[..]), "{door:?} {bytes:?}");
            assert!(matches!(record.closed[0].why, Some(Reason::BadRequest(_))), "{:?}", record.closed);
        }
    }
}

#[test]
fn tls_for_the_admitted_name_or_none_passes() {
    for (to, name) in [
        ("ok.com:443", Some("ok.com")),
        ("ok.com:443", Some("OK.com.")),
        ("ok.com:443", None),
        ("192.0.2.7:443", None),
    ] {
        for door in DOORS {
            let mut stage = Stage::tunnel(door, to);
            let hello = client_hello(name.map(str::as_bytes));
            let (first, rest) = hello.split_at(hello.len() / 2);
            let mut server = stage.server();
            stage.say(first);
            stage.say([rest, b"and more"].concat());
            assert_eq!(hear(&mut server, hello.len() + 8), [&hello[..], b"and more"].concat());
            server.write_all(b"hello yourself").unwrap();
            assert_eq!(stage.hear(14), b"hello yourself");
            drop(server);
            let (heard, _, record) = stage.end();
            let closed = &record.closed[0];
            assert_eq!((heard.as_str(), closed.why, closed.sni.as_deref()), ("", None, name));
            assert_eq!((closed.up, closed.down), (hello.len() as u64 + 8, 14));
            assert_eq!((closed.via, closed.target.to_string().as_str()), (door.via(), to));
        }
    }
}

#[test]
fn a_server_may_speak_first() {
    for door in DOORS {
        let mut stage = Stage::tunnel(door, "ok.com:443");
        let mut server = stage.server();
        server.write_all(b"SSH-2.0-server\r\n").unwrap();
        assert_eq!(stage.hear(16), b"SSH-2.0-server\r\n");
        // While it is not clear yet what the client begins.
        stage.say("SSH-2.0-");
        server.write_all(b"more").unwrap();
        assert_eq!(stage.hear(4), b"more");
        stage.say("client\r\n");
        assert_eq!(hear(&mut server, 16), b"SSH-2.0-client\r\n");
        drop(server);
        let (_, _, record) = stage.end();
        assert_eq!((record.closed[0].up, record.closed[0].down, record.closed[0].why), (16, 20, None));
    }
}

#[test]
fn an_end_of_either_side_is_passed_on_and_the_other_goes_on() {
    for door in DOORS {
        // The client ends first: without a word, and after one.
        for said in ["", "SSH-2.0-client", "hello\r\n"] {
            let mut stage = Stage::tunnel(door, "ok.com:443");
            let mut server = stage.server();
            stage.say(said);
            stage.client.shutdown(Shutdown::Write).unwrap();
            assert_eq!(hear_all(&mut server), said.as_bytes());
            server.write_all(b"still here").unwrap();
            drop(server);
            let (heard, _, record) = stage.end();
            assert_eq!((heard.as_str(), record.closed[0].why), ("still here", None), "{door:?} {said:?}");
        }
        // The server does: before the client's first word, and after it.
        for early in [true, false] {
            let mut stage = Stage::tunnel(door, "ok.com:443");
            let mut server = stage.server();
            if !early {
                stage.say("\0one");
                assert_eq!(hear(&mut server, 4), b"\0one");
            }
            server.write_all(b"bye").unwrap();
            server.shutdown(Shutdown::Write).unwrap();
            assert_eq!(hear_all(&mut stage.client), b"bye");
            stage.say("\0two");
            assert_eq!(hear(&mut server, 4), b"\0two");
            let (_, _, record) = stage.end();
            assert_eq!(hear_all(&mut server), b"");
            assert_eq!((record.closed[0].down, record.closed[0].why), (3, None));
        }
    }
}

#[test]
fn what_came_with_the_request_belongs_to_the_tunnel() {
    let hello = client_hello(Some(b"ok.com"));
    let connect = [b"CONNECT ok.com:443 HTTP/1.1\r\n\r\n", &hello[..]].concat();
    let socks = [&[5, 1, 0][..], &socks_request(b"ok.com", 443), &hello].concat();
    for request in [connect, socks] {
        let (_, got, record) = Stage::asking(request).end();
        assert_eq!((got.as_deref(), record.closed[0].up), (Some(&hello[..]), hello.len() as u64));
    }
    let evil = client_hello(Some(b"evil.net"));
    let connect = [b"CONNECT ok.com:443 HTTP/1.1\r\n\r\n", &evil[..]].concat();
    let (_, got, record) = Stage::asking(connect).end();
    assert_eq!((got.as_deref(), record.closed[0].why), (Some(&b""[..]), Some(Reason::SniMismatch)));
}
