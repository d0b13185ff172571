//! What may be asked, and that what may be arrives as it was meant.

use super::*;

impl Stage {
    /// Asks on a connection of its own, and gives the answer; nothing of it reaches the server.
    pub(super) fn refusal(&mut self, asked: impl AsRef<[u8]>) -> String {
        let mut client = self.client();
        client.write_all(asked.as_ref()).unwrap();
        let answer = text(hear_message(&mut client));
        drop(client);
        assert_eq!(text(hear_all(&mut self.server())), "");
        answer
    }
}

#[test]
fn what_no_line_allows_is_answered_and_the_connection_goes_on() {
    let mut stage = Setup::limited(&["GET", "HEAD"], &[]).stage();
    let mut client = stage.client();
    client.write_all(b"POST /secret-path HTTP/1.1\r\nHost: ok.com\r\nContent-Length: 2\r\n\r\nhi").unwrap();
    let answer = text(hear_message(&mut client));
    assert!(
        answer.starts_with("HTTP/1.1 403 Forbidden\r\nx-proxy-error: request-not-allowed\r\n"),
        "{answer}"
    );
    assert!(!answer.contains("connection: close"), "{answer}");
    let body: Value = serde_json::from_str(answer.split("\r\n\r\n").nth(1).unwrap()).unwrap();
    assert_eq!(body["line"], "allow \"ok.com\" methods POST");
    assert_eq!(
        (&body["reason"], &body["host"], &body["port"]),
        (&"request-not-allowed".into(), &NAME.into(), &443.into())
    );
    client.write_all(get("/", "").as_bytes()).unwrap();
    let mut server = stage.server();
    assert_eq!(head(&mut server), "GET / HTTP/1.1\r\nhost: ok.com\r\n\r\n");
    server.write_all(OK.as_bytes()).unwrap();
    assert!(text(hear_message(&mut client)).ends_with("ok"));
    drop((client, server));
    let (lines, summary) = stage.end();
    let deny = &lines[0];
    assert_eq!(
        (&deny["ev"], &deny["why"], &deny["method"]),
        (&"deny".into(), &"request-not-allowed".into(), &"POST".into())
    );
    assert_eq!((&deny["host"], &deny["line"]), (&NAME.into(), &"allow \"ok.com\" methods POST".into()));
    assert!(!format!("{lines:?}").contains("secret-path"));
    assert_eq!((&lines[1]["requests"], lines[1].get("why")), (&2.into(), None));
    assert_eq!((summary.refusals, summary.refused[0].reason.as_str()), (1, "request-not-allowed"));
}

#[test]
fn methods_are_what_they_are_and_what_servers_take_them_for() {
    let mut stage = Setup::limited(&["GET"], &[]).stage();
    for (asked, line) in [
        ("DELETE / HTTP/1.1\r\nHost: ok.com\r\n\r\n", Some("allow \\\"ok.com\\\" methods DELETE")),
        ("get / HTTP/1.1\r\nHost: ok.com\r\n\r\n", None),
        ("GET / HTTP/1.1\r\nHost: ok.com\r\nX-HTTP-Method-Override: delete\r\n\r\n", Some("methods DELETE")),
        ("GET / HTTP/1.1\r\nHost: ok.com\r\nX-HTTP-Method: PUT\r\n\r\n", Some("methods PUT")),
        (
            "GET / HTTP/1.1\r\nHost: ok.com\r\nX-Method-Override: GET\r\nX-Method-Override: PATCH\r\n\r\n",
            Some("methods PATCH"),
        ),
    ] {
        let answer = stage.refusal(asked);
        assert!(answer.contains("x-proxy-error: request-not-allowed"), "{asked}: {answer}");
        match line {
            Some(line) => assert!(answer.contains(line), "{asked}: {answer}"),
            None => assert!(answer.contains("\"line\":null"), "{asked}: {answer}"),
        }
    }
    let (got, _) = stage.once(get("/", "X-HTTP-Method-Override: get\r\n"), OK);
    assert!(got.starts_with("GET / HTTP/1.1\r\n"), "{got}");
    let (lines, _) = stage.end();
    assert_eq!(
        lines.iter().find(|line| line["ev"] == "deny" && line["method"] == "PATCH").unwrap()["host"],
        NAME
    );
}

