//! Connections that are read, from end to end, over loopback: a client that believes the authority of the run, what is tested, and a server
//! with a certificate of another authority.

mod certificates;
mod disguises;
mod hostile;
mod requests;
mod secrets;
mod strays;
mod tunnels;

use super::testing::secret;
use super::*;
use crate::network::connection::{Arrival, Times, serve_within};
use crate::network::record::{Record, Summary};
use crate::network::{Closed, Gate, Opened, Reason, Refused, Via};
use crate::policy::requests::{PathPattern, Requests};
use crate::resolve::parse_host;
use crate::source::{Sources, Span};
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer, ServerName};
use rustls::{ClientConnection, ServerConfig, ServerConnection, StreamOwned};
use serde_json::Value;
use std::fs::File;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::LazyLock;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Nothing in these tests takes this long unless it hangs.
const PATIENCE: Duration = Duration::from_secs(20);
const TIMES: Times = Times { opening: PATIENCE, parting: Duration::from_millis(300) };

const NAME: &str = "ok.com";
const TO: &str = "ok.com:443";

const STAND_IN: &str = "ghp_Pl4ceh0lder1Pl4c";
const VALUE: &str = "ghp_R3alV4lueR3alV4l";
const OTHER: &str = "k-abcdefghijklmnop";
const OTHER_VALUE: &str = "k-0123456789ABCDEF";

/// `TOKEN` is for ok.com, `KEY` for other.com.
fn secrets() -> Vec<Secret> {
    vec![secret("TOKEN", STAND_IN, VALUE, NAME), secret("KEY", OTHER, OTHER_VALUE, "other.com")]
}

/// An authority of the world outside.
struct Outside {
    issuer: Issuer<'static, KeyPair>,
    der: CertificateDer<'static>,
}

impl Outside {
    fn new() -> Self {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let der = params.self_signed(&key).unwrap().der().clone();
        Self { issuer: Issuer::new(params, key), der }
    }

    /// How a server is set up that has a certificate for a name.
    fn server(&self, name: &str, change: impl FnOnce(&mut CertificateParams)) -> ServerConfig {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new([name.to_owned()]).unwrap();
        change(&mut params);
        let leaf = params.signed_by(&key, &self.issuer).unwrap();
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
        let builder =
            ServerConfig::builder_with_provider(provider()).with_safe_default_protocol_versions().unwrap();
        let mut config =
            builder.with_no_client_auth().with_single_cert(vec![leaf.der().clone()], key).unwrap();
        config.alpn_protocols = vec![b"h2".to_vec(), ALPN.to_vec()];
        config
    }
}

static OUTSIDE: LazyLock<Outside> = LazyLock::new(Outside::new);

/// Admits everything at one address, with rules for what is read there.
struct TestGate {
    origin: SocketAddr,
    rules: Vec<NetworkRule>,
    reader: Option<Reader>,
    record: Record,
}

impl Gate for TestGate {
    fn open(&self, _: Via, _: &Target) -> Result<Opened, Refused> {
        Ok(Opened { stream: TcpStream::connect(self.origin).unwrap(), address: self.origin.ip() })
    }

    fn refused(&self, via: Via, refused: &Refused) {
        self.record.refused(via, refused);
    }

    fn reading(&self, target: &Target) -> Option<Reading<'_>> {
        crate::network::gate::reading(&self.rules, self.reader.as_ref(), target)
    }

    fn strays(&self) -> Option<Search> {
        self.reader.as_ref().map(Reader::search)
    }

    fn refused_request(&self, via: Via, refused: &Refused, method: &str) {
        self.record.refused_request(via, refused, method);
    }

    fn misdirected(&self, via: Via, target: Option<&Target>, secrets: &[String]) {
        self.record.misdirected(via, target, secrets);
    }

    fn closed(&self, closed: &Closed) {
        self.record.closed(closed);
    }
}

fn rule(host: &str, requests: Option<Requests>) -> NetworkRule {
    let span = Span::new(Sources::new().add("x", None, ""), 0..0);
    NetworkRule { allow: true, pattern: parse_host(host, true).unwrap(), requests, span }
}

fn limited(methods: &[&str], paths: &[&str]) -> Option<Requests> {
    Some(Requests {
        methods: methods.iter().map(|&method| method.to_owned()).collect(),
        paths: paths.iter().map(|path| PathPattern::parse(path).unwrap()).collect(),
    })
}

