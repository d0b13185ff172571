//! In: one connection of the command, and how it came. Out: what it asked for, or a refusal; and a record of either.

use super::incoming::{Halt, Incoming};
use super::relay::reset;
use super::{Closed, Gate, Opened, Reason, Requested, Via, http, socks, tunnel};
use crate::policy::host::Target;
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// How a connection came here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Arrival {
    /// To the proxy, which is to be told what is wanted, by HTTP or by SOCKS 5.
    Proxy,
    /// To an address that stands for this target.
    Captured(Target),
}

/// How long one waits for what is due at once. Nothing else is hurried: a tunnel may be silent for days.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Times {
    /// For a request to be complete; on a tunnel, for the first message, from its first byte.
    pub opening: Duration,
    /// For a refused client to read its answer and go.
    pub parting: Duration,
}

impl Default for Times {
    fn default() -> Self {
        Self { opening: Duration::from_secs(30), parting: Duration::from_secs(2) }
    }
}

/// Serves a connection until it is over.
pub fn serve(stream: TcpStream, arrival: Arrival, gate: &dyn Gate) {
    serve_within(stream, arrival, gate, &Times::default());
}

/// Serves a connection until it is over, with other times.
pub fn serve_within(stream: TcpStream, arrival: Arrival, gate: &dyn Gate, times: &Times) {
    // Small messages go at once or a little later; nothing hangs on it.
    let _ = stream.set_nodelay(true);
    let mut client = Incoming::new(&stream);
    let talk = Conversation { gate, times };
    match arrival {
        Arrival::Proxy => {
            let until = Instant::now() + times.opening;
            match client.more(Some(until)) {
                // Whoever only looks whether somebody listens has asked for nothing.
                Ok(()) if client.ended() => {}
                Ok(()) if client.held().first() == Some(&socks::VERSION) => {
                    socks::serve(&mut client, until, &talk);
                }
                Ok(()) | Err(Halt::Slow) => http::serve(&mut client, until, &talk),
                Err(Halt::Lost) => {}
            }
        }
        Arrival::Captured(target) => {
            let target = gate.meant(target);
            match gate.open(Via::Capture, &target) {
                Ok(opened) => talk.carry(&mut client, Via::Capture, &target, &opened, |client, passed| {
                    tunnel::carry(client, (Via::Capture, &target), &opened.stream, &talk, passed);
                }),
                Err(_) => reset(&stream),
            }
        }
    }
}

/// Who is asked, and how long one waits.
#[derive(Clone, Copy)]
pub(super) struct Conversation<'g> {
    pub gate: &'g dyn Gate,
    pub times: &'g Times,
}

/// What went over a connection to a host.
#[derive(Debug, Default)]
pub(super) struct Passed {
    pub up: u64,
    pub down: u64,
    pub sni: Option<String>,
    pub why: Option<Reason>,
    /// Whether the client was told why.
    pub told: bool,
    pub requested: Option<Requested>,
}

impl Conversation<'_> {
    /// Lets `carry` use a connection that was opened, and puts its end on record.
    pub fn carry(
        &self,
        client: &mut Incoming<'_>,
        via: Via,
        target: &Target,
        opened: &Opened,
        carry: impl FnOnce(&mut Incoming<'_>, &mut Passed),
    ) {
        let began = Instant::now();
        let _ = opened.stream.set_nodelay(true);
        let mut passed = Passed::default();
        carry(client, &mut passed);
        if passed.why.is_some() && !passed.told {
            reset(client.stream());
        }
        self.gate.closed(&Closed {
            via,
            target: target.clone(),
            address: opened.address,
            sni: passed.sni,
            up: passed.up,
            down: passed.down,
            lasted: began.elapsed(),
            why: passed.why,
            requested: passed.requested,
        });
    }
}