#[test]
fn paths_that_servers_could_read_differently_are_not_allowed_where_paths_are_limited() {
    let mut stage = Setup::limited(&[], &["/raw/**", "/meta"]).stage();
    for path in [
        "/admin",
        "/raw/../admin",
        "/raw/%2e%2e/admin",
        "/raw/.%2E/admin",
        "/raw//admin",
        "//raw/a",
        "/raw/..;/admin",
        "/raw/%2fadmin",
        "/raw/a%5cb",
        "/raw/%00",
        "/meta/",
        "/META",
        "/raw/..?x",
        "/meta%3Fx",
    ] {
        let answer = stage.refusal(get(path, ""));
        assert!(answer.contains("x-proxy-error: request-not-allowed"), "{path}: {answer}");
    }
    assert!(stage.refusal("OPTIONS * HTTP/1.1\r\nHost: ok.com\r\n\r\n").contains("request-not-allowed"));
    for path in ["/meta?x=/../y", "/raw/a/b?c", "/raw/%61"] {
        let (got, heard) = stage.once(get(path, ""), OK);
        assert!(got.starts_with(&format!("GET {path} HTTP/1.1\r\n")), "{got}");
        assert!(heard.ends_with("ok"), "{heard}");
    }
    stage.end();
}

#[test]
fn a_request_for_another_host_is_misdirected_and_the_connection_goes_on() {
    let mut stage = Setup::new().stage();
    for asked in [
        "GET / HTTP/1.1\r\nHost: other.com\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: ok.com.\x65vil.net\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: ok.com:8443\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: user@ok.com\r\n\r\n",
        "GET https://other.com/ HTTP/1.1\r\nHost: ok.com\r\n\r\n",
        "GET http://ok.com/ HTTP/1.1\r\nHost: ok.com\r\n\r\n",
        "GET https://ok.com@other.com/ HTTP/1.1\r\nHost: ok.com\r\n\r\n",
        "CONNECT other.com:443 HTTP/1.1\r\nHost: ok.com\r\n\r\n",
        "CONNECT ok.com:443 HTTP/1.1\r\nHost: ok.com:443\r\n\r\n",
    ] {
        let answer = stage.refusal(asked);
        assert!(
            answer.starts_with("HTTP/1.1 421 Misdirected Request\r\nx-proxy-error: host-mismatch\r\n"),
            "{asked}: {answer}"
        );
    }
    for asked in [
        "GET https://ok.com/a?b HTTP/1.1\r\nHost: OK.com.:443\r\n\r\n",
        "GET https://OK.COM:443/a?b HTTP/1.1\r\nHost: ok.com\r\n\r\n",
    ] {
        let (got, _) = stage.once(asked, OK);
        assert_eq!(got, "GET /a?b HTTP/1.1\r\nhost: ok.com\r\n\r\n");
    }
    let (lines, _) = stage.end();
    let denied: Vec<_> = lines.iter().filter(|line| line["ev"] == "deny").collect();
    assert_eq!(denied.len(), 9);
    assert!(denied.iter().all(|line| line["why"] == "host-mismatch"));
}

