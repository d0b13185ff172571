//! What is put in on the way to a secret's own host, and what does not come back.

use super::*;
use base64::prelude::*;

fn basic(inside: &str) -> String {
    format!("Basic {}", BASE64_STANDARD.encode(inside))
}

#[test]
fn the_value_is_put_into_fields_and_nowhere_else() {
    let mut stage = Setup::with_secrets().stage();
    let mut client = stage.client();
    let body = format!("body={STAND_IN}");
    let asked = format!(
        "POST /{STAND_IN}?t={STAND_IN} HTTP/1.1\r\nHost: ok.com\r\nAuthorization: Bearer {STAND_IN}\r\nX-Two: {STAND_IN}/{STAND_IN}\r\n\
         X-Upper: {}\r\nX-Coded: {}\r\nContent-Length: {}\r\n\r\n{body}",
        STAND_IN.to_uppercase(),
        BASE64_STANDARD.encode(STAND_IN),
        body.len(),
    );
    client.write_all(asked.as_bytes()).unwrap();
    let mut server = stage.server();
    let got = text(hear_message(&mut server));
    assert!(got.starts_with(&format!("POST /{STAND_IN}?t={STAND_IN} HTTP/1.1\r\n")), "{got}");
    assert!(got.contains(&format!("authorization: Bearer {VALUE}\r\nx-two: {VALUE}/{VALUE}\r\n")), "{got}");
    assert!(got.contains(&format!("x-upper: {}\r\n", STAND_IN.to_uppercase())), "{got}");
    assert!(got.contains(&BASE64_STANDARD.encode(STAND_IN)) && got.ends_with(&body), "{got}");
    assert!(got.contains("accept-encoding: identity\r\n"), "{got}");
    server.write_all(OK.as_bytes()).unwrap();
    assert!(text(hear_message(&mut client)).ends_with("ok"));
    drop((client, server));
    let line = stage.closed();
    assert_eq!((&line["requests"], &line["secrets"]), (&1.into(), &serde_json::json!(["TOKEN"])));
}

#[test]
fn credentials_are_filled_in_inside() {
    let mut stage = Setup::with_secrets().stage();
    let asked = get(
        "/",
        &format!(
            "Authorization: {}\r\nProxy-Authorization: {}\r\n",
            basic(&format!("x:{STAND_IN}")),
            basic(STAND_IN)
        ),
    );
    let (got, _) = stage.once(asked, OK);
    assert!(got.contains(&format!("authorization: {}\r\n", basic(&format!("x:{VALUE}")))), "{got}");
    assert!(!got.contains("proxy-"), "{got}");
    stage.end();
}

