//! In: a client that begins TLS with the right name, and a connection to the server. Out: TLS with both, and requests and responses between them,
//! until one is gone.

use super::bodies::Upward;
use super::exchange::{Exchange, Told};
use super::masks::{Masks, Restorer};
use super::pace::Watched;
use super::wire::Wire;
use super::{Reader, Reading};
use crate::network::connection::{Conversation, Passed};
use crate::network::http::answer;
use crate::network::http::head::{LIMIT, TOO_LARGE};
use crate::network::incoming::Incoming;
use crate::network::relay::reset;
use crate::network::{Reason, Requested, Via};
use crate::policy::host::{Host, Target};
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use rustls::ServerConfig;
use rustls::pki_types::ServerName;
use std::cell::RefCell;
use std::future::poll_fn;
use std::io;
use std::net::TcpStream;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;
use std::time::Instant;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio_rustls::client::TlsStream as ToServer;
use tokio_rustls::server::TlsStream as ToClient;
use tokio_rustls::{TlsAcceptor, TlsConnector};

/// The most fields of a message.
const FIELDS: usize = 256;
/// What one side may keep of a message that the other does not take.
const BUFFER: usize = LIMIT + 4096;
/// What is read at once of another protocol.
const PIECE: usize = 16 * 1024;

/// Who speaks with whom.
pub(in crate::network) struct Parties<'s> {
    pub via: Via,
    pub target: &'s Target,
    pub server: &'s TcpStream,
}

/// Carries a connection that is read until it is over. The client's first message is held; `until` is when it must be done with its part of
/// beginning TLS.
pub(in crate::network) fn carry(
    client: &mut Incoming<'_>,
    parties: &Parties<'_>,
    talk: &Conversation<'_>,
    reading: Reading<'_>,
    until: Instant,
    passed: &mut Passed,
) {
    let Some(reader) = reading.reader else {
        passed.why = Some(Reason::CannotInspect);
        return;
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build();
    let Ok(runtime) = runtime else {
        passed.why = Some(Reason::TooMany);
        return;
    };
    let masks = Masks::new(reader.secrets.iter().filter(|secret| secret.is_for(parties.target)));
    let search = reader.search_for(parties.target);
    let exchange = Exchange {
        gate: talk.gate,
        via: parties.via,
        target: parties.target,
        rules: reading.rules,
        masks,
        search,
        server: RefCell::new(None),
        told: Told::default(),
    };
    let held = client.take_all();
    let session = Session { client: client.stream(), server: parties.server, talk, exchange: &exchange };
    let ended = runtime.block_on(session.run(reader, held, until, passed));
    exchange.alarm();
    passed.why = ended.err().or(exchange.told.why.get());
    passed.told = ended.is_ok() && passed.why.is_some();
    let secrets = exchange.told.secrets.take().into_iter().collect();
    passed.requested = Some(Requested {
        count: exchange.told.requests.get(),
        secrets,
        refused: exchange.told.refused.get(),
    });
    drop(runtime);
    if passed.told && client.stream().set_nonblocking(false).is_ok() {
        answer::part(client, talk.times);
    }
}

struct Session<'s> {
    client: &'s TcpStream,
    server: &'s TcpStream,
    talk: &'s Conversation<'s>,
    exchange: &'s Exchange<'s>,
}

impl<'s> Session<'s> {
    /// Gives why the connection must end here, with nothing said.
    async fn run(
        &self,
        reader: &Reader,
        held: Vec<u8>,
        until: Instant,
        passed: &mut Passed,
    ) -> Result<(), Reason> {
        let target = self.exchange.target;
        let Host::Name(name) = &target.host else { return Err(Reason::CannotInspect) };
        let serving = reader.authority.serving(name).map_err(|_| Reason::CannotInspect)?;
        let asked = ServerName::try_from(name.clone()).map_err(|_| Reason::CannotInspect)?;
        let client = Wire::new(self.client, held).map_err(|_| Reason::TooMany)?;
        let server = Wire::new(self.server, Vec::new()).map_err(|_| Reason::TooMany)?;
        let count = client.count();
        let ended = self.speak(reader, (client, serving), (server, asked), until).await;
        (passed.up, passed.down) = (count.read.get(), count.written.get());
        ended
    }