#[test]
fn what_concerns_one_connection_ends_with_it() {
    let mut stage = Setup::new().stage();
    let fields = "Connection: close, X-Hop\r\nX-Hop: 1\r\nKeep-Alive: timeout=5\r\nProxy-Authorization: Basic dTpw\r\nProxy-Connection: x\r\n\
                  TE: trailers, gzip\r\nHTTP2-Settings: x\r\nUpgrade: h2c\r\nVia: 1.1 x\r\n";
    let answer = "HTTP/1.1 200 Fine\r\nConnection: keep-alive, X-Back\r\nX-Back: 1\r\nKeep-Alive: timeout=5\r\nProxy-Authenticate: x\r\n\
                  Upgrade: h2\r\nVia: 1.1 y\r\nContent-Length: 2\r\n\r\nok";
    let (got, heard) = stage.once(get("/", fields), answer);
    assert_eq!(got, "GET / HTTP/1.1\r\nhost: ok.com\r\nvia: 1.1 x\r\nconnection: te\r\nte: trailers\r\n\r\n");
    assert_eq!(heard, "HTTP/1.1 200 OK\r\nvia: 1.1 y\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok");
    stage.end();
}

#[test]
fn a_port_that_is_not_443_is_named_to_the_server() {
    let mut stage = Setup { rules: vec![rule("ok.com:8443", limited(&[], &[]))], ..Setup::new() }.stage();
    let mut client = stage.client_to("ok.com:8443");
    client.write_all(b"GET / HTTP/1.1\r\nHost: ok.com:8443\r\n\r\n").unwrap();
    assert_eq!(head(&mut stage.server()), "GET / HTTP/1.1\r\nhost: ok.com:8443\r\n\r\n");
    drop(client);
    stage.end();
}

