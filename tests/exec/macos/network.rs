//! Sockets of macOS: unix sockets that are made in a root, the routing table's, the system's own.

use crate::suite::{Probe, denied};
use rustix::net::{AddressFamily, SocketType, socket};
use std::io;
use std::os::unix::net::{UnixDatagram, UnixListener, UnixStream};

pub const PROBES: &[Probe] = &[
    denied("n40 bind a unix socket in a root", |place| UnixListener::bind(place.rw("new")).map(drop)),
    denied("n41 bind a unix socket in a denied directory", |place| {
        UnixListener::bind(place.rw("secrets/new")).map(drop)
    }),
    denied("n42 bind a unix socket outside", |place| UnixListener::bind(place.outside("new")).map(drop)),
    denied("n43 send to a unix socket in a root", |place| {
        UnixDatagram::unbound()?.send_to(b"x", place.rw("datagrams")).map(drop)
    }),
    denied("n44 connect to the system's own look-up of names", |_| {
        UnixStream::connect("/private/var/run/mDNSResponder").map(drop)
    }),
    denied("n45 open a socket of the routing table", |_| open(AddressFamily::ROUTE, SocketType::RAW)),
    denied("n46 open a socket to the kernel", |_| open(AddressFamily::SYSTEM, SocketType::DGRAM)),
];

/// What an open network must not open either.
pub const SHUT_ALL_THE_SAME: &[&str] = &[
    "n40 bind a unix socket in a root",
    "n41 bind a unix socket in a denied directory",
    "n42 bind a unix socket outside",
    "n43 send to a unix socket in a root",
    "n46 open a socket to the kernel",
];

fn open(family: AddressFamily, kind: SocketType) -> io::Result<()> {
    // SYSPROTO_CONTROL (sys/sys_domain.h); the routing table takes any.
    let protocol = (family == AddressFamily::SYSTEM)
        .then(|| rustix::net::Protocol::from_raw(rustix::net::RawProtocol::new(2).unwrap()));
    socket(family, kind, protocol)?;
    Ok(())
}
