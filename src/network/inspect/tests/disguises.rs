//! What servers take for another request than the one that was decided about.

use super::*;

#[test]
fn a_method_in_a_field_is_decided_about_however_the_field_is_spelled() {
    let mut stage = Setup::limited(&["POST"], &[]).stage();
    for name in [
        "X-HTTP-Method-Override",
        "X_HTTP_METHOD_OVERRIDE",
        "X-HTTP_Method-Override",
        "x-method",
        "HTTP-Method-Override",
        "X-Original-Method",
        "X.HTTP.Method.Override",
        "Method-Override",
    ] {
        let asked = format!("POST / HTTP/1.1\r\nHost: ok.com\r\n{name}: DELETE\r\nContent-Length: 0\r\n\r\n");
        let answer = stage.refusal(asked);
        assert!(
            answer.contains("request-not-allowed") && answer.contains("methods DELETE"),
            "{name}: {answer}"
        );
    }
    stage.end();
}

#[test]
fn a_path_in_a_field_is_refused_where_paths_are_limited() {
    let mut stage = Setup::limited(&[], &["/ok"]).stage();
    for name in ["X-Original-URL", "X_Rewrite_Url", "x-original-uri", "X-Override-URL"] {
        let answer = stage.refusal(get("/ok", &format!("{name}: /evil\r\n")));
        assert!(answer.contains("request-not-allowed"), "{name}: {answer}");
    }
    stage.end();
    let mut stage = Setup::limited(&["GET"], &[]).stage();
    let (got, _) = stage.once(get("/ok", "X-Original-URL: /other\r\n"), OK);
    assert!(got.contains("x-original-url: /other"), "{got}");
    stage.end();
}

#[test]
fn trailers_do_not_say_what_is_asked() {
    let mut stage = Setup::limited(&["POST"], &["/ok"]).stage();
    let body = "1\r\nx\r\n0\r\nX-HTTP-Method-Override: DELETE\r\nX_Original_URL: /evil\r\nx-sum: 1\r\n\r\n";
    let trailer = "X-HTTP-Method-Override, X_Original_URL, x-sum";
    let mut client = stage.client();
    let head = format!(
        "POST /ok HTTP/1.1\r\nHost: ok.com\r\nTE: trailers\r\nTransfer-Encoding: chunked\r\nTrailer: {trailer}\r\n\r\n{body}"
    );
    client.write_all(head.as_bytes()).unwrap();
    let mut server = stage.server();
    let mut got = Vec::new();
    while !got.ends_with(b"x-sum: 1\r\n\r\n") {
        got.extend(hear(&mut server, 1));
    }
    let got = text(got);
    assert!(!got.contains("DELETE") && !got.contains("/evil"), "{got}");
    drop((client, server));
    stage.end();
}

#[test]
fn nothing_but_a_websocket_is_gone_over_to() {
    let mut stage = Setup::new().stage();
    let switched = |protocol: &str| {
        format!("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: {protocol}\r\n\r\n")
    };
    for protocol in ["tcp", "SPDY/3.1", "foo", "h2c", "SSH-2.0", "websocket, foo", "connect-udp", "TLS/1.0"] {
        let fields = format!("Connection: Upgrade\r\nUpgrade: {protocol}\r\n");
        let (got, heard) = stage.once(get("/", &fields), switched(protocol));
        assert!(!got.contains("upgrade"), "{protocol}: {got}");
        assert_eq!(heard, "", "{protocol}");
    }
    // Nor to another than was asked for.
    let fields = "Connection: Upgrade\r\nUpgrade: WebSocket\r\n";
    let (got, heard) = stage.once(get("/", fields), switched("tcp"));
    assert!(got.contains("upgrade: websocket") && heard.is_empty(), "{got}{heard}");
    stage.end();
}

#[test]
fn there_is_no_tunnel_within() {
    let mut stage = Setup { rules: vec![rule(NAME, limited(&[], &[]))], ..Setup::new() }.stage();
    for target in ["/", "https://ok.com/"] {
        let answer = stage.refusal(format!("CONNECT {target} HTTP/1.1\r\nHost: ok.com\r\n\r\n"));
        assert!(!answer.starts_with("HTTP/1.1 2") && !answer.contains("methods"), "{target}: {answer}");
    }
    stage.end();
}

#[test]
fn what_cannot_be_read_is_said() {
    let mut stage = Setup::new().stage();
    let asked = "POST / HTTP/1.1\r\nHost: ok.com\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n";
    assert!(stage.refusal(asked).contains("x-proxy-error: bad-request"));
    let (_, heard) = stage.once(get("/", ""), "garbage\r\n\r\n");
    assert!(heard.starts_with("HTTP/1.1 502 ") && heard.contains("bad-answer"), "{heard}");
    // A length beside chunks says nothing.
    let answer =
        "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nwhole\r\n0\r\n\r\n";
    let (_, heard) = stage.once(get("/", ""), answer);
    assert!(heard.contains("whole") && !heard.contains("content-length"), "{heard}");
    let (lines, _) = stage.end();
    assert!(lines.iter().any(|line| line["why"] == "bad-answer"), "{lines:?}");
}
