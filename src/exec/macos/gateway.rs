//! The proxy's place on this machine, and the walls of the process that serves there. Seatbelt tells ports of this machine apart and
//! nothing else of where a connection goes, so a command may connect to this one port, and the gateway connects to hosts.

use crate::network::listen::Doors;
use rustix::fd::OwnedFd;
use rustix::io::FdFlags;
use rustix::net::{AddressFamily, SocketType, bind, socket};
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV6, TcpListener};

/// How many ports are tried.
const TRIES: u32 = 64;

/// The walls of the gateway, in Seatbelt's language: it connects and looks up names, which takes services that are not published, so
/// all is open but what it never does.
#[cfg_attr(
    not(target_os = "macos"),
    allow(dead_code, reason = "only a Mac reads it; what it means is tested anywhere")
)]
pub const WALLS: &std::ffi::CStr = cr#"(version 1)
(allow default)
(deny file-write* file-write-setugid file-link file-clone)
(deny process-exec* process-fork job-creation lsopen appleevent-send)
(deny file-read-data (subpath "/Users") (subpath "/Volumes") (subpath "/private/var/root"))
(deny signal (target others))
"#;

/// The sockets at the port of the proxy. As long as they are kept, nobody else can listen where the command may connect to.
#[derive(Debug)]
pub struct Proxy {
    listener: TcpListener,
    pub address: SocketAddr,
    /// The same port of `::1`, which is `localhost` for Seatbelt too. Nobody listens there.
    _other: Option<OwnedFd>,
}

impl Proxy {
    /// Takes a free port.
    ///
    /// # Errors
    /// As bind(2); `AddrInUse` where no port was free in both families.
    pub fn open() -> io::Result<Self> {
        for _ in 0..TRIES {
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
            let address = listener.local_addr()?;
            match take(address.port()) {
                Ok(other) => return Ok(Self { listener, address, _other: Some(other) }),
                Err(error) if error.kind() == io::ErrorKind::AddrInUse => {}
                // Without IPv6 nobody can listen there.
                Err(_) => return Ok(Self { listener, address, _other: None }),
            }
        }
        Err(io::ErrorKind::AddrInUse.into())
    }

    /// What is served: connections that say where they want to go, and nothing else.
    ///
    /// # Errors
    /// As fcntl(2).
    pub fn doors(&self) -> io::Result<Doors> {
        Ok(Doors { proxy: self.listener.try_clone()?, captures: Vec::new(), names: None })
    }
}

fn take(port: u16) -> io::Result<OwnedFd> {
    let socket = socket(AddressFamily::INET6, SocketType::STREAM, None)?;
    rustix::io::fcntl_setfd(&socket, FdFlags::CLOEXEC)?;
    bind(&socket, &SocketAddrV6::new(Ipv6Addr::LOCALHOST, port, 0, 0))?;
    Ok(socket)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sbpl::decide::{Address, Fact};
    use crate::sbpl::{Engine, NoImports, Operation, Params, Profile, Subject, Verdict};

    #[test]
    fn the_port_is_taken_in_both_families() {
        let proxy = Proxy::open().unwrap();
        let port = proxy.address.port();
        assert!(proxy.address.ip().is_loopback() && port != 0);
        let kind = |bound: io::Result<TcpListener>| bound.unwrap_err().kind();
        assert_eq!(kind(TcpListener::bind((Ipv4Addr::LOCALHOST, port))), io::ErrorKind::AddrInUse);
        if proxy._other.is_some() {
            assert_eq!(kind(TcpListener::bind((Ipv6Addr::LOCALHOST, port))), io::ErrorKind::AddrInUse);
        }
        let client = std::net::TcpStream::connect(proxy.address).unwrap();
        let (_, from) = proxy.doors().unwrap().proxy.accept().unwrap();
        assert_eq!(from, client.local_addr().unwrap());
    }

    #[test]
    fn the_gateway_connects_and_reads_but_changes_and_starts_nothing() {
        let profile = Profile::parse(WALLS.to_str().unwrap(), &Params::default(), &NoImports).unwrap();
        let asked = |operation: &str, subject: &Subject| {
            let operation = Operation::named(operation).unwrap();
            let [one, other] = [Engine::PerOperation, Engine::LastMatch]
                .map(|engine| profile.decide(operation, subject, engine).verdict);
            assert_eq!(one, other, "{operation:?}");
            one
        };
        let file = |path: &str| Subject::path(path);
        for path in ["/private/etc/hosts", "/usr/lib/libSystem.B.dylib", "/private/var/run/resolv.conf"] {
            assert_eq!(asked("file-read-data", &file(path)), Verdict::Allow, "{path}");
        }
        assert_eq!(asked("file-read-data", &file("/Users/dev/.ssh/id_ed25519")), Verdict::Deny);
        for operation in Operation::all().filter(|it| it.is_leaf() && it.name().starts_with("file-write-")) {
            assert_eq!(asked(operation.name(), &file("/private/tmp/x")), Verdict::Deny, "{operation:?}");
        }
        for operation in ["file-link", "file-clone", "process-exec*", "process-exec-interpreter"] {
            assert_eq!(asked(operation, &file("/bin/sh")), Verdict::Deny, "{operation}");
        }
        assert_eq!(asked("process-fork", &Subject::any()), Verdict::Deny);
        let host = Address { port: Some(443), ..Address::default() };
        assert_eq!(asked("network-outbound", &Subject::connection(host, host)), Verdict::Allow);
        assert_eq!(asked("network-outbound", &file("/private/var/run/mDNSResponder")), Verdict::Allow);
        let others = Subject::any().with("target", Fact::Is(b"others".to_vec()));
        assert_eq!(asked("signal", &others), Verdict::Deny);
    }
}