#[test]
fn the_value_does_not_come_back() {
    let mut stage = Setup::with_secrets().stage();
    let sent = basic(&format!("x:{VALUE}"));
    let body = format!("{VALUE} and {sent} and {}", BASE64_URL_SAFE.encode(format!("ab{VALUE}")));
    let answer = format!(
        "HTTP/1.1 200 {VALUE}\r\nX-Echo: {VALUE}\r\nX-{VALUE}: 1\r\nLocation: /?t={VALUE}\r\nSet-Cookie: {sent}\r\nContent-Length: {}\r\n\r\n{body}",
        body.len(),
    );
    let (_, heard) =
        stage.once(get("/", &format!("Authorization: {}\r\n", basic(&format!("x:{STAND_IN}")))), answer);
    assert!(!heard.to_lowercase().contains(&VALUE.to_lowercase()) && !heard.contains(&sent[6..]), "{heard}");
    for field in [format!("x-echo: {STAND_IN}\r\n"), format!("location: /?t={STAND_IN}\r\n")] {
        assert!(heard.contains(&field), "{heard}");
    }
    let back = basic(&format!("x:{STAND_IN}"));
    assert!(heard.contains(&format!("set-cookie: {back}\r\n")), "{heard}");
    assert!(heard.contains(&format!("content-length: {}\r\n", body.len())), "{heard}");
    let got = heard.split("\r\n\r\n").nth(1).unwrap();
    assert!(got.starts_with(&format!("{STAND_IN} and {back} and ")) && got.len() == body.len(), "{heard}");
    // An answer to a request without it is no other.
    let (_, heard) = stage
        .once(get("/", ""), format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{VALUE}", VALUE.len()));
    assert!(heard.ends_with(STAND_IN), "{heard}");
    stage.end();
}

#[test]
fn the_value_does_not_come_back_in_pieces() {
    let mut stage = Setup::with_secrets().stage();
    let mut client = stage.client();
    client.write_all(get("/", "Range: bytes=0-3\r\nIf-Range: x\r\nTE: trailers\r\n").as_bytes()).unwrap();
    let mut server = stage.server();
    let got = head(&mut server);
    assert!(!got.contains("range"), "{got}");
    server
        .write_all(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: x-back\r\n\r\n5\r\ndata:\r\n")
        .unwrap();
    head(&mut client);
    // What begins no value is not kept waiting.
    assert_eq!(hear(&mut client, 10), b"5\r\ndata:\r\n");
    for byte in VALUE.chars() {
        write!(server, "1\r\n{byte}\r\n").unwrap();
        server.flush().unwrap();
    }
    write!(server, "0\r\nx-back: {VALUE}\r\n\r\n").unwrap();
    let mut got = String::new();
    while !got.ends_with("\r\n\r\n") {
        got.push_str(&text(hear(&mut client, 1)));
    }
    let joined: String = got.split("\r\n").skip(1).step_by(2).collect();
    assert!(joined.starts_with(STAND_IN), "{got}");
    assert!(got.ends_with(&format!("x-back: {STAND_IN}\r\n\r\n")), "{got}");
    drop((client, server));
    stage.end();
}

#[test]
fn another_protocol_gives_no_value_back_either() {
    let mut stage = Setup::with_secrets().stage();
    let mut client = stage.client();
    let fields =
        "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Extensions: permessage-deflate\r\n";
    client.write_all(get("/", fields).as_bytes()).unwrap();
    let mut server = stage.server();
    let got = head(&mut server);
    assert!(!got.contains("extensions"), "{got}");
    server
        .write_all(
            format!("HTTP/1.1 101 S\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n{VALUE}").as_bytes(),
        )
        .unwrap();
    head(&mut client);
    assert_eq!(text(hear(&mut client, VALUE.len())), STAND_IN);
    drop((client, server));
    stage.end();
}

#[test]
fn an_answer_that_cannot_be_read_is_not_passed_on() {
    for (setup, passed) in [(Setup::with_secrets(), false), (Setup::new(), true)] {
        let mut stage = setup.stage();
        let (_, heard) = stage.once(
            get("/", "Accept-Encoding: gzip\r\n"),
            "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 2\r\n\r\n\x1f\x0b",
        );
        assert_eq!(heard.starts_with("HTTP/1.1 200 OK"), passed, "{heard}");
        let line = stage.closed();
        if !passed {
            assert!(
                heard.starts_with("HTTP/1.1 502 Bad Gateway\r\nx-proxy-error: encoded-answer\r\n"),
                "{heard}"
            );
            assert_eq!(line["why"], "encoded-answer");
        }
    }
    // Where nothing is coded, but the message says so.
    let mut stage = Setup::with_secrets().stage();
    let (_, heard) = stage.once(
        "HEAD / HTTP/1.1\r\nHost: ok.com\r\nConnection: close\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 20\r\n\r\n",
    );
    assert!(heard.starts_with("HTTP/1.1 200 OK"), "{heard}");
    stage.end();
    let mut stage = Setup::new().stage();
    let (_, heard) =
        stage.once(get("/", ""), "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n");
    assert!(heard.starts_with("HTTP/1.1 502 "), "{heard}");
    stage.end();
}

#[test]
fn a_secret_is_enough_for_its_host_to_be_read_and_limits_hold_there() {
    let rules = vec![rule("ok.com", None), rule("other.com", limited(&["GET"], &[]))];
    let mut stage = Setup {
        rules,
        secrets: secrets(),
        server: OUTSIDE.server("*.com", |params| {
            params.subject_alt_names = CertificateParams::new(["ok.com".to_owned(), "other.com".to_owned()])
                .unwrap()
                .subject_alt_names;
        }),
        ..Setup::new()
    }
    .stage();
    let (got, _) = stage.once(get("/", &format!("A: {STAND_IN}\r\n")), OK);
    assert!(got.contains(VALUE), "{got}");
    let mut client = stage.client_to("other.com:443");
    client
        .write_all(
            format!("POST / HTTP/1.1\r\nHost: other.com\r\nA: {OTHER}\r\nContent-Length: 0\r\n\r\n")
                .as_bytes(),
        )
        .unwrap();
    assert!(text(hear_message(&mut client)).contains("request-not-allowed"));
    drop(client);
    let (lines, _) = stage.end();
    let closed: Vec<_> = lines.iter().filter(|line| line["ev"] == "close").collect();
    assert_eq!((&closed[0]["secrets"], closed[1].get("secrets")), (&serde_json::json!(["TOKEN"]), None));
}

#[test]
fn nothing_says_a_value_that_is_asked_for_its_name() {
    let [token, _] = <[Secret; 2]>::try_from(secrets()).unwrap();
    let reader = Reader::new(Inspector {
        authority: Authority::new(&["ok.com".into()]).unwrap(),
        secrets: vec![token],
        roots: Vec::new(),
    });
    let said = format!("{reader:?}");
    assert!(said.contains("TOKEN") && !said.contains(VALUE) && !said.contains(STAND_IN), "{said}");
}
