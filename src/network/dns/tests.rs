use super::super::record::Record;
use super::*;
use crate::policy::NetworkRule;
use crate::resolve::parse_host;
use crate::source::{Sources, Span};
use proptest::prelude::*;

fn keeper() -> Keeper {
    let span = Span::new(Sources::new().add("x", None, ""), 0..0);
    let rule = |(allow, text): (bool, &str)| NetworkRule {
        allow,
        pattern: parse_host(text, allow).unwrap(),
        requests: None,
        span,
    };
    let rules =
        [(true, "example.com"), (true, "*.pypi.org:8080"), (false, "uploads.pypi.org:*"), (true, "10.0.0.1")];
    Keeper::new(rules.map(rule).into(), Record::new(None, String::new()), None)
}

fn asked(labels: &[&[u8]], kind: u16) -> Vec<u8> {
    let mut message = vec![0x12, 0x34, 0x01, 0x00, 0, 1, 0, 0, 0, 0, 0, 0];
    for label in labels {
        message.push(u8::try_from(label.len()).unwrap());
        message.extend(*label);
    }
    message.push(0);
    message.extend(kind.to_be_bytes());
    message.extend(INTERNET.to_be_bytes());
    message
}

/// The code of an answer, and the data of its records.
fn answered(message: &[u8]) -> (u8, Vec<Vec<u8>>) {
    let reply = answer(message, &keeper()).unwrap();
    assert_eq!(reply[..2], message[..2]);
    assert_ne!(reply[2] & 0x80, 0);
    let records = usize::from(u16::from_be_bytes([reply[6], reply[7]]));
    let mut at = if reply[5] == 0 { HEADER } else { question(&reply).unwrap().3 };
    let mut found = Vec::new();
    for _ in 0..records {
        let length = usize::from(u16::from_be_bytes([reply[at + 10], reply[at + 11]]));
        found.push(reply[at + 12..at + 12 + length].to_vec());
        at += 12 + length;
    }
    assert_eq!(at, reply.len());
    (reply[3] & 0xf, found)
}

#[test]
fn what_could_be_admitted_has_an_address_and_nothing_else_exists() {
    let address = vec![vec![198, 18, 0, 1]];
    assert_eq!(answered(&asked(&[b"Example", b"COM"], A)), (0, address));
    assert_eq!(answered(&asked(&[b"files", b"pypi", b"org"], A)), (0, vec![vec![198, 18, 0, 2]]));
    assert_eq!(answered(&asked(&[b"example", b"com"], AAAA)), (0, vec![]));
    assert_eq!(answered(&asked(&[b"example", b"com"], 65)), (0, vec![]));
    assert_eq!(answered(&asked(&[b"localhost"], A)), (0, vec![vec![127, 0, 0, 1]]));
    for labels in [
        &[b"www".as_slice(), b"example", b"com"] as &[&[u8]],
        &[b"pypi", b"org"],
        &[b"uploads", b"pypi", b"org"],
        &[b"secret", b"evil", b"test"],
        &[b"10", b"0", b"0", b"1"],
        &[b"evil\0", b"example", b"com"],
        &[b"x y", b"pypi", b"org"],
        &[],
    ] {
        assert_eq!(answered(&asked(labels, A)), (3, vec![]), "{labels:?}");
    }
}

#[test]
fn a_name_that_is_refused_is_told_once_and_without_a_port() {
    let keeper = keeper();
    for kind in [A, AAAA, A] {
        answer(&asked(&[b"evil", b"com"], kind), &keeper).unwrap();
    }
    answer(&asked(&[b"Uploads", b"pypi", b"org"], A), &keeper).unwrap();
    answer(&asked(&[b"example", b"com"], A), &keeper).unwrap();
    let summary = keeper.record().summary();
    assert_eq!(summary.refusals, 2);
    let told: Vec<_> = summary
        .refused
        .iter()
        .map(|refused| {
            (refused.host.as_str(), refused.reason.as_str(), refused.line.as_deref(), refused.times)
        })
        .collect();
    assert_eq!(
        told,
        [
            ("evil.com", "not-allowed", Some("allow \"evil.com\""), 1),
            ("uploads.pypi.org", "denied", Some("deny \"uploads.pypi.org:*\""), 1)
        ]
    );
}

#[test]
fn what_is_no_question_gets_no_data() {
    let sound = asked(&[b"example", b"com"], A);
    assert_eq!(answer(&sound[..11], &keeper()), None);
    let changed = |at: usize, to: u8| {
        let mut message = sound.clone();
        message[at] = to;
        message
    };
    assert_eq!(answer(&changed(2, 0x81), &keeper()), None, "an answer");
    assert_eq!(answered(&changed(2, 0x28)).0, 4, "an update");
    assert_eq!(answered(&changed(5, 2)).0, 1, "two questions");
    assert_eq!(answered(&changed(12, 0xc0)).0, 1, "a compressed name");
    assert_eq!(answered(&changed(28, 3)).0, 4, "another class");
    assert_eq!(answered(&asked(&[b"example.com"], A)).0, 1, "a dot in a label");
    assert_eq!(answered(&sound[..20]).0, 1, "half a name");
}

proptest! {
    #[test]
    fn no_message_is_a_panic_and_no_answer_is_of_another_name(
        message in proptest::collection::vec(any::<u8>(), 0..300)
    ) {
        if let Some(reply) = answer(&message, &keeper()) {
            prop_assert!(reply.len() <= message.len() + 28);
        }
    }
}
