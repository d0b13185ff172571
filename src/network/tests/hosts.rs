//! What is asked for by a host that is none, or is another than it looks like, through each way there is.

use super::*;

/// What may come to the gate of a host that was asked for; `None` where nothing may.
type Meant = Option<&'static str>;

const HOSTS: &[(&[u8], Meant)] = &[
    (b"ok.com", Some("ok.com")),
    (b"OK.com.", Some("ok.com")),
    (b"ok.com.evil.net", Some("ok.com.evil.net")),
    (b"evilok.com", Some("evilok.com")),
    (b"xn--bcher-kva.de", Some("xn--bcher-kva.de")),
    (b"0.0.0.0", Some("0.0.0.0")),
    (b"127.0.0.1", Some("127.0.0.1")),
    (b"[::ffff:127.0.0.1]", Some("127.0.0.1")),
    (b"[64:ff9b::a9fe:a9fe]", Some("[64:ff9b::a9fe:a9fe]")),
    (b"[2002:7f00:1::]", Some("[2002:7f00:1::]")),
    (b"[2001:db8::1]", Some("[2001:db8::1]")),
    (b"[::]", Some("[::]")),
    (b"", None),
    (b".", None),
    (b"ok.com..", None),
    (b"a..ok.com", None),
    (b"evil\0.ok.com", None),
    (b"ok.com\0", None),
    (b"ok.com\r\nevil", None),
    (b"ok.com\n", None),
    (b"ok.com\r", None),
    (b"ok com", None),
    (b"ok.com\t", None),
    (b" ok.com", None),
    (b"evil@ok.com", None),
    (b"ok.com:443@evil.net", None),
    (b"ok.com%00", None),
    (b"ok%2ecom", None),
    (b"ok.com\\", None),
    (b"ok.com#", None),
    (b"b\xc3\xbccher.de", None),
    (b"b\xfccher.de", None),
    (b"-ok.com", None),
    (b"127.1", None),
    (b"0x7f000001", None),
    (b"2130706433", None),
    (b"0177.0.0.1", None),
    (b"1.2.3.256", None),
    (b"[::1%25lo]", None),
    (b"[::1", None),
    (b"[1.2.3.4]", None),
    (b"ok.com:443:443", None),
];

/// What came of it: a target that was asked for, or a refusal that nobody was asked about; and nothing but that.
fn judge(via: Via, host: &[u8], meant: Option<String>, refusal: &str, stage: Stage) {
    let case = format!("{via:?} {}", host.escape_ascii());
    let (heard, got, record) = stage.end();
    let admitted = meant.as_deref().is_some_and(|meant| meant.starts_with("ok.com:"));
    assert_eq!(got.is_some(), admitted, "{case}: a connection");
    assert_eq!(record.closed.len(), usize::from(admitted), "{case}");
    assert_eq!(
        record.asked,
        meant.clone().map(|meant| (via, meant)).into_iter().collect::<Vec<_>>(),
        "{case}"
    );
    assert_eq!(record.refused.len(), usize::from(meant.is_none()), "{case}: {:?}", record.refused);
    if meant.is_none() {
        assert!(heard.starts_with(refusal), "{case}: {heard:?}");
    }
}

#[test]
fn a_host_is_what_it_says_or_nothing_by_connect() {
    for (host, meant) in HOSTS {
        let request = [b"CONNECT ", *host, b":443 HTTP/1.1\r\nHost: ok.com\r\n\r\n"].concat();
        let meant = meant.map(|meant| format!("{meant}:443"));
        judge(Via::Connect, host, meant, "HTTP/1.1 400 ", Stage::asking(request));
    }
}

#[test]
fn a_host_is_what_it_says_or_nothing_by_http() {
    for (host, meant) in HOSTS {
        let request = [b"GET http://", *host, b"/ HTTP/1.1\r\nHost: ok.com\r\n\r\n"].concat();
        let meant = meant.map(|meant| format!("{meant}:80"));
        judge(Via::Http, host, meant, "HTTP/1.1 400 ", Stage::asking(request));
    }
}

#[test]
fn a_host_is_what_it_says_or_nothing_by_socks() {
    for (host, meant) in HOSTS {
        let request = [&[5, 1, 0][..], &socks_request(host, 443)].concat();
        let meant = meant.map(|meant| format!("{meant}:443"));
        judge(Via::Socks, host, meant, "\u{5}\0\u{5}\u{8}", Stage::asking(request));
    }
    for host in [b"/".as_slice(), b"ok.com?", b"ok.com:443", &[b'a'; 255]] {
        let request = [&[5, 1, 0][..], &socks_request(host, 443)].concat();
        judge(Via::Socks, host, None, "\u{5}\0\u{5}\u{8}", Stage::asking(request));
    }
}

#[test]
fn a_port_is_a_number_written_in_one_way() {
    for port in ["0", "0443", "65536", " 443", "443x", "", "+443", "443:443", "4 43", "\u{ff14}\u{ff14}3"] {
        let host = format!("ok.com:{port}");
        let connect = format!("CONNECT {host} HTTP/1.1\r\n\r\n");
        judge(Via::Connect, host.as_bytes(), None, "HTTP/1.1 400 ", Stage::asking(connect));
        let http = format!("GET http://{host}/ HTTP/1.1\r\nHost: {host}\r\n\r\n");
        judge(Via::Http, host.as_bytes(), None, "HTTP/1.1 400 ", Stage::asking(http));
    }
    let connect = Stage::asking("CONNECT ok.com HTTP/1.1\r\n\r\n");
    judge(Via::Connect, b"ok.com", None, "HTTP/1.1 400 ", connect);
    let socks = Stage::asking([&[5, 1, 0][..], &socks_request(b"ok.com", 0)].concat());
    judge(Via::Socks, b"ok.com", None, "\u{5}\0\u{5}\u{8}", socks);
}

