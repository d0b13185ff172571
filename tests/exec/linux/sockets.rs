//! Unix sockets of the host, one of which is stated.

use super::raw::{call, fork, signal_in};
use super::world::rule;
use crate::network::listen_in;
use crate::raw::no;
use crate::suite::{Probe, Scenario, denied, show};
use crate::world::World;
use palisade::manifest::{Network, UnixSocket};
use palisade::plan::{OriginKind, Scope};
use rustix::fd::AsRawFd;
use rustix::net::{AddressFamily, SocketFlags, SocketType, socket_with};
use std::fs;
use std::io;
use std::os::unix::net::{UnixDatagram, UnixListener, UnixStream};
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

pub const PROBES: &[Probe] = &[
    denied("n12 connect to a unix socket beside one outside", |place| {
        UnixStream::connect(place.outside("other")).map(drop)
    }),
    denied("n13 connect to a unix socket outside by a relative path", |place| {
        // From where the command starts.
        UnixStream::connect("../outside/socket").map(drop)?;
        if place.rw("f.txt").exists() { Ok(()) } else { Err(no("another directory")) }
    }),
    denied("n14 send a datagram to a unix socket", |place| {
        UnixDatagram::unbound()?.send_to(b"x", place.rw("datagrams")).map(drop)
    }),
    denied("n15 change the address while it is looked at", |place| {
        let (good, bad) = (place.outside("socket"), place.rw("socket"));
        let address = address_of(good.as_str());
        let put = |path: &str| {
            let bytes = path.bytes().chain(std::iter::repeat(0));
            address.iter().skip(2).zip(bytes).for_each(|(to, byte)| to.store(byte, Ordering::Relaxed));
        };
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    put(good.as_str());
                    put(bad.as_str());
                }
            });
            let reached = attempts().any(|()| reaches(&address, "/rw/socket"));
            done.store(true, Ordering::Relaxed);
            if reached { Ok(()) } else { Err(no("never another one")) }
        })
    }),
    denied("n16 change the socket while it is looked at", |place| {
        // A descriptor that is of the internet at one moment and a unix socket at the next.
        let address = address_of(place.rw("socket").as_str());
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let Ok(internet) = socket_with(AddressFamily::INET, SocketType::STREAM, flags, None)
            .or_else(|_| socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None))
        else {
            return Err(no("no socket"));
        };
        let done = AtomicBool::new(false);
        let mut unix: Vec<UnixStream> = Vec::new();
        for _ in 0..60 {
            unix.push(socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?.into());
        }
        let mut both = rustix::io::dup(&internet)?;
        let number = both.as_raw_fd() as usize;
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for socket in unix.iter().cycle() {
                    let _ = rustix::io::dup2(&internet, &mut both);
                    let _ = rustix::io::dup2(socket, &mut both);
                    if done.load(Ordering::Relaxed) {
                        break;
                    }
                }
            });
            for () in attempts() {
                if reached(&unix) {
                    break;
                }
                let _ = call(libc::SYS_connect, [number, address.as_ptr() as usize, address.len(), 0, 0, 0]);
            }
            done.store(true, Ordering::Relaxed);
        });
        if reached(&unix) { Ok(()) } else { Err(no("never another one")) }
    }),
    denied("n17 connect to a unix socket outside through a link in a root", |place| {
        UnixStream::connect(place.rw("to-socket")).map(drop)
    }),
    denied("n18 connect what is no descriptor, and then one that is", |place| {
        let address = address_of(place.outside("socket").as_str());
        for number in [-1_isize, -2, 1 << 40] {
            let arguments = [number as usize, address.as_ptr() as usize, address.len(), 0, 0, 0];
            let failed = call(libc::SYS_connect, arguments).expect_err("there is no such descriptor");
            assert!([Some(libc::EBADF), Some(libc::ENOTSOCK)].contains(&failed.raw_os_error()), "{failed}");
        }
        UnixStream::connect(place.outside("socket")).map(drop)
    }),
    denied("n19 wait for a unix socket until a signal comes", |place| {
        signal_in(200, false)?;
        match UnixStream::connect(place.outside("full")) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(()),
            Err(error) => Err(error),
            Ok(_) => Err(no("it was not full")),
        }
    }),
    denied("n21 wait for a unix socket with a time of one's own until a signal comes", |place| {
        // Such a call is not made again whatever the handler wants (socket(7)): inside too its time does not begin anew.
        let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
        let time = Some(std::time::Duration::from_secs(20));
        rustix::net::sockopt::set_socket_timeout(&socket, rustix::net::sockopt::Timeout::Send, time)?;
        signal_in(200, true)?;
        let address = rustix::net::SocketAddrUnix::new(place.outside("full").as_str())?;
        match rustix::net::connect(&socket, &address) {
            Err(rustix::io::Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
            Ok(()) => Err(no("it was not full")),
        }
    }),
    denied("n20 connect when many have died waiting to", |place| {
        let full = place.outside("full");
        let mut waiting = Vec::new();
        for _ in 0..150 {
            match fork()? {
                Some(pid) => waiting.push(pid),
                None => {
                    let _ = UnixStream::connect(&full);
                    std::process::exit(0);
                }
            }
        }
        std::thread::sleep(std::time::Duration::from_millis(100));
        for pid in waiting.into_iter().filter_map(rustix::process::Pid::from_raw) {
            rustix::process::kill_process(pid, rustix::process::Signal::KILL)?;
            rustix::process::waitpid(Some(pid), rustix::process::WaitOptions::empty())?;
        }
        // What waited for them notices that by and by.
        let connect = || UnixStream::connect(place.outside("socket")).map(drop);
        for () in attempts() {
            match connect() {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                done => return done,
            }
        }
        connect()
    }),
];

