//! Bodies of requests: passed byte by byte as they are, and nothing behind them.

use super::*;
use crate::network::http::body::Chunks;

fn feed(pieces: &[&[u8]]) -> Result<(Vec<u8>, bool, usize), &'static str> {
    let mut chunks = Chunks::default();
    let (mut out, mut used) = (Vec::new(), 0);
    for piece in pieces {
        used += chunks.feed(piece, &mut out)?;
    }
    Ok((out, chunks.done(), used))
}

const CHUNKED: &[u8] =
    b"5\r\nhello\r\n1\r\n\n\r\n1a\r\nabcdefghijklmnop\r\n0\r\n\r\n456\r\n0\r\nX-Sum: 1\r\n\r\n";

#[test]
fn chunks_are_the_same_wherever_they_are_split() {
    let whole = [CHUNKED, b"GET /"].concat();
    for one in 0..whole.len() {
        for other in (one..whole.len()).step_by(3) {
            let pieces = [&whole[..one], &whole[one..other], &whole[other..]];
            assert_eq!(feed(&pieces), Ok((CHUNKED.to_vec(), true, CHUNKED.len())), "{one} {other}");
        }
    }
    let single: Vec<_> = whole.chunks(1).collect();
    assert_eq!(feed(&single), Ok((CHUNKED.to_vec(), true, CHUNKED.len())));
}

#[test]
fn extensions_stay_behind() {
    let sent = feed(&[b"00A;a=\"b\"\r\n0123456789\r\n0;x\r\n\r\n"]);
    assert_eq!(sent.map(|sent| sent.0), Ok(b"a\r\n0123456789\r\n0\r\n\r\n".to_vec()));
}

#[test]
fn a_chunk_that_can_be_read_in_two_ways_is_none() {
    for body in [
        "\r\n",
        "g\r\n",
        "+5\r\nhello",
        "0x5\r\nhello",
        " 5\r\nhello",
        "5 \r\nhello",
        "5\nhello",
        "5\r\r\nhello",
        "5\rhello",
        "5;\n\r\nhello",
        "5;a\rb\r\nhello",
        "5;\0\r\nhello",
        "5\r\nhello0\r\n\r\n",
        "5\r\nhello\n0\r\n\r\n",
        "5\r\nhello\rx",
        "ffffffffffffffff\r\n",
        "-1\r\n",
        "0\r\nX\r\n\r\n",
        "0\r\nX : 1\r\n\r\n",
        "0\r\n X: 1\r\n\r\n",
        "0\r\nX: 1\n\r\n",
        "0\r\nHost: evil.net\r\n\r\n",
        "0\r\nContent-Length: 5\r\n\r\n",
        "0\r\nTransfer-Encoding: chunked\r\n\r\n",
    ] {
        assert!(feed(&[body.as_bytes()]).is_err(), "{body:?}");
    }
    for long in [format!("5;{}", "x".repeat(5000)), format!("0\r\nX: {}", "x".repeat(70_000))] {
        assert!(feed(&[long.as_bytes()]).is_err());
    }
}

fn upload(door: Option<Door>, rest: &str) -> Stage {
    match door {
        None => Stage::asking(format!("POST http://ok.com/ HTTP/1.1\r\nHost: ok.com\r\n{rest}")),
        Some(door) => {
            let mut stage = Stage::tunnel(door, "ok.com:80");
            stage.say(format!("POST / HTTP/1.1\r\nHost: ok.com\r\n{rest}"));
            stage
        }
    }
}

#[test]
fn a_body_waits_until_it_is_wanted() {
    for door in [None, Some(Door::Connect), Some(Door::Socks), Some(Door::Capture)] {
        let mut stage = upload(door, "Content-Length: 5\r\nExpect: 100-continue\r\n\r\n");
        let mut server = stage.server();
        assert!(hear_head(&mut server).contains("\r\nExpect: 100-continue\r\n"));
        server.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").unwrap();
        assert_eq!(stage.hear(25), b"HTTP/1.1 100 Continue\r\n\r\n");
        stage.say("helloGET http://ok.com/ HTTP/1.1\r\n\r\n");
        assert_eq!(hear(&mut server, 5), b"hello");
        server.write_all(b"HTTP/1.1 204 No\r\n\r\n").unwrap();
        server.shutdown(Shutdown::Write).unwrap();
        assert_eq!(stage.end().0, "HTTP/1.1 204 No\r\nConnection: close\r\n\r\n");
        assert_eq!(hear_all(&mut server), b"");
    }
}

#[test]
fn chunks_pass_as_they_come() {
    for door in [None, Some(Door::Connect), Some(Door::Socks), Some(Door::Capture)] {
        let mut stage = upload(door, "Transfer-Encoding: Chunked\r\n\r\n");
        let mut server = stage.server();
        assert!(hear_head(&mut server).contains("\r\nTransfer-Encoding: chunked\r\n"));
        for byte in CHUNKED.chunks(1) {
            stage.say(byte);
        }
        stage.say("GET /second HTTP/1.1\r\nHost: evil.net\r\n\r\n");
        assert_eq!(hear(&mut server, CHUNKED.len()), CHUNKED);
        server.write_all(b"HTTP/1.1 204 No\r\n\r\n").unwrap();
        server.shutdown(Shutdown::Write).unwrap();
        assert_eq!(stage.end().0, "HTTP/1.1 204 No\r\nConnection: close\r\n\r\n");
        assert_eq!(hear_all(&mut server), b"");
    }
}

#[test]
fn a_malformed_body_ends_the_request() {
    let stage = upload(None, "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n");
    let mut server = stage.server();
    hear_head(&mut server);
    assert_eq!(hear(&mut server, 10), b"5\r\nhello\r\n");
    (&stage.client).write_all(b"zz\r\n0\r\n\r\n").unwrap();
    let (_, _, record) = stage.end();
    assert_eq!(hear_all(&mut server), b"");
    assert!(matches!(record.closed[0].why, Some(Reason::BadRequest(_))), "{:?}", record.closed);
}
