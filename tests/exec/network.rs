//! Ways to the network and to the sockets of other programs.

use crate::raw::no;
use crate::suite::{Probe, Scenario, denied, show, works};
use crate::world::Place;
use camino::Utf8Path;
use palisade::manifest::Network;
use rustix::net::{AddressFamily, Protocol, SocketFlags, SocketType, socket_with, socketpair};
use std::io;
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener, UnixStream};
use std::sync::LazyLock;

/// Listens as long as the suite runs; probes find the port in a file.
static LISTENER: LazyLock<(TcpListener, UdpSocket)> = LazyLock::new(|| {
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    let udp = UdpSocket::bind(tcp.local_addr().unwrap()).unwrap();
    (tcp, udp)
});

static ABSTRACT: LazyLock<UnixListener> = LazyLock::new(|| {
    let name = format!("palisade-suite-{}", std::process::id());
    UnixListener::bind_addr(&SocketAddr::from_abstract_name(name).unwrap()).unwrap()
});

/// Puts a unix socket into a world's roots, and the port of the suite's listener into a file.
pub fn listen_in(place: &Place, uid: u32) {
    let port = LISTENER.0.local_addr().unwrap().port();
    let _ = &*ABSTRACT;
    std::fs::write(place.rw("port"), port.to_string()).unwrap();
    std::mem::forget(UnixDatagram::bind(place.rw("datagrams")).unwrap());
    std::os::unix::fs::chown(place.rw("datagrams"), Some(uid), None).unwrap();
    for path in [place.rw("socket"), place.outside("socket")] {
        // The file stays, and with it the listener, which is not dropped.
        std::mem::forget(UnixListener::bind(&path).unwrap());
        std::os::unix::fs::chown(&path, Some(uid), None).unwrap();
    }
}

pub const PROBES: &[Probe] = &[
    denied("n01 connect to the host by TCP", |place| TcpStream::connect(address(place)?).map(drop)),
    denied("n02 send to the host by UDP", |place| {
        let socket = UdpSocket::bind("127.0.0.1:0")?;
        socket.send_to(b"x", address(place)?).map(drop)
    }),
    denied("n03 connect to a unix socket in a root", |place| connect(&place.rw("socket"))),
    denied("n04 connect to a unix socket outside", |place| connect(&place.outside("socket"))),
    denied("n05 connect to an abstract socket of the host", |place| {
        let name = format!("palisade-suite-{}", place.host);
        UnixStream::connect_addr(&SocketAddr::from_abstract_name(name)?).map(drop)
    }),
    denied("n06 open a socket of another family", |_| {
        let netlink = socket(AddressFamily::NETLINK, SocketType::RAW, None);
        let vsock = socket(AddressFamily::VSOCK, SocketType::STREAM, None);
        let crypto = socket(AddressFamily::from_raw(libc::AF_ALG as u16), SocketType::SEQPACKET, None);
        netlink.or(vsock).or(crypto)
    }),
    works("n07 make a pair of unix sockets", |_| {
        socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
        Ok(())
    }),
    denied("n08 listen", |_| TcpListener::bind("127.0.0.1:0").map(drop)),
    denied("n10 aim a pair of unix sockets at a path", |place| {
        // A datagram pair is connected, and takes any address all the same (unix(7)).
        let kinds = [SocketType::DGRAM, SocketType::RAW];
        let aimed = kinds.map(|kind| {
            let (one, _other) = socketpair(AddressFamily::UNIX, kind, SocketFlags::CLOEXEC, None)?;
            let address = rustix::net::SocketAddrUnix::new(place.rw("datagrams").as_std_path())?;
            rustix::net::sendto(&one, b"x", rustix::net::SendFlags::empty(), &address)?;
            Ok(())
        });
        aimed.into_iter().reduce(|one, other| one.or(other)).unwrap_or(Ok(()))
    }),
    denied("n09 open a unix socket at all", |_| socket(AddressFamily::UNIX, SocketType::STREAM, None)),
];

pub const SCENARIOS: &[Scenario] = &[Scenario {
    name: "an open network reaches the host, and unix sockets stay shut",
    run: |world| {
        world.manifest.network = Network::All;
        listen_in(&world.place, rustix::process::geteuid().as_raw());
        for (probe, code) in [
            ("n01 connect to the host by TCP", 0),
            ("n02 send to the host by UDP", 0),
            ("n03 connect to a unix socket in a root", 1),
            ("n04 connect to a unix socket outside", 1),
            ("n05 connect to an abstract socket of the host", 1),
            ("n09 open a unix socket at all", 1),
            ("n10 aim a pair of unix sockets at a path", 1),
            ("n07 make a pair of unix sockets", 0),
        ] {
            let output = world.walled(probe);
            assert_eq!(output.status.code(), Some(code), "{probe}: {}", show(&output));
        }
    },
}];

fn address(place: &Place) -> io::Result<(std::net::Ipv4Addr, u16)> {
    let port = std::fs::read_to_string(place.rw("port"))?;
    Ok((std::net::Ipv4Addr::LOCALHOST, port.parse().map_err(|_| no("no port"))?))
}

fn connect(path: &Utf8Path) -> io::Result<()> {
    UnixStream::connect(path).map(drop)
}

fn socket(family: AddressFamily, kind: SocketType, protocol: Option<Protocol>) -> io::Result<()> {
    socket_with(family, kind, SocketFlags::CLOEXEC, protocol)?;
    Ok(())
}