/// As many as there is time for.
fn attempts() -> impl Iterator<Item = ()> {
    let start = std::time::Instant::now();
    std::iter::from_fn(move || (start.elapsed() < std::time::Duration::from_secs(1)).then_some(()))
}

fn reached(sockets: &[UnixStream]) -> bool {
    sockets.iter().filter_map(|socket| socket.peer_addr().ok()).any(|peer| peer.as_pathname().is_some())
}

/// `struct sockaddr_un`, whose first two bytes are the family.
fn address_of(path: &str) -> Vec<AtomicU8> {
    let family = (libc::AF_UNIX as u16).to_ne_bytes();
    let bytes = family.into_iter().chain(path.bytes()).chain(std::iter::repeat(0));
    bytes.take(110).map(AtomicU8::new).collect()
}

/// Whether a connection to an address leads to a socket that the host has bound at such a path.
fn reaches(address: &[AtomicU8], end: &str) -> bool {
    let attempt = || -> io::Result<bool> {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
        let pointer = address.as_ptr() as usize;
        call(libc::SYS_connect, [socket.as_raw_fd() as usize, pointer, address.len(), 0, 0, 0])?;
        let peer = UnixStream::from(socket).peer_addr()?;
        Ok(peer.as_pathname().is_some_and(|path| path.to_string_lossy().ends_with(end)))
    };
    attempt().unwrap_or(false)
}

fn state(world: &mut World, path: &camino::Utf8Path) {
    world.manifest.unix.push(UnixSocket { path: path.to_path_buf(), from: "suite".into() });
    world.rule(rule(true, "read metadata connect", Scope::Literal, path.as_str(), OriginKind::Socket));
}

fn expect(world: &World, probes: &[(&str, i32)]) {
    for (probe, code) in probes {
        let output = world.walled(probe);
        assert_eq!(output.status.code(), Some(*code), "{probe}: {}", show(&output));
    }
}

