//! Sockets that only Linux has, and kinds of them that only its filter stops.

use crate::suite::{Probe, Scenario, denied, show};
use crate::world::World;
use palisade::manifest::{HostRule, Network};
use rustix::net::{AddressFamily, Protocol, SocketFlags, SocketType, socket_with, socketpair};
use std::io;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixStream};

pub const PROBES: &[Probe] = &[
    denied("n05 connect to an abstract socket of the host", |place| {
        UnixStream::connect_addr(&abstract_address(place.host)?).map(drop)
    }),
    denied("n06 open a socket of another family", |_| {
        let netlink = socket(AddressFamily::NETLINK, SocketType::RAW, None);
        let vsock = socket(AddressFamily::VSOCK, SocketType::STREAM, None);
        let crypto = socket(AddressFamily::from_raw(libc::AF_ALG as u16), SocketType::SEQPACKET, None);
        netlink.or(vsock).or(crypto)
    }),
    denied("n09 open a unix socket at all", |_| socket(AddressFamily::UNIX, SocketType::STREAM, None)),
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
];

/// What an open network must not open either.
pub const SHUT_ALL_THE_SAME: &[&str] = &[
    "n05 connect to an abstract socket of the host",
    "n09 open a unix socket at all",
    "n10 aim a pair of unix sockets at a path",
];

/// A name without a file, where the host listens as long as the suite runs.
pub fn abstract_address(host: i32) -> io::Result<SocketAddr> {
    SocketAddr::from_abstract_name(format!("palisade-suite-{host}"))
}

fn socket(family: AddressFamily, kind: SocketType, protocol: Option<Protocol>) -> io::Result<()> {
    socket_with(family, kind, SocketFlags::CLOEXEC, protocol)?;
    Ok(())
}

pub const SCENARIOS: &[Scenario] = &[Scenario {
    name: "one port of the host's loopback is open where it is stated, and no other",
    run: |world| {
        crate::network::listen_in(&world.place, rustix::process::geteuid().as_raw());
        let port: u16 = std::fs::read_to_string(world.place.rw("port")).unwrap().parse().unwrap();
        let answered = "n11 be answered by the host on its loopback";
        let code = |world: &World, probe: &str| {
            let output = world.walled(probe);
            (output.status.code(), show(&output))
        };
        world.manifest.network = Network::Only;
        world.manifest.localhost = vec![port];
        assert_eq!(code(world, answered).0, Some(0), "{}", code(world, answered).1);
        world.manifest.localhost = vec![port ^ 1];
        assert_eq!(code(world, answered).0, Some(1), "{}", code(world, answered).1);
        // A port that connections are taken at in any case, and the one of the proxy, are ports like others.
        world.manifest.localhost = vec![port, 443, 48_128];
        assert_eq!(code(world, answered).0, Some(0), "{}", code(world, answered).1);
        let host = HostRule {
            allow: true,
            host: format!("example.com:{port}"),
            requests: None,
            from: "suite".into(),
        };
        world.manifest.hosts = vec![host];
        assert_eq!(code(world, answered).0, Some(0), "{}", code(world, answered).1);
        world.manifest.localhost = Vec::new();
        assert_eq!(code(world, answered).0, Some(1), "{}", code(world, answered).1);
    },
}];