#[test]
fn socks_addresses_are_judged_as_what_they_are() {
    let v6 = |text: &str| text.parse::<std::net::Ipv6Addr>().unwrap().octets();
    for (address, meant) in [
        ([&[1][..], &[127, 0, 0, 1]].concat(), "127.0.0.1:443"),
        ([&[4][..], &v6("::ffff:127.0.0.1")].concat(), "127.0.0.1:443"),
        ([&[4][..], &v6("fe80::1")].concat(), "[fe80::1]:443"),
        ([&[3, 9][..], b"127.0.0.1"].concat(), "127.0.0.1:443"),
        ([&[3, 7][..], b"fe80::1"].concat(), "[fe80::1]:443"),
        ([&[3, 16][..], b"::ffff:127.0.0.1"].concat(), "127.0.0.1:443"),
    ] {
        let request = [&[5, 1, 0, 5, 1, 0][..], &address, &[1, 0xbb]].concat();
        let (heard, got, record) = Stage::asking(request).end();
        assert_eq!(record.asked, [(Via::Socks, meant.to_owned())], "{address:?}");
        assert_eq!((heard.as_bytes(), got), (&[5, 0, 5, 2, 0, 1, 0, 0, 0, 0, 0, 0][..], None), "{address:?}");
    }
}

#[test]
fn socks_does_one_thing_only() {
    let name = socks_request(b"ok.com", 443);
    let with = |at: usize, byte: u8| {
        let mut request = name.clone();
        request[at] = byte;
        [&[5, 1, 0][..], &request].concat()
    };
    for (case, request, answer) in [
        ("BIND", with(1, 2), &[5, 0, 5, 7][..]),
        ("UDP ASSOCIATE", with(1, 3), &[5, 0, 5, 7]),
        ("no command", with(1, 0), &[5, 0, 5, 7]),
        ("another version", with(0, 4), &[5, 0, 5, 1]),
        ("something reserved", with(2, 1), &[5, 0, 5, 1]),
        ("an unknown kind of address", with(3, 2), &[5, 0, 5, 8]),
        ("a name that is cut short", with(4, 200), &[5, 0]),
        ("no method", vec![5, 0], &[5, 0xff]),
        ("GSSAPI", vec![5, 1, 1], &[5, 0xff]),
        ("a sign-in of another version", vec![5, 1, 2, 2, 1, b'u', 1, b'p'], &[5, 2]),
    ] {
        let mut stage = Stage::asking(request);
        assert_eq!(stage.hear(answer.len()), answer, "{case}");
        let (_, got, record) = stage.end();
        assert!(record.asked.is_empty() && got.is_none(), "{case}");
        assert!(matches!(record.refused[..], [(Via::Socks, _)]), "{case}: {:?}", record.refused);
    }
}

#[test]
fn socks_takes_any_password_of_a_client_that_insists() {
    for offer in [&[5, 1, 2][..], &[5, 2, 1, 2]] {
        let mut stage = Stage::asking(offer);
        assert_eq!(stage.hear(2), [5, 2]);
        stage.say([1, 1, b'u', 0]);
        assert_eq!(stage.hear(2), [1, 0]);
        stage.say(socks_request(b"ok.com", 443));
        assert_eq!(stage.hear(4), [5, 0, 0, 1]);
        assert_eq!(stage.end().2.closed.len(), 1);
    }
}

#[test]
fn a_refusal_names_the_line_that_would_admit() {
    let (heard, got, record) = Stage::asking("CONNECT no.com:443 HTTP/1.1\r\n\r\n").end();
    assert!(got.is_none() && record.refused.is_empty() && record.closed.is_empty());
    let (head, body) = heard.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 403 Forbidden\r\nX-Proxy-Error: not-allowed\r\n"), "{head}");
    assert!(head.contains(&format!("\r\nContent-Length: {}\r\n", body.len())), "{head}");
    assert_eq!(
        serde_json::from_str::<serde_json::Value>(body).unwrap(),
        serde_json::json!({
            "reason": "not-allowed", "host": "no.com", "port": 443, "line": "allow \"no.com:443\"",
        })
    );
    let (heard, ..) = Stage::asking("HEAD http://no.com/ HTTP/1.1\r\n\r\n").end();
    assert!(heard.starts_with("HTTP/1.1 403 ") && heard.ends_with("\r\n\r\n"), "{heard}");
    let (heard, ..) = Stage::asking([&[5, 1, 0][..], &socks_request(b"no.com", 443)].concat()).end();
    assert_eq!(heard.as_bytes(), [5, 0, 5, 2, 0, 1, 0, 0, 0, 0, 0, 0]);
    let (heard, got, record) = Stage::within(Arrival::Captured(target("no.com:443")), TIMES).end();
    assert_eq!((heard.as_str(), got, record.asked.len()), ("", None, 1));
}

#[test]
fn whoever_says_nothing_has_asked_for_nothing() {
    let (heard, got, record) = Stage::asking("").end();
    assert_eq!((heard.as_str(), got), ("", None));
    assert!(record.asked.is_empty() && record.refused.is_empty() && record.closed.is_empty());
}
