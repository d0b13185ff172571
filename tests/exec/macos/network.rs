//! Sockets of macOS: unix sockets that are made in a root, the routing table's, the system's own.

use crate::suite::{Probe, Scenario, denied, show};
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

pub const SCENARIOS: &[Scenario] = &[Scenario {
    name: "a list of hosts opens the way to its proxy and no other",
    run: |world| {
        world.list_hosts();
        crate::network::listen_in(&world.place, world.uid());
        for probe in [
            "n01 connect to the host by TCP",
            "n02 send to the host by UDP",
            "n03 connect to a unix socket in a root",
            "n08 listen",
            "n44 connect to the system's own look-up of names",
            "n45 open a socket of the routing table",
        ] {
            let output = world.walled(probe);
            assert_eq!(output.status.code(), Some(1), "{probe}: {}", show(&output));
        }
        // bash(1) connects by itself; what it is told is the gateway's own answer.
        let line = "port=${HTTPS_PROXY##*:}; exec 3<>\"/dev/tcp/127.0.0.1/$port\" || exit 9
            printf 'CONNECT example.org:443 HTTP/1.1\\r\\nHost: example.org:443\\r\\n\\r\\n' >&3; read -r answer <&3; echo \"$answer\"";
        let output = world.shell(line);
        assert_eq!(output.status.code(), Some(0), "{}", show(&output));
        assert!(!String::from_utf8_lossy(&output.stdout).contains(" 200"), "{}", show(&output));
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains("refused: `example.org:443` (not-allowed)"), "{}", show(&output));
    },
}];

fn open(family: AddressFamily, kind: SocketType) -> io::Result<()> {
    // SYSPROTO_CONTROL (sys/sys_domain.h); the routing table takes any.
    let protocol = (family == AddressFamily::SYSTEM)
        .then(|| rustix::net::Protocol::from_raw(rustix::net::RawProtocol::new(2).unwrap()));
    socket(family, kind, protocol)?;
    Ok(())
}
