//! The sockets through which a sandbox without a network reaches the gateway. A socket belongs to the namespace it was made in: they are
//! made inside, and their descriptors handed out.

use super::netlink::lead_everything_here;
use super::report::{Failure, Stage, Staged};
use crate::network::listen::Doors;
use crate::policy::NetworkRule;
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::io::{Errno, IoSlice, IoSliceMut};
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags, recvmsg, sendmsg,
};
use std::collections::BTreeSet;
use std::io;
use std::mem::MaybeUninit;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, UdpSocket};

/// Where programs find the proxy, unless the policy names the port: any would do in a namespace of its own.
const PROXY: u16 = 48_128;
const NAMES: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 53);
/// Where programs connect that know of no proxy, whatever the policy names.
const USUAL: [u16; 2] = [80, 443];
/// As many ports as one message can hand out sockets for (`SCM_MAX_FD`, linux/net/scm.h), less the other two.
pub const MOST_PORTS: usize = 250;

/// The ports at which connections are taken that were meant for somewhere else: the usual ones, and those that the policy names, of this
/// machine (`localhost`) too.
pub fn ports(rules: &[NetworkRule]) -> Vec<u16> {
    let named = rules.iter().filter(|rule| rule.allow).filter_map(|rule| rule.pattern.port);
    let ports: BTreeSet<u16> = USUAL.into_iter().chain(named).collect();
    ports.into_iter().collect()
}

/// Where programs find the proxy, beside these ports.
pub fn proxy(ports: &[u16]) -> SocketAddr {
    let port = (PROXY..=u16::MAX).find(|port| !ports.contains(port)).unwrap_or(PROXY);
    (Ipv4Addr::LOCALHOST, port).into()
}

/// Makes the network of a fresh namespace and its sockets, and hands these to the gateway at the other end of `gateway`.
pub fn open(ports: &[u16], gateway: &OwnedFd) -> Result<(), Failure> {
    lead_everything_here()?;
    let proxy = proxy(ports);
    let proxy = TcpListener::bind(proxy).at(Stage::Network, proxy.to_string())?;
    let names = UdpSocket::bind(NAMES).at(Stage::Network, NAMES.to_string())?;
    let mut captures = Vec::with_capacity(ports.len());
    for &port in ports {
        // The one of IPv6 takes both (ipv6(7)), at every address: also at this machine's own, which a connection to `localhost` has.
        let listener = TcpListener::bind((Ipv6Addr::UNSPECIFIED, port))
            .or_else(|_| TcpListener::bind((Ipv4Addr::UNSPECIFIED, port)));
        captures.push(listener.at(Stage::Network, format!("port {port}"))?);
    }
    let mut sockets: Vec<BorrowedFd<'_>> = vec![proxy.as_fd(), names.as_fd()];
    sockets.extend(captures.iter().map(AsFd::as_fd));
    send(gateway, &sockets).at(Stage::Network, "sendmsg")
}

fn send(gateway: &OwnedFd, sockets: &[BorrowedFd<'_>]) -> Result<(), Errno> {
    let mut space = vec![MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST_PORTS + 2))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !control.push(SendAncillaryMessage::ScmRights(sockets)) {
        return Err(Errno::TOOMANYREFS);
    }
    sendmsg(gateway, &[IoSlice::new(b"d")], &mut control, SendFlags::NOSIGNAL).map(drop)
}

/// Waits for the sockets of a sandbox. `None` where it ended before it had any.
///
/// # Errors
/// As recvmsg(2).
pub fn receive(inside: &OwnedFd) -> io::Result<Option<Doors>> {
    let mut byte = [0];
    let mut space = vec![MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST_PORTS + 2))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let received = loop {
        match recvmsg(inside, &mut [IoSliceMut::new(&mut byte)], &mut control, RecvFlags::CMSG_CLOEXEC) {
            Err(Errno::INTR) => {}
            received => break received?,
        }
    };
    if received.bytes == 0 {
        return Ok(None);
    }
    let mut sockets: Vec<OwnedFd> = Vec::new();
    for message in control.drain() {
        if let RecvAncillaryMessage::ScmRights(fds) = message {
            sockets.extend(fds);
        }
    }
    let mut sockets = sockets.into_iter();
    let (Some(proxy), Some(names)) = (sockets.next(), sockets.next()) else { return Ok(None) };
    Ok(Some(Doors {
        proxy: proxy.into(),
        captures: sockets.map(TcpListener::from).collect(),
        names: Some(names.into()),
    }))
}
