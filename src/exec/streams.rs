//! The three standard streams. The same on every system.

use super::Refusal;
use crate::manifest::Network;
use rustix::fd::BorrowedFd;
use rustix::fs::{FileType, fstat};
use rustix::net::sockopt::socket_type;
use rustix::net::{AddressFamily, SocketType, getpeername};

/// Refuses streams that lead out of the walls: directories, and where not all of the network is open, sockets that can be connected to somewhere else.
/// That a socket was made in the network of this machine is never lost to it. A closed stream is not met here: Rust's runtime opens `/dev/null` in its place before `main`.
///
/// # Errors
/// A stream that is one of these, or that cannot be examined.
pub fn check(network: Network) -> Result<(), Refusal> {
    let streams = [
        ("input", rustix::stdio::stdin()),
        ("output", rustix::stdio::stdout()),
        ("error", rustix::stdio::stderr()),
    ];
    for (name, stream) in streams {
        let stat =
            fstat(stream).map_err(|error| Refusal::system(format!("standard {name}"))(error.into()))?;
        if FileType::from_raw_mode(stat.st_mode) == FileType::Directory {
            return Err(Refusal::DirectoryStream(name));
        }
        let is_socket = FileType::from_raw_mode(stat.st_mode) == FileType::Socket;
        if is_socket && network != Network::All && !is_settled(stream) {
            return Err(Refusal::SocketStream(name));
        }
    }
    Ok(())
}

/// Whether a socket is connected for good, as those of socketpair(2) are: a unix one of a kind whose connection no second connect(2) replaces
/// (unix(7)). One of the internet is let go by an address of no family, and one of datagrams by any other address (connect(2)).
fn is_settled(stream: BorrowedFd<'_>) -> bool {
    let connected = getpeername(stream)
        .is_ok_and(|peer| peer.is_some_and(|peer| peer.address_family() == AddressFamily::UNIX));
    let lasting = [SocketType::STREAM, SocketType::SEQPACKET];
    connected && socket_type(stream).is_ok_and(|kind| lasting.contains(&kind))
}
