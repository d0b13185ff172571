//! Requests that two readers could read in two ways, to the proxy and on a tunnel.

use super::*;

/// A request in the form that a proxy is sent, and in that which a server is sent.
fn forms(rest: &str) -> Vec<(Option<Door>, String)> {
    let mut forms = vec![(None, format!("POST http://ok.com/ {rest}"))];
    forms.extend(DOORS.map(|door| (Some(door), format!("POST / {rest}"))));
    forms
}

fn stage(door: Option<Door>, request: impl AsRef<[u8]>) -> Stage {
    let Some(door) = door else { return Stage::asking(request) };
    let mut stage = Stage::tunnel(door, "ok.com:80");
    stage.say(request);
    stage
}

/// A request that is answered in the place of the server, which gets nothing of it.
fn assert_answered(door: Option<Door>, request: impl AsRef<[u8]>, status: &str) {
    let case = format!("{door:?} {}", request.as_ref().escape_ascii());
    let case = case.get(..200).unwrap_or(&case);
    let (heard, got, record) = stage(door, &request).end();
    assert!(heard.starts_with(&format!("HTTP/1.1 {status} ")), "{case}: {heard:?}");
    assert!(heard.contains("\r\nX-Proxy-Error: "), "{case}: {heard:?}");
    match door {
        None => {
            assert!(record.asked.is_empty() && got.is_none(), "{case}: {:?}", record.asked);
            assert_eq!((record.refused.len(), record.closed.len()), (1, 0), "{case}");
        }
        Some(door) => {
            assert_eq!(got.as_deref(), Some(&b""[..]), "{case}");
            assert_eq!((record.refused.len(), record.closed.len()), (0, 1), "{case}");
            let closed = &record.closed[0];
            assert!(closed.via == door.via() && closed.up == 0 && closed.why.is_some(), "{case}: {closed:?}");
        }
    }
}

#[test]
fn a_request_that_can_be_read_in_two_ways_goes_nowhere() {
    for rest in [
        "HTTP/1.1\r\nHost: ok.com\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "HTTP/1.1\r\nHost: ok.com\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
        "HTTP/1.1\r\nHost: ok.com\r\nContent-Length: 5, 5\r\n\r\nhello",
        "HTTP/1.1\r\nHost: ok.com\r\nContent-Length: +5\r\n\r\nhello",
        "HTTP/1.1\r\nHost: ok.com\r\nContent-Length: 0x5\r\n\r\nhello",
        "HTTP/1.1\r\nHost: ok.com\r\nContent-Length:\r\n\r\nhello",
        "HTTP/1.1\r\nHost: ok.com\r\nContent-Length: 99999999999999999999\r\n\r\nhello",
        "HTTP/1.1\r\nHost: ok.com\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
        "HTTP/1.1\r\nHost: ok.com\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
        "HTTP/1.1\r\nHost: ok.com\r\nTransfer-Encoding: identity\r\n\r\n",
        "HTTP/1.1\r\nHost: ok.com\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "HTTP/1.0\r\nHost: ok.com\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "HTTP/1.1\r\nHost: ok.com\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
        "HTTP/1.1\r\nHost: ok.com\r\n X: folded\r\n\r\n",
        "HTTP/1.1\r\n Host: ok.com\r\n\r\n",
        "HTTP/1.1\r\nHost : ok.com\r\n\r\n",
        "HTTP/1.1\r\nHost: ok.com\r\nHost: ok.com\r\n\r\n",
        "HTTP/1.1\r\nHost: ok.com\r\nHost: evil.net\r\n\r\n",
        "HTTP/1.1\r\nHost: ok.com\r\nno colon\r\n\r\n",
        "HTTP/1.1\r\nHost: ok.com\r\n: no name\r\n\r\n",
        "HTTP/1.1\r\nHost: ok.com\r\nX: a\rb\r\n\r\n",
        "HTTP/1.1\r\nHost: ok.com\nX: b\r\n\r\n",
        "HTTP/1.1\nHost: ok.com\n\n",
        "HTTP/1.1\r\nHost: ok.com\r\nX: \0\r\n\r\n",
        "HTTP/1.1\r\nHost: ok.com\r\nX: \u{7f}\r\n\r\n",
        "HTTP/1.1\r\nHost: ok.com\r\nExpect: 200-ok\r\n\r\n",
        "HTTP/2.0\r\nHost: ok.com\r\n\r\n",
        "HTTP/1.2\r\nHost: ok.com\r\n\r\n",
        "HTTP/1.1 \r\nHost: ok.com\r\n\r\n",
        " HTTP/1.1\r\nHost: ok.com\r\n\r\n",
        "x HTTP/1.1\r\nHost: ok.com\r\n\r\n",
        "HTTP/1.1\r\nHost: ok.com\r\nCut: sho",
    ] {
        for (door, request) in forms(rest) {
            assert_answered(door, request, "400");
        }
    }
}

