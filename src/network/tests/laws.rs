//! What holds for any bytes: there is an end, a record of it, and nothing for a server that was not admitted.

use super::*;
use crate::network::http::body::Chunks;
use crate::network::opening::{Opener, Opening};
use proptest::prelude::*;

/// Bytes that are like something: pieces of requests and greetings, in any order, with a few bytes changed.
fn hostile() -> impl Strategy<Value = Vec<u8>> {
    let evil = client_hello(Some(b"evil.net"));
    let pieces = prop_oneof![
        Just(b"CONNECT evil.net:443 HTTP/1.1\r\n".to_vec()),
        Just(b"GET http://evil.net/ HTTP/1.1\r\n".to_vec()),
        Just(b"GET / HTTP/1.1\r\n".to_vec()),
        Just(b"Host: evil.net\r\n".to_vec()),
        Just(b"Transfer-Encoding: chunked\r\n".to_vec()),
        Just(b"Content-Length: 5\r\n".to_vec()),
        Just(b"\r\n".to_vec()),
        Just(vec![5, 1, 0]),
        Just(socks_request(b"evil.net", 443)),
        Just(vec![0x16, 3, 1]),
        Just(evil),
        prop::collection::vec(any::<u8>(), 0..20),
    ];
    let changes = prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..3);
    (prop::collection::vec(pieces, 0..8), changes).prop_map(|(pieces, changes)| {
        let mut bytes = pieces.concat();
        for (place, byte) in changes {
            if !bytes.is_empty() {
                let place = place.index(bytes.len());
                bytes[place] = byte;
            }
        }
        bytes
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn a_proxy_ends_with_any_bytes_and_opens_nothing_for_them(bytes in hostile()) {
        let (_, got, record) = Stage::asking(&bytes).end();
        prop_assert_eq!(got, None);
        prop_assert!(record.closed.is_empty());
        prop_assert!(record.asked.iter().all(|(_, target)| !target.starts_with("ok.com:")));
        prop_assert_eq!(record.asked.len() + record.refused.len(), usize::from(!bytes.is_empty()));
    }

    #[test]
    fn a_tunnel_ends_with_any_bytes_and_passes_all_or_nothing(bytes in hostile()) {
        let mut stage = Stage::tunnel(Door::Capture, "ok.com:443");
        stage.say(&bytes);
        let (_, got, record) = stage.end();
        let closed = &record.closed[0];
        prop_assert_eq!((record.closed.len(), record.refused.len()), (1, 0));
        match Opener::default().look(&bytes, true) {
            Opening::Tls(None) | Opening::Other | Opening::Undecided => prop_assert_eq!(got.unwrap(), bytes),
            Opening::Tls(Some(name)) if name == b"ok.com" => prop_assert_eq!(got.unwrap(), bytes),
            Opening::Tls(Some(_)) | Opening::Malformed(_) => {
                prop_assert_eq!(got.unwrap(), b"");
                prop_assert!(closed.why.is_some());
            }
            Opening::Http => {
                // Rebuilt for this host, or nothing.
                let got = got.unwrap();
                let text = String::from_utf8_lossy(&got).to_ascii_lowercase();
                prop_assert!(text.is_empty() || text.contains("\r\nhost: ok.com:443\r\n"), "{}", text);
            }
        }
    }

    #[test]
    fn an_opening_is_the_same_however_it_comes(bytes in hostile(), cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..6)) {
        let mut ends: Vec<_> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
        ends.sort_unstable();
        let mut opener = Opener::default();
        let decided = ends.into_iter().map(|end| opener.look(&bytes[..end], false)).find(|look| *look != Opening::Undecided);
        let decided = decided.unwrap_or_else(|| opener.look(&bytes, true));
        let at_once = Opener::default().look(&bytes, true);
        prop_assert_eq!(decided, at_once);
    }

    #[test]
    fn chunks_never_let_anything_behind_them_through(bytes in "[0-3a\r\n;:x]{0,40}", cut in any::<prop::sample::Index>()) {
        let bytes = bytes.as_bytes();
        let (one, other) = bytes.split_at(cut.index(bytes.len() + 1));
        let (mut chunks, mut out) = (Chunks::default(), Vec::new());
        let fed = chunks.feed(one, &mut out).and_then(|used| Ok(used + chunks.feed(other, &mut out)?));
        let (mut again, mut whole) = (Chunks::default(), Vec::new());
        prop_assert_eq!(fed, again.feed(bytes, &mut whole));
        // What went out is itself a body, and the same.
        if chunks.done() {
            prop_assert_eq!(&out, &whole);
            let (mut third, mut same) = (Chunks::default(), Vec::new());
            prop_assert_eq!(third.feed(&out, &mut same), Ok(out.len()));
            prop_assert!(third.done() && same == out);
        }
    }
}
