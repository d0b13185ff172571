//! Ways to the network and to the sockets of other programs.

use crate::raw::no;
use crate::suite::{Probe, Scenario, denied, show, works};
use crate::world::Place;
use camino::Utf8Path;
use std::io::{self, Read as _, Write as _};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::unix::net::{UnixDatagram, UnixListener, UnixStream};
use std::sync::LazyLock;

/// Listens as long as the suite runs; probes find the port in a file.
static LISTENER: LazyLock<(TcpListener, UdpSocket)> = LazyLock::new(|| {
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    let answering = tcp.try_clone().unwrap();
    std::thread::spawn(move || {
        for stream in answering.incoming().flatten() {
            // One that says nothing must not keep the others waiting.
            std::thread::spawn(move || io::copy(&mut &stream, &mut &stream));
        }
    });
    let udp = UdpSocket::bind(tcp.local_addr().unwrap()).unwrap();
    (tcp, udp)
});

/// Puts a unix socket into a world's roots, and the port of the suite's listener into a file.
pub fn listen_in(place: &Place, uid: u32) {
    let port = LISTENER.0.local_addr().unwrap().port();
    std::fs::write(place.rw("port"), port.to_string()).unwrap();
    std::mem::forget(UnixDatagram::bind(place.rw("datagrams")).unwrap());
    std::os::unix::fs::chown(place.rw("datagrams"), Some(uid), None).unwrap();
    for path in [place.rw("socket"), place.outside("socket"), place.outside("other")] {
        // The file stays, and with it the listener, which is not dropped.
        std::mem::forget(UnixListener::bind(&path).unwrap());
        std::os::unix::fs::chown(&path, Some(uid), None).unwrap();
    }
    let full = place.outside("full");
    fill(&full);
    std::os::unix::fs::chown(&full, Some(uid), None).unwrap();
    std::os::unix::fs::symlink(place.outside("socket"), place.rw("to-socket")).unwrap();
}

/// Makes a socket at which nobody takes connections, with as many waiting as may.
fn fill(path: &Utf8Path) {
    use rustix::net::{AddressFamily, SocketAddrUnix, SocketType, bind, connect, listen, socket};
    let unix = || {
        let socket = socket(AddressFamily::UNIX, SocketType::STREAM, None).unwrap();
        rustix::io::ioctl_fionbio(&socket, true).unwrap();
        socket
    };
    let address = SocketAddrUnix::new(path.as_str()).unwrap();
    let listener = unix();
    bind(&listener, &address).unwrap();
    listen(&listener, 0).unwrap();
    std::mem::forget(listener);
    loop {
        let client = unix();
        if connect(&client, &address).is_err() {
            break;
        }
        std::mem::forget(client);
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
    works("n07 make a pair of unix sockets", |_| UnixStream::pair().map(drop)),
    denied("n11 be answered by the host on its loopback", |place| {
        // By one name, and asking for another: on this machine nobody but the service itself cares.
        let (_, port) = address(place)?;
        let mut stream = TcpStream::connect(("localhost", port))?;
        let said = b"GET / HTTP/1.1\r\nHost: other.example.com\r\n\r\n";
        stream.write_all(said)?;
        stream.shutdown(std::net::Shutdown::Write)?;
        let mut heard = Vec::new();
        stream.read_to_end(&mut heard)?;
        if heard == said { Ok(()) } else { Err(no("another answer")) }
    }),
    denied("n08 listen", |_| TcpListener::bind("127.0.0.1:0").map(drop)),
];

pub const SCENARIOS: &[Scenario] = &[Scenario {
    name: "an open network reaches the host, and unix sockets stay shut",
    run: |world| {
        world.open_network();
        listen_in(&world.place, rustix::process::geteuid().as_raw());
        let open = [
            "n01 connect to the host by TCP",
            "n02 send to the host by UDP",
            "n07 make a pair of unix sockets",
        ];
        let shut = ["n03 connect to a unix socket in a root", "n04 connect to a unix socket outside"];
        let open = open.iter().map(|probe| (probe, 0));
        let shut = shut.iter().chain(crate::system::SHUT_ALL_THE_SAME).map(|probe| (probe, 1));
        for (probe, code) in open.chain(shut) {
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
