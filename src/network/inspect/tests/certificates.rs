//! Who believes whom.

use super::*;

#[test]
fn each_side_is_shown_what_it_believes_and_speaks_http_1() {
    let mut stage = Setup::new().stage();
    let mut leaves = Vec::new();
    for _ in 0..2 {
        let stream = stage.proxied(TO);
        let mut client = stage.tls(stream, NAME, &[b"h2", ALPN]);
        client.write_all(get("/a?b=c", "").as_bytes()).unwrap();
        let mut server = stage.server();
        assert_eq!(server.conn.alpn_protocol(), Some(ALPN));
        assert_eq!(server.conn.server_name(), Some(NAME));
        assert_eq!(head(&mut server), "GET /a?b=c HTTP/1.1\r\nhost: ok.com\r\n\r\n");
        server.write_all(OK.as_bytes()).unwrap();
        assert_eq!(text(hear_message(&mut client)), "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok");
        assert_eq!(client.conn.alpn_protocol(), Some(ALPN));
        leaves.push(client.conn.peer_certificates().unwrap()[0].clone());
    }
    assert_eq!(leaves[0], leaves[1]);
    let (lines, summary) = stage.end();
    assert_eq!((lines.len(), summary.connections, summary.refusals), (2, 2, 0));
    assert_eq!(
        (&lines[0]["requests"], &lines[0]["sni"], &lines[0]["via"]),
        (&1.into(), &NAME.into(), &"connect".into())
    );
    assert!(lines[0].get("why").is_none() && lines[0].get("secrets").is_none(), "{}", lines[0]);
}

#[test]
fn a_client_without_a_name_is_served_as_the_admitted_one() {
    let mut stage = Setup::new().stage();
    let stream = stage.captured(TO);
    let mut roots = RootCertStore::empty();
    roots.add(stage.authority.clone()).unwrap();
    let builder =
        ClientConfig::builder_with_provider(provider()).with_safe_default_protocol_versions().unwrap();
    let mut config = builder.with_root_certificates(roots).with_no_client_auth();
    config.enable_sni = false;
    let name = ServerName::try_from(NAME).unwrap();
    let mut client = StreamOwned::new(ClientConnection::new(Arc::new(config), name).unwrap(), stream);
    client.write_all(get("/", "").as_bytes()).unwrap();
    let mut server = stage.server();
    assert_eq!(server.conn.server_name(), Some(NAME));
    head(&mut server);
    drop((client, server));
    stage.closed();
}

#[test]
fn a_server_that_is_not_verified_is_not_spoken_to() {
    let stranger = Outside::new();
    let past = |params: &mut CertificateParams| params.not_after = rcgen::date_time_ymd(2001, 1, 1);
    for server in
        [stranger.server(NAME, |_| {}), OUTSIDE.server("www.ok.com", |_| {}), OUTSIDE.server(NAME, past)]
    {
        let mut stage = Setup { server, ..Setup::new() }.stage();
        let mut client = stage.client();
        assert!(client.write_all(get("/", "").as_bytes()).and_then(|()| client.flush()).is_err());
        let line = stage.closed();
        assert_eq!((&line["why"], &line["requests"]), (&"untrusted".into(), &0.into()), "{line}");
    }
}

#[test]
fn a_server_that_speaks_no_tls_or_no_http_1_is_not_spoken_to() {
    let mut server = OUTSIDE.server(NAME, |_| {});
    server.alpn_protocols = vec![b"h2".to_vec()];
    let mut stage = Setup { server, ..Setup::new() }.stage();
    let mut client = stage.client();
    assert!(client.write_all(b"x").and_then(|()| client.flush()).is_err());
    assert_eq!(stage.closed()["why"], "tls-failed");

    let origin = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let mut stage = Setup::new().stage();
    Arc::get_mut(&mut stage.gate).unwrap().origin = origin.local_addr().unwrap();
    let mut client = stage.client();
    let plain = thread::spawn(move || {
        let (mut server, _) = origin.accept().unwrap();
        server.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").unwrap();
        // None of the client's bytes came but what begins TLS.
        text_or(hear_all(&mut server))
    });
    assert!(client.write_all(b"GET / HTTP/1.1").and_then(|()| client.flush()).is_err());
    assert!(!plain.join().unwrap().contains("GET"));
    assert_eq!(stage.closed()["why"], "tls-failed");
}

fn text_or(bytes: Vec<u8>) -> String {
    String::from_utf8_lossy(&bytes).into_owned()
}

#[test]
fn a_client_that_does_not_believe_the_authority_is_on_record() {
    let mut stage = Setup::new().stage();
    let stream = stage.captured(TO);
    let mut roots = RootCertStore::empty();
    roots.add(OUTSIDE.der.clone()).unwrap();
    let mut client = tls_believing(stream, NAME, &[ALPN], roots);
    assert!(client.write_all(b"x").and_then(|()| client.flush()).is_err());
    let _ = client.conn.complete_io(&mut client.sock);
    drop(client);
    assert_eq!(stage.closed()["why"], "authority-refused");
}

#[test]
fn a_client_that_speaks_only_http_2_is_on_record() {
    let mut stage = Setup::new().stage();
    let stream = stage.captured(TO);
    let mut client = stage.tls(stream, NAME, &[b"h2"]);
    assert!(client.write_all(b"x").and_then(|()| client.flush()).is_err());
    assert_eq!(stage.closed()["why"], "tls-failed");
}

#[test]
fn what_cannot_be_read_is_not_carried() {
    // Nothing to read with, and a name that the authority does not speak for.
    let without = Setup { inspected: false, ..Setup::new() };
    let unnamed = Setup { rules: vec![rule("unnamed.com", limited(&[], &[]))], ..Setup::new() };
    for (setup, to) in [(without, TO), (unnamed, "unnamed.com:443")] {
        let mut stage = setup.stage();
        let mut client = stage.client_to(to);
        assert!(client.write_all(b"x").and_then(|()| client.flush()).is_err());
        assert!(stage.servers.recv_timeout(PATIENCE).unwrap().is_err());
        assert_eq!(stage.closed()["why"], "cannot-inspect");
    }
}

#[test]
fn an_authority_speaks_for_its_names_and_no_other() {
    use rustls::client::WebPkiServerVerifier;
    use rustls::client::danger::ServerCertVerifier as _;
    use rustls::pki_types::UnixTime;
    let authority = Authority::new(&["ok.com".to_owned()]).unwrap();
    assert!(authority.serving("other.com").is_err() && authority.serving("www.ok.com").is_err());
    let mut roots = RootCertStore::empty();
    roots.add(authority.certificate_der().clone()).unwrap();
    let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider()).build().unwrap();
    for (name, believed) in [("ok.com", true), ("other.com", false), ("192.0.2.7", false)] {
        let leaf = authority.leaf(name).unwrap();
        let asked = ServerName::try_from(name).unwrap();
        let verified = verifier.verify_server_cert(leaf.0.der(), &[], &asked, &[], UnixTime::now());
        assert_eq!(verified.is_ok(), believed, "{name}: {verified:?}");
    }
    assert!(matches!(Authority::new(&[]), Err(AuthorityError::Nobody)));
    for name in ["192.0.2.7", "OK.com", "*.ok.com", "ok.com:443", ""] {
        assert!(matches!(Authority::new(&[name.to_owned()]), Err(AuthorityError::Name(_))), "{name}");
    }
    assert!(!format!("{authority:?}").contains("PRIVATE"));
}