/// What a run is set up with.
struct Setup {
    rules: Vec<NetworkRule>,
    secrets: Vec<Secret>,
    server: ServerConfig,
    times: Times,
    inspected: bool,
}

impl Setup {
    /// Connections to ok.com are read, and everything may be asked there.
    fn new() -> Self {
        let rules = vec![rule(NAME, limited(&[], &[]))];
        Self {
            rules,
            secrets: Vec::new(),
            server: OUTSIDE.server(NAME, |_| {}),
            times: TIMES,
            inspected: true,
        }
    }

    fn limited(methods: &[&str], paths: &[&str]) -> Self {
        Self { rules: vec![rule(NAME, limited(methods, paths))], ..Self::new() }
    }

    fn with_secrets() -> Self {
        Self { secrets: secrets(), ..Self::new() }
    }

    fn stage(self) -> Stage {
        Stage::new(self)
    }
}

type Client = StreamOwned<ClientConnection, TcpStream>;
type Server = StreamOwned<ServerConnection, TcpStream>;

/// A gateway, and the server that every connection leads to.
struct Stage {
    gate: Arc<TestGate>,
    times: Times,
    authority: CertificateDer<'static>,
    servers: Receiver<Result<Server, TcpStream>>,
    directory: tempfile::TempDir,
    workers: Vec<JoinHandle<()>>,
}

impl Stage {
    fn new(setup: Setup) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let log = File::create(directory.path().join("log")).unwrap();
        let origin = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let names = ["ok.com", "other.com", "xn--bcher-kva.de"].map(str::to_owned);
        let authority = Authority::new(&names).unwrap();
        let der = authority.certificate_der().clone();
        let inspector = Inspector { authority, secrets: setup.secrets, roots: vec![OUTSIDE.der.clone()] };
        let gate = Arc::new(TestGate {
            origin: origin.local_addr().unwrap(),
            rules: setup.rules,
            reader: setup.inspected.then(|| Reader::new(inspector)),
            record: Record::new(Some(log), "7".into()),
        });
        let (tell, servers) = channel();
        let config = Arc::new(setup.server);
        thread::spawn(move || serve_origin(&origin, &config, &tell));
        Self { gate, times: setup.times, authority: der, servers, directory, workers: Vec::new() }
    }

    /// A connection as it comes to the gateway.
    fn arriving(&mut self, arrival: Arrival) -> TcpStream {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (served, _) = listener.accept().unwrap();
        client.set_read_timeout(Some(PATIENCE)).unwrap();
        client.set_write_timeout(Some(PATIENCE)).unwrap();
        let (gate, times) = (Arc::clone(&self.gate), self.times);
        // Half of what they have: that they need no more is shown by every test.
        let worker = thread::Builder::new().stack_size(STACK / 2);
        self.workers.push(worker.spawn(move || serve_within(served, arrival, &*gate, &times)).unwrap());
        client
    }

    fn captured(&mut self, to: &str) -> TcpStream {
        self.arriving(Arrival::Captured(Target::parse(to, None).unwrap()))
    }

    fn proxied(&mut self, to: &str) -> TcpStream {
        let mut client = self.arriving(Arrival::Proxy);
        write!(client, "CONNECT {to} HTTP/1.1\r\nHost: {to}\r\n\r\n").unwrap();
        assert!(head(&mut client).starts_with("HTTP/1.1 200 "));
        client
    }

    /// Begins TLS with a name, as a client that believes the run's authority and no other.
    fn tls(&self, stream: TcpStream, name: &str, alpn: &[&[u8]]) -> Client {
        let mut roots = RootCertStore::empty();
        roots.add(self.authority.clone()).unwrap();
        tls_believing(stream, name, alpn, roots)
    }

    /// A connection to a host that is read.
    fn client_to(&mut self, to: &str) -> Client {
        let stream = self.captured(to);
        let name = to.split(':').next().unwrap();
        self.tls(stream, name, &[ALPN])
    }

    fn client(&mut self) -> Client {
        self.client_to(TO)
    }

    /// The server's side of the next connection.
    fn server(&self) -> Server {
        self.servers.recv_timeout(PATIENCE).unwrap().unwrap()
    }

    /// Asks once and has the server answer, on a connection of its own. Gives what the server got and what the client did; the server's part is
    /// empty where nothing was asked of it.
    fn once(&mut self, asked: impl AsRef<[u8]>, answer: impl AsRef<[u8]>) -> (String, String) {
        let mut client = self.client();
        client.write_all(asked.as_ref()).unwrap();
        let mut server = self.server();
        let got = text(hear_message(&mut server));
        if !got.is_empty() {
            server.write_all(answer.as_ref()).unwrap();
        }
        server.conn.send_close_notify();
        let _ = server.flush();
        drop(server);
        (got, text(hear_all(&mut client)))
    }

    /// Once all connections are over: the lines of the log, and what is known in the end.
    fn end(self) -> (Vec<Value>, Summary) {
        self.workers.into_iter().for_each(|worker| worker.join().unwrap());
        let text = std::fs::read_to_string(self.directory.path().join("log")).unwrap();
        for never in [VALUE, STAND_IN, OTHER, OTHER_VALUE] {
            assert!(!text.to_lowercase().contains(&never.to_lowercase()), "{text}");
        }
        (text.lines().map(|line| serde_json::from_str(line).unwrap()).collect(), self.gate.record.summary())
    }

    /// The last line of the log: the end of the only connection.
    fn closed(self) -> Value {
        let (mut lines, _) = self.end();
        let last = lines.pop().unwrap();
        assert_eq!(last["ev"], "close", "{last}");
        last
    }
}

