//! Standard streams that are sockets of the machine's network.

use crate::suite::{Ran, Scenario, World};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::fd::OwnedFd;
use std::os::unix::net::{UnixDatagram, UnixListener, UnixStream};

pub const SCENARIOS: &[Scenario] = &[Scenario {
    name: "a socket that can be connected elsewhere is no standard stream",
    run: |world| {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        for network in ["off", "only { allow \"good.com\" }"] {
            world.compiled(network);
            let sockets: [fn(&str) -> OwnedFd; 5] = [
                |address| TcpStream::connect(address).unwrap().into(),
                |_| TcpListener::bind("127.0.0.1:0").unwrap().into(),
                |_| UdpSocket::bind("127.0.0.1:0").unwrap().into(),
                |_| UnixDatagram::pair().unwrap().0.into(),
                |_| UnixDatagram::unbound().unwrap().into(),
            ];
            for socket in sockets {
                let ran = on(world, socket(&address.to_string()));
                assert_eq!(ran.code, Some(125), "{ran:?}");
                assert!(ran.err.contains("standard input is a socket"), "{ran:?}");
            }
            let path = world.path("home/listening");
            let _ = std::fs::remove_file(&path);
            let ran = on(world, UnixListener::bind(&path).unwrap().into());
            assert_eq!(ran.code, Some(125), "{ran:?}");
            // As programs have that start others with pipes of their own (Node).
            let (own, other) = UnixStream::pair().unwrap();
            let ran = on(world, own.into());
            assert_eq!((ran.code, ran.out.trim_end()), (Some(0), "unset"), "{ran:?}");
            drop(other);
        }
        world.compiled("all");
        assert_eq!(on(world, TcpStream::connect(address).unwrap().into()).code, Some(0));
    },
}];

fn on(world: &World, socket: OwnedFd) -> Ran {
    world.asking(&[], &["env", "NOTHING"]).stdin(socket).output().unwrap().into()
}