const LISTED: [(&str, i32); 2] = [
    ("n04 connect to a unix socket outside", 0),
    ("n13 connect to a unix socket outside by a relative path", 0),
];
const SHUT: [(&str, i32); 8] = [
    ("n03 connect to a unix socket in a root", 1),
    ("n05 connect to an abstract socket of the host", 1),
    ("n06 open a socket of another family", 1),
    ("n10 aim a pair of unix sockets at a path", 1),
    ("n12 connect to a unix socket beside one outside", 1),
    ("n14 send a datagram to a unix socket", 1),
    ("n15 change the address while it is looked at", 1),
    ("n16 change the socket while it is looked at", 1),
];

pub const SCENARIOS: &[Scenario] = &[
    Scenario {
        name: "one unix socket of the host is open where it is stated, and no other",
        run: |world| {
            listen_in(&world.place, world.uid());
            let socket = world.place.outside("socket");
            state(world, &socket);
            expect(world, &LISTED);
            expect(world, &SHUT);
            expect(
                world,
                &[
                    ("n01 connect to the host by TCP", 1),
                    ("n07 make a pair of unix sockets", 0),
                    ("n08 listen", 1),
                ],
            );
            // Its server starts anew.
            fs::remove_file(&socket).unwrap();
            std::mem::forget(UnixListener::bind(&socket).unwrap());
            std::os::unix::fs::chown(&socket, Some(world.uid()), None).unwrap();
            expect(world, &LISTED[..1]);
            // With hosts and ports beside it, which are connected to in the command's stead as well.
            let port = fs::read_to_string(world.place.rw("port")).unwrap();
            world.manifest.network = Network::Only;
            world.manifest.localhost = vec![port.parse().unwrap()];
            expect(world, &LISTED);
            // The routing socket is part of a network.
            expect(
                world,
                &SHUT.into_iter().filter(|(probe, _)| !probe.starts_with("n06")).collect::<Vec<_>>(),
            );
            expect(world, &[("n11 be answered by the host on its loopback", 0)]);
            world.manifest.unix.clear();
            expect(
                world,
                &[("n04 connect to a unix socket outside", 1), ("n09 open a unix socket at all", 1)],
            );
        },
    },
    Scenario {
        name: "a unix socket is connected to as one connects oneself",
        run: |world| {
            listen_in(&world.place, world.uid());
            let full = world.place.outside("full");
            let socket = world.place.outside("socket");
            state(world, &socket);
            state(world, &full);
            expect(
                world,
                &[
                    ("n17 connect to a unix socket outside through a link in a root", 0),
                    ("n18 connect what is no descriptor, and then one that is", 0),
                    ("n19 wait for a unix socket until a signal comes", 0),
                    ("n21 wait for a unix socket with a time of one's own until a signal comes", 0),
                    ("n20 connect when many have died waiting to", 0),
                ],
            );
            // A link to another is none to this one.
            fs::remove_file(world.place.rw("to-socket")).unwrap();
            std::os::unix::fs::symlink(world.place.outside("other"), world.place.rw("to-socket")).unwrap();
            expect(world, &[("n17 connect to a unix socket outside through a link in a root", 1)]);
        },
    },
    Scenario {
        name: "a unix socket that the rules do not open is not connected to",
        run: |world| {
            listen_in(&world.place, world.uid());
            let path = world.place.outside("socket");
            world.manifest.unix.push(UnixSocket { path: path.clone(), from: "suite".into() });
            world.rule(rule(false, "connect", Scope::Literal, &path, OriginKind::Denial));
            expect(world, &[("n04 connect to a unix socket outside", 1)]);
        },
    },
    Scenario {
        name: "something else in the place of a stated unix socket is refused, and a missing one waited for",
        run: |world| {
            listen_in(&world.place, world.uid());
            let path = world.place.outside("late");
            state(world, &path);
            assert_eq!(world.shell("exit 3").status.code(), Some(3));
            std::os::unix::fs::symlink("socket", &path).unwrap();
            let refused = world.shell("exit 3");
            assert_eq!(refused.status.code(), Some(125), "{}", show(&refused));
            fs::remove_file(&path).unwrap();
            fs::write(&path, "").unwrap();
            let refused = world.shell("exit 3");
            assert_eq!(refused.status.code(), Some(125), "{}", show(&refused));
        },
    },
];
