//! Requests by which a client, or a server behind, could be led to take one for two, or to wait for ever.

use super::*;

/// What the client is told of bytes, none of which reach the server as a request.
fn told(setup: Setup, bytes: &[u8]) -> (String, Value) {
    let mut stage = setup.stage();
    let mut client = stage.client();
    // What is tested may have had enough already.
    let _ = client.write_all(bytes);
    let answer = text(hear_all(&mut client));
    drop(client);
    assert_eq!(text(hear_all(&mut stage.server())), "");
    (answer, stage.closed())
}

#[test]
fn what_cannot_be_read_in_one_way_only_is_refused() {
    for (asked, status) in [
        ("GET / HTTP/1.1\r\nHost: ok.com\r\nHost: ok.com\r\n\r\n", "400"),
        ("GET / HTTP/1.1\r\n\r\n", "400"),
        ("POST / HTTP/1.1\r\nHost: ok.com\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab", "400"),
        ("POST / HTTP/1.1\r\nHost: ok.com\r\nContent-Length: +1\r\n\r\na", "400"),
        ("POST / HTTP/1.1\r\nHost: ok.com\r\nTransfer-Encoding: gzip\r\n\r\n", "400"),
        ("POST / HTTP/1.1\r\nHost: ok.com\r\nTransfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n", "400"),
        ("POST / HTTP/1.0\r\nHost: ok.com\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "400"),
        ("GET / HTTP/1.1\r\nHost: ok.com\r\n folded: x\r\n\r\n", "400"),
        ("GET / HTTP/1.1\r\nHost : ok.com\r\n\r\n", "400"),
        ("GET / HTTP/1.1\r\nHost: ok.com\r\nA: b\rc\r\n\r\n", "400"),
        ("GET / HTTP/1.1\r\nHost: ok.com\r\nA: \0\r\n\r\n", "400"),
        ("GET /\0 HTTP/1.1\r\nHost: ok.com\r\n\r\n", "400"),
        ("GET  / HTTP/1.1\r\nHost: ok.com\r\n\r\n", "400"),
        ("GET /\r\n\r\n", "400"),
        ("GET ok.com HTTP/1.1\r\nHost: ok.com\r\n\r\n", "421"),
        ("GET / HTTP/2.0\r\nHost: ok.com\r\n\r\n", "400"),
        ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", ""),
        ("\x16\x03\x01", "400"),
    ] {
        let close = asked.replacen("\r\n\r\n", "\r\nConnection: close\r\n\r\n", usize::from(status == "421"));
        let (answer, line) = told(Setup::new(), close.as_bytes());
        assert!(
            answer.is_empty() == status.is_empty() && answer.get(9..12).unwrap_or("") == status,
            "{asked:?}: {answer}"
        );
        if status != "421" {
            assert_eq!(line["why"], "bad-request", "{asked:?}: {line}");
        }
    }
}

#[test]
fn a_length_beside_chunks_is_not_passed_on() {
    for fields in [
        "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: chunked\r\nContent-Length: 4\r\n",
    ] {
        let mut stage = Setup::new().stage();
        let mut client = stage.client();
        let asked = format!(
            "POST /1 HTTP/1.1\r\nHost: ok.com\r\n{fields}\r\n0\r\n\r\nGET /2 HTTP/1.1\r\nHost: ok.com\r\n\r\n"
        );
        client.write_all(asked.as_bytes()).unwrap();
        let mut server = stage.server();
        assert_eq!(
            text(hear_message(&mut server)),
            "POST /1 HTTP/1.1\r\nhost: ok.com\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n"
        );
        server.write_all(OK.as_bytes()).unwrap();
        // Nothing after it is a request, and the connection is over.
        assert_eq!(hear_all(&mut server), b"");
        assert!(text(hear_all(&mut client)).ends_with("ok"));
        drop((client, server));
        assert_eq!(stage.closed()["requests"], 1);
    }
}

#[test]
fn there_is_an_end_to_a_head() {
    let large = format!("GET / HTTP/1.1\r\nHost: ok.com\r\nA: {}\r\n\r\n", "x".repeat(70 << 10));
    let many = format!("GET / HTTP/1.1\r\nHost: ok.com\r\n{}\r\n", "A: b\r\n".repeat(300));
    for asked in [large, many] {
        let (answer, line) = told(Setup::new(), asked.as_bytes());
        assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 431 "), "{answer}");
        assert_eq!(line["why"], "bad-request");
    }
    // One that is just not too large passes.
    let mut stage = Setup::new().stage();
    let (got, _) = stage.once(get("/", &format!("A: {}\r\n", "x".repeat(60 << 10))), OK);
    assert!(got.len() > 60 << 10);
    stage.end();
}

#[test]
fn whoever_does_not_complete_a_request_is_cut_off_and_whoever_begins_none_is_not() {
    let times = Times { opening: Duration::from_millis(150), parting: Duration::from_millis(50) };
    let mut stage = Setup { times, ..Setup::new() }.stage();
    let mut client = stage.client();
    client.write_all(get("/", "").as_bytes()).unwrap();
    let mut server = stage.server();
    head(&mut server);
    // A server may take its time, and so may a client between requests.
    thread::sleep(times.opening * 2);
    server.write_all(OK.as_bytes()).unwrap();
    assert!(text(hear_message(&mut client)).ends_with("ok"));
    thread::sleep(times.opening * 2);
    client.write_all(b"GET / HTTP/1.1\r\nHost: ok").unwrap();
    assert_eq!(hear_all(&mut client), b"");
    drop((client, server));
    assert_eq!(stage.closed()["why"], "too-slow");

    // Nor need TLS be begun at once; but once begun, it must be completed.
    let mut stage = Setup { times, ..Setup::new() }.stage();
    let mut client = stage.captured(TO);
    thread::sleep(times.opening * 2);
    client.write_all(&[0x16, 3, 1]).unwrap();
    assert_eq!(hear_all(&mut client), b"");
    assert_eq!(stage.closed()["why"], "too-slow");
}

#[test]
fn a_client_that_goes_is_noticed() {
    // While the server begins nothing, while it does not answer, and while it answers.
    let origin = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let mut stage = Setup::new().stage();
    Arc::get_mut(&mut stage.gate).unwrap().origin = origin.local_addr().unwrap();
    let mut client = stage.client();
    client.conn.write_tls(&mut client.sock).unwrap();
    let (mut silent, _) = origin.accept().unwrap();
    hear(&mut silent, 5);
    drop(client);
    hear_all(&mut silent);
    stage.closed();

    for answer in ["", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"] {
        let mut stage = Setup::new().stage();
        let mut client = stage.client();
        client.write_all(get("/", "").as_bytes()).unwrap();
        let mut server = stage.server();
        head(&mut server);
        server.write_all(answer.as_bytes()).unwrap();
        if !answer.is_empty() {
            head(&mut client);
        }
        drop(client);
        assert_eq!(hear_all(&mut server), b"");
        stage.closed();
    }
}