#[test]
fn first_lines_that_are_not_of_http_1_go_nowhere() {
    for request in [
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        "\r\nGET http://ok.com/ HTTP/1.1\r\nHost: ok.com\r\n\r\n",
        " GET http://ok.com/ HTTP/1.1\r\nHost: ok.com\r\n\r\n",
        "GET\thttp://ok.com/ HTTP/1.1\r\nHost: ok.com\r\n\r\n",
        "GET http://ok.com/#x HTTP/1.1\r\nHost: ok.com\r\n\r\n",
        "GET ftp://ok.com/ HTTP/1.1\r\nHost: ok.com\r\n\r\n",
        "GET https://ok.com/ HTTP/1.1\r\nHost: ok.com\r\n\r\n",
        "GET ok.com HTTP/1.1\r\nHost: ok.com\r\n\r\n",
        "GET /\r\n\r\n",
    ] {
        for door in [None, Some(Door::Connect), Some(Door::Socks), Some(Door::Capture)] {
            assert_answered(door, request, "400");
        }
    }
    for request in [
        "GET / HTTP/1.1\r\nHost: ok.com\r\n\r\n",
        "OPTIONS * HTTP/1.1\r\nHost: ok.com\r\n\r\n",
        "CONNECT ok.com:443 HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello",
        "CONNECT https://ok.com:443/ HTTP/1.1\r\n\r\n",
        "\u{4}\u{1}\0\u{50}ok.com\0",
        "\u{16}\u{3}\u{1}",
    ] {
        assert_answered(None, request, "400");
    }
}

#[test]
fn a_head_has_its_limit() {
    let long = format!("HTTP/1.1\r\nHost: ok.com\r\nX: {}\r\n\r\n", "x".repeat(64 * 1024));
    let endless = format!("HTTP/1.1\r\nHost: ok.com\r\nX: {}", "x".repeat(80 * 1024));
    for (door, request) in forms(&long).into_iter().chain(forms(&endless)) {
        assert_answered(door, request, "431");
    }
}

#[test]
fn a_head_has_its_time() {
    let times = Times { opening: Duration::from_millis(150), parting: Duration::from_millis(100) };
    for request in ["", "GET http://ok.com/ HT", "CONNECT ok.com:443 HTTP/1.1\r\n"] {
        let mut stage = Stage::within(Arrival::Proxy, times);
        stage.say(request);
        let heard = hear_head(&mut stage.client);
        assert!(heard.starts_with("HTTP/1.1 408 "), "{heard}");
        let (_, got, record) = stage.end();
        assert_eq!((got, record.asked.len()), (None, 0));
        assert!(matches!(record.refused[..], [(_, Reason::TooSlow)]));
    }
    for request in [&[5][..], &[5, 1, 0, 5, 1]] {
        let mut stage = Stage::within(Arrival::Proxy, times);
        stage.say(request);
        hear_all(&mut stage.client);
        assert!(matches!(stage.end().2.refused[..], [(Via::Socks, Reason::TooSlow)]));
    }
    for (door, first) in DOORS.into_iter().flat_map(|door| [(door, "GET / HT"), (door, "\u{16}\u{3}\u{1}")]) {
        let mut stage = Stage::tunnel_within(door, "ok.com:80", times);
        stage.say(first);
        hear_all(&mut stage.client);
        let (_, got, record) = stage.end();
        assert_eq!((got.as_deref(), record.closed[0].why), (Some(&b""[..]), Some(Reason::TooSlow)));
    }
}

