//! In: a client and the host that was admitted for it. Out: their bytes to each other, once the client's first ones are seen to be meant for
//! that host.

use super::connection::{Conversation, Passed, Times};
use super::http::{answer, exchange, head, meant_for};
use super::incoming::{Halt, Incoming, wait};
use super::inspect::session::{self, Parties};
use super::opening::{Opener, Opening};
use super::relay::both;
use super::{Reason, Refused, Via};
use crate::policy::host::{Host, Target};
use std::net::{Shutdown, TcpStream};
use std::time::Instant;

/// Carries a tunnel until it is over.
pub(super) fn carry(
    client: &mut Incoming<'_>,
    (via, target): (Via, &Target),
    server: &TcpStream,
    talk: &Conversation<'_>,
    passed: &mut Passed,
) {
    let times = talk.times;
    let reading = talk.gate.reading(target);
    if reading.is_none() && target.host.is_localhost() {
        // One port of this machine and nothing else: what is said to it names nobody.
        return relay(client, server, passed);
    }
    let mut until = None;
    let opening = match opening(client, server, reading.is_none(), times, &mut until, passed) {
        Ok(opening) => opening,
        Err(why) => {
            passed.why = why;
            return;
        }
    };
    let until = until.unwrap_or_else(|| Instant::now() + times.opening);
    match (opening, reading) {
        (Opening::Malformed(why), _) => passed.why = Some(Reason::BadRequest(why)),
        (Opening::Http, None) => request(client, (via, target), server, talk, until, passed),
        (Opening::Http, Some(_)) => refuse(client, target, Reason::NotTls, talk, passed),
        (Opening::Tls(name), reading) => {
            if let Some(name) = name
                && let Err(reason) = asked_for(&name, (via, target), talk, passed)
            {
                passed.why = Some(reason);
                return;
            }
            match reading {
                Some(reading) => {
                    let parties = Parties { via, target, server };
                    session::carry(client, &parties, talk, reading, until, passed);
                }
                None => relay(client, server, passed),
            }
        }
        (Opening::Other | Opening::Undecided, None) => relay(client, server, passed),
        // Whoever has said nothing has asked for nothing.
        (Opening::Other | Opening::Undecided, Some(_)) if client.held().is_empty() => {}
        (Opening::Other | Opening::Undecided, Some(_)) => passed.why = Some(Reason::NotTls),
    }
}

/// Sees to it that TLS begins with the name of the target.
fn asked_for(
    name: &[u8],
    (via, target): (Via, &Target),
    talk: &Conversation<'_>,
    passed: &mut Passed,
) -> Result<(), Reason> {
    let text = String::from_utf8_lossy(name);
    if is_name_of(&text, &target.host) {
        passed.sni = Some(text.chars().take(255).collect());
        return Ok(());
    }
    if let Some(mut search) = talk.gate.strays() {
        search.text(name);
        if let Some(found) = search.found() {
            talk.gate.misdirected(via, Some(target), &found);
            return Err(Reason::SecretMisdirected);
        }
    }
    passed.sni = Some(text.chars().take(255).collect());
    Err(Reason::SniMismatch)
}

/// Ends a connection with an answer in HTTP, which its client speaks.
pub(super) fn refuse(
    client: &mut Incoming<'_>,
    target: &Target,
    reason: Reason,
    talk: &Conversation<'_>,
    passed: &mut Passed,
) {
    passed.why = Some(reason);
    passed.told = true;
    answer::send(
        client,
        &Refused { target: Some(target.clone()), ..Refused::unread(reason) },
        false,
        talk.times,
    );
}

/// Passes on everything, both ways, as it comes.
fn relay(client: &mut Incoming<'_>, server: &TcpStream, passed: &mut Passed) {
    match both(client, server) {
        Ok((up, down)) => {
            passed.up += up;
            passed.down += down;
        }
        Err(_) => passed.why = Some(Reason::TooMany),
    }
}

/// Whether a TLS client that asks for `name` asks for `host`. An address has no name to ask for (RFC 6066, 3).
fn is_name_of(name: &str, host: &Host) -> bool {
    matches!(host, Host::Name(_)) && Host::parse(name).as_ref() == Ok(host)
}

/// Reads the client's first bytes until it is clear what they begin; none of them goes on before. What the server says meanwhile is passed on:
/// in many protocols it speaks first, unless it `speaks` only when it was spoken to.
///
/// # Errors
/// The connection is over; with a reason where it was ended here. `until` is set from the first byte on.
fn opening(
    client: &mut Incoming<'_>,
    server: &TcpStream,
    speaks: bool,
    times: &Times,
    until: &mut Option<Instant>,
    passed: &mut Passed,
) -> Result<Opening, Option<Reason>> {
    let mut opener = Opener::default();
    let mut greeting = Incoming::new(server);
    loop {
        match opener.look(client.held(), client.ended()) {
            Opening::Undecided => {}
            decided => return Ok(decided),
        }
        if !client.held().is_empty() {
            until.get_or_insert_with(|| Instant::now() + times.opening);
        }
        let speaking = (speaks && !greeting.ended()).then_some(server);
        let ready = wait(Some(client.stream()), speaking, *until);
        let (from_client, from_server) = ready.map_err(|halt| Some(halt.reason()))?;
        if from_server {
            greeting.more(None).map_err(|_| lost(client.stream()))?;
            let said = greeting.take_all();
            answer::say(client.stream(), &said).map_err(|_| lost(server))?;
            passed.down += said.len() as u64;
            if greeting.ended() {
                // A client that is gone already is found out by reading from it.
                let _ = client.stream().shutdown(Shutdown::Write);
            }
        }
        if from_client {
            match client.more(*until) {
                Ok(()) => {}
                Err(Halt::Slow) => return Err(Some(Reason::TooSlow)),
                Err(Halt::Lost) => return Err(lost(server)),
            }
        }
    }
}

/// Passes on that one side is lost: nobody here ended it.
fn lost(other: &TcpStream) -> Option<Reason> {
    super::relay::reset(other);
    None
}

/// Serves a client that speaks HTTP on a tunnel as one that speaks it to the proxy, but for what it may ask for.
fn request(
    client: &mut Incoming<'_>,
    (via, target): (Via, &Target),
    server: &TcpStream,
    talk: &Conversation<'_>,
    until: Instant,
    passed: &mut Passed,
) {
    let read = head::read(client, until).and_then(|head| Ok((meant_for(&head, target)?, head)));
    match read {
        Ok((path, head)) => exchange::carry(client, &head, (via, target, &path), server, talk, passed),
        Err(reason) => refuse(client, target, reason, talk, passed),
    }
}