fn tls_believing(stream: TcpStream, name: &str, alpn: &[&[u8]], roots: RootCertStore) -> Client {
    let builder =
        ClientConfig::builder_with_provider(provider()).with_safe_default_protocol_versions().unwrap();
    let mut config = builder.with_root_certificates(roots).with_no_client_auth();
    config.alpn_protocols = alpn.iter().map(|name| name.to_vec()).collect();
    let name = ServerName::try_from(name.to_owned()).unwrap();
    StreamOwned::new(ClientConnection::new(Arc::new(config), name).unwrap(), stream)
}

/// Begins TLS with everyone who comes.
fn serve_origin(origin: &TcpListener, config: &Arc<ServerConfig>, tell: &Sender<Result<Server, TcpStream>>) {
    for stream in origin.incoming() {
        let mut stream = stream.unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let mut connection = ServerConnection::new(Arc::clone(config)).unwrap();
        let begun = connection.complete_io(&mut stream).is_ok() && !connection.is_handshaking();
        let server = if begun { Ok(StreamOwned::new(connection, stream)) } else { Err(stream) };
        if tell.send(server).is_err() {
            return;
        }
    }
}

/// Reads up to and with the empty line.
fn head(stream: &mut impl Read) -> String {
    let mut bytes = Vec::new();
    while !bytes.ends_with(b"\r\n\r\n") {
        bytes.extend(hear(stream, 1));
    }
    text(bytes)
}

fn hear(stream: &mut impl Read, count: usize) -> Vec<u8> {
    let mut bytes = vec![0; count];
    stream.read_exact(&mut bytes).unwrap();
    bytes
}

/// All that comes until an end, whatever kind of end that is; not to end at all is a failure.
fn hear_all(stream: &mut impl Read) -> Vec<u8> {
    let mut bytes = Vec::new();
    if let Err(error) = stream.read_to_end(&mut bytes) {
        assert_ne!(error.kind(), std::io::ErrorKind::WouldBlock, "no end after {bytes:?}");
    }
    bytes
}

/// One message, or all there is where it ends before.
fn hear_message(stream: &mut impl Read) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut byte = [0];
    loop {
        match stream.read(&mut byte) {
            Ok(1) => bytes.push(byte[0]),
            Ok(_) => return bytes,
            Err(error) => {
                assert_ne!(error.kind(), std::io::ErrorKind::WouldBlock, "no end after {:?}", text(bytes));
                return bytes;
            }
        }
        let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") else { continue };
        let head = text(bytes[..end].to_vec()).to_lowercase();
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
        let whole = match length {
            _ if head.contains("transfer-encoding: chunked") => {
                bytes.ends_with(b"\r\n\r\n") && bytes.len() > end + 4
            }
            length => bytes.len() == end + 4 + length.unwrap_or(0),
        };
        if whole {
            return bytes;
        }
    }
}

fn text(bytes: impl Into<Vec<u8>>) -> String {
    String::from_utf8(bytes.into()).unwrap()
}

const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

/// A request without a body.
fn get(path: &str, fields: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nHost: ok.com\r\n{fields}\r\n")
}
