//! In: what a SOCKS 5 client says (RFC 1928, RFC 1929). Out: a tunnel, or a reply that says why not.

use super::connection::Conversation;
use super::http::answer::say;
use super::incoming::Incoming;
use super::{Reason, Refused, Via, tunnel};
use crate::policy::host::{Host, Target};
use std::net::{Ipv4Addr, Ipv6Addr};
use std::time::Instant;

/// The first byte of all that such a client says.
pub(super) const VERSION: u8 = 5;

/// What a reply says (RFC 1928, 6).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reply {
    Succeeded = 0,
    Failure = 1,
    NotAllowed = 2,
    Unreachable = 4,
    CommandNotSupported = 7,
    AddressNotSupported = 8,
}

/// What is wrong with a request, and what its client is told; nothing where it has not come so far that there is a word for it.
type Fault = (Reason, Option<Reply>);

/// Serves a client that speaks SOCKS 5 to its proxy.
pub(super) fn serve(client: &mut Incoming<'_>, until: Instant, talk: &Conversation<'_>) {
    let target = match greeting(client, until).and_then(|()| request(client, until)) {
        Ok(target) => talk.gate.meant(target),
        Err((reason, reply)) => {
            talk.gate.refused(Via::Socks, &Refused::unread(reason));
            return refuse(client, talk, reply);
        }
    };
    let opened = match talk.gate.open(Via::Socks, &target) {
        Ok(opened) => opened,
        Err(refused) => return refuse(client, talk, Some(reply_to(refused.reason))),
    };
    talk.carry(client, Via::Socks, &target, &opened, |client, passed| {
        if reply(client, Reply::Succeeded) {
            tunnel::carry(client, (Via::Socks, &target), &opened.stream, talk, passed);
        }
    });
}

fn refuse(client: &mut Incoming<'_>, talk: &Conversation<'_>, with: Option<Reply>) {
    if with.is_none_or(|with| reply(client, with)) {
        super::http::answer::part(client, talk.times);
    }
}

fn reply_to(reason: Reason) -> Reply {
    match reason {
        Reason::NotAllowed
        | Reason::Denied
        | Reason::Address(_)
        | Reason::OwnAddress
        | Reason::SniMismatch
        | Reason::HostMismatch
        | Reason::NotTls
        | Reason::CannotInspect
        | Reason::RequestNotAllowed
        | Reason::SecretMisdirected => Reply::NotAllowed,
        Reason::BadHost => Reply::AddressNotSupported,
        Reason::Unresolved | Reason::Unreachable => Reply::Unreachable,
        Reason::BadRequest(_)
        | Reason::Untrusted
        | Reason::TlsFailed
        | Reason::AuthorityRefused
        | Reason::Encoded
        | Reason::BadAnswer
        | Reason::TooMany
        | Reason::TooSlow => Reply::Failure,
    }
}

/// Replies, with no address of one's own: none is of use to a client that connects. Whether it is still there.
fn reply(client: &Incoming<'_>, reply: Reply) -> bool {
    say(client.stream(), &[VERSION, reply as u8, 0, 1, 0, 0, 0, 0, 0, 0]).is_ok()
}

/// Agrees on how the client shows who it is: not at all, or, for one that insists, by a name and a password that nobody looks at.
fn greeting(client: &mut Incoming<'_>, until: Instant) -> Result<(), Fault> {
    let [_, count] = take(client, until)?;
    let methods = client.take(count.into(), until).map_err(untold)?;
    let method: u8 = if methods.contains(&0) {
        0
    } else if methods.contains(&2) {
        2
    } else {
        // No method, and no reply but this one.
        let _ = say(client.stream(), &[VERSION, 0xff]);
        return Err((Reason::BadRequest("no way to sign in that is known here"), None));
    };
    say(client.stream(), &[VERSION, method]).map_err(|_| untold(super::incoming::CUT_SHORT))?;
    if method == 2 {
        let [version, length] = take(client, until)?;
        if version != 1 {
            return Err((Reason::BadRequest("a sign-in that is not a name and a password"), None));
        }
        client.take(length.into(), until).map_err(untold)?;
        let [length] = take(client, until)?;
        client.take(length.into(), until).map_err(untold)?;
        say(client.stream(), &[1, 0]).map_err(|_| untold(super::incoming::CUT_SHORT))?;
    }
    Ok(())
}

fn request(client: &mut Incoming<'_>, until: Instant) -> Result<Target, Fault> {
    let [version, command, reserved, kind] = take(client, until)?;
    if version != VERSION || reserved != 0 {
        return Err((Reason::BadRequest("not a request of SOCKS 5"), Some(Reply::Failure)));
    }
    let host = match kind {
        1 => Ok(Host::address(Ipv4Addr::from(take(client, until)?).into())),
        4 => Ok(Host::address(Ipv6Addr::from(take::<16>(client, until)?).into())),
        3 => {
            let [length] = take(client, until)?;
            domain(&client.take(length.into(), until).map_err(untold)?)
        }
        // How long such an address is nobody can tell.
        _ => return Err((Reason::BadHost, Some(Reply::AddressNotSupported))),
    };
    let port = u16::from_be_bytes(take(client, until)?);
    if command != 1 {
        return Err((Reason::BadRequest("a command other than CONNECT"), Some(Reply::CommandNotSupported)));
    }
    match host {
        Ok(host) if port != 0 => Ok(Target::new(host, port)),
        Ok(_) | Err(()) => Err((Reason::BadHost, Some(Reply::AddressNotSupported))),
    }
}

/// A host by name. An address in letters is that address: it is no name of anything.
fn domain(bytes: &[u8]) -> Result<Host, ()> {
    let text = std::str::from_utf8(bytes).map_err(|_| ())?;
    match text.parse::<Ipv6Addr>() {
        Ok(address) => Ok(Host::address(address.into())),
        Err(_) => Host::parse(text).map_err(|_| ()),
    }
}

fn take<const N: usize>(client: &mut Incoming<'_>, until: Instant) -> Result<[u8; N], Fault> {
    let taken = client.take(N, until).map_err(untold)?;
    taken.try_into().map_err(|_| untold(super::incoming::CUT_SHORT))
}

fn untold(reason: Reason) -> Fault {
    (reason, None)
}
