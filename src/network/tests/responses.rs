//! What servers answer: as it comes, also early, also with another protocol.

use super::*;

const UPGRADE: &str = "GET http://ok.com/ws HTTP/1.1\r\nHost: ok.com\r\nConnection: keep-alive, Upgrade\r\nUpgrade: websocket\r\n\r\n";
const ON_TUNNEL: &str =
    "GET /ws HTTP/1.1\r\nHost: ok.com\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n";

fn upgrading(door: Option<Door>) -> Stage {
    let Some(door) = door else { return Stage::asking(UPGRADE) };
    let mut stage = Stage::tunnel(door, "ok.com:80");
    stage.say(ON_TUNNEL);
    stage
}

#[test]
fn another_protocol_becomes_a_tunnel() {
    for door in [None, Some(Door::Connect), Some(Door::Socks), Some(Door::Capture)] {
        let mut stage = upgrading(door);
        let mut server = stage.server();
        let head = hear_head(&mut server);
        assert!(head.ends_with("\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"), "{head}");
        // Kept until the server agrees.
        stage.say("early");
        server.write_all(b"HTTP/1.1 103 Early Hints\r\n\r\n").unwrap();
        assert_eq!(stage.hear(28), b"HTTP/1.1 103 Early Hints\r\n\r\n");
        let agreed = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n";
        server.write_all(&[&agreed[..], b"frame"].concat()).unwrap();
        assert_eq!(stage.hear(agreed.len() + 5), [&agreed[..], b"frame"].concat());
        stage.say(" and late");
        assert_eq!(hear(&mut server, 14), b"early and late");
        server.write_all(b"more").unwrap();
        assert_eq!(stage.hear(4), b"more");
        drop(server);
        let closed = stage.end().2.closed.remove(0);
        assert_eq!((closed.why, closed.up), (None, head.len() as u64 + 14));
        assert_eq!(closed.down, 28 + agreed.len() as u64 + 9);
    }
}

#[test]
fn where_the_server_stays_with_http_nothing_follows() {
    for door in [None, Some(Door::Connect), Some(Door::Socks), Some(Door::Capture)] {
        let mut stage = upgrading(door);
        let mut server = stage.server();
        let head = hear_head(&mut server);
        stage.say("GET / HTTP/1.1\r\nHost: evil.net\r\n\r\n");
        server
            .write_all(b"HTTP/1.1 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nhi")
            .unwrap();
        server.shutdown(Shutdown::Write).unwrap();
        let (heard, _, record) = stage.end();
        assert_eq!(heard, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi");
        assert_eq!(hear_all(&mut server), b"");
        assert_eq!(record.closed[0].up, head.len() as u64);
    }
}

#[test]
fn protocols_with_other_hosts_in_them_are_not_asked_for() {
    for (field, asked) in [
        ("Upgrade: h2c", false),
        ("Upgrade: HTTP/2.0", false),
        ("Upgrade: TLS/1.2", false),
        ("Upgrade: websocket, h2c", false),
        ("Upgrade: websocket\r\nUpgrade: h2c", false),
        ("Upgrade:", false),
        ("Upgrade: websocket\r\nContent-Length: 2", false),
        ("Upgrade: SPDY/3.1", true),
        ("Upgrade: websocket\r\nContent-Length: 0", true),
    ] {
        let stage = Stage::asking(format!(
            "GET http://ok.com/ HTTP/1.1\r\nConnection: Upgrade, HTTP2-Settings\r\nHTTP2-Settings: x\r\n{field}\r\n\r\nhi"
        ));
        let mut server = stage.server();
        let head = hear_head(&mut server);
        assert_eq!(head.contains("\r\nUpgrade: "), asked, "{head}");
        assert_eq!(head.contains("\r\nConnection: close\r\n"), !asked, "{head}");
        assert!(!head.contains("HTTP2-Settings:"), "{head}");
        drop(server);
        assert_eq!(stage.end().2.closed.len(), 1);
    }
}

#[test]
fn an_early_answer_reaches_a_client_that_still_sends() {
    let mut stage = Stage::asking("POST http://ok.com/ HTTP/1.1\r\nContent-Length: 50000000\r\n\r\n");
    let mut server = stage.server();
    hear_head(&mut server);
    server.write_all(b"HTTP/1.1 413 Too Large\r\n\r\n").unwrap();
    server.shutdown(Shutdown::Write).unwrap();
    stage.say([b'x'; 1000]);
    assert_eq!(hear_all(&mut stage.client), b"HTTP/1.1 413 Too Large\r\nConnection: close\r\n\r\n");
    drop(server);
    stage.say(vec![b'x'; 1_000_000]);
    assert_eq!(stage.end().2.closed[0].why, None);
}

#[test]
fn a_client_that_goes_takes_the_request_with_it() {
    for request in ["GET http://ok.com/ HTTP/1.1\r\n\r\n", UPGRADE] {
        let stage = Stage::asking(request);
        let mut server = stage.server();
        hear_head(&mut server);
        super::super::relay::reset(&stage.client);
        drop(stage.client);
        assert_eq!(hear_all(&mut server), b"");
        stage.worker.join().unwrap();
        assert_eq!(stage.gate.record.lock().unwrap().closed.len(), 1);
    }
}

#[test]
fn a_response_ends_the_connection_although_the_server_does_not() {
    for (method, body, more) in [
        ("GET", "Content-Length: 2\r\n\r\n", "hi"),
        ("GET", "Transfer-Encoding: chunked\r\n\r\n", "2;x=y\r\nhi\r\n0\r\nA: b\r\n\r\n"),
        ("GET", "Content-Length: 0\r\n\r\n", ""),
        ("HEAD", "Content-Length: 2\r\n\r\n", ""),
    ] {
        for door in [None, Some(Door::Connect), Some(Door::Socks), Some(Door::Capture)] {
            let mut stage = match door {
                None => Stage::asking(format!("{method} http://ok.com/ HTTP/1.1\r\n\r\n")),
                Some(door) => {
                    let mut stage = Stage::tunnel(door, "ok.com:80");
                    stage.say(format!("{method} / HTTP/1.1\r\nHost: ok.com\r\n\r\n"));
                    stage
                }
            };
            let mut server = stage.server();
            hear_head(&mut server);
            let head = format!("HTTP/1.1 200 OK\r\nConnection: Keep-Alive\r\n{body}");
            server.write_all(format!("{head}{more}HTTP/1.1 200 not asked for").as_bytes()).unwrap();
            let heard = String::from_utf8(hear_all(&mut stage.client)).unwrap();
            let body = body.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n");
            assert_eq!(heard, format!("HTTP/1.1 200 OK\r\n{body}{more}"));
            assert_eq!(hear_all(&mut server), b"");
            let closed = stage.end().2.closed.remove(0);
            assert_eq!((closed.why, closed.down), (None, heard.len() as u64));
        }
    }
}
