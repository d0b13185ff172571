//! Makes the network of a namespace of its own: the loopback device, and a route that leads every address there (rtnetlink(7)).

use super::report::{Failure, Stage, Staged};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::netlink::SocketAddrNetlink;
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, bind, recv, sendto, socket_with,
};

/// The loopback device is the first of every namespace (linux/net/loopback.c).
const LOOPBACK: u32 = 1;

// linux/netlink.h, linux/rtnetlink.h, linux/if.h.
const RTM_NEWLINK: u16 = 16;
const RTM_NEWROUTE: u16 = 24;
const NLMSG_ERROR: u16 = 2;
const NLM_F_REQUEST: u16 = 1;
const NLM_F_ACK: u16 = 4;
const NLM_F_CREATE: u16 = 0x400;
const IFF_UP: u32 = 1;
const RT_TABLE_LOCAL: u8 = 255;
const RTPROT_STATIC: u8 = 4;
const RT_SCOPE_HOST: u8 = 254;
const RTN_LOCAL: u8 = 2;
const RTA_OIF: u16 = 4;
const HEADER: usize = 16;

/// Brings the loopback device up, and takes every address for one of this machine's own: what is sent anywhere arrives here or nowhere.
pub fn lead_everything_here() -> Result<(), Failure> {
    let at = |what: &'static str| move |error: Errno| Failure::new(Stage::Network, error, what);
    let socket = open().map_err(at("rtnetlink"))?;
    let mut link = vec![0; 16];
    link[4..8].copy_from_slice(&LOOPBACK.to_ne_bytes());
    link[8..12].copy_from_slice(&IFF_UP.to_ne_bytes());
    link[12..].copy_from_slice(&IFF_UP.to_ne_bytes());
    ask(&socket, RTM_NEWLINK, 0, &link).map_err(at("the loopback device"))?;
    ask(&socket, RTM_NEWROUTE, NLM_F_CREATE, &route(AddressFamily::INET)).map_err(at("a local route"))?;
    match ask(&socket, RTM_NEWROUTE, NLM_F_CREATE, &route(AddressFamily::INET6)) {
        // A kernel without IPv6.
        Ok(()) | Err(Errno::OPNOTSUPP | Errno::AFNOSUPPORT | Errno::NODEV | Errno::ACCESS) => Ok(()),
        Err(error) => Err(error).at(Stage::Network, "a local route of IPv6"),
    }
}

/// Every address of a family, as one of the loopback device: `ip route add local default dev lo`.
fn route(family: AddressFamily) -> Vec<u8> {
    let family = u8::try_from(family.as_raw()).unwrap_or(0);
    let mut message = vec![family, 0, 0, 0, RT_TABLE_LOCAL, RTPROT_STATIC, RT_SCOPE_HOST, RTN_LOCAL];
    message.extend([0; 4]);
    message.extend(8u16.to_ne_bytes());
    message.extend(RTA_OIF.to_ne_bytes());
    message.extend(LOOPBACK.to_ne_bytes());
    message
}

fn open() -> Result<OwnedFd, Errno> {
    // NETLINK_ROUTE is 0, the protocol that is meant where none is named.
    let socket = socket_with(AddressFamily::NETLINK, SocketType::RAW, SocketFlags::CLOEXEC, None)?;
    bind(&socket, &SocketAddrNetlink::new(0, 0))?;
    Ok(socket)
}

/// Sends one request and waits for what the kernel makes of it.
fn ask(socket: &OwnedFd, kind: u16, flags: u16, body: &[u8]) -> Result<(), Errno> {
    let length = u32::try_from(HEADER + body.len()).map_err(|_| Errno::INVAL)?;
    let mut message = length.to_ne_bytes().to_vec();
    message.extend(kind.to_ne_bytes());
    message.extend((NLM_F_REQUEST | NLM_F_ACK | flags).to_ne_bytes());
    message.extend([0; 8]);
    message.extend(body);
    sendto(socket, &message, SendFlags::empty(), &SocketAddrNetlink::new(0, 0))?;
    let mut answer = [0; 512];
    let (length, _) = recv(socket, &mut answer, RecvFlags::empty())?;
    let answer = answer.get(..length).ok_or(Errno::IO)?;
    let kind = answer.get(4..6).ok_or(Errno::IO)?;
    let code = answer.get(HEADER..HEADER + 4).and_then(|code| code.try_into().ok()).ok_or(Errno::IO)?;
    if kind != NLMSG_ERROR.to_ne_bytes() {
        return Err(Errno::IO);
    }
    match i32::from_ne_bytes(code) {
        0 => Ok(()),
        code => Err(Errno::from_raw_os_error(-code)),
    }
}