#[test]
fn bodies_stream_both_ways_and_so_do_trailers() {
    let mut stage = Setup::new().stage();
    let mut client = stage.client();
    client.write_all(b"PUT / HTTP/1.1\r\nHost: ok.com\r\nTransfer-Encoding: chunked\r\nTE: trailers\r\nTrailer: x-sum\r\n\r\n").unwrap();
    client.write_all(b"3\r\none\r\n").unwrap();
    let mut server = stage.server();
    let got = head(&mut server);
    assert!(got.contains("transfer-encoding: chunked") && got.contains("trailer: x-sum"), "{got}");
    // It is there before there is more.
    assert_eq!(hear(&mut server, 8), b"3\r\none\r\n");
    client.write_all(b"3\r\ntwo\r\n0\r\nx-sum: 7\r\n\r\n").unwrap();
    assert_eq!(text(hear(&mut server, 23)), "3\r\ntwo\r\n0\r\nx-sum: 7\r\n\r\n");
    server
        .write_all(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: x-back\r\n\r\n3\r\nuno\r\n")
        .unwrap();
    let got = head(&mut client);
    assert!(got.contains("transfer-encoding: chunked"), "{got}");
    assert_eq!(hear(&mut client, 8), b"3\r\nuno\r\n");
    server.write_all(b"3\r\ndos\r\n0\r\nx-back: 8\r\n\r\n").unwrap();
    assert_eq!(text(hear(&mut client, 24)), "3\r\ndos\r\n0\r\nx-back: 8\r\n\r\n");
    drop((client, server));
    stage.end();
}

#[test]
fn a_client_that_waits_to_be_told_to_go_on_is_told() {
    let mut stage = Setup::new().stage();
    let mut client = stage.client();
    client
        .write_all(b"PUT / HTTP/1.1\r\nHost: ok.com\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n")
        .unwrap();
    assert_eq!(head(&mut client), "HTTP/1.1 100 Continue\r\n\r\n");
    client.write_all(b"one").unwrap();
    let mut server = stage.server();
    assert_eq!(
        text(hear_message(&mut server)),
        "PUT / HTTP/1.1\r\nhost: ok.com\r\ncontent-length: 3\r\n\r\none"
    );
    server.write_all(OK.as_bytes()).unwrap();
    assert!(text(hear_message(&mut client)).ends_with("ok"));
    drop((client, server));
    let answer = stage.refusal("PUT / HTTP/1.1\r\nHost: ok.com\r\nExpect: more\r\nContent-Length: 0\r\n\r\n");
    assert!(answer.starts_with("HTTP/1.1 400 "), "{answer}");
    stage.end();
}

#[test]
fn responses_without_a_body_have_none() {
    let mut stage = Setup::new().stage();
    let mut client = stage.client();
    let mut server = None;
    for (asked, answer) in [
        ("HEAD / HTTP/1.1\r\nHost: ok.com\r\n\r\n", "HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n"),
        ("GET / HTTP/1.1\r\nHost: ok.com\r\n\r\n", "HTTP/1.1 304 Not Modified\r\netag: x\r\n\r\n"),
        ("GET / HTTP/1.1\r\nHost: ok.com\r\n\r\n", "HTTP/1.1 204 No Content\r\n\r\n"),
        ("GET / HTTP/1.1\r\nHost: ok.com\r\n\r\n", "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"),
    ] {
        client.write_all(asked.as_bytes()).unwrap();
        let server = server.get_or_insert_with(|| stage.server());
        head(server);
        server.write_all(answer.as_bytes()).unwrap();
        assert_eq!(head(&mut client), answer);
    }
    drop((client, server));
    assert_eq!(stage.closed()["requests"], 4);
}

#[test]
fn requests_that_come_at_once_are_answered_in_turn() {
    let mut stage = Setup::limited(&["GET"], &[]).stage();
    let mut client = stage.client();
    let all = [
        get("/1", ""),
        "PUT /2 HTTP/1.1\r\nHost: ok.com\r\nContent-Length: 3\r\n\r\nGET".into(),
        get("/3", ""),
    ]
    .concat();
    client.write_all(all.as_bytes()).unwrap();
    let mut server = stage.server();
    assert!(head(&mut server).starts_with("GET /1 "));
    server.write_all(OK.as_bytes()).unwrap();
    assert!(head(&mut server).starts_with("GET /3 "));
    server.write_all(OK.as_bytes()).unwrap();
    assert!(text(hear_message(&mut client)).ends_with("ok"));
    assert!(text(hear_message(&mut client)).starts_with("HTTP/1.1 403 "));
    assert!(text(hear_message(&mut client)).ends_with("ok"));
    drop((client, server));
    assert_eq!(stage.closed()["requests"], 3);
}

#[test]
fn a_client_asks_anew_where_the_server_has_closed() {
    let mut stage = Setup::new().stage();
    let mut client = stage.client();
    client.write_all(get("/", "").as_bytes()).unwrap();
    let mut server = stage.server();
    head(&mut server);
    server.write_all(OK.as_bytes()).unwrap();
    assert!(text(hear_message(&mut client)).ends_with("ok"));
    // It closes while nothing is asked, and the client is told of it without an answer to anything.
    server.conn.send_close_notify();
    server.flush().unwrap();
    drop(server);
    let mut rest = Vec::new();
    client.read_to_end(&mut rest).unwrap();
    assert_eq!(text(rest), "");
    drop(client);
    assert!(stage.closed().get("why").is_none());

    // Or it closes when it is asked.
    let mut stage = Setup::new().stage();
    let mut client = stage.client();
    client.write_all(get("/", "").as_bytes()).unwrap();
    let mut server = stage.server();
    head(&mut server);
    drop(server);
    assert_eq!(text(hear_all(&mut client)), "");
    drop(client);
    assert!(stage.closed().get("why").is_none());
}

#[test]
fn what_the_server_cut_off_does_not_seem_whole() {
    for answer in ["HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf", "HTTP/1.1 200 OK\r\n\r\nhalf"] {
        let mut stage = Setup::new().stage();
        let mut client = stage.client();
        client.write_all(b"GET / HTTP/1.0\r\n\r\n").unwrap();
        let mut server = stage.server();
        head(&mut server);
        server.write_all(answer.as_bytes()).unwrap();
        // Without a word of farewell.
        drop(server);
        let mut heard = Vec::new();
        assert!(client.read_to_end(&mut heard).is_err(), "{answer}: {}", text(heard));
        drop(client);
        stage.end();
    }
}

#[test]
fn another_protocol_passes_both_ways() {
    for setup in [Setup::new(), Setup::with_secrets()] {
        let mut stage = setup.stage();
        let mut client = stage.client();
        let fields = "Connection: keep-alive, Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: x\r\n";
        client.write_all([get("/", fields).as_bytes(), b"early"].concat().as_slice()).unwrap();
        let mut server = stage.server();
        let got = head(&mut server);
        assert!(
            got.contains("connection: upgrade\r\nupgrade: websocket\r\n")
                && got.contains("sec-websocket-key: x"),
            "{got}"
        );
        server.write_all(b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: y\r\n\r\nhello").unwrap();
        let got = head(&mut client);
        assert!(
            got.starts_with("HTTP/1.1 101 Switching Protocols\r\n")
                && got.contains("sec-websocket-accept: y"),
            "{got}"
        );
        assert_eq!(hear(&mut client, 5), b"hello");
        assert_eq!(hear(&mut server, 5), b"early");
        for _ in 0..3 {
            client.write_all(b"\x81\x80ping").unwrap();
            assert_eq!(hear(&mut server, 6), b"\x81\x80ping");
            server.write_all(b"\x81\x04gpon").unwrap();
            assert_eq!(hear(&mut client, 6), b"\x81\x04gpon");
        }
        server.conn.send_close_notify();
        server.flush().unwrap();
        assert_eq!(hear_all(&mut client), b"");
        drop((client, server));
        assert!(stage.closed().get("why").is_none());
    }
}

#[test]
fn a_server_may_decline_another_protocol() {
    let mut stage = Setup::new().stage();
    let (_, heard) = stage.once(get("/", "Connection: upgrade\r\nUpgrade: websocket\r\n"), OK);
    assert!(heard.ends_with("ok"), "{heard}");
    // One that was not asked for is none.
    let (got, heard) = stage
        .once(get("/", ""), "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n");
    assert!(!got.contains("upgrade") && heard.is_empty(), "{heard}");
    stage.end();
}

#[test]
fn many_are_read_at_once() {
    let mut stage = Setup::new().stage();
    let mut all: Vec<(Client, Server)> = Vec::new();
    for number in 0..48 {
        let mut client = stage.client();
        client.write_all(get(&format!("/{number}"), "").as_bytes()).unwrap();
        let mut server = stage.server();
        assert!(head(&mut server).starts_with(&format!("GET /{number} ")));
        all.push((client, server));
    }
    for (client, server) in &mut all {
        server.write_all(OK.as_bytes()).unwrap();
        assert!(text(hear_message(client)).ends_with("ok"));
    }
    drop(all);
    assert_eq!(stage.end().1.connections, 48);
}

#[test]
fn a_large_body_passes_whole() {
    let mut stage = Setup::with_secrets().stage();
    let body: Vec<u8> =
        (0..3_000_000_u32).map(|number| (number.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    let mut client = stage.client();
    client.write_all(get("/", "").as_bytes()).unwrap();
    let mut server = stage.server();
    head(&mut server);
    let sent = body.clone();
    let serving = thread::spawn(move || {
        write!(server, "HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", sent.len()).unwrap();
        server.write_all(&sent).unwrap();
        let mut got = vec![0; sent.len()];
        head(&mut server);
        server.read_exact(&mut got).unwrap();
        assert!(got == sent);
        server.write_all(OK.as_bytes()).unwrap();
    });
    head(&mut client);
    assert!(hear(&mut client, body.len()) == body);
    write!(client, "PUT / HTTP/1.1\r\nHost: ok.com\r\nContent-Length: {}\r\n\r\n", body.len()).unwrap();
    client.write_all(&body).unwrap();
    assert!(text(hear_message(&mut client)).ends_with("ok"));
    serving.join().unwrap();
    drop(client);
    let line = stage.closed();
    assert!(line["up"].as_u64().unwrap() > 3_000_000 && line["down"].as_u64().unwrap() > 3_000_000, "{line}");
}