#[test]
fn a_request_on_a_tunnel_is_for_its_host() {
    for (request, status) in [
        ("GET / HTTP/1.1\r\nHost: evil.net\r\n\r\n", "421"),
        ("GET / HTTP/1.1\r\nHost: ok.com:81\r\n\r\n", "421"),
        ("GET / HTTP/1.1\r\nHost: ok.com@evil.net\r\n\r\n", "421"),
        ("GET / HTTP/1.1\r\nHost:\r\n\r\n", "421"),
        ("get / HTTP/1.1\r\nHost: evil.net\r\n\r\n", "421"),
        ("GET / http/1.1\r\nHost: evil.net\r\n\r\n", "400"),
        ("GET / HTTP/1.1\r\n\r\n", "400"),
        ("GET http://evil.net/ HTTP/1.1\r\nHost: ok.com\r\n\r\n", "421"),
        ("GET http://ok.com/ HTTP/1.1\r\nHost: evil.net\r\n\r\n", "421"),
        ("CONNECT evil.net:443 HTTP/1.1\r\nHost: ok.com\r\n\r\n", "421"),
        ("CONNECT ok.com:80 HTTP/1.1\r\nHost: ok.com\r\n\r\n", "421"),
    ] {
        for door in DOORS {
            assert_answered(Some(door), request, status);
        }
    }
}

#[test]
fn what_is_sent_is_made_anew() {
    let long = "GET http://OK.com.:8080?q=1 HTTP/1.1\r\nHost: evil.net\r\nProxy-Authorization: Basic eDp5\r\n\
                Proxy-Connection: keep-alive\r\nConnection: keep-alive, X-Mine\r\nKeep-Alive: 5\r\nx-mine: 1\r\n\
                TE: trailers\r\nUpgrade: websocket\r\nAuthorization:\t a \r\nContent-Length: 0\r\n\r\n\
                GET http://ok.com/second HTTP/1.1\r\nHost: evil.net\r\n\r\n";
    let proxied = [
        (
            long,
            "GET /?q=1 HTTP/1.1\r\nHost: ok.com:8080\r\nAuthorization: a\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
        ),
        ("GET http://ok.com HTTP/1.0\r\n\r\n", "GET / HTTP/1.0\r\nHost: ok.com\r\nConnection: close\r\n\r\n"),
        (
            "OPTIONS HTTP://ok.com HTTP/1.1\r\n\r\n",
            "OPTIONS * HTTP/1.1\r\nHost: ok.com\r\nConnection: close\r\n\r\n",
        ),
        (
            "PUT http://ok.com/a HTTP/1.1\r\nContent-Length: 05\r\nContent-Length: 5\r\n\r\nhelloPUT",
            "PUT /a HTTP/1.1\r\nHost: ok.com\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello",
        ),
    ];
    let tunnelled = [
        (
            "GET /a HTTP/1.1\r\nHost: OK.COM\r\n\r\nGET /b HTTP/1.1\r\nHost: evil.net\r\n\r\n",
            "GET /a HTTP/1.1\r\nHost: ok.com\r\nConnection: close\r\n\r\n",
        ),
        (
            "OPTIONS * HTTP/1.1\r\nHost: ok.com:80\r\n\r\n",
            "OPTIONS * HTTP/1.1\r\nHost: ok.com\r\nConnection: close\r\n\r\n",
        ),
        (
            "POST http://ok.com/ HTTP/1.1\r\nHost: ok.com\r\nContent-Length: 2\r\n\r\nhiGET /b HTTP/1.1\r\n\r\n",
            "POST / HTTP/1.1\r\nHost: ok.com\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi",
        ),
        ("GET / HTTP/1.0\r\n\r\n", "GET / HTTP/1.0\r\nHost: ok.com\r\nConnection: close\r\n\r\n"),
    ];
    let proxied = proxied.into_iter().map(|case| (None, case));
    let tunnelled = DOORS.into_iter().flat_map(|door| tunnelled.map(|case| (Some(door), case)));
    for (door, (request, expected)) in proxied.chain(tunnelled) {
        let stage = stage(door, request);
        let mut server = stage.server();
        let got = hear(&mut server, expected.len());
        assert_eq!(String::from_utf8_lossy(&got), expected, "{door:?}");
        server.write_all(b"HTTP/1.1 204 No\r\n\r\n").unwrap();
        server.shutdown(Shutdown::Write).unwrap();
        let (heard, _, record) = stage.end();
        assert_eq!(heard, "HTTP/1.1 204 No\r\nConnection: close\r\n\r\n");
        assert_eq!(hear_all(&mut server), b"", "{door:?}: nothing of a second request");
        let closed = &record.closed[0];
        assert_eq!((closed.up, closed.down, closed.why), (expected.len() as u64, 38, None));
    }
}
