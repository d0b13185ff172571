//! What is not TLS for the admitted name goes nowhere.

use super::*;

#[test]
fn plain_text_to_a_host_that_is_read_is_refused() {
    for bytes in ["GET / HTTP/1.1\r\nHost: ok.com\r\n\r\n", "GET / HTTP/1.0\r\n\r\n"] {
        let mut stage = Setup::with_secrets().stage();
        let mut client = stage.proxied(TO);
        client.write_all(bytes.as_bytes()).unwrap();
        let answer = text(hear_all(&mut client));
        assert!(answer.starts_with("HTTP/1.1 403 Forbidden\r\nX-Proxy-Error: not-tls\r\n"), "{answer}");
        assert!(stage.servers.recv().unwrap().is_err());
        assert_eq!((&stage.closed()["why"]), "not-tls");
    }
    let mut stage = Setup::with_secrets().stage();
    let mut client = stage.arriving(Arrival::Proxy);
    client
        .write_all(
            format!("GET http://ok.com:443/ HTTP/1.1\r\nHost: ok.com:443\r\nA: {STAND_IN}\r\n\r\n")
                .as_bytes(),
        )
        .unwrap();
    assert!(text(hear_all(&mut client)).contains("X-Proxy-Error: not-tls"));
    assert!(stage.servers.recv().unwrap().is_err());
    assert_eq!((&stage.closed()["why"]), "not-tls");
}

#[test]
fn other_protocols_to_a_host_that_is_read_are_refused() {
    for bytes in [&b"SSH-2.0-client\r\n"[..], b"\0\0\0\x08", b"EHLO x\r\n"] {
        let mut stage = Setup::new().stage();
        let mut client = stage.captured(TO);
        client.write_all(bytes).unwrap();
        assert_eq!(hear_all(&mut client), b"");
        assert!(stage.servers.recv().unwrap().is_err());
        assert_eq!((&stage.closed()["why"]), "not-tls", "{bytes:?}");
    }
    // Whoever says nothing has asked for nothing; and what the server says first is not for the client.
    let mut stage = Setup::new().stage();
    let client = stage.captured(TO);
    client.shutdown(std::net::Shutdown::Write).unwrap();
    assert!(stage.servers.recv().unwrap().is_err());
    assert!(stage.closed().get("why").is_none());
}

#[test]
fn tls_for_another_name_is_refused() {
    let mut stage = Setup::new().stage();
    let stream = stage.captured(TO);
    let mut client = stage.tls(stream, "other.com", &[ALPN]);
    assert!(client.write_all(b"x").and_then(|()| client.flush()).is_err());
    let line = stage.closed();
    assert_eq!((&line["why"], &line["sni"]), (&"sni-mismatch".into(), &"other.com".into()));
}

#[test]
fn what_is_not_read_passes_as_it_is() {
    let mut stage = Setup { rules: vec![rule(NAME, None)], ..Setup::new() }.stage();
    let stream = stage.captured(TO);
    let mut roots = RootCertStore::empty();
    roots.add(OUTSIDE.der.clone()).unwrap();
    // It is the server's own certificate that the client sees.
    let mut client = tls_believing(stream, NAME, &[b"h2"], roots);
    client.write_all(b"anything").unwrap();
    let mut server = stage.server();
    assert_eq!(server.conn.alpn_protocol(), Some(&b"h2"[..]));
    assert_eq!(hear(&mut server, 8), b"anything");
    drop((client, server));
    let line = stage.closed();
    assert!(line.get("requests").is_none(), "{line}");
}