    async fn speak(
        &self,
        reader: &Reader,
        (client, serving): (Wire, Arc<ServerConfig>),
        (server, asked): (Wire, ServerName<'static>),
        until: Instant,
    ) -> Result<(), Reason> {
        // The server's side first: a client that would be told of a failure only later believes that it is connected.
        let connector = TlsConnector::from(reader.asking().map_err(|_| Reason::CannotInspect)?);
        let mut connecting = pin!(connector.connect(asked, server));
        let connected = poll_fn(|cx| match connecting.as_mut().poll(cx) {
            Poll::Ready(connected) => Poll::Ready(Some(connected)),
            Poll::Pending => client.poll_gone(cx).map(|()| None),
        });
        let Some(connected) = connected.await else { return Ok(()) };
        let server = connected.map_err(|error| server_fault(&error))?;
        let accepting = TlsAcceptor::from(serving).accept(client);
        let accepted = tokio::time::timeout_at(until.into(), accepting).await.map_err(|_| Reason::TooSlow)?;
        match accepted {
            Ok(client) => self.requests(client, server).await,
            Err(error) => client_fault(&error).map_or(Ok(()), Err),
        }
    }

    /// Requests and responses, until one side is gone.
    async fn requests(&self, client: ToClient<Wire>, server: ToServer<Wire>) -> Result<(), Reason> {
        let handshake = hyper::client::conn::http1::Builder::new()
            .max_headers(FIELDS)
            .max_header_size(LIMIT)
            .max_buf_size(BUFFER)
            .handshake::<_, Upward>(TokioIo::new(server));
        let Ok((sender, mut upper)) = handshake.await else { return Ok(()) };
        self.exchange.server.replace(Some(sender));
        let told = &self.exchange.told;
        let service = service_fn(|request| Box::pin(self.exchange.answer(request)));
        let mut lower = hyper::server::conn::http1::Builder::new()
            .max_headers(FIELDS)
            .max_header_size(LIMIT)
            .max_buf_size(BUFFER)
            .auto_date_header(false)
            .serve_connection(TokioIo::new(Watched { stream: client, pace: told.pace.clone() }), service);
        let mut timer = None;
        let mut upper_over = false;
        let ended = poll_fn(|cx| {
            upper_over = upper_over || upper.poll_without_shutdown(cx).is_ready();
            if let Poll::Ready(ended) = lower.poll_without_shutdown(cx) {
                return Poll::Ready(Ok(ended));
            }
            if upper_over && !told.switched.get() {
                // Nothing can be asked any more: the client is to know, and to ask anew.
                if told.requests.get() == 0 {
                    return Poll::Ready(Ok(Ok(())));
                }
                Pin::new(&mut lower).graceful_shutdown();
                if let Poll::Ready(ended) = lower.poll_without_shutdown(cx) {
                    return Poll::Ready(Ok(ended));
                }
            }
            told.pace.poll_slow(self.talk.times.opening, &mut timer, cx).map(Err)
        });
        let ended = ended.await?;
        let busy = told.pace.is_busy();
        let (lower, upper) = (lower.into_parts(), upper.into_parts());
        let (mut client, mut server) = (lower.io.into_inner().stream, upper.io.into_inner());
        if told.switched.get() && ended.is_ok() {
            let masks = &self.exchange.masks;
            let restorer = (!masks.is_empty()).then(|| masks.stream());
            switched((&mut client, &lower.read_buf), (&mut server, &upper.read_buf), restorer).await;
            return Ok(());
        }
        if let Err(error) = &ended
            && error.is_parse()
        {
            let unread = Reason::BadRequest("a request that cannot be read");
            told.why.set(Some(if error.is_parse_too_large() { TOO_LARGE } else { unread }));
        }
        // What was cut off must not seem whole.
        if told.pace.is_cut() {
            reset(self.client);
        } else {
            farewell(&mut client, self.talk).await;
        }
        if !busy {
            farewell(&mut server, self.talk).await;
        }
        Ok(())
    }
}

/// Says that nothing more comes. A peer that is gone, or takes nothing, is not waited for.
async fn farewell(stream: &mut (impl AsyncWrite + Unpin), talk: &Conversation<'_>) {
    let _ = tokio::time::timeout(talk.times.parting, stream.shutdown()).await;
}

/// Passes on another protocol, both ways, until both have ended or one is lost. Each side comes with what was read of it already.
async fn switched(
    (client, said): (&mut ToClient<Wire>, &[u8]),
    (server, answered): (&mut ToServer<Wire>, &[u8]),
    restorer: Option<Restorer>,
) {
    let (client_read, client_write) = tokio::io::split(client);
    let (server_read, server_write) = tokio::io::split(server);
    let mut up = pin!(one_way(said, client_read, server_write, None));
    let mut down = pin!(one_way(answered, server_read, client_write, restorer));
    let (mut up_over, mut down_over) = (false, false);
    poll_fn(|cx| {
        if !up_over && let Poll::Ready(ended) = up.as_mut().poll(cx) {
            if ended.is_err() {
                return Poll::Ready(());
            }
            up_over = true;
        }
        if !down_over && let Poll::Ready(ended) = down.as_mut().poll(cx) {
            if ended.is_err() {
                return Poll::Ready(());
            }
            down_over = true;
        }
        if up_over && down_over { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
}

async fn one_way(
    first: &[u8],
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    mut restorer: Option<Restorer>,
) -> io::Result<()> {
    let mut piece = vec![0; PIECE];
    let mut next = first.to_vec();
    loop {
        let out = match &mut restorer {
            Some(restorer) => restorer.feed(&next),
            None => next,
        };
        to.write_all(&out).await?;
        to.flush().await?;
        let length = from.read(&mut piece).await?;
        if length == 0 {
            break;
        }
        next = piece.get(..length).unwrap_or_default().to_vec();
    }
    if let Some(mut restorer) = restorer {
        to.write_all(&restorer.end()).await?;
    }
    to.shutdown().await
}

/// Why TLS with the server did not come about.
fn server_fault(error: &io::Error) -> Reason {
    match tls_fault(error) {
        Some(rustls::Error::InvalidCertificate(_) | rustls::Error::NoCertificatesPresented) => {
            Reason::Untrusted
        }
        _ => Reason::TlsFailed,
    }
}

/// Why TLS with the client did not come about; nothing where it went.
fn client_fault(error: &io::Error) -> Option<Reason> {
    match tls_fault(error)? {
        rustls::Error::AlertReceived(_) => Some(Reason::AuthorityRefused),
        _ => Some(Reason::TlsFailed),
    }
}

fn tls_fault(error: &io::Error) -> Option<&rustls::Error> {
    error.get_ref().and_then(|inner| inner.downcast_ref())
}
