//! Every word that stands in the log, in a header and in messages is explained.

use super::super::{Reason, Via};
use crate::policy::address::Class;

#[test]
fn every_reason_and_every_way_in_is_documented() {
    let page = include_str!("../../../docs/network.md");
    let classes = [Class::Metadata, Class::ThisMachine, Class::LinkLocal, Class::Private, Class::Special];
    let reasons = [
        Reason::NotAllowed,
        Reason::Denied,
        Reason::BadHost,
        Reason::BadRequest(""),
        Reason::Unresolved,
        Reason::OwnAddress,
        Reason::Unreachable,
        Reason::SniMismatch,
        Reason::HostMismatch,
        Reason::TooMany,
        Reason::TooSlow,
    ];
    let ways = [Via::Connect, Via::Http, Via::Socks, Via::Capture, Via::Localhost];
    let names =
        reasons.into_iter().chain(classes.map(Reason::Address)).map(Reason::name).chain(ways.map(Via::name));
    for name in names {
        assert!(page.contains(&format!("`{name}`")), "`{name}` is not in docs/network.md");
    }
}
