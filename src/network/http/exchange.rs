//! In: a request, and a connection to the host that was admitted. Out: the request there, its response back, and nothing after it: a second request
//! might name another host.

use super::answer::{part, say};
use super::body::{self, Sent};
use super::head::{Body, Head, LIMIT};
use super::rebuild::rebuild;
use super::response::{self, Reply, reply_head};
use crate::network::connection::{Conversation, Passed, Times};
use crate::network::incoming::{Halt, Incoming, wait};
use crate::network::inspect::Search;
use crate::network::relay::{both, reset, while_down, write_all};
use crate::network::tunnel::refuse;
use crate::network::{Reason, Via};
use crate::policy::host::Target;
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};

/// Passes on one request, and its response as it comes.
pub(in crate::network) fn carry(
    client: &mut Incoming<'_>,
    head: &Head,
    (via, target, path): (Via, &Target, &[u8]),
    server: &TcpStream,
    talk: &Conversation<'_>,
    passed: &mut Passed,
) {
    let times = talk.times;
    let mut search = talk.gate.strays();
    if let Some(search) = &mut search {
        search.text(head.method.as_bytes());
        search.path(path);
        head.fields.iter().for_each(|(name, value)| search.field(name.as_bytes(), value));
        if let Some(found) = search.found() {
            talk.gate.misdirected(via, Some(target), &found);
            return refuse(client, target, Reason::SecretMisdirected, talk, passed);
        }
    }
    let rebuilt = rebuild(head, target, path);
    if write_all(server, &rebuilt.bytes, &mut passed.up).is_err() {
        return;
    }
    let mut reply = Incoming::new(server);
    let bodiless = head.method == "HEAD";
    if !rebuilt.upgrade {
        let body = (head.body, bodiless);
        request(client, body, &mut search, &mut reply, times, passed);
        if let Some(found) = search.and_then(|search| search.found()) {
            talk.gate.misdirected(via, Some(target), &found);
            passed.why = Some(Reason::SecretMisdirected);
        }
        return;
    }
    match switched(client, &mut reply, passed) {
        Some(true) => match both(client, server) {
            Ok((up, down)) => {
                passed.up += up;
                passed.down += down;
            }
            Err(_) => passed.why = Some(Reason::TooMany),
        },
        Some(false) => request(client, (Body::None, bodiless), &mut None, &mut reply, times, passed),
        None => {}
    }
}

/// Passes on the body upwards while the response, which has none where it is `bodiless`, comes down.
fn request(
    client: &mut Incoming<'_>,
    (body, bodiless): (Body, bool),
    search: &mut Option<Search>,
    reply: &mut Incoming<'_>,
    times: &Times,
    passed: &mut Passed,
) {
    let (stream, server) = (client.stream(), reply.stream());
    let answered = AtomicBool::new(false);
    let mut sent = Sent::Whole;
    let down = while_down(
        || {
            let down = response::carry(reply, stream, bodiless);
            answered.store(true, Ordering::Release);
            // Wakes the reader above. A client that is gone needs no waking.
            let _ = stream.shutdown(Shutdown::Read);
            down
        },
        || {
            sent = body::send(client, body, search.as_mut(), server, &mut passed.up);
            upwards(client, sent, server, times, &answered);
        },
    );
    match down {
        Ok(down) => passed.down += down,
        Err(_) => passed.why = Some(Reason::TooMany),
    }
    if let Sent::Malformed(why) = sent {
        passed.why = Some(Reason::BadRequest(why));
    }
}

/// What becomes of the way up once the body is sent, or cannot be: what the client sends now goes nowhere.
fn upwards(client: &mut Incoming<'_>, sent: Sent, server: &TcpStream, times: &Times, answered: &AtomicBool) {
    match sent {
        Sent::Whole | Sent::Short => {}
        // It may have answered before it went.
        Sent::Unwritten => end_reading(server),
        Sent::Unread | Sent::Malformed(_) => return abandon(server),
    }
    client.consume(client.held().len());
    while !client.ended() {
        if answered.load(Ordering::Acquire) {
            return part(client, times);
        }
        if client.more(None) == Err(Halt::Lost) {
            return abandon(server);
        }
        client.consume(client.held().len());
    }
    // A server that is gone already need not be told.
    let _ = server.shutdown(Shutdown::Write);
}

/// Lets the server know that the request is not whole, and the response go.
fn abandon(server: &TcpStream) {
    reset(server);
    end_reading(server);
}

/// Ends the way down after what has arrived.
fn end_reading(server: &TcpStream) {
    // A server that is gone already sends no more.
    let _ = server.shutdown(Shutdown::Read);
}

/// Waits for what the server says to another protocol, and passes that on. Whether it goes over to it; `None` where the connection is over.
///
/// What the client sends meanwhile is kept: it belongs to the new protocol, or to none. So is a response that does not go over to it.
fn switched(client: &mut Incoming<'_>, reply: &mut Incoming<'_>, passed: &mut Passed) -> Option<bool> {
    let server = reply.stream();
    loop {
        let (bytes, over) = match reply_head(reply.held()) {
            Reply::Undecided if !reply.ended() => {
                let more = (!client.ended() && client.held().len() < LIMIT).then(|| client.stream());
                let (from_client, from_server) = wait(more, Some(server), None).ok()?;
                if from_client {
                    if client.more(None).is_err() {
                        reset(server);
                        return None;
                    }
                    if client.ended() {
                        // A server that is gone is found out by reading from it.
                        let _ = server.shutdown(Shutdown::Write);
                    }
                }
                if from_server && reply.more(None).is_err() {
                    reset(client.stream());
                    return None;
                }
                continue;
            }
            Reply::Interim(length) => {
                let bytes = reply.held().get(..length).unwrap_or_default().to_vec();
                reply.consume(length);
                (bytes, false)
            }
            Reply::Switched => (reply.take_all(), true),
            Reply::Final(_) | Reply::Undecided | Reply::Unknown => return Some(false),
        };
        say(client.stream(), &bytes).ok()?;
        passed.down += bytes.len() as u64;
        if over {
            return Some(true);
        }
    }
}
